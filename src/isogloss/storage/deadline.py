"""A time limit that code deep inside a search can check without a parameter for it.

The caller enters a :class:`Deadline`; loops call :func:`check` between two steps. Where no deadline was entered a check
does nothing. Threads that are started inside have none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self


class DeadlineError(Exception):
    """The deadline passed, or the work was cancelled."""


class Deadline:
    """The moment at which work is to stop, ``seconds`` from now; as a context it applies to the code inside.

    >>> with Deadline(0.0):
    ...     check()
    Traceback (most recent call last):
    isogloss.storage.deadline.DeadlineError: the time limit of this work has passed
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._tokens: list[Token[Deadline | None]] = []

    @property
    def passed(self) -> bool:
        """Whether the work is to stop."""
        return self._clock() >= self._until

    def cancel(self) -> None:
        """Stop the work at its next check."""
        self._until = float("-inf")

    def __enter__(self) -> Self:
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _CURRENT.reset(self._tokens.pop())


_CURRENT: ContextVar[Deadline | None] = ContextVar("isogloss-deadline", default=None)


def check() -> None:
    """Raise a :class:`DeadlineError` if the deadline has passed."""
    deadline = _CURRENT.get()
    if deadline is not None and deadline.passed:
        raise DeadlineError("the time limit of this work has passed")
