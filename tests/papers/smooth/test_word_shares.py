"""The shares of words in a squashed mean."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.papers.smooth.word_average import squashed_shares

vectors = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=st.floats(-5, 5, width=32)
)


@given(vectors)
def test_shares_add_up_to_the_tanh_of_the_mean(rows):
    shares = squashed_shares(rows)
    assert shares.shape == rows.shape
    np.testing.assert_allclose(shares.sum(axis=0), np.tanh(rows.mean(axis=0)), atol=1e-9)


@given(vectors)
def test_a_share_has_the_signs_of_its_word(rows):
    assert (squashed_shares(rows) * rows >= 0).all()


def test_no_word_has_no_share():
    assert squashed_shares(np.zeros((0, 3))).shape == (0, 3)
    assert not squashed_shares(np.zeros((2, 3))).any()
