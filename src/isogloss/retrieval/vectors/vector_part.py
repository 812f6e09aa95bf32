"""One part of a vector index: rows that were indexed together, and the way they are searched.

``auto`` keeps rows in the smallest storage that finds at least .99 of what the rows as given would find (.995 under an
approximate search), unless they are so few that little would be saved; and it searches approximately where an exact
search would take about ten milliseconds a query on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from isogloss.retrieval.ranking import Allowed, Ranking, Rows
from isogloss.retrieval.vectors.approximate import ApproximateIndex, faiss_module
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.recall import K, recall, sample_queries
from isogloss.retrieval.vectors.vector_fast import FAST
from isogloss.retrieval.vectors.vector_files import SavedRows, load_rows, save_rows
from isogloss.retrieval.vectors.vector_rescoring import Rescoring
from isogloss.retrieval.vectors.vector_storage import STORAGES, Floats, Matrix, storage_of, stored_as
from isogloss.retrieval.vectors.vector_tuning import DEPTHS, Level, tune
from isogloss.storage.errors import InputError, MissingExtraError

RECALL = 0.99
"""What a storage chosen by itself finds, at least, of what the vectors as given would find."""
_NEARLY_ALL = 0.995  # of it, where lists are going to lose some more
_SMALL = 4_000_000  # components: 60,000 rows of 64, 16 MB as float32
_SLOW = 24_000_000  # components: 375,000 rows of 64; 5 ms as float32, 10 ms as float16
_QUERIES = 1_000
_FEW_COMPONENTS = 8_192  # of queries: for more, BLAS may call other threads
_SURELY_FINE = 1e30  # squared lengths of all queries together
_FEWEST_ROWS = 1_000  # that lists can be made of


class Settings(NamedTuple):
    """What was asked for: a storage or ``auto``, and whether to search approximately (``auto``, ``yes``, ``no``)."""

    storage: str = "auto"
    approximate: str = "auto"

    def checked(self) -> Self:
        """Itself, if there are such things."""
        choices = {"storage": ("auto", *STORAGES), "approximate": ("auto", "yes", "no")}
        for name, value in self._asdict().items():
            if value not in choices[name]:
                raise InputError(f"{name}: {value!r} is none of {', '.join(choices[name])}")
        return self

    def approximates(self, rows: int, dimension: int) -> bool:
        """Whether so many rows are searched approximately."""
        if self.approximate == "yes":
            return rows >= _FEWEST_ROWS
        return self.approximate == "auto" and rows * dimension >= _SLOW


class Approximation(NamedTuple):
    """An approximate index and how far to look in it."""

    lists: ApproximateIndex
    levels: Sequence[Level]


class VectorPart:
    """Rows that were indexed together.

    ``storage_recall`` is what the storage finds of what the rows would find that it was made from, ``given_recall``
    what those find of what was first given: parts that are joined have been rounded before.
    """

    def __init__(
        self, exact: ExactIndex, settings: Settings, storage_recall: float = 1.0, given_recall: float = 1.0
    ) -> None:
        self.exact = exact
        self.settings = settings
        self.storage_recall = storage_recall
        self.given_recall = given_recall
        self.approximation: Approximation | None = None
        self.remark = ""
        self._rescoring = Rescoring(exact)

    @classmethod
    def build(cls, matrix: Matrix, id_order: Rows, settings: Settings, given_recall: float = 1.0) -> VectorPart:
        """Choose how to keep the rows and how to search them."""
        given = ExactIndex(matrix, id_order)
        approximates = settings.approximates(*given.matrix.shape)
        storages = _storages(settings, given.matrix.size)
        if storages == ["float32"] and not approximates:
            return cls(given, settings, given_recall=given_recall)
        queries = sample_queries(given.matrix, _QUERIES)
        wanted = given.search_batch(queries, max(DEPTHS) if approximates else K)
        kept, found = _kept(given, storages, queries, wanted, _NEARLY_ALL if approximates else RECALL)
        part = cls(kept, settings, found, given_recall)
        if approximates:
            part.approximation, part.remark = _approximation(given, kept, queries, wanted)
            FAST.begin()  # who waits for an index waits for this too: what is compiled is kept on disk for searches
            part.search_batch(queries[:1], K)
        return part

    def __len__(self) -> int:
        return len(self.exact)

    def search_batch(self, queries: Matrix, k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The best rows for each query, scored exactly however they were found."""
        level = self._level(k)
        found = self._search_lists(queries, k, level, allowed) if level and len(queries) else None
        return self.exact.search_batch(queries, k, allowed) if found is None else found

    @property
    def recall(self) -> float:
        """Of the first ten in the vectors as they were first given, the share that is found, as it was measured."""
        return self.given_recall * (self.approximation.levels[0].recall if self.approximation else self.storage_recall)

    def about(self) -> dict[str, Any]:
        """What it is and what was measured."""
        about: dict[str, Any] = {
            "kind": "exact",
            "rows": len(self),
            "storage": storage_of(self.exact.matrix),
            "recall": self.recall,
            "bytes": self.exact.matrix.nbytes,
        }
        if self.approximation:
            lists, levels = self.approximation
            about |= {"kind": "approximate", "bytes": about["bytes"] + lists.nbytes}
            about |= {"lists": lists.count, "levels": [level._asdict() for level in levels]}
        return about | ({"remark": self.remark} if self.remark else {})

    def save(self, directory: Path) -> None:
        """Write into an existing directory."""
        about: dict[str, Any] = {"settings": self.settings._asdict(), "remark": self.remark}
        about |= {"storage_recall": self.storage_recall, "given_recall": self.given_recall}
        if self.approximation:
            self.approximation.lists.save(directory)
            about["levels"] = [level._asdict() for level in self.approximation.levels]
        save_rows(directory, SavedRows(self.exact.matrix, self.exact.longest, about))

    @classmethod
    def load(cls, directory: Path, id_order: Rows) -> VectorPart:
        """Map what ``save`` wrote; ``id_order`` begins with the places of its ids."""
        rows, longest, about = load_rows(directory)
        exact = ExactIndex(rows, id_order[: len(rows)], longest=longest)
        settings = Settings(**about.get("settings", {})).checked()
        part = cls(exact, settings, about.get("storage_recall", 1.0), about.get("given_recall", 1.0))
        part.remark = about.get("remark", "")
        if about.get("levels"):
            part.approximation, part.remark = _loaded(directory, about, exact.dimension)
        return part

    def _search_lists(self, queries: Matrix, k: int, level: Level, allowed: Allowed | None) -> list[Ranking] | None:
        """What the lists give; nothing where they give too little, or an exact search is as fast."""
        if self.approximation is None:
            return None
        lists, probes, checked = self.approximation.lists, level.probes, self._checked(queries)
        if allowed is not None and not allowed.all():
            probes = lists.probes_for(checked, probes, allowed)
            if probes > lists.count // 2:
                return None
        else:
            allowed = None
        compiled = FAST.functions(len(checked))
        candidates = lists.candidates(checked, level.candidates, probes, allowed, compiled)
        return self._rescoring.best(checked, candidates, k, compiled)

    def _checked(self, queries: Matrix) -> Floats:
        """Queries as contiguous float32 of its own, if they fit: for few, one look at all together may be enough."""
        checked = np.array(queries, order="C")
        few = checked.size <= _FEW_COMPONENTS and checked.dtype == np.float32
        if few and checked.shape[1:] == (self.exact.dimension,) and np.vdot(checked, checked) <= _SURELY_FINE:
            return checked
        return np.array(self.exact.checked(queries), order="C")

    def _level(self, k: int) -> Level | None:
        for level in self.approximation.levels if self.approximation else ():
            if 0 < k <= level.k:
                return level
        return None


