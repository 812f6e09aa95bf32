"""The vector index: vectors stored small, searched exactly or approximately, in one part or several.

    score(q, d) = q . d        of the vectors as they are stored, summed in float64, rounded once to float32

A part is a directory of vectors that were indexed together and never change. Rows are those of the parts, one part
after the other. However a part finds its candidates, they are scored as above: scores of parts compare, and equal
scores are ordered by id.

``auto`` stores rows in the smallest storage that finds at least .99 of what the input rows would find (.995 under an
approximate search), unless they are so few that little would be saved. It searches approximately where an exact search
would take about ten milliseconds a query on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from isogloss.retrieval.ranking import Allowed, Ranking, Rows, top_k
from isogloss.retrieval.vectors.approximate import DEPTHS, ApproximateIndex, K, Level, recall, sample_queries
from isogloss.retrieval.vectors.exact import ExactIndex, Vector
from isogloss.retrieval.vectors.storage import (
    STORAGES,
    Floats,
    Matrix,
    float32_rows,
    load_rows,
    save_rows,
    storage_of,
    stored_as,
)
from isogloss.storage.errors import InputError, MissingExtraError

RECALL = 0.99
"""The least recall of a storage that was chosen automatically."""
_NEARLY_ALL = 0.995  # of it, where an approximate search will miss some more
SMALL = 4_000_000
"""Components below which rows are stored as they are: 60,000 rows of 64, 16 MB as float32."""
_SLOW = 24_000_000  # components: 375,000 rows of 64; 5 ms as float32, 10 ms as float16
_QUERIES = 1_000
_FEWEST_ROWS = 1_000  # for inverted lists
_MOST_CANDIDATES = 2**20  # of a query
_NO_SCORES: Floats = np.zeros(0, dtype=np.float32)


class Settings(NamedTuple):
    """A storage or ``auto``, and whether to search approximately (``auto``, ``yes``, ``no``)."""

    storage: str = "auto"
    approximate: str = "auto"

    def checked(self) -> Self:
        """Itself, if these settings exist."""
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

    def storages(self, components: int) -> list[str]:
        """The storages to try, the smallest first."""
        if self.storage != "auto":
            return [self.storage]
        return ["float32"] if components < SMALL else list(reversed(STORAGES))


class VectorPart:
    """Rows that were indexed together.

    ``storage_recall`` is the recall of the storage against the rows it was made from, ``input_recall`` that of these
    against the first input: parts that are joined have been rounded before.
    """

    def __init__(
        self, exact: ExactIndex, settings: Settings, storage_recall: float = 1.0, input_recall: float = 1.0
    ) -> None:
        self.exact, self.settings = exact, settings
        self.storage_recall, self.input_recall = storage_recall, input_recall
        self.approximate: ApproximateIndex | None = None
        self.remark = ""

    @classmethod
    def build(cls, matrix: Matrix, id_order: Rows, settings: Settings, input_recall: float = 1.0) -> VectorPart:
        """Choose how to store the rows and how to search them."""
        source = ExactIndex(matrix, id_order)
        approximates = settings.approximates(*source.matrix.shape)
        storages = settings.storages(source.matrix.size)
        if storages == ["float32"] and not approximates:
            return cls(source, settings, input_recall=input_recall)
        queries = sample_queries(source.matrix, _QUERIES)
        expected = source.search_batch(queries, max(DEPTHS) if approximates else K)
        stored, found = _stored(source, storages, queries, expected, _NEARLY_ALL if approximates else RECALL)
        part = cls(stored, settings, found, input_recall)
        if approximates:
            part._search_with(
                lambda: ApproximateIndex.build(source.matrix, source.longest).tuned(stored, queries, expected)
            )
        return part

    def __len__(self) -> int:
        return len(self.exact)

    def search_batch(self, queries: Matrix, k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The best rows for each query, scored exactly however they were found.

        The search is exact where the approximate one finds too little, or would take as long.
        """
        level = next((level for level in self._levels if 0 < k <= level.k), None)
        if self.approximate and level and len(queries):
            checked = self.exact.checked(queries)
            candidates = self.approximate.candidates(checked, level.candidates, level.probes, allowed)
            if candidates is not None and candidates[:, k - 1].min() >= 0:
                return self.exact.rank(checked, candidates, k)
        return self.exact.search_batch(queries, k, allowed)

    @property
    def recall(self) -> float:
        """The measured share of the first ten in the input vectors that is found."""
        return self.input_recall * (self._levels[0].recall if self._levels else self.storage_recall)

    def about(self) -> dict[str, Any]:
        """How it is stored and searched, and what was measured."""
        about: dict[str, Any] = {
            "kind": "exact",
            "rows": len(self),
            "storage": storage_of(self.exact.matrix),
            "recall": self.recall,
            "bytes": self.exact.matrix.nbytes,
        }
        if self.approximate:
            about |= {"kind": "approximate", "bytes": about["bytes"] + self.approximate.nbytes}
            about |= {"lists": self.approximate.lists, "levels": [level._asdict() for level in self._levels]}
        return about | ({"remark": self.remark} if self.remark else {})

    def save(self, directory: Path) -> None:
        """Write into an existing directory."""
        about: dict[str, Any] = {"settings": self.settings._asdict(), "remark": self.remark}
        about |= {"storage_recall": self.storage_recall, "input_recall": self.input_recall}
        if self.approximate:
            self.approximate.save(directory)
            about["levels"] = [level._asdict() for level in self._levels]
        save_rows(directory, self.exact.matrix, self.exact.longest, about)

    @classmethod
    def load(cls, directory: Path, id_order: Rows) -> VectorPart:
        """Map what ``save`` wrote; ``id_order`` begins with the positions of its ids."""
        rows, longest, about = load_rows(directory)
        exact = ExactIndex(rows, id_order[: len(rows)], longest=longest)
        settings = Settings(**about.get("settings", {})).checked()
        recalls = [_share(about.get(name, 1.0), name) for name in ("storage_recall", "input_recall")]
        part = cls(exact, settings, *recalls)
        part.remark = str(about.get("remark", ""))
        if about.get("levels"):
            levels = [_level(level, len(rows)) for level in about["levels"]]
            part._search_with(lambda: ApproximateIndex.load(directory, rows.shape, levels))
        return part

    @property
    def _levels(self) -> Sequence[Level]:
        return self.approximate.levels if self.approximate else ()

    def _search_with(self, make: Callable[[], ApproximateIndex]) -> None:
        """Search with an approximate index, or exactly with a remark where that is not possible."""
        try:
            made = make()
        except MissingExtraError as error:
            self.remark = f"searched exactly: {error}"
        else:
            self.approximate = made if made.levels else None
            self.remark = "" if made.levels else "searched exactly: lists of these find too little"


