"""``index.json``: what an index holds and what made it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isogloss.base.errors import InputError

FORMAT = 1
_FILE = "index.json"


@dataclass(frozen=True)
class Manifest:
    """The system of an index with all its options, the language of the queries, the documents per language.

    ``sources`` is how many documents in the language of the queries are kept beside them, to search with.
    """

    system: str
    options: dict[str, Any]
    query_language: str
    fields: tuple[str, ...]
    documents: dict[str, int]
    made_by: str
    format: int = FORMAT
    sources: int = 0

    def save(self, directory: Path) -> None:
        """Write ``index.json``."""
        (directory / _FILE).write_text(json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> Manifest:
        """Read ``index.json``; an error that says what is wrong if this is no index of a known format."""
        path = directory / _FILE
        if not path.is_file():
            what = "is not an index (it has no index.json)" if directory.is_dir() else "no such index"
            raise InputError(f"{directory}: {what}; make one with 'isogloss index'")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                what = f"has format {content['format']}, this isogloss reads format {FORMAT}"
                raise InputError(f"{path}: {what}; make the index again with 'isogloss index'")
            manifest = cls(**{**content, "fields": tuple(content["fields"])})
            if not (isinstance(manifest.options, dict) and isinstance(manifest.documents, dict)):
                raise TypeError("its options and documents must be objects")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is damaged ({error}); make the index again with 'isogloss index'") from error
        return manifest
