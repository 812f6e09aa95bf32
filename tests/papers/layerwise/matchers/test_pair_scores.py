"""Scores of given pairs do not depend on the batches they are computed in; lists are measured as arrays."""

import numpy as np
import pytest

from isogloss.papers.examples import RankedLists
from isogloss.text.ids import TextIds

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.matchers import pair_scores
from isogloss.papers.layerwise.matchers.cntn import Cntn
from isogloss.papers.layerwise.matchers.match_srnn import MatchSrnn
from isogloss.papers.layerwise.matchers.pair_scores import PairScores
from isogloss.papers.layerwise.matchers.scorer import WordTables
from isogloss.papers.towers import Texts

WORDS = 9


def texts(seed, number, longest):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, number)
    return TextIds(rng.integers(0, WORDS, lengths.sum()).astype(np.int32), np.append(0, np.cumsum(lengths)))


def scorer(kind):
    rng = np.random.default_rng(0)
    tables = WordTables(*(rng.normal(0, 0.5, (WORDS, 4)).astype(np.float32) for _ in range(2)), dropout=0.5)
    torch.manual_seed(0)
    return Cntn(tables, 3, 2, 2, 2, 4, 2) if kind == "cntn" else MatchSrnn(tables, 3, 3)


@pytest.mark.parametrize("kind", ["cntn", "match-srnn"])
@pytest.mark.parametrize("cells", [1, 40, 10_000])
def test_batches_make_no_difference(kind, cells, monkeypatch):
    monkeypatch.setitem(pair_scores._BATCH_CELLS, "cpu", cells)
    monkeypatch.setattr("isogloss.papers.torch_inference._BATCH", 7)
    queries, documents, made = texts(1, 6, 5), texts(2, 8, 9), scorer(kind)
    rng = np.random.default_rng(3)
    query_of, document_of = rng.integers(0, 6, 30).astype(np.int32), rng.integers(0, 8, 30).astype(np.int32)
    found = PairScores(made, documents)(queries, query_of, document_of)
    for number, (query, document) in enumerate(zip(query_of, document_of, strict=True)):
        alone = made.eval()(one(queries, query), one(documents, document))
        assert found[number] == pytest.approx(alone.item(), abs=1e-5)


def one(all_texts, number):
    ids = all_texts.ids[all_texts.offsets[number] : all_texts.offsets[number + 1]].astype(np.int64)
    words = torch.tensor(ids if len(ids) else np.zeros(1, np.int64))[None]
    return Texts(words, torch.tensor([len(ids)]))


def test_documents_are_encoded_once(monkeypatch):
    made, calls = scorer("cntn"), []
    scores, numbers = PairScores(made, texts(2, 8, 9)), np.zeros(3, np.int32)
    encode = made.encode_documents
    monkeypatch.setattr(made, "encode_documents", lambda given: (calls.append(1), encode(given))[1])
    for _ in range(3):
        scores(texts(1, 6, 5), numbers, numbers)
    assert len(calls) == 1


def test_no_pairs_have_no_scores():
    nothing = np.zeros(0, np.int32)
    for kind in ("cntn", "match-srnn"):
        assert PairScores(scorer(kind), texts(2, 8, 9))(texts(1, 6, 5), nothing, nothing).shape == (0,)


def test_lists_are_measured_query_by_query():
    grades = np.array([0, 1, 0, 1, 0], np.int32)
    lists = RankedLists(
        texts(1, 2, 3), np.array([0, 0, 0, 1, 1], np.int32), np.arange(5, dtype=np.int32), grades,
        np.array([4, 3, 2, 1, 0], np.int32), 1,
    )  # fmt: skip
    found = lists.measure(np.array([0.9, 0.5, 0.1, 0.2, 0.2]), ("MAP", "P@10"))
    assert found["MAP"].tolist() == [0.5, 0.5]  # of equal scores the one with the lower tie number goes first
    assert found["P@10"].tolist() == [0.1, 0.1]
    assert len(lists) == 5