class VectorIndex:
    """Vectors ranked by inner product; ties by ``id_order``, the position of each row's id among all ids.

    Nothing is stored between calls, so that threads may share an index.

    >>> index = VectorIndex.build(np.eye(3, dtype=np.float32), np.arange(3))
    >>> index.search(np.asarray([0.0, 2.0, 1.0]), k=2)
    Ranking(rows=array([1, 2]), scores=array([2., 1.], dtype=float32))
    >>> index.search(np.asarray([0.0, 2.0, 1.0]), k=2, allowed=np.asarray([True, False, True])).rows
    array([2, 0])
    """

    def __init__(self, parts: Sequence[VectorPart], id_order: Rows) -> None:
        """``build`` and ``load`` make parts. Without any, nothing is ever found."""
        self.parts = list(parts)
        self.id_order = id_order
        self._starts = np.cumsum([0, *map(len, self.parts)])
        self._spans = [slice(*ends) for ends in pairwise(self._starts.tolist())]
        if len(self) != len(id_order):
            raise ValueError(f"parts of {len(self)} rows do not fit an order of {len(id_order)} ids")
        if len({part.exact.dimension for part in self.parts}) > 1:
            raise ValueError("the parts have vectors of different dimensions")

    @classmethod
    def build(cls, matrix: Matrix, id_order: Rows, storage: str = "auto", approximate: str = "auto") -> VectorIndex:
        """Index the rows of a matrix.

        ``storage`` is ``float32``, ``float16``, ``int8`` or ``auto``: the smallest that loses next to nothing.
        ``approximate`` is ``yes``, ``no`` or ``auto``: where an exact search would take long.
        """
        return cls([VectorPart.build(matrix, id_order, Settings(storage, approximate).checked())], id_order)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def dimension(self) -> int:
        """The number of components of a vector; 0 without parts."""
        return self.parts[0].exact.dimension if self.parts else 0

    def about(self) -> dict[str, Any]:
        """How it is stored and searched; ``recall`` is the mean of the parts', weighted by rows."""
        about = [part.about() for part in self.parts]
        return {
            "kind": _listed(part["kind"] for part in about),
            "storage": _listed(part["storage"] for part in about),
            "rows": len(self),
            "dimension": self.dimension,
            "recall": sum(part["recall"] * part["rows"] for part in about) / len(self) if len(self) else 1.0,
            "bytes": sum(part["bytes"] for part in about),
            "parts": about,
        }

    def search(self, query: Vector, k: int, allowed: Allowed | None = None) -> Ranking:
        """The ``k`` best rows for a query, of those that are allowed."""
        return self.search_batch(np.asarray(query)[np.newaxis], k, allowed)[0]

    def search_batch(self, queries: Matrix, k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """The ``k`` best rows for each query (a row each), on all cores."""
        if allowed is not None and allowed.shape != (len(self),):
            raise ValueError(f"a mask of shape {allowed.shape} does not fit {len(self)} rows")
        if len(self.parts) == 1:
            return self.parts[0].search_batch(queries, k, allowed)
        found = [
            part.search_batch(queries, k, None if allowed is None else allowed[rows])
            for part, rows in zip(self.parts, self._spans, strict=True)
        ]
        if not found:
            return [Ranking(np.zeros(0, dtype=np.int64), _NO_SCORES)] * len(queries)
        return [self._merged(rankings, k) for rankings in zip(*found, strict=True)]

    def scores(self, query: Vector) -> Floats:
        """The score of every row."""
        return np.concatenate([_NO_SCORES, *(part.exact.scores(query) for part in self.parts)])

    def score(self, query: Vector, rows: Rows) -> Floats:
        """The scores of some rows, the same as in ``scores`` to the last bit."""
        found = np.empty(len(rows), dtype=np.float32)
        for part, positions, inside in self._located(np.asarray(rows, dtype=np.int64)):
            found[positions] = part.exact.score(query, inside)
        return found

    def rows(self, numbers: Rows) -> Floats:
        """Some vectors as they are stored."""
        found = np.empty((len(numbers), self.dimension), dtype=np.float32)
        for part, positions, inside in self._located(np.asarray(numbers, dtype=np.int64)):
            found[positions] = float32_rows(part.exact.matrix[inside])
        return found

    def joined(self, keep: Allowed | None = None) -> VectorIndex:
        """All rows, or those to keep, in one new part; the ids of the kept rows stay in their order."""
        if len(self.parts) == 1 and (keep is None or keep.all()):
            return self
        kept = np.arange(len(self)) if keep is None else np.flatnonzero(keep)
        order = np.argsort(np.argsort(self.id_order[kept]))
        largest = max(self.parts, key=len, default=None)
        settings = largest.settings if largest else Settings()
        input_recall = min((part.input_recall * part.storage_recall for part in self.parts), default=1.0)
        return VectorIndex([VectorPart.build(self.rows(kept), order, settings, input_recall)], order)

    def save(self, directory: Path | str, keep: Allowed | None = None) -> None:
        """Write the rows, or those to keep, into a directory as one part; it is made where there is none."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        self.joined(keep).parts[0].save(directory)

    @classmethod
    def load(cls, directories: Sequence[Path], id_order: Rows) -> VectorIndex:
        """Map parts that ``save`` wrote; ``id_order`` is that of all their rows, one part after the other."""
        parts: list[VectorPart] = []
        for directory in directories:
            try:
                parts.append(VectorPart.load(Path(directory), id_order[sum(map(len, parts)) :]))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{directory}: not a whole vector index ({error}); make it again") from error
        return cls(parts, id_order)

    def _merged(self, rankings: Sequence[Ranking], k: int) -> Ranking:
        rows = [ranking.rows + start for ranking, start in zip(rankings, self._starts, strict=False)]
        return top_k(np.concatenate([each.scores for each in rankings]), k, self.id_order, np.concatenate(rows))

    def _located(self, rows: Rows) -> list[tuple[VectorPart, Rows, Rows]]:
        """For each part with some of the rows: their positions among the rows, and in the part."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"rows from {rows.min()} to {rows.max()} of {len(self)}")
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        found = ((number, np.flatnonzero(numbers == number)) for number in np.unique(numbers).tolist())
        return [(self.parts[number], where, rows[where] - self._starts[number]) for number, where in found]


def _share(value: Any, name: str) -> float:
    """A recall from a file."""
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError(f"{name} is no share: {value!r}")
    return float(value)


def _level(values: dict[str, Any], rows: int) -> Level:
    """The settings of a search from a file; candidates take memory, so their number is limited."""
    level = Level(**values)
    if any(type(number) is not int for number in level[:3]) or not (
        1 <= level.k <= level.candidates <= _MOST_CANDIDATES and 1 <= level.probes <= rows
    ):
        raise ValueError(f"these are no levels: {values}")
    return level._replace(recall=_share(level.recall, "recall"))


def _stored(
    source: ExactIndex, storages: Sequence[str], queries: Floats, expected: Sequence[Ranking], enough: float
) -> tuple[ExactIndex, float]:
    """The rows in the first storage with enough recall, or in the last; and its recall."""
    for storage in storages:
        if storage == storage_of(source.matrix):
            return source, 1.0
        stored = ExactIndex(stored_as(np.asarray(source.matrix), storage), source.id_order)
        found = recall(stored.search_batch(queries, K), expected)
        if found >= enough:
            break
    return stored, found


def _listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(set(names))) or "exact"
