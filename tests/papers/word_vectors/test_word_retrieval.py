"""Nearest words: cosine and CSLS agree with their equations, whatever the size of a block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.word_vectors import nearest as retrieval
from isogloss.papers.word_vectors.nearest import WordRetriever, local_density, mutual_nearest

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(params=[1, 50, 1 << 24], ids=lambda size: f"blocks of {size}", scope="module", autouse=True)
def blocks(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "_BLOCK_SCORES", request.param)
        yield


def gaussian(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def cosine(x, y):
    return float(x.astype(float) @ y.astype(float) / (np.linalg.norm(x) * np.linalg.norm(y)))


def naive_cosines(queries, candidates):
    return np.array([[cosine(x, y) for y in candidates] for x in queries]).reshape(len(queries), len(candidates))


def naive_density(points, others, n):
    return np.array([np.mean(sorted((cosine(x, y) for y in others), reverse=True)[:n]) for x in points])


def naive_csls(queries, candidates, background, n):
    r_target, r_source = naive_density(queries, candidates, n), naive_density(candidates, background, n)
    return 2 * naive_cosines(queries, candidates) - r_target[:, None] - r_source[None, :]


def assert_are_the_best(nearest, scores, k):
    best = -np.sort(-scores, axis=1)[:, :k]
    np.testing.assert_allclose(nearest.scores, best, atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(scores, nearest.rows, axis=1), best, atol=1e-5)


@given(seed=SEEDS, queries=st.integers(0, 6), candidates=st.integers(1, 25), k=st.integers(0, 30), n=st.integers(1, 12))
@settings(deadline=None, max_examples=40)
def test_cosine_and_csls_are_their_equations(seed, queries, candidates, k, n):
    x, y, background = gaussian([seed, 1], queries, 3), gaussian([seed, 2], candidates, 3), gaussian([seed, 3], 15, 3)
    assert_are_the_best(WordRetriever(y).nearest(x, k), naive_cosines(x, y), k)
    assert_are_the_best(WordRetriever(y, background, n).nearest(x, k), naive_csls(x, y, background, n), k)
    np.testing.assert_allclose(local_density(y, background, n), naive_density(y, background, n), atol=1e-5)


@given(seed=SEEDS, columns=st.integers(1, 1200), k=st.integers(0, 5), kinds=st.sampled_from([2, 20, 10**6]))
@settings(deadline=None, max_examples=30)
def test_the_best_are_found_among_many_and_equals_come_in_the_order_of_rows(seed, columns, k, kinds):
    scores = np.random.default_rng(seed).integers(kinds, size=(3, columns)).astype(np.float32)
    k = min(k, columns)
    found, values = retrieval.best_columns(scores, k)
    wanted = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert found.tolist() == wanted.tolist()
    assert values.tolist() == np.take_along_axis(scores, wanted, axis=1).tolist()


def test_hubs_lose_their_lead_under_csls():
    """The hub is nearest to every query by cosine, though each query has a partner of its own."""
    partners, hub = np.split(np.eye(5, dtype=np.float32), [4])
    queries, candidates = 0.66 * partners + 0.75 * hub, np.vstack([partners, hub])
    assert WordRetriever(candidates).nearest(queries, 1).rows.ravel().tolist() == [4] * 4
    assert WordRetriever(candidates, queries, neighbours=2).nearest(queries, 1).rows.ravel().tolist() == [0, 1, 2, 3]


def test_lengths_do_not_matter_and_the_matrices_stay_as_they_were():
    x, y = gaussian(1, 5, 4), gaussian(2, 30, 4)
    before = x.copy(), y.copy()
    long = WordRetriever(y * np.arange(1, 31, dtype=np.float32)[:, None], x * 9).nearest(x * 5, 3)
    short = WordRetriever(y, x).nearest(x, 3)
    assert np.array_equal(long.rows, short.rows)
    np.testing.assert_allclose(long.scores, short.scores, atol=1e-5)
    assert np.array_equal(x, before[0]) and np.array_equal(y, before[1])


def test_vectors_of_zeros_have_the_cosine_zero():
    y = np.array([[1, 0], [0, 0], [-1, 0]], dtype=np.float32)
    rows, scores = WordRetriever(y).nearest(np.array([[2, 0], [0, 0]], dtype=np.float32), 3)
    assert rows.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert scores.tolist() == [[1, 0, -1], [0, 0, 0]]


def test_no_candidates_give_no_neighbours():
    nothing = np.zeros((0, 2), dtype=np.float32)
    assert WordRetriever(nothing).nearest(gaussian(1, 3, 2), 5).rows.shape == (3, 0)
    assert WordRetriever(nothing, gaussian(1, 3, 2)).nearest(gaussian(1, 3, 2), 5).rows.shape == (3, 0)
    for left, right in [(nothing, gaussian(1, 3, 2)), (gaussian(1, 3, 2), nothing), (nothing, nothing)]:
        assert len(mutual_nearest(left, right).source) == 0


def test_neighbours_come_with_their_words():
    y = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    found = WordRetriever(y).nearest_words(np.array([[0, 3]], dtype=np.float32), ["perro", "gato", "animal"], 2)
    assert [word for word, _ in found[0]] == ["gato", "animal"]
    assert [score for _, score in found[0]] == pytest.approx([1, 2**-0.5])


@given(seed=SEEDS, source=st.integers(1, 20), target=st.integers(1, 20), n=st.integers(1, 12))
@settings(deadline=None, max_examples=40)
def test_mutual_neighbours_are_each_others_best_by_csls(seed, source, target, n):
    x, y = gaussian([seed, 1], source, 3), gaussian([seed, 2], target, 3)
    scores = naive_csls(x, y, x, n)
    there, back = scores.argmax(axis=1), scores.argmax(axis=0)
    wanted = [(row, column) for row, column in enumerate(there) if back[column] == row]
    found = mutual_nearest(x, y, n)
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == wanted
    np.testing.assert_allclose(found.scores, [scores[pair] for pair in wanted], atol=1e-5)


def test_equal_words_have_one_partner_and_vectors_of_zeros_none():
    x = np.array([[1, 0], [1, 0], [0, 0], [0, 1]], dtype=np.float32)
    y = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.float32)
    found = mutual_nearest(x, y, 1)
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == [(0, 2), (3, 1)]
