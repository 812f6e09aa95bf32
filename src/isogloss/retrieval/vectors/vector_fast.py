"""When an approximate search is compiled: not for a few queries, since importing numba takes as long as thousands."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from types import ModuleType

MANY = 1_000
"""Queries after which a process is taken for one that will answer many more."""


class FastSearch:
    """Counts queries, and says what to answer them with."""

    def __init__(self) -> None:
        self._answered = 0

    def begin(self) -> None:
        """Compile from now on."""
        self._answered = MANY

    def functions(self, queries: int) -> ModuleType | None:
        """The compiled functions for so many queries more; nothing before there were many, or without numba."""
        if self._answered < MANY:
            self._answered += queries
            return None
        return _compiled()


FAST = FastSearch()
"""Of this process."""


@cache
def _compiled() -> ModuleType | None:
    if importlib.util.find_spec("numba") is None:
        return None
    return importlib.import_module("isogloss.retrieval.vectors.vector_compiled")
