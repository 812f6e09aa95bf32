"""``index.json``: the system of an index and its options; it changes only when all documents are encoded anew."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from isogloss.index.copies import read_or_copy
from isogloss.index.forged import check_manifest, refuse_links
from isogloss.storage.checksums import FileNote, note_of_bytes
from isogloss.storage.errors import DamagedFileError, InputError
from isogloss.storage.files import parse_json, read_regular, write_bytes
from isogloss.storage.wording import way

FORMAT = 5
FILE, COPY = "index.json", "index.copy.json"


@dataclass(frozen=True)
class EngineNote:
    """The engine that holds the documents and vectors of an index, if its own files do not.

    ``url`` has no password, ``name`` is the name of the index in the engine, vectors have ``dimension`` components.
    """

    url: str
    name: str
    dimension: int


@dataclass(frozen=True)
class Manifest:
    """The system of an index with all its options, the languages of the queries, the documents per language.

    ``sources`` are the numbers of stored documents in languages of the queries, which can be used as queries.
    ``identity`` distinguishes an index from one that replaced it. ``usual`` scores, for each language of the queries,
    make languages of documents comparable. ``facets`` are fields whose values are counted among the hits of a search.
    ``documents`` change with every commit, so they are not written: they are counted when the index is opened.
    """

    system: str
    options: dict[str, Any]
    query_languages: tuple[str, ...]
    fields: tuple[str, ...]
    documents: dict[str, int]
    made_by: str
    format: int = FORMAT
    sources: dict[str, int] = field(default_factory=dict)
    identity: str = ""
    usual: dict[str, dict[str, float]] = field(default_factory=dict)
    engine: EngineNote | None = None
    facets: tuple[str, ...] = ()

    @property
    def query_language(self) -> str:
        """The language of a query that is not known to be in another."""
        return self.query_languages[0]

    def save(self, directory: Path) -> None:
        """Write ``index.json``, and a copy in case it is damaged."""
        for name in (COPY, FILE):
            write_bytes(directory / name, self._content)

    @property
    def note(self) -> FileNote:
        """Size and hash of what ``save`` writes."""
        return note_of_bytes(self._content)

    @property
    def _content(self) -> bytes:
        left_out = {"documents", "engine" if self.engine is None else "", "" if self.facets else "facets"}
        content = {name: value for name, value in asdict(self).items() if name not in left_out}
        return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()

    @classmethod
    def load(cls, directory: Path, note: FileNote | None = None) -> Manifest:
        """Read ``index.json``; its copy, with a warning, where it is missing or damaged, or has not this note."""
        if not any((directory / name).exists() for name in (FILE, COPY)):
            what = "is not an index (it has no index.json)" if directory.is_dir() else "no such index"
            made = way("'isogloss index'", "isogloss.Index.make(documents, path=…)")
            raise InputError(f"{directory}: {what}; make one with {made}")
        refuse_links(directory)
        return read_or_copy(directory / FILE, directory / COPY, lambda path: cls._read(path, note))

    @classmethod
    def _read(cls, path: Path, note: FileNote | None) -> Manifest:
        written = read_regular(path)
        if note is not None and note_of_bytes(written) != note:
            raise DamagedFileError(path, "is not what was written (its checksum differs)")
        content = parse_json(written, path)
        try:
            if content["format"] != FORMAT:
                what = f"has format {content['format']}, this isogloss reads format {FORMAT}"
                raise InputError(f"{path}: {what}; make the index again with 'isogloss index'")
            engine = EngineNote(**content["engine"]) if content.get("engine") else None
            lists = {name: tuple(content[name]) for name in ("fields", "query_languages")}
            facets = tuple(content.get("facets", ()))
            manifest = cls(**{"documents": {}, **content, **lists, "engine": engine, "facets": facets})
            check_manifest(manifest)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DamagedFileError(path, f"does not describe an index ({error})") from error
        return manifest
