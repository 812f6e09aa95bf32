"""Term ids text by text, turned round: the texts of each term, and how often it stands in each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.compiled import pays

_TOKENS_A_SECOND = 6_000_000  # by sorting

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]


class Inverted(NamedTuple):
    """``documents[offsets[t]:offsets[t + 1]]`` are the texts of term ``t``, ascending."""

    offsets: Numbers
    documents: Ids
    frequencies: Ids


def inverted(ids: Ids, starts: Numbers, rank: Numbers) -> Inverted:
    """Invert the ids of texts that begin at ``starts``; the term of an id is ``rank[id]``.

    >>> [array.tolist() for array in inverted(np.array([0, 1, 0, 1], np.int32), np.array([0, 3, 4]), np.array([1, 0]))]
    [[0, 2, 3], [0, 1, 0], [1, 1, 2]]
    """
    if not pays(len(ids) / _TOKENS_A_SECOND):
        return _by_sorting(ids, starts, rank)
    from isogloss.lexical.counting import count_texts, fill_lists  # imports numba

    offsets = np.zeros(len(rank) + 1, np.int64)
    np.cumsum(count_texts(ids, starts, rank), out=offsets[1:])
    documents, frequencies = np.empty((2, int(offsets[-1])), np.int32)
    fill_lists(ids, starts, rank, offsets[:-1].copy(), documents, frequencies)
    return Inverted(offsets, documents, frequencies)


def _by_sorting(ids: Ids, starts: Numbers, rank: Numbers) -> Inverted:
    """One sort of (term, text) keys, then runs of equal keys are counted."""
    lengths = np.diff(starts)
    count = max(1, len(lengths))
    keys = rank[ids] * count + np.repeat(np.arange(len(lengths)), lengths) if len(ids) else rank[:0].copy()
    keys.sort()
    runs = np.flatnonzero(np.diff(keys, prepend=-1))
    frequencies = np.diff(runs, append=len(keys)).astype(np.int32)
    term_of, document_of = np.divmod(keys[runs], count)
    return Inverted(np.searchsorted(term_of, np.arange(len(rank) + 1)), document_of.astype(np.int32), frequencies)
