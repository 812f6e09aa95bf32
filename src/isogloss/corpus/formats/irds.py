"""Any dataset of ir_datasets, by its name there (extra ``data``).

A name whose parts end in ``/train``, ``/dev``, ``/test`` (``clirmatrix/fr/bi139-base/en``) brings those as splits; a
name that is itself such a part brings only that split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.base.errors import InputError, import_extra
from isogloss.base.lines import Place
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Document, Judgment, Query
from isogloss.corpus.source import Pair, Source

_SPLIT_OF = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test", "test1": "test"}


class IrDatasets(Source):
    """A dataset that ir_datasets knows."""

    format = "irds"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        library = import_extra("ir_datasets", "data", "reading irds: sources")
        self._load: Callable[[str], Any] = library.load
        self._known_error = KeyError
        try:
            self._parts = self._find_parts(where)
        except KeyError as error:
            raise InputError(f"irds:{where}: ir_datasets knows no dataset of this name") from error

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Place, Document]]:
        for record in self._records("docs"):
            title = getattr(record, "title", "") or ""
            text = getattr(record, "text", None) or getattr(record, "body", None) or record.default_text()
            yield self._place, Document(str(record.doc_id), text, title, language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Place, Query]]:
        seen = set()
        for part in self._parts.values():
            for record in part.queries_iter():
                if record.query_id not in seen:
                    seen.add(record.query_id)
                    yield self._place, Query(str(record.query_id), record.default_text(), "", language)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Place, Judgment]]:
        if not all(part.has_qrels() for part in self._parts.values()):
            raise InputError(f"{self.name}: has no judgments")
        return self._judgments()

    def splits(self, pair: Pair, problems: Problems) -> Mapping[str, list[str]] | None:
        if "" in self._parts:
            return None
        return {name: [str(query.query_id) for query in part.queries_iter()] for name, part in self._parts.items()}

    def _judgments(self) -> Iterator[tuple[Place, Judgment]]:
        for part in self._parts.values():
            for record in part.qrels_iter():
                yield self._place, Judgment(str(record.query_id), str(record.doc_id), max(0, int(record.relevance)))

    def _records(self, kind: str) -> Iterator[Any]:
        part = next(iter(self._parts.values()))
        if not getattr(part, f"has_{kind}")():
            raise InputError(f"{self.name}: has no {kind}")
        return iter(getattr(part, f"{kind}_iter")())

    @cached_property
    def _place(self) -> Place:
        return Place(Path(self.name))

    def _find_parts(self, name: str) -> dict[str, Any]:
        """Split name to dataset; the empty name for a dataset that is not split."""
        last = name.rsplit("/", 1)[-1]
        whole = self._load(name)
        if last in _SPLIT_OF and whole.has_queries():
            return {_SPLIT_OF[last]: whole}
        parts = {}
        for ending, split in _SPLIT_OF.items():
            try:
                part = self._load(f"{name}/{ending}")
            except KeyError:
                continue
            if part.has_queries() and split not in parts:
                parts[split] = part
        return parts or {"": whole}
