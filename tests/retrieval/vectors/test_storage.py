"""Vectors in eight bits: how near they are, that nothing is rounded twice, and that an index searches them exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.storage import (
    LARGEST,
    STORAGES,
    Quantised,
    float32_rows,
    float64_rows,
    storage_of,
    stored_as,
)

SIZES = st.tuples(st.integers(0, 12), st.integers(0, 9))
VALUES = st.floats(-(2.0**60), 2.0**60, width=32)
MATRICES = arrays(np.float32, SIZES, elements=VALUES)


@settings(max_examples=66, deadline=None)
@given(MATRICES)
def test_a_component_is_off_by_half_a_step_at_most(matrix):
    rows = Quantised.of(matrix)
    step = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0) / LARGEST
    error = np.abs(float64_rows(rows) - matrix)
    assert (error <= step * 0.501 + np.finfo(np.float32).tiny).all()


@settings(max_examples=66, deadline=None)
@given(MATRICES)
def test_float32_and_float64_see_the_same_vector(matrix):
    rows = Quantised.of(matrix)
    assert float32_rows(rows).astype(np.float64).tolist() == float64_rows(rows).tolist()


@settings(max_examples=66, deadline=None)
@given(MATRICES)
def test_what_was_kept_in_eight_bits_is_kept_unchanged_again(matrix):
    once = Quantised.of(matrix)
    twice = Quantised.of(float32_rows(once))
    assert twice.codes.tolist() == once.codes.tolist()
    assert float32_rows(twice).tolist() == float32_rows(once).tolist()


def test_a_row_of_zeros_stays_one():
    assert float32_rows(Quantised.of(np.zeros((2, 3)))).tolist() == [[0.0] * 3] * 2


def test_many_rows_are_kept_as_few_are():
    matrix = np.random.default_rng(0).standard_normal((70_000, 2)).astype(np.float32)
    rows = Quantised.of(matrix)
    few = Quantised.of(matrix[65_530:65_540])
    assert rows[65_530:65_540].codes.tolist() == few.codes.tolist()
    assert rows[np.asarray([65_535])].scales.tolist() == few.scales[5:6].tolist()


def test_integers_without_as_many_scales_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        Quantised(np.zeros((3, 2), dtype=np.int8), np.zeros(2, dtype=np.float32))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 20), st.floats(0, 1), st.integers(0, 99))
def test_an_index_of_eight_bits_is_exact_in_its_rounded_vectors(rows, dimensions, k, share, seed):
    random = np.random.default_rng(seed)
    kept = Quantised.of(random.standard_normal((rows, dimensions)).astype(np.float32))
    id_order, allowed = random.permutation(rows), random.random(rows) < share
    index, plain = ExactIndex(kept, id_order, block=64), ExactIndex(float32_rows(kept), id_order)
    queries = random.standard_normal((3, dimensions)).astype(np.float32)
    assert index.longest == plain.longest
    for mask in (None, allowed):
        for left, right in zip(index.search_batch(queries, k, mask), plain.search_batch(queries, k, mask), strict=True):
            assert left.rows.tolist() == right.rows.tolist()
            assert left.scores.tolist() == right.scores.tolist()
    assert index.scores(queries[0]).tolist() == plain.scores(queries[0]).tolist()


@pytest.mark.parametrize("storage", STORAGES)
def test_rows_know_how_they_are_kept(storage):
    matrix = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    rows = stored_as(matrix, storage)
    assert storage_of(rows) == storage
    np.testing.assert_allclose(float32_rows(rows), matrix, atol=0.02)


def test_there_is_no_other_storage():
    with pytest.raises(ValueError, match="float32, float16, int8, not as float64"):
        stored_as(np.zeros((1, 1)), "float64")
