"""Progress of long work: a bar on the terminal once it has taken a second, silence elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, TypeVar

Value = TypeVar("Value")

_PATIENCE_SECONDS = 1.0
_state = {"quiet": False}


def set_quiet(quiet: bool) -> None:
    """Turn all progress bars off or on."""
    _state["quiet"] = quiet


def is_shown() -> bool:
    """Whether progress is shown: standard error is a terminal, and not quiet."""
    return not _state["quiet"] and sys.stderr.isatty()


def track(
    values: Iterable[Value], label: str, total: int | None = None, sizes: Iterable[int] | None = None
) -> Iterator[Value]:
    """Yield the values; draw a bar on a terminal if the work takes longer than a second.

    ``sizes`` are the steps of the values where these are batches; ``total`` is the sum of the steps.
    """
    if not is_shown():
        yield from values
        return
    if total is None and isinstance(values, Sized):
        total = len(values)
    steps = iter(sizes) if sizes is not None else None
    started, done, bar, task = time.monotonic(), 0, None, None
    try:
        for value in values:
            yield value
            done += next(steps) if steps is not None else 1
            if bar is None and time.monotonic() - started > _PATIENCE_SECONDS:
                bar = _bar()
                bar.start()
                task = bar.add_task(label, total=total)
            if bar is not None:
                bar.update(task, completed=done)
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
