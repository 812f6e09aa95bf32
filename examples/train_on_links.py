"""Train on the links of the bundled pages, then search with the model. So few pages teach it little."""

import tempfile
from pathlib import Path

from isogloss import Index, train

with tempfile.TemporaryDirectory() as folder:
    run = train("smooth", "demo", "en-fr", Path(folder) / "run", epochs=3)
    print({name: round(value, 3) for name, value in run.measures["full"].items()})
    for hit in Index.make("demo", "fr", system=run.path).search("a tall mountain", k=3):
        print(f"{hit.score:.3f}  {hit.document.title}")
