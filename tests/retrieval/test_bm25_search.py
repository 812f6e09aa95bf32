"""Searching without scoring everything finds what scoring everything finds, to the last bit."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval import bm25 as bm25_module
from isogloss.retrieval.bm25 import BM25, MANY, BM25Search, Concept, compile_later
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.retrieval.ranking import top_k
from isogloss.text.batches import TokenizedTexts

WORDS = [f"w{number}" for number in range(40)]
TERMS = st.lists(st.sampled_from([*WORDS, "absent"]), min_size=1, max_size=3)
WEIGHTS = st.sampled_from([1.0, 1.0, 0.5, 0.3, 0.0, 2.0])


@st.composite
def concepts(draw):
    terms = tuple((term, draw(WEIGHTS)) for term in draw(TERMS))
    return Concept("?", terms, draw(st.sampled_from([1.0, 2.0, 0.5])))


@pytest.fixture(scope="module", params=["compiled", "numpy"])
def way(request):
    """Searches with compiled code, or chooses with numpy in however small a collection."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    fast = compile_later()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "compiled":
            fast.begin()
        patch.setattr(bm25_module, "FAST", fast)
        patch.setattr(bm25_module, "_FEW_DOCUMENTS", 0)
        patch.setattr(bm25_module, "_ENTRIES_A_LOOKUP", 0)
        yield request.param


def zipf_postings(random, documents):
    """Texts of nine words on average; the r-th most frequent word has a share of 1 / r."""
    lengths = random.poisson(9, size=documents)
    shares = np.cumsum(1 / np.arange(1, len(WORDS) + 1))
    ids = np.searchsorted(shares, random.random(int(lengths.sum())) * shares[-1]).astype(np.int32)
    return Postings.build(TokenizedTexts(WORDS, ids, np.concatenate([[0], lengths.cumsum()])))


def best_of_all(bm25, query, k, id_order, allowed=None):
    scores = bm25.scores(query)
    return top_k(scores if allowed is None else np.where(allowed, scores, -np.inf), k, id_order, above=0.0)


def assert_same(found, wanted):
    assert found.rows.tolist() == wanted.rows.tolist()
    assert found.scores.tolist() == wanted.scores.tolist()


@given(
    seed=st.integers(0, 2**32 - 1), query=st.lists(concepts(), max_size=6), k=st.sampled_from([1, 2, 10, 300, 20_000]),
    sizes=st.lists(st.sampled_from([0, 1, 40, 3_000, 17_000]), min_size=1, max_size=3), expected_df=st.booleans(),
    gone=st.sampled_from([None, 0.02, 0.6]), barred=st.sampled_from([None, 0.05, 0.9, 1.0]),
    k1=st.sampled_from([0.0, 1.2]), b=st.sampled_from([0.0, 0.75, 1.0]),
)  # fmt: skip
@settings(deadline=None, max_examples=33)
def test_the_best_are_those_of_all_scores(way, seed, query, k, sizes, expected_df, gone, barred, k1, b):
    """With b = 0 or k1 = 0 many scores are equal, so that ids decide; weights of 2 make the idf of frequent words
    negative where df is expected; the largest collections are searched in several windows."""
    random = np.random.default_rng(seed)
    joined = JoinedPostings([zipf_postings(random, size) for size in sizes])
    if gone is not None:
        joined = joined.counting_only(random.random(joined.document_count) >= gone)
    allowed = None if barred is None else random.random(joined.document_count) >= barred
    bm25, id_order = BM25(joined, k1, b, expected_df), random.permutation(joined.document_count)
    search = BM25Search(bm25)
    for _ in range(2):  # bounds are computed, then cached
        assert_same(search.best(query, k, id_order, allowed), best_of_all(bm25, query, k, id_order, allowed))


@given(
    seed=st.integers(0, 2**32 - 1),
    words=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2), min_size=1, max_size=5),
)
@settings(deadline=None, max_examples=20)
def test_plain_queries_over_many_windows(way, bm25_of_many, seed, words):
    query = [Concept("?", tuple((term, 1.0) for term in terms)) for terms in words]
    id_order = np.random.default_rng(seed).permutation(bm25_of_many.postings.document_count)
    found = BM25Search(bm25_of_many).best(query, 10, id_order)
    assert_same(found, best_of_all(bm25_of_many, query, 10, id_order))


