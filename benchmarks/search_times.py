"""Interleaved rounds by the clock on the wall or by the time the processor spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

ROUNDS = 5
Clock = Callable[[], float]


def best_times_by(clock: Clock, ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The best time of each way, in rounds that take all ways in turn: a slow spell of the machine hits all alike."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = clock()
            way()
            best[name] = min(best[name], clock() - started)
    return best
