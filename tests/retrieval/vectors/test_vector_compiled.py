"""Compiled search: what numpy and faiss find, to the last bit, and only for whoever asks much."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval.vectors import vector_fast, vector_part
from isogloss.retrieval.vectors.approximate import ApproximateIndex
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.vector_fast import MANY, FastSearch
from isogloss.retrieval.vectors.vector_rescoring import Rescoring
from isogloss.retrieval.vectors.vector_storage import stored_as
from isogloss.retrieval.vectors.vectors import VectorIndex


@pytest.fixture(scope="module")
def compiled():
    pytest.importorskip("numba")
    from isogloss.retrieval.vectors import vector_compiled

    return vector_compiled


def assert_same(left, right):
    for one, other in zip(left, right, strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 20), st.integers(1, 9), st.sampled_from(["float32", "float16", "int8"]),
    st.sampled_from([1e-6, 1e-3, 1.0, 100.0]), st.integers(0, 99),
)  # fmt: skip
def test_the_best_are_those_of_numpy_to_the_last_bit(compiled, dimension, k, count, storage, size, seed):
    """Rows come twice, so that ids decide; sizes go down to where float16 has but a few bits."""
    random = np.random.default_rng(seed)
    matrix = (size * random.standard_normal((60, dimension))).astype(np.float32)
    kept = ExactIndex(stored_as(np.concatenate([matrix, matrix]), storage), random.permutation(120))
    queries = random.standard_normal((count, dimension)).astype(np.float32)
    candidates = np.stack([random.permutation(120)[: k + 9] for _ in range(count)])
    candidates[:, k + random.integers(9) :] = -1
    rescoring = Rescoring(kept)
    assert_same(rescoring.best(queries, candidates, k, compiled), rescoring.best(queries, candidates, k))


def test_a_score_that_could_be_rounded_either_way_is_summed_as_the_exact_index_does(compiled):
    """What is left of the sum is as small as its error may be."""
    rows = np.zeros((40, 3), dtype=np.float16)
    rows[:, 0], rows[:, 1], rows[:, 2] = 1000, -1000, np.arange(40) * 1e-3
    kept = ExactIndex(rows, np.arange(40))
    rescoring = Rescoring(kept)
    queries, candidates = np.asarray([[1e4, 1e4, 1e-7]], dtype=np.float32), np.arange(40)[np.newaxis]
    _, _, sure = compiled.best_candidates(
        rescoring._bits, kept.longest, rescoring._id_order, queries, candidates, 5, 2.0**-136
    )
    assert not sure
    (found,) = rescoring.best(queries, candidates, 5, compiled)
    assert found.scores.tolist() == kept.score(queries[0], found.rows).tolist()


def test_no_score_is_sure_where_the_processor_takes_small_numbers_for_zero(compiled):
    rescoring = Rescoring(ExactIndex(np.eye(9, dtype=np.float16) + np.float16(1), np.arange(9)))
    queries, candidates = np.ones((1, 9), dtype=np.float32), np.arange(9)[np.newaxis]
    for smallest, wanted in ((2.0**-136, True), (0.0, False)):
        found = compiled.best_candidates(rescoring._bits, 9.0, rescoring._id_order, queries, candidates, 5, smallest)
        assert found[2] is wanted


def test_fewer_candidates_than_asked_for_are_nothing(compiled):
    rescoring = Rescoring(ExactIndex(np.eye(9, dtype=np.float16), np.arange(9)))
    candidates = np.asarray([[3, 4, -1, -1], [1, 2, 3, 4]])
    for functions in (None, compiled):
        assert rescoring.best(np.ones((2, 9), np.float32), candidates, 3, functions) is None
        assert rescoring.best(np.ones((2, 9), np.float32), candidates, 2, functions) is not None


@pytest.mark.parametrize("dimension", [1, 2, 7, 64, 130])
@pytest.mark.parametrize("count", [1, 8, 9, 40])
def test_the_nearest_lists_are_those_of_faiss(compiled, dimension, count):
    """The order of sums differs, and with it which of two lists as near as each other is taken, once in a while."""
    pytest.importorskip("faiss")
    random = np.random.default_rng(dimension)
    matrix = random.standard_normal((1_200, dimension)).astype(np.float32)
    index = ApproximateIndex.build(matrix, ExactIndex(matrix, np.arange(1_200)).longest)
    queries = random.standard_normal((count, dimension)).astype(np.float32)
    for probes in (1, 5, index.count // 2):
        wanted, found = (index.candidates(queries, 30, probes, None, functions) for functions in (None, compiled))
        assert np.mean(np.sort(found) == np.sort(wanted)) >= 0.95
    nothing = np.zeros((count, dimension), dtype=np.float32)
    assert index.candidates(nothing, 30, 5, None, compiled).shape == (count, 30)


def test_a_filter_is_honoured(compiled):
    pytest.importorskip("faiss")
    matrix = np.repeat(np.random.default_rng(0).standard_normal((40, 8)), 50, axis=0).astype(np.float32)
    matrix += np.random.default_rng(1).standard_normal(matrix.shape).astype(np.float32) / 5
    index = ApproximateIndex.build(matrix, ExactIndex(matrix, np.arange(2_000)).longest)
    allowed = np.random.default_rng(2).random(2_000) < 0.5
    found = index.candidates(matrix[:3], 20, 10, allowed, compiled)
    assert (found >= 0).all()
    assert allowed[found].all()


def test_few_queries_do_without_and_many_do_not(compiled):
    fast = FastSearch()
    assert fast.functions(MANY - 1) is None
    assert fast.functions(1) is None
    assert fast.functions(1) is compiled
    begun = FastSearch()
    begun.begin()
    assert begun.functions(1) is compiled


def test_without_numba_search_is_never_compiled(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    vector_fast._compiled.cache_clear()
    fast = FastSearch()
    fast.begin()
    assert fast.functions(1) is None
    vector_fast._compiled.cache_clear()


def test_an_index_answers_alike_before_and_after(compiled, monkeypatch, tmp_path):
    pytest.importorskip("faiss")
    random = np.random.default_rng(0)
    matrix = np.repeat(random.standard_normal((50, 20)), 60, axis=0) + random.standard_normal((3_000, 20)) / 4
    order = random.permutation(3_000)
    VectorIndex.build(matrix, order, "float16", approximate="yes").save(tmp_path)
    index = VectorIndex.load([tmp_path], order)
    queries = matrix[::100].astype(np.float32)
    monkeypatch.setattr(vector_part, "FAST", FastSearch())
    before = index.search_batch(queries, 10)
    vector_part.FAST.begin()
    assert_same(index.search_batch(queries, 10), before)
    assert_same([index.search(query, 10) for query in queries], before)