@pytest.fixture(scope="module")
def bm25_of_many():
    return BM25(zipf_postings(np.random.default_rng(0), 40_000))


def test_lists_of_frequent_words_are_not_read_once_the_best_are_beyond_them(monkeypatch):
    monkeypatch.setattr(bm25_module, "_FEW_DOCUMENTS", 0)
    rare, frequent = (("rare", 1.0),), (("frequent", 1.0),)
    ids = np.asarray([0, 1] * 3 + [1] * 500, dtype=np.int32)
    offsets = np.asarray([0, 2, 4, 6, *range(7, 507)])
    bm25 = BM25(Postings.build(TokenizedTexts(["rare", "frequent"], ids, offsets)))
    search, query, read = BM25Search(bm25, compile_later()), [Concept("?", frequent), Concept("?", rare)], []
    first = search.best(query, 2, np.arange(503))
    contributions = bm25.contributions
    monkeypatch.setattr(bm25, "contributions", lambda concept: read.append(concept.terms) or contributions(concept))
    assert_same(search.best(query, 2, np.arange(503)), first)
    assert first.rows.tolist() == [0, 1]
    assert read == [rare]


def test_what_is_mapped_from_disk_is_searched_as_what_is_in_memory(way, tmp_path):
    built = zipf_postings(np.random.default_rng(1), 500)
    built.save(tmp_path)
    query = [Concept("?", (("w3", 1.0), ("w20", 0.5))), Concept("?", (("w9", 1.0),))]
    found = [BM25Search(BM25(lists)).best(query, 7, np.arange(500)) for lists in (built, Postings.load(tmp_path))]
    assert_same(*found)
    assert len(found[0].rows) == 7


def test_an_order_of_other_documents_is_an_error(way):
    """It is never read beyond its end."""
    search = BM25Search(BM25(zipf_postings(np.random.default_rng(2), 300)))
    with pytest.raises(IndexError):
        search.best([Concept("?", (("w0", 1.0),))], 5, np.arange(3))
    with pytest.raises(ValueError, match="broadcast"):
        search.best([Concept("?", (("w0", 1.0),))], 5, np.arange(300), np.ones(7, dtype=bool))


def test_a_full_cache_of_concepts_is_emptied_and_changes_no_ranking(way, monkeypatch):
    monkeypatch.setattr(bm25_module, "_CACHED_CONCEPTS", 2)
    bm25 = BM25(zipf_postings(np.random.default_rng(3), 300))
    search = BM25Search(bm25)
    for word in WORDS[:7]:
        query = [Concept("?", ((word, 1.0),)), Concept("?", (("w1", 1.0),))]
        assert_same(search.best(query, 5, np.arange(300)), best_of_all(bm25, query, 5, np.arange(300)))


def test_all_are_scored_where_much_is_query_of_short_lists(monkeypatch):
    pytest.importorskip("numba")
    fast = compile_later()
    fast.begin()
    search = BM25Search(BM25(JoinedPostings([zipf_postings(np.random.default_rng(1), 20_000)])), fast)
    query, chosen = [Concept("?", ((WORDS[0], 1.0),))], []
    monkeypatch.setattr(bm25_module, "_ENTRIES_A_LOOKUP", 80)
    monkeypatch.setattr(search, "_best_compiled", lambda *_: chosen.append("compiled"))
    monkeypatch.setattr(search, "_best_of_all", lambda *_: chosen.append("all"))
    for k in (1, 10_000):
        search.best(query, k, np.arange(20_000))
    assert chosen == ["compiled", "all"]


def test_few_queries_are_not_worth_compiling():
    pytest.importorskip("numba")
    fast = compile_later()
    assert fast.functions(MANY - 1) is None
    assert fast.functions(1) is None
    assert fast.functions(1) is not None
    begun = compile_later()
    begun.begin()
    assert begun.functions(1) is not None


def test_without_numba_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    fast = compile_later()
    fast.begin()
    assert fast.functions(1) is None


def test_compiling_ahead_begins_at_once(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(bm25_module, "FAST", compile_later())
    bm25_module.compile_ahead()
    assert bm25_module.FAST.functions(1) is not None
