"""Where ICU cuts lines of text into words, on all cores.

icu4py makes a Python object of every piece and holds Python's lock all the while. ICU's own functions lie in the
library that it has loaded, and under the names that ICU documents they can be called without the lock: the same cuts in
two thirds of the time, and in as many threads as there are cores. Where they are not found, icu4py is asked.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import compiled
from isogloss.text.batches import available_cores
from isogloss.text.word_table import Characters, characters_to_text

LINE_END = 10
_CHUNK_CHARACTERS = 50_000  # cut at a time
_WORDS = 1  # UBRK_WORD
_LOCALE = "en"  # as the tokeniser has it

Cuts = NDArray[np.bool_]


class _Functions(NamedTuple):
    """Of ICU's C interface."""

    open: Any
    next: Any
    close: Any


def cuts_of_lines(lines: Characters) -> Cuts:
    """One entry a character and one more, true where a piece ends; no character may lie beyond the basic plane."""
    is_cut = np.zeros(len(lines) + 1, dtype=np.bool_)
    ends = np.flatnonzero(lines == LINE_END) + 1
    last_wanted = len(lines) // _CHUNK_CHARACTERS + 1
    places = np.searchsorted(ends, np.arange(1, last_wanted + 1) * _CHUNK_CHARACTERS)
    bounds = [0, *np.unique(ends[np.minimum(places, len(ends) - 1)]).tolist()] if len(ends) else []
    mark = _mark_by_icu if _icu_functions() else _mark_by_icu4py
    with ThreadPoolExecutor(available_cores()) as threads:
        list(threads.map(lambda part: mark(lines[part[0] : part[1]], is_cut[part[0] : part[1] + 1]), pairwise(bounds)))
    return is_cut


def _mark_by_icu(lines: Characters, is_cut: Cuts) -> None:
    functions = _icu_functions()
    assert functions is not None
    text, status = lines.astype(np.uint16), ctypes.c_int(0)
    breaker = functions.open(_WORDS, _LOCALE.encode(), text.ctypes.data, len(text), ctypes.byref(status))
    if status.value > 0:
        raise RuntimeError(f"ICU cannot cut words: error {status.value}")
    _mark(functions.next, breaker, is_cut)
    functions.close(breaker)


@compiled
def _mark(next_boundary: Callable[[int], int], breaker: int, is_cut: Cuts) -> None:
    end = next_boundary(breaker)
    while end >= 0:
        is_cut[end] = True
        end = next_boundary(breaker)


def _mark_by_icu4py(lines: Characters, is_cut: Cuts) -> None:
    from icu4py.breakers import WordBreaker

    ends = map(itemgetter(1), WordBreaker(characters_to_text(lines), _LOCALE).segments())
    is_cut[np.fromiter(ends, dtype=np.int64)] = True


@lru_cache(maxsize=1)
def _icu_functions() -> _Functions | None:
    import icu4py
    from icu4py import breakers

    try:
        library = ctypes.CDLL(breakers.__file__)  # finds what the libraries it needs hold, too
        version = icu4py.icu_version_info[0]
        functions = _Functions(*(library[f"ubrk_{name}_{version}"] for name in _Functions._fields))
    except (AttributeError, OSError):
        return None
    functions.open.restype = ctypes.c_void_p
    functions.open.argtypes = (
        ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int),
    )  # fmt: skip
    functions.next.restype, functions.next.argtypes = ctypes.c_int32, (ctypes.c_void_p,)
    functions.close.restype, functions.close.argtypes = None, (ctypes.c_void_p,)
    return functions
