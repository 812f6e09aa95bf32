"""Index the bundled collection in six languages and ask it one English question."""

import tempfile
from pathlib import Path

from isogloss.corpus import open_source
from isogloss.systems.indexes import make_index, open_index

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "index"
    make_index(path, "psq", open_source("demo"), ["fr", "it", "es", "sw", "tl", "zh"])
    _, engine = open_index(path)
    for hit in engine.search("why do volcanoes erupt", k=6):
        print(f"{hit.score:.3f}  {hit.language}  {hit.document.title}")
