"""The approximate index: its recall, its measured recall, filters, threads, and search without faiss."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from isogloss.retrieval.ranking import Ranking
from isogloss.retrieval.vectors.approximate import DEPTHS, TARGET, ApproximateIndex, list_count, recall, sample_queries
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.storage import stored_as
from isogloss.retrieval.vectors.vector_index import VectorIndex
from isogloss.storage.errors import InputError

ROWS = 2_500


def clustered(rows=ROWS, dimensions=12, seed=0):
    """Vectors of forty topics, of very different lengths."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((40, dimensions))
    matrix = centres[random.integers(40, size=rows)] + 0.5 * random.standard_normal((rows, dimensions))
    return (matrix * np.exp(0.3 * random.standard_normal((rows, 1)))).astype(np.float32)


@pytest.fixture(scope="module")
def indexes():
    """An approximate index and an exact one of the same vectors."""
    pytest.importorskip("faiss")
    matrix, order = clustered(), np.random.default_rng(1).permutation(ROWS)
    return (
        VectorIndex.build(matrix, order, "float32", approximate="yes"),
        VectorIndex.build(matrix, order, "float32", approximate="no"),
    )


@pytest.fixture(scope="module")
def queries():
    return sample_queries(clustered(), 150)


def test_recall_is_the_share_of_the_exact_results_that_are_found():
    def ranking(*rows):
        return Ranking(np.asarray(rows), np.zeros(len(rows)))

    assert recall([ranking(1, 2), ranking(3, 4)], [ranking(2, 1), ranking(4, 5)], k=2) == 0.75
    assert recall([ranking(1, 2)], [ranking(2, 1)], k=1) == 0.0
    assert recall([ranking()], [ranking()]) == 1.0


def test_sample_queries_are_near_rows_and_the_same_each_time():
    matrix = clustered()
    queries = sample_queries(matrix, 50)
    assert queries.tolist() == sample_queries(matrix, 50).tolist()
    assert len(sample_queries(matrix[:7], 50)) == 7
    best = [ranking.scores[0] for ranking in ExactIndex(matrix, np.arange(ROWS)).search_batch(queries, 1)]
    assert (best > 0.5 * np.linalg.norm(queries, axis=1) * np.linalg.norm(matrix, axis=1).mean()).all()


@pytest.mark.parametrize("length", [0.0, 1.0, 1e6, 1e18])
def test_sample_queries_of_equal_rows_are_finite(length):
    matrix = np.full((2_000, 1), length, dtype=np.float32)
    assert sample_queries(matrix, 500).tolist() == matrix[:500].tolist()


def test_the_recall_reaches_what_it_was_tuned_to(indexes, queries):
    approximate, exact = indexes
    about = approximate.about()
    assert about["kind"] == "approximate"
    assert about["recall"] >= TARGET
    assert [level["k"] for level in about["parts"][0]["levels"]] == list(DEPTHS)
    for k in (1, 10, 30, 100):
        found, wanted = approximate.search_batch(queries, k), exact.search_batch(queries, k)
        assert recall(found, wanted, k) >= 0.96
        assert all(len(ranking.rows) == k for ranking in found)


def test_only_a_part_of_the_lists_is_probed(indexes):
    (part,) = indexes[0].about()["parts"]
    assert all(level["probes"] <= part["lists"] / 2 for level in part["levels"])


def test_scores_are_the_exact_inner_products_and_ranks_follow_them(indexes, queries):
    approximate, exact = indexes
    for query, ranking in zip(queries, approximate.search_batch(queries, 20), strict=True):
        assert ranking.scores.tolist() == exact.score(query, ranking.rows).tolist()  # to the last bit
        order = np.lexsort((exact.id_order[ranking.rows], -ranking.scores))
        assert order.tolist() == list(range(20))


def test_a_query_alone_finds_what_it_finds_in_a_batch(indexes, queries):
    approximate, _ = indexes
    for query, ranking in zip(queries[:40], approximate.search_batch(queries[:40], 10), strict=True):
        assert approximate.search(query, 10).rows.tolist() == ranking.rows.tolist()


def test_more_results_than_it_was_tuned_for_are_found_exactly(indexes, queries):
    approximate, exact = indexes
    for left, right in zip(
        approximate.search_batch(queries[:5], 101), exact.search_batch(queries[:5], 101), strict=True
    ):
        assert left.rows.tolist() == right.rows.tolist()


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.02, 0.3, 0.9, 1.0])
def test_a_filter_is_honoured_and_costs_no_recall(indexes, queries, share):
    allowed = np.random.default_rng(3).random(ROWS) < share
    found, wanted = (index.search_batch(queries, 10, allowed) for index in indexes)
    assert all(allowed[ranking.rows].all() for ranking in found)
    assert [len(ranking.rows) for ranking in found] == [len(ranking.rows) for ranking in wanted]
    assert recall(found, wanted) >= 0.97