def _storages(settings: Settings, components: int) -> list[str]:
    """What to try, the smallest first."""
    if settings.storage != "auto":
        return [settings.storage]
    return ["float32"] if components < _SMALL else list(reversed(STORAGES))


def _kept(
    given: ExactIndex, storages: Sequence[str], queries: Floats, wanted: Sequence[Ranking], enough: float
) -> tuple[ExactIndex, float]:
    """The rows in the first storage that finds enough, or in the last; and what it finds."""
    for storage in storages:
        if storage == storage_of(given.matrix):
            return given, 1.0
        kept = ExactIndex(stored_as(np.asarray(given.matrix), storage), given.id_order)
        found = recall(kept.search_batch(queries, K), wanted)
        if found >= enough:
            break
    return kept, found


def _approximation(
    given: ExactIndex, kept: ExactIndex, queries: Floats, wanted: Sequence[Ranking]
) -> tuple[Approximation | None, str]:
    """An approximate index of the rows, or why there is none."""
    try:
        index = ApproximateIndex.build(given.matrix, given.longest)
    except MissingExtraError as error:
        return None, f"searched exactly: {error}"
    levels = tune(index, kept, queries, wanted)
    return (Approximation(index, levels), "") if levels else (None, "searched exactly: lists of these find too little")


def _loaded(directory: Path, about: Mapping[str, Any], dimension: int) -> tuple[Approximation | None, str]:
    try:
        faiss_module()
    except MissingExtraError as error:
        return None, f"searched exactly: {error}"
    levels = [Level(**level) for level in about["levels"]]
    return Approximation(ApproximateIndex.load(directory, dimension), levels), ""
