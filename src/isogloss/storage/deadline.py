"""A time limit that code deep inside a search can check without a parameter for it.

The caller enters a :class:`Deadline`; loops call :func:`check` between two steps. Where no deadline was entered a check
does nothing. Threads that are started inside have none. Work that ``gives_way`` to other work rests in its checks while
there is some: twice as long as it has worked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self

_STEP = 0.001  # seconds of work after which it rests
_LONGEST_REST = 0.1


class DeadlineError(Exception):
    """The deadline passed, or the work was cancelled."""


class Deadline:
    """The moment at which work is to stop, ``seconds`` from now; as a context it applies to the code inside.

    >>> with Deadline(0.0):
    ...     check()
    Traceback (most recent call last):
    isogloss.storage.deadline.DeadlineError: the time limit of this work has passed
    """

    def __init__(
        self, seconds: float, clock: Callable[[], float] = time.monotonic,
        gives_way: Callable[[], bool] | None = None, sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._clock, self._gives_way, self._sleep = clock, gives_way, sleep
        self._until = clock() + seconds
        self._working_since = clock() if gives_way else 0.0
        self._tokens: list[Token[Deadline | None]] = []

    @property
    def passed(self) -> bool:
        """Whether the work is to stop."""
        return self._clock() >= self._until

    def cancel(self) -> None:
        """Stop the work at its next check."""
        self._until = float("-inf")

    def rest(self) -> None:
        """Let others work, where there are others and this has worked for a while."""
        if self._gives_way is None:
            return
        worked = self._clock() - self._working_since
        if worked >= _STEP:
            if self._gives_way():
                self._sleep(min(_LONGEST_REST, 2 * worked))
            self._working_since = self._clock()

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
    if deadline is not None:
        if deadline.passed:
            raise DeadlineError("the time limit of this work has passed")
        deadline.rest()