def test_a_filter_that_leaves_nothing_near_a_query_finds_the_best_of_the_rest(indexes, queries):
    """The lists that a query points at are empty; scores of the others are so near each other that any will do."""
    approximate, exact = indexes
    for query in queries[:20]:
        allowed = exact.scores(query) < np.quantile(exact.scores(query), 0.8)
        found, wanted = approximate.search(query, 10, allowed), exact.search(query, 60, allowed)
        assert len(found.rows) == 10
        assert np.isin(found.rows, wanted.rows).mean() >= 0.9


def test_threads_may_share_it(indexes, queries):
    approximate, _ = indexes
    wanted = [ranking.rows.tolist() for ranking in approximate.search_batch(queries, 10)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda query: approximate.search(query, 10).rows.tolist(), queries))
    assert found == wanted


def test_an_index_made_twice_is_the_same_twice(indexes):
    approximate, exact = indexes
    again = VectorIndex.build(exact.rows(np.arange(ROWS)), exact.id_order, "float32", approximate="yes")
    assert again.about() == approximate.about()


@pytest.mark.parametrize("dimensions", [1, 130])
def test_odd_dimensions_are_padded(dimensions):
    pytest.importorskip("faiss")
    matrix = clustered(1_500, dimensions)
    exact, queries = ExactIndex(matrix, np.arange(1_500)), sample_queries(matrix, 20)
    index = ApproximateIndex.build(matrix, exact.longest)
    found = exact.rank(queries, index.candidates(queries, 200, index.lists), 10)
    assert recall(found, exact.search_batch(queries, 10)) >= 0.95


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
@pytest.mark.parametrize("dimensions", [1, 2, 7, 16, 65])
def test_candidates_are_ranked_by_the_scores_of_the_exact_index(storage, dimensions):
    matrix = clustered(300, dimensions)
    kept, queries = ExactIndex(stored_as(matrix, storage), np.arange(300)), sample_queries(matrix, 9)
    for count, width in ((1, 1), (1, 50), (9, 3), (9, 300)):
        candidates = np.random.default_rng(0).integers(-1, 300, size=(count, width))
        for query, rows, ranking in zip(queries, candidates, kept.rank(queries[:count], candidates, 5), strict=False):
            found = rows[rows >= 0]
            scores = kept.score(query, found)
            best = np.lexsort((found, -scores))[:5]
            assert ranking.rows.tolist() == found[best].tolist()
            assert ranking.scores.tolist() == scores[best].tolist()  # to the last bit


def test_noise_is_searched_exactly_with_a_remark():
    """Noise has no near rows: too many lists would have to be probed."""
    pytest.importorskip("faiss")
    matrix = np.random.default_rng(0).standard_normal((1_200, 40)).astype(np.float32)
    (part,) = VectorIndex.build(matrix, np.arange(1_200), "float32", approximate="yes").about()["parts"]
    assert (part["kind"], part["recall"]) == ("exact", 1.0)
    assert part["remark"].startswith("searched exactly: ")


def test_without_faiss_the_search_is_exact_with_a_remark(indexes, queries, monkeypatch, tmp_path):
    approximate, exact = indexes
    approximate.save(tmp_path / "index")
    monkeypatch.setitem(sys.modules, "faiss", None)
    built = VectorIndex.build(clustered(), exact.id_order, "float32", approximate="yes")
    loaded = VectorIndex.load([tmp_path / "index"], exact.id_order)
    for index in (built, loaded):
        (part,) = index.about()["parts"]
        assert part["kind"] == "exact"
        assert part["remark"] == (
            "searched exactly: an approximate index needs the package 'faiss': pip install 'isogloss[ann]'"
        )
        found, wanted = index.search(queries[0], 10), exact.search(queries[0], 10)
        assert found.rows.tolist() == wanted.rows.tolist()


def test_lists_grow_with_the_root_of_the_rows_and_wide_ones_are_fewer():
    assert [list_count(rows, 64) for rows in (1, 1_000, 1_000_000, 4_000_000)] == [2, 64, 2048, 4096]
    assert [list_count(1_000_000, dimension) for dimension in (1, 256, 1_024)] == [2048, 1024, 512]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (np.full(12, np.nan), "not finite, or is far too long"),
        (np.full(12, 1e30), "not finite, or is far too long"),
        (np.full(12, 1e300), "not finite, or is far too long"),
        (np.zeros(13), "a query of 13 components, documents of 12"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # of the example itself
def test_a_query_that_does_not_fit_is_refused(indexes, query, message, dtype):
    with pytest.raises(InputError, match=message):
        indexes[0].search(query.astype(dtype), 10)


def test_queries_may_have_any_memory_layout(indexes, queries):
    approximate, _ = indexes
    wanted = [ranking.rows.tolist() for ranking in approximate.search_batch(queries, 10)]
    frozen = queries.copy()
    frozen.flags.writeable = False
    for same in (
        np.asfortranarray(queries),
        queries.astype(np.float64),
        np.repeat(queries, 2, axis=1)[:, ::2],
        frozen,
    ):
        assert [ranking.rows.tolist() for ranking in approximate.search_batch(same, 10)] == wanted
