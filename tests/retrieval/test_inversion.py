"""Inverting by counting gives what inverting by sorting gives, and both what a dictionary gives."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval import postings as inversion
from isogloss.retrieval.postings import inverted


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6), st.permutations(range(6)), st.booleans())
def test_the_texts_of_each_term(texts, rank, fast):
    if fast:
        pytest.importorskip("numba")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversion, "pays", lambda _: fast)
        starts = np.cumsum([0, *map(len, texts)])
        found = inverted(np.asarray([i for text in texts for i in text], np.int32), starts, np.asarray(rank))
    wanted = [
        [(number, Counter(text)[id_]) for number, text in enumerate(texts) if id_ in text]
        for id_ in sorted(range(6), key=rank.__getitem__)
    ]
    pairs = list(zip(found.documents.tolist(), found.frequencies.tolist(), strict=True))
    assert [pairs[begin:end] for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)] == wanted
    assert [array.dtype for array in found] == [np.int64, np.int32, np.int32]
