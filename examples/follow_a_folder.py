"""Make an index of a folder, change the folder, and bring the index up to date."""

from pathlib import Path
from tempfile import TemporaryDirectory

from isogloss import Index

with TemporaryDirectory() as scratch:
    folder = Path(scratch) / "notas"
    folder.mkdir()
    (folder / "colmena.md").write_text("# La colmena\n\nLas abejas hacen miel en verano.", encoding="utf-8")
    (folder / "pan.md").write_text("# El pan\n\nMezcla la harina con agua.", encoding="utf-8")
    index = Index.make(str(folder), "es", lexicon={"bees": "abejas", "wax": "cera", "honey": "miel"})
    (folder / "colmena.md").write_text("# La colmena\n\nLas abejas hacen miel y cera.", encoding="utf-8")
    (folder / "pan.md").unlink()
    done = index.sync()
    print(f"{done.added} added, {done.replaced} replaced, {done.deleted} deleted")
    print([hit.document.title for hit in index.search("the wax of bees")])
