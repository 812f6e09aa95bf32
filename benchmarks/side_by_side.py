"""Time several ways of doing one thing, interleaved in one run, and print ratios: machines are noisy."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping

REPEATS = 5


def best_times(
    ways: Mapping[str, Callable[[], object]], repeats: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """The best time of each way over interleaved rounds, so that a slow spell of the machine hits all alike.

    It is wall time, or that of another clock: ``time.process_time`` leaves out what other programs took.
    """
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, way in ways.items():
            started = clock()
            way()
            best[name] = min(best[name], clock() - started)
    return best


def show(title: str, times: Mapping[str, float], amount: float, unit: str, against: str) -> None:
    """Print amount a second and the ratio to one of the ways."""
    print(f"\n{title}  (best of {REPEATS}, interleaved; Python {platform.python_version()}, {platform.machine()})")
    for name, seconds in times.items():
        print(f"  {name:<44} {amount / seconds:>12,.0f} {unit}/s   x {times[against] / seconds:6.2f}")


def texts_of(source: str, language: str, count: int) -> list[str]:
    """Texts of a source, repeated up to the count."""
    from isogloss.data.dataset import load_collection
    from isogloss.data.readers.registry import open_source

    texts = load_collection(open_source(source), language).texts(("text",))
    return (texts * (count // len(texts) + 1))[:count]
