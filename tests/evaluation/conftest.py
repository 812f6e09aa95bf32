"""Tiny datasets whose texts are numbers, and a system that ranks the numbers nearest to the query's first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import pytest

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.evaluation.measures import gather_gains, measure
from isogloss.evaluation.run import Run
from isogloss.retrieval.ranking import Allowed, Ranking, Scores
from isogloss.storage.lines import Location
from isogloss.systems.base import System, SystemOptions

Grades = Mapping[str, Mapping[str, int]]


class FakeSource(Source):
    """A source in memory; ``lists`` are the candidates of every split."""

    format = "fake"
    top_grade = 2

    def __init__(self, lists: Grades | None) -> None:
        super().__init__("here")
        self.lists = lists

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        return iter(())

    def candidates(self, pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        return None if self.lists is None else ((Location(Path("lists")), line) for line in judgment_lines(self.lists))


@dataclass(frozen=True)
class NearnessOptions(SystemOptions):
    """The depth."""

    horizon: float = field(default=1e9, metadata={"help": "numbers farther than this are not found"})
    weight: int = 1


class Nearness(System):
    """The score of a document is minus the distance of its number from the query's."""

    name = "nearness"
    paper = "none"
    summary = "ranks numbers by nearness"
    options_type = NearnessOptions

    def __init__(self, **options: float) -> None:
        super().__init__(NearnessOptions(**options), "en", "fr")
        self.numbers = np.zeros(0)
        self.log: list[str] = []

    @property
    def found_above(self) -> float:
        return -self.options.horizon

    def fit(self, training: Dataset) -> None:
        self.log.append("fit")

    def index_texts(self, texts: Sequence[str]) -> None:
        self.log.append("index")
        self.numbers = np.asarray([float(text) for text in texts])

    def scores(self, query: str) -> Scores:
        return -np.abs(self.numbers - float(query))

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        np.save(directory / "numbers.npy", self.numbers if keep is None else self.numbers[keep])

    def load_parts(self, directories: Sequence[Path], id_order: np.ndarray) -> Self:
        self.numbers = np.concatenate([np.load(directory / "numbers.npy") for directory in directories])
        self._take_order(id_order, len(self.numbers))
        return self


def judgment_lines(grades: Grades) -> Iterator[Judgment]:
    return (Judgment(query, document, grade) for query, judged in grades.items() for document, grade in judged.items())


@pytest.fixture(scope="session")
def nearness() -> type[Nearness]:
    return Nearness


@pytest.fixture(scope="session")
def make_dataset() -> Callable[..., Dataset]:
    """Documents and queries as id to number, judgments as query to document to grade; all queries are in ``dev``."""

    def make(
        documents: Mapping[str, float], queries: Mapping[str, float], grades: Grades, lists: Grades | None = None
    ) -> Dataset:
        return Dataset(
            FakeSource(lists),
            ("en", "fr"),
            Collection((Document(id_, str(number)) for id_, number in documents.items()), "fr"),
            {id_: Query(id_, str(number)) for id_, number in queries.items()},
            Judgments(judgment_lines(grades), top_grade=2),
            {"dev": list(queries), "test": []},
        )

    return make


@pytest.fixture(scope="session")
def make_run() -> Callable[[Mapping[str, Sequence[str]]], Run]:
    """A run of document ids, best first."""

    def make(ranked: Mapping[str, Sequence[str]]) -> Run:
        ids = sorted({document for documents in ranked.values() for document in documents})
        row_of = {document: row for row, document in enumerate(ids)}
        return Run(
            "made",
            ids,
            {
                query: Ranking(np.asarray([row_of[d] for d in documents], int), -np.arange(len(documents), dtype=float))
                for query, documents in ranked.items()
            }.items(),
        )

    return make


@pytest.fixture(scope="session")
def values_of(make_run: Callable[..., Run]) -> Callable[..., dict[str, list[float]]]:
    """All measures of queries, each (grades of the ranked documents, grades of judged ones that were missed)."""

    def values(*queries: tuple[Sequence[int], Sequence[int]]) -> dict[str, list[float]]:
        names = [f"q{number}" for number in range(len(queries))]
        grades = {
            name: {f"d{rank:04}": grade for rank, grade in enumerate((*ranked, *missed))}
            for name, (ranked, missed) in zip(names, queries, strict=True)
        }
        run = make_run(
            {name: list(grades[name])[: len(ranked)] for name, (ranked, _) in zip(names, queries, strict=True)}
        )
        gains = gather_gains(run, Judgments(judgment_lines(grades), top_grade=2), names)
        return {name: value.tolist() for name, value in measure(gains).items()}

    return values
