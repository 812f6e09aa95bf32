"""Any dataset of ir_datasets, by its name there (extra ``papers``).

A name with parts that end in ``/train``, ``/dev``, ``/test`` (``clirmatrix/fr/bi139-base/en``) has those as splits; a
name that is itself such a part has only that split. Where ir_datasets knows the languages, others are an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.data.splits import check_splits
from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.lines import Location

_SPLIT_OF = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test", "test1": "test"}
_UNREADABLE = (OSError, EOFError, RuntimeError, ValueError, LookupError)
"""What ir_datasets raises when a download fails or a file is not what it expects."""


class IrDatasets(Source):
    """A dataset that ir_datasets knows."""

    format = "irds"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self._library: ModuleType = import_extra("ir_datasets", "papers", "reading irds: sources")
        self._parts = self._find_parts()
        if not self._parts:
            raise InputError(f"{self.name}: ir_datasets knows no dataset of this name; see https://ir-datasets.com")

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        part = next(iter(self._parts.values()))
        if not part.has_docs():
            raise InputError(f"{self.name}: has no documents")
        if _language(part, "docs") not in (None, language):
            raise InputError(f"{self.name}: has no documents in {language!r}, they are in {_language(part, 'docs')!r}")
        for record in self._records(part, "docs"):
            title = getattr(record, "title", "") or ""
            text = _text_of(record, "text", "body")
            yield self._location, Document(str(record.doc_id), text, title, language)

    def languages(self) -> list[str]:
        language = _language(next(iter(self._parts.values())), "docs")
        return [language] if language else []

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        earlier: set[str] = set()  # parts may share queries; within a part an id occurs once
        for part in self._parts.values():
            records = [record for record in self._records(part, "queries") if str(record.query_id) not in earlier]
            earlier.update(str(record.query_id) for record in records)
            for record in records:
                title = getattr(record, "title", "") or ""
                yield (
                    self._location,
                    Query(str(record.query_id), _text_of(record, "text", "first_sent"), title, language),
                )

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        judged = [part for part in self._parts.values() if part.has_qrels() and part.has_queries()]
        if not judged:
            raise InputError(f"{self.name}: has no judgments")
        here = (_language(judged[0], "queries"), _language(judged[0], "docs"))
        if any(known not in (None, wanted) for known, wanted in zip(here, pair, strict=True)):
            pairs = "-".join(language or "any" for language in here)
            raise InputError(f"{self.name}: has no judgments for the pair {'-'.join(pair)}; pairs here: {pairs}")
        return (
            (self._location, Judgment(str(record.query_id), str(record.doc_id), max(0, int(record.relevance))))
            for part in judged
            for record in self._records(part, "qrels")
        )

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        if "" in self._parts:
            return None
        listed = {
            name: [(self._location, str(record.query_id)) for record in self._records(part, "queries")]
            for name, part in self._parts.items()
        }
        unique = {name: list(dict.fromkeys(lines)) for name, lines in listed.items()}
        return check_splits(unique, queries, problems)

    def _records(self, part: Any, kind: str) -> Iterator[Any]:
        """The records of a part; what ir_datasets cannot read is an error of the input."""
        try:
            records: Iterable[Any] = getattr(part, f"{kind}_iter")()
            yield from records
        except _UNREADABLE as error:
            raise InputError(f"{self.name}: ir_datasets cannot read its {kind} ({_one_line(error)})") from error

    @cached_property
    def _location(self) -> Location:
        return Location(Path(self.name))

    def _find_parts(self) -> dict[str, Any]:
        """Split name to dataset; the empty name for a dataset that is not split; nothing for an unknown name."""
        whole = self._find(self.where)
        last = self.where.rsplit("/", 1)[-1]
        if last in _SPLIT_OF and whole is not None and whole.has_queries():
            return {_SPLIT_OF[last]: whole}
        parts: dict[str, Any] = {}
        for ending, split in _SPLIT_OF.items():
            part = self._find(f"{self.where}/{ending}")
            if part is not None and part.has_queries():
                parts.setdefault(split, part)
        return parts or ({"": whole} if whole is not None else {})

    def _find(self, name: str) -> Any:
        """A dataset by its name, or None: a name of ir_datasets need not be one itself to have parts."""
        try:
            return self._library.load(name)
        except KeyError:
            return None
        except _UNREADABLE as error:
            raise InputError(f"{self.name}: ir_datasets cannot load it ({_one_line(error)})") from error


def _language(part: Any, kind: str) -> str | None:
    language: str | None = getattr(part, f"{kind}_lang", lambda: None)()
    return language


def _text_of(record: Any, *names: str) -> str:
    """The field of the text where there is one, else the default text of ir_datasets."""
    for name in names:
        value = getattr(record, name, None)
        if isinstance(value, str):
            return value
    return str(record.default_text())


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
