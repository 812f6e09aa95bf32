"""What is ranked: the lists that the data bring, or BM25's best; and others like them, to choose epochs and alphas by.

The paper samples 500 questions, has BM25 search with them in the language of the collection and keeps the top 20; the
questions are then translated. Here a query that stands in both languages (under one id) is searched with in the
documents' language; where no such queries exist, translated word by word (``psq``).

The lists to choose by are of other queries of the same split. Where all of its queries are measured, the choice is made
on the very lists that are measured, and the pages say so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.evaluation.measures import PerQuery
from isogloss.evaluation.protocols import draw_candidates, judged_queries
from isogloss.papers.layerwise.published import MEASURES
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.systems.lexicons import INDUCED
from isogloss.systems.matchers.data import listed_examples
from isogloss.systems.registry import make_system
from isogloss.training.examples import measure_scores

MEASURED, CHOOSING = "measured", "dev"
"""The splits of the lists; systems stop and choose by ``dev``."""
_SHUFFLES = 200


@dataclass(frozen=True)
class Drawing:
    """How lists are drawn: from which split, how many queries to measure and to choose by, how many documents each."""

    split: str = "dev"
    queries: int = 500
    validation: int = 500
    depth: int = 20


class Listed(Source):
    """A source with other candidate lists."""

    format = "listed"

    def __init__(self, source: Source, lists: Mapping[str, Judgments]) -> None:
        super().__init__(source.where)
        self._source, self._lists = source, lists
        self.top_grade = source.top_grade  # type: ignore[misc]

    @property
    def name(self) -> str:
        return self._source.name

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        return self._source.documents(language, problems)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        return self._source.queries(language, problems)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        return self._source.judgments(pair, problems)

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        return self._source.splits(pair, queries, problems)

    def groups(self, pair: Pair) -> Mapping[str, str] | None:
        return self._source.groups(pair)

    def lexicon(self, pair: Pair) -> Path | None:
        return self._source.lexicon(pair)

    def candidates(self, pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        if split not in self._lists:
            return self._source.candidates(pair, split, problems)
        return ((Location(Path(f"{split} lists")), judgment) for judgment in self._lists[split])


def with_lists(dataset: Dataset, drawing: Drawing) -> Dataset:
    """The dataset with the splits ``train``, ``measured`` and ``dev`` (the other queries, to choose by)."""
    given = _given_lists(dataset, drawing.split)
    judged = sorted(query.id for query in judged_queries(dataset, drawing.split, dataset.judgments))
    drawn = [judged[i] for i in np.random.default_rng(0).permutation(len(judged))]
    if given is not None:
        measured = [query.id for query in dataset.split(drawing.split) if query.id in given]
        others = [query for query in drawn if query not in given][: drawing.validation]
    else:
        number = min(drawing.queries, max(len(judged) - drawing.validation, len(judged) // 2, 1))
        measured, others = drawn[:number], drawn[number:][: drawing.validation]
    lists = {MEASURED: given if given is not None else _drawn(dataset, measured, drawing.depth)}
    lists[CHOOSING] = _drawn(dataset, others, drawing.depth) if others else lists[MEASURED]
    splits = {
        "train": dataset.splits.get("train", []),
        **{name: [query for query in dataset.queries if query in found] for name, found in lists.items()},
    }
    return replace(dataset, source=Listed(dataset.source, lists), splits=splits)


def lists_hash(dataset: Dataset) -> str:
    """The same for two pairs whose queries (by their ids) have the same lists to be measured."""
    lists = sorted(dataset.candidates(MEASURED))
    return hashlib.sha256(json.dumps(lists).encode()).hexdigest()[:32]


def limits(dataset: Dataset) -> dict[str, dict[str, PerQuery]]:
    """The best that the lists allow, and what their documents in random order get, query by query."""
    examples, top = listed_examples(dataset, MEASURED)
    ties, rng = np.zeros(len(examples.grades), np.int32), np.random.default_rng(0)

    def measured(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> dict[str, PerQuery]:
        return measure_scores(examples.query_of, examples.grades, scores, ties, top, MEASURES)

    shuffled = [measured(rng.random(len(ties))) for _ in range(_SHUFFLES)]
    return {
        "best possible order": measured(examples.grades.astype(np.float64)),
        "random order": {name: np.asarray(np.mean([each[name] for each in shuffled], axis=0)) for name in MEASURES},
    }


def _given_lists(dataset: Dataset, split: str) -> Judgments | None:
    if dataset.source.candidates(dataset.pair, split, Problems(stop_at_errors=False)) is None:
        return None
    return dataset.candidates(split)


def _drawn(dataset: Dataset, queries: Sequence[str], depth: int) -> Judgments:
    pair, asked = dataset.pair, _in_language(dataset, queries)
    if asked:
        system = make_system("bm25", (pair[1], pair[1]))
    else:
        lexicon = {} if dataset.source.lexicon(pair) else {"lexicon": INDUCED}
        system, asked = make_system("psq", pair, lexicon, dataset.source), dataset.queries
    system.fit(dataset)
    system.index(dataset.documents, ("text",))
    part = replace(dataset, queries=dict(asked), splits={MEASURED: sorted(queries)})
    return draw_candidates(system, part, MEASURED, len(queries), depth)


def _in_language(dataset: Dataset, queries: Sequence[str]) -> dict[str, Query] | None:
    """All queries in the documents' language, where those asked for are among them."""
    if dataset.pair[0] == dataset.pair[1]:
        return dataset.queries
    try:
        found = {query.id: query for _, query in dataset.source.queries(dataset.pair[1], dataset.problems)}
    except InputError:
        return None
    return found if all(query in found for query in queries) else None
