"""BEIR: ``corpus.jsonl``, ``queries.jsonl`` (``_id``, ``title``, ``text``), ``qrels/{train,dev,test}.tsv``.

The files may be gzipped. A BEIR directory has no languages; those of the pair are not checked.
Judgments of queries that are in no split are written to ``qrels/rest.tsv`` and read from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.readers.jsonl import dump, read_objects
from isogloss.data.readers.table import parse_grade, read_table, table_id
from isogloss.data.source import Pair, Source, existing_directory
from isogloss.data.splits import SPLITS, check_splits
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory
from isogloss.storage.lines import Location, is_there

_HEADER = ("query-id", "corpus-id", "score")
_REST = "rest"


class Beir(Source):
    """A directory in the BEIR layout."""

    format = "beir"
    can_sync = True
    folder_sign = "corpus.jsonl*"
    can_write = True

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    @classmethod
    def write(cls, dataset: Dataset, target: Path, overwrite: bool) -> None:
        write_beir(target, dataset, overwrite)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for location, entry in read_objects(self.directory / "corpus.jsonl", ("_id", "text"), problems):
            yield location, Document(entry["_id"], entry["text"], str(entry.get("title") or ""), language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        for location, entry in read_objects(self.directory / "queries.jsonl", ("_id", "text"), problems):
            yield location, Query(entry["_id"], entry["text"], str(entry.get("title") or ""), language)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        paths = self._qrels()
        if not paths:
            raise InputError(f"{self.directory / 'qrels'}: has none of {', '.join(f'{name}.tsv' for name in SPLITS)}")
        return (line for path in paths.values() for line in _read_qrels(path, problems))

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        paths = {name: path for name, path in self._qrels().items() if name != _REST}
        listed = {name: _first_lines(path, queries) for name, path in paths.items()}
        return check_splits(listed, queries, problems) if listed else None

    def _qrels(self) -> dict[str, Path]:
        paths = {name: self.directory / "qrels" / f"{name}.tsv" for name in (*SPLITS, _REST)}
        return {name: path for name, path in paths.items() if is_there(path)}


def _read_qrels(path: Path, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
    for location, fields in read_table(path, _HEADER, problems):
        if tuple(fields) == _HEADER:
            continue
        grade = parse_grade(location, fields[2], problems)
        if grade is not None:
            yield location, Judgment(fields[0], fields[1], grade)


def _first_lines(path: Path, queries: Collection[str]) -> Iterator[tuple[Location, str]]:
    """The first line of each known query; problems were reported when the judgments were read."""
    seen = set()
    for location, judgment in _read_qrels(path, Problems(stop_at_errors=False)):
        if judgment.query in queries and judgment.query not in seen:
            seen.add(judgment.query)
            yield location, judgment.query


def write_beir(directory: Path, dataset: Dataset, overwrite: bool = False) -> None:
    """Write one pair as a BEIR directory."""
    with atomic_directory(directory, overwrite, "corpus.jsonl*") as partial:
        with open(partial / "corpus.jsonl", "w", encoding="utf-8") as file:
            file.writelines(dump({"_id": d.id, "title": d.title, "text": d.text}) for d in dataset.documents)
        with open(partial / "queries.jsonl", "w", encoding="utf-8") as file:
            file.writelines(dump({"_id": q.id, "title": q.title, "text": q.text}) for q in dataset.queries.values())
        (partial / "qrels").mkdir()
        in_splits = {query for queries in dataset.splits.values() for query in queries}
        rest = [query for query in dataset.judgments.queries if query not in in_splits]
        for name, queries in (dataset.splits | ({_REST: rest} if rest else {})).items():
            _write_qrels(partial / "qrels" / f"{name}.tsv", queries, dataset.judgments)


def _write_qrels(path: Path, queries: Iterable[str], judgments: Judgments) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t".join(_HEADER) + "\n")
        for query in queries:
            for document, grade in judgments[query].items():
                file.write(f"{table_id(query)}\t{table_id(document)}\t{grade}\n")
