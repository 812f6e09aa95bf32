"""How a cost grows with the number of documents, and what it would be for more of them.

    times:               y = c n^b      log y = log c + b log n, least squares
    memory and disk:     y = a + b n    through the two largest sizes, where it is computed for more

Exponents are of the sizes at which ``y`` is at least four times what it is at the smallest: there a fixed cost
(starting, importing) weighs little. Where fewer than two sizes are like that, all are taken: it hardly grows. A way
that changes its kind with size, from exact to approximate, is fitted where it is of the kind that it ends with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

_PAST_FIXED = 4.0
_FEWEST = 2

Points = Mapping[int, Mapping[str, Any]]
"""What was measured of a way, by the number of documents."""


class Growth(NamedTuple):
    """The exponent and the sizes that it is of; what was measured at the two largest sizes, and what those are."""

    exponent: float
    sizes: tuple[int, ...]
    largest: tuple[int, int]
    values: tuple[float, float]

    def at(self, rows: float, least: float = 0.0) -> float:
        """What a time would be for so many, going on from the largest size with an exponent of at least ``least``.

        What looks at every document takes time in proportion at least, whatever a fixed cost makes of an exponent.
        """
        return float(self.values[1] * (rows / self.largest[1]) ** max(self.exponent, least))

    def on_line(self, rows: float) -> float:
        """What bytes would be for so many, going on along the line of the two largest sizes."""
        slope = (self.values[1] - self.values[0]) / (self.largest[1] - self.largest[0])
        return float(self.values[1] + slope * (rows - self.largest[1]))


def growth(points: Points, measure: str) -> Growth | None:
    """How a measure grows, if there are two sizes to tell by."""
    there = {rows: point for rows, point in sorted(points.items()) if point.get(measure)}
    if not there:
        return None
    kind = _kind(there[max(there)])
    alike = [rows for rows, point in there.items() if _kind(point) == kind]
    if len(alike) < _FEWEST:
        return None
    values = {rows: float(there[rows][measure]) for rows in there}
    sizes = _past_fixed(values, alike)
    exponent = float(np.polyfit(np.log(sizes), np.log([values[rows] for rows in sizes]), 1)[0])
    before, last = alike[-2:]
    return Growth(exponent, tuple(sizes), (before, last), (values[before], values[last]))


def _past_fixed(values: Mapping[int, float], sizes: Sequence[int]) -> list[int]:
    least = _PAST_FIXED * values[min(values)]
    grown = [rows for rows in sizes if values[rows] >= least]
    return grown if len(grown) >= _FEWEST else list(sizes)


def _kind(point: Mapping[str, Any]) -> str:
    """What it is, without settings: "hnsw" of "hnsw, ef_search 40"."""
    return str(point.get("kind", "")).partition(",")[0]
