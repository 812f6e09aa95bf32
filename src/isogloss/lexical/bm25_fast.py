"""When BM25 is searched with compiled code: not for a few queries, since loading numba takes as long as hundreds."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from types import ModuleType

MANY = 500_000_000
"""Documents, those of one query added to those of another, after which a process is taken to answer many more."""


class FastWords:
    """Counts the documents that were searched, and says what to search the next with."""

    def __init__(self, many: float = MANY) -> None:
        self._many = many
        self._searched: float = 0

    def begin(self) -> None:
        """Compile from now on."""
        self._searched = self._many

    def functions(self, documents: int) -> ModuleType | None:
        """The compiled functions for a query over so many documents; None before there were many, or without numba."""
        if self._searched < self._many:
            self._searched += documents
            return None
        return _compiled()


FAST = FastWords()
"""Of this process."""


@cache
def _compiled() -> ModuleType | None:
    if importlib.util.find_spec("numba") is None:
        return None
    return importlib.import_module("isogloss.lexical.bm25_compiled")
