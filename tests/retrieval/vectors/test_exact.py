"""The exact vector index: the beginning of a full sort, whatever the blocks, batches, ties and files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isogloss.retrieval.ranking import top_k
from isogloss.retrieval.vectors.exact import GROUP, ExactIndex
from isogloss.retrieval.vectors.storage import float32_rows
from isogloss.storage.errors import InputError

BLOCKS = st.sampled_from([None, 1, 2, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP, 100])
DTYPES = st.sampled_from([np.float16, np.float32])


@st.composite
def small_integer_problems(draw):
    """Vectors of few small integers: every sum is exact, and most scores are ties."""
    rows, dimensions, count = draw(st.integers(0, 150)), draw(st.integers(0, 4)), draw(st.integers(0, 5))
    values = st.integers(-2, 2)
    matrix = draw(arrays(np.int64, (rows, dimensions), elements=values))
    queries = draw(arrays(np.int64, (count, dimensions), elements=values))
    id_order = np.random.default_rng(draw(st.integers(0, 99))).permutation(rows)
    return matrix, queries, id_order


def random_index(rows=300, dimensions=37, seed=0, **options):
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((rows, dimensions)).astype(np.float32)
    return ExactIndex(matrix, random.permutation(rows), **options)


def random_queries(count, dimensions=37, seed=1):
    return np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)


def assert_same(left, right):
    assert left.rows.tolist() == right.rows.tolist()
    assert left.scores.tolist() == right.scores.tolist()  # to the last bit
    assert left.scores.dtype == right.scores.dtype == np.float32


@settings(max_examples=100, deadline=None)
@given(small_integer_problems(), st.integers(0, 160), BLOCKS, DTYPES)
def test_a_search_is_the_beginning_of_a_full_sort(problem, k, block, dtype):
    matrix, queries, id_order = problem
    index = ExactIndex(matrix.astype(dtype), id_order, block)
    found = index.search_batch(queries.astype(np.float32), k)
    assert len(found) == len(queries)
    for query, (rows, scores) in zip(queries, found, strict=True):
        products = matrix.astype(np.float64) @ query
        wanted = sorted(range(len(matrix)), key=lambda row: (-products[row], id_order[row]))[:k]
        assert rows.tolist() == wanted
        assert scores.tolist() == products[wanted].tolist()
        assert index.search(query, k).rows.tolist() == wanted
        assert index.scores(query).tolist() == products.tolist()


@settings(max_examples=100, deadline=None)
@given(small_integer_problems(), st.integers(0, 160), BLOCKS, DTYPES, st.floats(0, 1), st.integers(0, 99))
def test_only_what_is_allowed_is_found_and_all_of_that(problem, k, block, dtype, share, seed):
    matrix, queries, id_order = problem
    allowed = np.random.default_rng(seed).random(len(matrix)) < share
    index = ExactIndex(matrix.astype(dtype), id_order, block)
    for query, (rows, scores) in zip(queries, index.search_batch(queries, k, allowed), strict=True):
        products = matrix.astype(np.float64) @ query
        wanted = sorted(np.flatnonzero(allowed), key=lambda row: (-products[row], id_order[row]))[:k]
        assert rows.tolist() == wanted
        assert scores.tolist() == products[wanted].tolist()
        assert index.search(query, k, allowed).rows.tolist() == wanted


@pytest.mark.parametrize("share", [0.001, 0.1, 0.25, 0.3, 0.9, 0.9999])
def test_a_filter_changes_no_bit_of_a_score(share):
    index = random_index(rows=20_000, dimensions=24)
    allowed = np.random.default_rng(2).random(20_000) < share
    rows = np.flatnonzero(allowed)
    for query, ranking in zip(
        random_queries(5, 24), index.search_batch(random_queries(5, 24), 12, allowed), strict=True
    ):
        assert_same(ranking, top_k(index.score(query, rows), 12, index.id_order, rows))


@pytest.mark.parametrize("dimensions", [1, 3, 16, 37, 64, 301])
@pytest.mark.parametrize("block", [None, 33, 64, 100])
def test_neither_batches_nor_blocks_change_a_bit_of_the_result(dimensions, block):
    plain = random_index(dimensions=dimensions)
    index = ExactIndex(plain.matrix, plain.id_order, block)
    queries = random_queries(70, dimensions)
    wanted = [top_k(plain.scores(query), 9, plain.id_order) for query in queries]
    for size in (1, 2, 5, 31, 64, 70):
        for start in range(0, len(queries), size):
            for number, ranking in enumerate(index.search_batch(queries[start : start + size], 9), start):
                assert_same(ranking, wanted[number])


@pytest.mark.parametrize("k", [1, 2, 10, 37, 200, 5_000, 30_000])
def test_many_rows_are_searched_as_exactly_as_few(k):
    index = random_index(rows=20_000, dimensions=8)
    queries = random_queries(3, 8)
    for query, ranking in zip(queries, index.search_batch(queries, k), strict=True):
        assert_same(ranking, top_k(index.scores(query), k, index.id_order))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 70), st.integers(2, 130), st.integers(1, 70), st.integers(1, 8), st.integers(0, 99))
def test_equal_vectors_have_equal_scores_and_are_in_the_order_of_their_ids(dimensions, copies, block, count, seed):
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((150, dimensions)).astype(np.float32)
    copied = random.choice(len(matrix), size=copies, replace=False)
    matrix[copied] = 3 * matrix[copied[0]]
    id_order = random.permutation(len(matrix))
    index = ExactIndex(matrix, id_order, block)
    queries = np.repeat(matrix[copied[:1]], count, axis=0)
    assert len(set(index.score(queries[0], copied).tolist())) == 1
    alone = index.search(queries[0], len(matrix))
    where = np.flatnonzero(np.isin(alone.rows, copied))
    assert np.ptp(where) == copies - 1  # side by side
    assert alone.rows[where].tolist() == sorted(copied.tolist(), key=lambda row: id_order[row])
    for cut in (1, copies // 2, copies):
        for ranking in index.search_batch(queries, cut):
            assert ranking.rows.tolist() == alone.rows[:cut].tolist()


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize("block", [None, 64])
def test_what_float32_sums_would_lose_still_decides(count, block):
    """Halves that cancel but for the last component, far smaller than the rounding of the sum before it."""
    random = np.random.default_rng(3)
    half, small = random.standard_normal((4_000, 30)), random.random((4_000, 1)) / 1e6
    matrix = np.hstack([half, half, small]).astype(np.float32)
    index = ExactIndex(matrix, np.arange(4_000), block)
    queries = random.standard_normal((count, 30))
    queries = np.hstack([queries, -queries, np.ones((count, 1))]).astype(np.float32)
    wanted = np.argsort(-matrix[:, -1], kind="stable")
    for k in (1, 10):
        for ranking in index.search_batch(queries, k):
            assert ranking.rows.tolist() == wanted[:k].tolist()


def test_one_vector_a_million_times_longer_than_the_others_does_not_hide_them():
    index = random_index()
    matrix = index.matrix.copy()
    matrix[17] *= 1e6
    index = ExactIndex(matrix, index.id_order, block=50)
    for query in random_queries(5):
        assert_same(index.search(query, 5), top_k(index.scores(query), 5, index.id_order))


def test_some_rows_score_what_they_score_among_all():
    index = random_index(rows=9_000)
    rows = np.asarray([8_999, 0, 4_096, 4_095, 17, 17])
    for query in random_queries(3):
        assert index.score(query, rows).tolist() == index.scores(query)[rows].tolist()


def test_a_score_is_the_inner_product():
    index = random_index()
    for query in random_queries(3):
        wanted = index.matrix.astype(np.longdouble) @ query.astype(np.longdouble)
        np.testing.assert_allclose(index.scores(query), wanted.astype(float), rtol=1e-7, atol=1e-12)


def test_negative_scores_are_found_too():
    index = ExactIndex(-np.ones((40, 2), dtype=np.float32) * np.arange(1, 41)[:, None], np.arange(40))
    rows, scores = index.search(np.ones(2), 3)
    assert (rows.tolist(), scores.tolist()) == ([0, 1, 2], [-2.0, -4.0, -6.0])


def test_a_query_of_nothing_but_zeros_finds_the_first_ids():
    index = random_index()
    found = index.search(np.zeros(37), 4)
    assert index.id_order[found.rows].tolist() == [0, 1, 2, 3]
    assert found.scores.tolist() == [0.0] * 4


def test_an_empty_index_finds_nothing():
    index = ExactIndex(np.zeros((0, 5), dtype=np.float32), np.zeros(0, dtype=np.int64))
    assert len(index) == 0
    assert index.dimension == 5
    assert len(index.search(np.ones(5), 3).rows) == 0
    assert len(index.scores(np.ones(5))) == 0
    assert index.search_batch(np.zeros((0, 5)), 3) == []


def test_other_numbers_become_float32():
    index = ExactIndex(np.asarray([[1, 2], [3, 4]]), np.arange(2))
    assert index.matrix.dtype == np.float32
    assert index.search(np.asarray([1, 1]), 1).scores.tolist() == [7.0]


def test_widening_float16_by_its_bits_is_the_cast():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 2)
    widened = float32_rows(finite)
    assert widened.view(np.uint32).tolist() == finite.astype(np.float32).view(np.uint32).tolist()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e20, 1e300])
def test_a_vector_without_a_length_is_refused_with_its_row(wrong):
    matrix = np.ones((5_000, 2))
    matrix[4_321, 1] = wrong
    with pytest.raises(InputError, match=r"vector of document 4321 .*not finite, or is far too long"):
        ExactIndex(matrix, np.arange(5_000))
    with pytest.raises(InputError, match="vector of query 1 "):
        ExactIndex(np.ones((3, 2)), np.arange(3)).search_batch(matrix[4_320:], 1)


def test_the_longest_vectors_that_are_taken_do_not_overflow():
    index = ExactIndex(np.full((3, 2), 1e19) * [[1], [-1], [1]], np.asarray([2, 1, 0]))
    found = index.search(np.asarray([1e19, 1e19]), 3)
    assert found.rows.tolist() == [2, 0, 1]
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("method", ["search", "scores", "score"])
def test_a_query_of_another_dimension_is_an_error_that_says_both(method):
    arguments = {"search": (1,), "scores": (), "score": ([0],)}[method]
    with pytest.raises(InputError, match="a query of 50 components, documents of 37: use the model"):
        getattr(random_index(), method)(np.zeros(50), *arguments)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ExactIndex(np.zeros((3, 2)), np.arange(4)),
        lambda: ExactIndex(np.zeros(3), np.arange(3)),
        lambda: random_index(block=0),
        lambda: random_index().search(np.zeros(37), -1),
        lambda: random_index().search_batch(np.zeros(37), 1),
        lambda: random_index().search(np.zeros(37), 1, allowed=np.ones(299, dtype=bool)),
    ],
)
def test_wrong_arguments_are_a_value_error(wrong):
    with pytest.raises(ValueError, match=r"needed|do not fit|does not fit"):
        wrong()
