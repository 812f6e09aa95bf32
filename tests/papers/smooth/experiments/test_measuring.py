"""Ranks among a whole collection by matrix products: as the definition says, ties by id, on numpy and on torch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.evaluation.measures import measure
from isogloss.papers.smooth.experiments import measuring
from isogloss.papers.smooth.experiments.measuring import collection_ranks, gains_at, pair_scores
from isogloss.retrieval.ranking import top_k


@pytest.fixture(params=["numpy", "torch"])
def library(request, monkeypatch):
    """The arithmetic of a GPU, on torch's tensors of the processor."""
    if request.param == "torch":
        torch = pytest.importorskip("torch")
        place = measuring.on_device
        monkeypatch.setattr(measuring, "on_device", lambda array, device: torch.from_numpy(place(array, device)))


def problem(seed, queries=9, documents=30, dimension=3):
    """Vectors of few whole numbers, so that many documents have equal scores; the last query knows no word."""
    random = np.random.default_rng(seed)
    left = random.integers(-1, 2, (queries, dimension)).astype(np.float32)
    left[-1] = 0
    right = random.integers(-1, 2, (documents, dimension)).astype(np.float32)
    query_of = np.repeat(np.arange(queries, dtype=np.int32), 4)
    document_of = np.concatenate([random.permutation(documents)[:4] for _ in range(queries)]).astype(np.int32)
    return left, right, query_of, document_of, random.permutation(documents)


def full_order(left, right, id_order, query):
    found = (right.astype(np.float64) @ left[query].astype(np.float64)).astype(np.float32)
    return top_k(found, len(right), id_order).rows.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_positions_in_the_order_of_the_index(library, monkeypatch, seed):
    monkeypatch.setattr(measuring, "QUERY_BLOCK", 4)
    monkeypatch.setitem(measuring.SCORE_BLOCK, "cpu", 70)  # two pairs at a time
    left, right, query_of, document_of, id_order = problem(seed)
    ranks = collection_ranks(left, right, query_of, document_of, id_order)
    for query, document, rank in zip(query_of.tolist(), document_of.tolist(), ranks.tolist(), strict=True):
        if left[query].any():
            assert rank == 1 + full_order(left, right, id_order, query).index(document)
        else:
            assert rank > len(right)


def test_pairs_are_scored_in_any_blocks(library, monkeypatch):
    left, right, query_of, document_of, _ = problem(0)
    whole = pair_scores(left, right, query_of, document_of)
    monkeypatch.setitem(measuring.SCORE_BLOCK, "cpu", 10)
    assert whole.dtype == np.float32
    assert pair_scores(left, right, query_of, document_of).tolist() == whole.tolist()
    assert whole.tolist() == (left[query_of] * right[document_of]).sum(axis=1).tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_gains_by_ranks_measure_what_whole_rankings_would(seed):
    left, right, query_of, document_of, id_order = problem(seed)
    grades = np.random.default_rng(seed).integers(0, 3, len(query_of)).astype(np.int32)
    ranks = collection_ranks(left, right, query_of, document_of, id_order)
    found = gains_at(ranks, query_of, grades, top=2, depth=20)
    assert found.gains.shape == (len(left), 20)
    for query in range(len(left)):
        mine = query_of == query
        grade_of = dict(zip(document_of[mine].tolist(), grades[mine].tolist(), strict=True))
        order = full_order(left, right, id_order, query)[:20] if left[query].any() else []
        assert found.gains[query].tolist() == [grade_of.get(document, 0) for document in order] + [0] * (
            20 - len(order)
        )
        assert found.judged[query].tolist() == sorted(grades[mine].tolist(), reverse=True)
    assert all(len(values) == len(left) for values in measure(found).values())
