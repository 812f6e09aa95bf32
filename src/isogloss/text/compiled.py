"""Functions compiled by numba (extra ``fast``): machine code, kept on disk, run without Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from isogloss.base.errors import import_extra

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile on first call and keep the machine code beside the source: compiling takes seconds, loading does not.

    Where no directory for it can be written, every process compiles anew. What is kept is made anew when the file of
    the function changes; numba does not look at the files of what it calls, so whoever changes one of those touches
    the files of its callers too, or removes ``__pycache__``.
    """
    numba = import_extra("numba", "fast", "compiled code")
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True)(function))
