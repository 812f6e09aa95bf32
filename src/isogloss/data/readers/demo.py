"""The bundled collection: a little encyclopedia in seven languages, with queries and lexicons, written for isogloss."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from isogloss.data.readers.jsonl import Jsonl
from isogloss.data.source import Pair

DEMO_FOLDER = Path(str(resources.files("isogloss.data"))) / "demo"
DEMO_PAGES = DEMO_FOLDER / "pages.jsonl"
DEMO_LANGUAGES = ("en", "fr", "it", "es", "sw", "tl", "zh")


class Demo(Jsonl):
    """The bundled pages, graded by their links."""

    format = "demo"
    file_endings = ()
    can_sync = False
    can_write = False

    def __init__(self, where: str = "") -> None:
        super().__init__(str(DEMO_PAGES))

    @property
    def name(self) -> str:
        return self.format

    def lexicon(self, pair: Pair) -> Path | None:
        path = DEMO_FOLDER / "lexicon" / f"{pair[0]}-{pair[1]}.tsv"
        return path if path.exists() else None
