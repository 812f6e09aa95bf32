"""Negatives are never positives, depend on seed and epoch alone, and come from where they are asked to come from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.layerwise.triples import HardNegatives, InBatchNegatives, RandomNegatives, Triples
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds


def texts(number):
    """Texts of one word, each another."""
    return TextIds(np.arange(number, dtype=np.int32), np.arange(number + 1))


def triples(pairs, queries=6, documents=9):
    query_of, positive_of = np.asarray(pairs, np.int32).T
    return Triples(texts(queries), texts(documents), query_of, positive_of)


PAIRS = [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (5, 0)]
pair_lists = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=1, max_size=30, unique=True)


def all_negatives(data, number=0):
    candidates = np.random.default_rng(number).integers(-1, 9, (6, 3)).astype(np.int32)
    kinds = [RandomNegatives(data, number, draws) for draws in (1, 3)]
    kinds += [InBatchNegatives(data, number, draws) for draws in (1, 3)]
    return [*kinds, *(HardNegatives(data, number, candidates, draws=draws) for draws in (1, 3))]


@given(pair_lists, st.integers(0, 3), st.integers(1, 10))
def test_a_negative_is_never_a_positive_of_its_query(pairs, epoch, batch):
    data = triples(pairs)
    known = set(pairs)
    for negatives in all_negatives(data):
        negatives.begin_epoch(epoch)
        for start in range(0, len(pairs), batch):
            rows = np.arange(start, min(len(pairs), start + batch))
            drawn = negatives.of(rows)
            assert drawn.shape == (len(rows), negatives.draws)
            made = {(int(data.query_of[row]), int(each)) for row, own in zip(rows, drawn, strict=True) for each in own}
            assert not made & known


def test_a_document_of_the_same_words_as_a_positive_is_no_negative():
    documents = TextIds(np.asarray([7, 8, 7, 8, 9], np.int32), np.asarray([0, 2, 4, 5]))
    data = Triples(texts(1), documents, np.zeros(50, np.int32), np.zeros(50, np.int32))
    negatives = RandomNegatives(data, 0)
    negatives.begin_epoch(0)
    assert set(negatives.of(np.arange(50))[:, 0]) == {2}


def test_epochs_differ_and_can_be_repeated():
    for negatives, again in zip(all_negatives(triples(PAIRS)), all_negatives(triples(PAIRS)), strict=True):
        rows, drawn = np.arange(len(PAIRS)), []
        for epoch in range(5):
            negatives.begin_epoch(epoch)
            drawn.append(negatives.state()["negatives"].ravel().tolist())
            again.begin_epoch(epoch)
            assert negatives.of(rows).tolist() == again.of(rows).tolist()
        assert len(set(map(tuple, drawn))) > 1


def test_in_batch_negatives_are_positives_of_the_batch():
    data = triples(PAIRS)
    negatives = InBatchNegatives(data, 0)
    negatives.begin_epoch(0)
    assert negatives.of(np.asarray([2, 3, 4])).tolist() == [[3], [4], [2]]
    assert negatives.of(np.asarray([0, 1, 2])).tolist() == [[2], [2], [0]]
    two = InBatchNegatives(data, 0, draws=2)
    two.begin_epoch(0)
    assert two.of(np.asarray([2, 3, 4])).tolist() == [[3, 4], [4, 2], [2, 3]]


def test_hard_negatives_are_candidates_and_the_share_is_kept():
    data = triples([(query, query) for query in range(6)] * 200)
    candidates = np.asarray([[0, 7, 8]] * 5 + [[5, -1, -1]], np.int32)
    hard = HardNegatives(data, 0, candidates)
    hard.begin_epoch(0)
    drawn = hard.of(np.arange(len(data)))[:, 0]
    assert set(drawn[data.query_of == 0]) == {7, 8}
    assert set(drawn[data.query_of == 1]) == {0, 7, 8}
    assert set(drawn[data.query_of == 5]) == {0, 1, 2, 3, 4, 6, 7, 8}  # no candidate is left: any other document
    half = HardNegatives(data, 0, candidates, share=0.5)
    half.begin_epoch(0)
    drawn = half.of(np.arange(len(data)))[data.query_of == 0, 0]
    assert 0.5 < np.isin(drawn, [7, 8]).mean() < 0.8  # half of them, and two in eight of the others


def test_candidates_are_mined_anew_each_epoch_but_not_when_one_is_resumed():
    mined = iter([np.full((6, 1), row, np.int32) for row in (7, 8)])
    data = triples(PAIRS)
    negatives = HardNegatives(data, 0, np.full((6, 0), -1, np.int32), mine=lambda: next(mined))
    rows, seen = np.arange(len(PAIRS)), []
    for epoch in (0, 1, 2):
        negatives.begin_epoch(epoch)
        seen.append(set(negatives.of(rows)[:, 0]))
    assert seen[1:] == [{7}, {8}]
    resumed = HardNegatives(data, 0, np.full((6, 0), -1, np.int32), mine=lambda: pytest.fail("mined again"))
    resumed.restore(negatives.state())
    resumed.begin_epoch(2)
    assert set(resumed.of(rows)[:, 0]) == {8}


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(InputError, match="no negative"):
        RandomNegatives(triples([(0, 0), (0, 1)], documents=2), 0)
    with pytest.raises(InputError, match="a row for each query"):
        HardNegatives(triples(PAIRS), 0, np.zeros((2, 3), np.int32))
