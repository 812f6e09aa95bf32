"""The WikiCLIR layout (Sasaki et al. 2018): tab-separated queries, documents and graded relations, plain or ``.gz``.

``wiki_en.queries`` (id, title, text), ``wiki_fr.documents`` (id, title, text), ``en2fr.rel`` (query id, document id,
grade 2 or 1; the rest is 0), and optionally ``splits/en.train`` … (query ids) and ``candidates/en2fr.dev`` (query id,
document id, label).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.readers.table import one_line, read_judgments, read_table, table_id
from isogloss.data.source import Pair, Source, existing_directory, list_pairs
from isogloss.data.splits import SPLITS, check_splits
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory
from isogloss.storage.lines import Location, find_file, is_there, read_lines

_GRADES = frozenset("012")
_HIGHEST = 2


class WikiClir(Source):
    """A directory in the WikiCLIR layout."""

    format = "wikiclir"
    can_sync = True
    folder_sign = "wiki_*.documents*"
    can_write = True
    top_grade = _HIGHEST

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    @classmethod
    def write(cls, dataset: Dataset, target: Path, overwrite: bool) -> None:
        write_wikiclir(target, [dataset], overwrite)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        path = self._file(f"wiki_{language}.documents", f"documents in {language!r}")
        for location, (id_, title, text) in read_table(path, ("id", "title", "text"), problems):
            yield location, Document(id_, text, title, language)

    def languages(self) -> list[str]:
        matches = (re.fullmatch(r"wiki_([\w-]+)\.documents(\.gz)?", path.name) for path in self.directory.iterdir())
        return sorted({match[1] for match in matches if match})

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        path = self._file(f"wiki_{language}.queries", f"queries in {language!r}")
        for location, (id_, title, text) in read_table(path, ("id", "title", "text"), problems):
            yield location, Query(id_, text, title, language)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        path = self._file(f"{pair[0]}2{pair[1]}.rel", f"judgments for the pair {pair[0]}-{pair[1]}")
        return read_judgments(path, problems, _GRADES)

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        paths = {name: self.directory / "splits" / f"{pair[0]}.{name}" for name in SPLITS}
        found = {name: _read_ids(path, problems) for name, path in paths.items() if is_there(path)}
        return check_splits(found, queries, problems) if found else None

    def candidates(self, pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        path = self.directory / "candidates" / f"{pair[0]}2{pair[1]}.{split}"
        return read_judgments(path, problems) if is_there(path) else None

    def _file(self, name: str, what: str) -> Path:
        try:
            return find_file(self.directory / name)
        except InputError as error:
            raise InputError(f"{error}, so there are no {what}; pairs here: {list_pairs(self._pairs())}") from None

    def _pairs(self) -> Iterator[Pair]:
        matches = (re.fullmatch(r"([\w-]+)2([\w-]+)\.rel(\.gz)?", path.name) for path in self.directory.iterdir())
        return ((match[1], match[2]) for match in matches if match)


def _read_ids(path: Path, problems: Problems) -> Iterator[tuple[Location, str]]:
    return ((location, line.strip()) for location, line in read_lines(path, problems.broken_text) if line.strip())


def write_wikiclir(directory: Path, datasets: Iterable[Dataset], overwrite: bool = False) -> None:
    """Write pairs of one source as a directory in this layout."""
    datasets = list(datasets)
    for dataset in datasets:
        _refuse_high_grades(dataset.judgments)
    with atomic_directory(directory, overwrite, "wiki_*.documents*") as partial:
        (partial / "splits").mkdir()
        for dataset in datasets:
            query_language, document_language = dataset.pair
            scale = 2 if dataset.judgments.top_grade == 1 else 1  # 1 is 'relevant' where there is no higher grade
            _write_rows(
                partial / f"wiki_{document_language}.documents",
                ((table_id(document.id), document.title, document.text) for document in dataset.documents),
            )
            _write_rows(
                partial / f"wiki_{query_language}.queries",
                ((table_id(query.id), query.title, query.text) for query in dataset.queries.values()),
            )
            _write_rows(
                partial / f"{query_language}2{document_language}.rel",
                ((f"{query}\t{document}", str(grade * scale)) for query, document, grade in dataset.judgments),
            )
            for name, queries in dataset.splits.items():
                _write_rows(partial / "splits" / f"{query_language}.{name}", ((query,) for query in queries))


def _refuse_high_grades(judgments: Judgments) -> None:
    for query, document, grade in judgments:
        if grade > _HIGHEST:
            what = f"grade {grade} of query {query!r} and document {document!r} does not exist in the WikiCLIR layout"
            raise InputError(f"{what} (0, 1, 2); write beir: or trec: instead")


def _write_rows(path: Path, rows: Iterable[tuple[str, ...]]) -> None:
    if path.exists():
        return  # queries, documents and splits are shared by the pairs
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for id_, *others in rows:
            file.write("\t".join((id_, *map(one_line, others))) + "\n")
