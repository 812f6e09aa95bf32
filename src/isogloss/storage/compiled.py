"""Functions compiled by numba (extra ``fast``): machine code, cached on disk, run without Python's lock.

A function is compiled again when its file changes. numba does not check the files of the functions it calls: after a
change to one of those, touch the files of its callers, or remove ``__pycache__``. Where there is no directory for the
cache, every process compiles again.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, TypeVar, cast

from isogloss.storage.errors import import_extra

Function = TypeVar("Function", bound=Callable[..., Any])

# Division by zero is as in numpy: checking for it would prevent vectorisation. Nothing else of "fast mathematics" is
# allowed: with it, code just compiled and the same code loaded from disk may differ in the last bit.
_ARITHMETIC = {"error_model": "numpy"}
_NUMBA_SECONDS = 0.5
_LEAST_SECONDS = 0.03


def pays(seconds: float, loading: float = _NUMBA_SECONDS, module: str = "numba") -> bool:
    """Whether numba is installed and worth loading for work that takes so many seconds without it."""
    least = _LEAST_SECONDS if module in sys.modules else loading
    return seconds > least and importlib.util.find_spec("numba") is not None


class CompileLater:
    """The compiled functions of a module, loaded only after a process has done much work without them.

    Loading numba takes as long as hundreds of small jobs. ``threshold`` is the work after which many more are expected.
    """

    def __init__(self, load: Callable[[], ModuleType], threshold: float) -> None:
        self._load, self._threshold = load, threshold
        self._done: float = 0

    def begin(self) -> None:
        """Compile from now on."""
        self._done = self._threshold

    def functions(self, work: float) -> ModuleType | None:
        """The module for so much more work; None below the threshold, or without numba."""
        if self._done < self._threshold:
            self._done += work
            return None
        return self._module

    @cached_property
    def _module(self) -> ModuleType | None:
        return self._load() if importlib.util.find_spec("numba") is not None else None


def compiled(function: Function) -> Function:
    """Compile on the first call; later processes load the result."""
    return _compile(function, {})


def compiled_arithmetic(function: Function) -> Function:
    """Compile arithmetic over arrays of floats."""
    return _compile(function, _ARITHMETIC)


def compiled_parallel(function: Function) -> Function:
    """Compile arithmetic; a loop over ``prange`` runs on all threads."""
    return _compile(function, {**_ARITHMETIC, "parallel": True})


def _compile(function: Function, options: dict[str, Any]) -> Function:
    numba = import_extra("numba", "fast", "compiled code")
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True, **options)(function))
