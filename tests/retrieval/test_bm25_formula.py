"""BM25 agrees with its docstring, term by term, synonym by synonym, expectation by expectation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval.bm25 import BM25, Concept

DOCUMENTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=12), min_size=1, max_size=8)
TERMS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4, unique=True)
TIMES = st.sampled_from([1.0, 2.0, 0.5])
K1, B = st.floats(0.05, 3.0), st.floats(0.0, 1.0)

plain = st.builds(lambda term, times: Concept(term, ((term, 1.0),), times), st.sampled_from("abcdefg"), TIMES)
synonyms = st.builds(
    lambda terms, times: Concept("?", tuple((term, 1.0) for term in terms), times), TERMS, TIMES
)  # fmt: skip


@st.composite
def probabilities(draw):
    terms = draw(TERMS)
    raw = draw(st.lists(st.integers(1, 100), min_size=len(terms), max_size=len(terms)))
    return Concept("?", tuple((term, p / sum(raw)) for term, p in zip(terms, raw, strict=True)), draw(TIMES))


def scores(invert, documents, concepts, k1, b, expected_df=False):
    return BM25(invert([" ".join(document) for document in documents]), k1, b, expected_df).scores(concepts)


@pytest.mark.parametrize(
    ("kind", "expected_df"),
    [(plain, False), (plain, True), (synonyms, False), (probabilities(), True), (probabilities(), False)],
    ids=["plain", "plain, expected df", "synonyms", "expected df", "weights with union df"],
)
def test_scores_equal_the_formula_in_double_precision(invert, naive_bm25, kind, expected_df):
    @given(documents=DOCUMENTS, concepts=st.lists(kind, max_size=4), k1=K1, b=B)
    @settings(deadline=None, max_examples=20)
    def check(documents, concepts, k1, b):
        wanted = naive_bm25(documents, concepts, k1, b, expected_df)
        assert scores(invert, documents, concepts, k1, b, expected_df) == pytest.approx(wanted, rel=1e-5, abs=1e-6)

    check()


@given(documents=DOCUMENTS, concepts=st.lists(probabilities(), min_size=1, max_size=4), expected=st.booleans())
@settings(deadline=None, max_examples=40)
def test_no_document_scores_more_than_the_best_possible(invert, documents, concepts, expected):
    for repeated in (documents, [*documents, ["a"] * 500]):
        bm25 = BM25(invert([" ".join(document) for document in repeated]), expected_df=expected)
        assert bm25.scores(concepts).max() <= bm25.best_possible(concepts) * (1 + 1e-6)


def test_an_expected_df_below_one_bounds_the_score_too(invert):
    bm25 = BM25(invert(["a " * 50, *["b " * 50] * 19]), expected_df=True)
    unlikely = [Concept("?", (("a", 0.25), ("z", 0.75)))]
    assert bm25.best_possible(unlikely) == pytest.approx(math.log(1 + 20.25 / 0.75))
    assert bm25.scores(unlikely).max() < bm25.best_possible(unlikely)


def test_a_concept_in_vain_costs_as_much_as_one_that_a_single_document_holds(invert):
    bm25 = BM25(invert(["a b", "b", "c b"]))
    found, vain = (bm25.best_possible([Concept(term, ((term, 1.0),))]) for term in "az")
    assert vain == found == pytest.approx(math.log(1 + 2.5 / 1.5))


@given(documents=DOCUMENTS, term=st.sampled_from("abcde"))
@settings(deadline=None, max_examples=30)
def test_a_concept_with_one_translation_is_plain_bm25(invert, naive_bm25, documents, term):
    one = scores(invert, documents, [Concept("word", ((term, 1.0),))], 1.5, 0.75)
    with_unknown = scores(invert, documents, [Concept("word", ((term, 1.0), ("absent", 1.0)))], 1.5, 0.75)
    assert one.tolist() == with_unknown.tolist()
    assert one == pytest.approx(naive_bm25(documents, [Concept(term, ((term, 1.0),))], 1.5, 0.75), rel=1e-5)


def test_synonyms_do_not_add_up_as_independent_terms(invert):
    """A document with both translations of one word stays behind one that answers both words of the query."""
    postings = invert(["cheval jument", "cheval rouge", "rien du tout", "jument", "rouge"])
    horse, red = (("cheval", 1.0), ("jument", 1.0)), (("rouge", 1.0),)
    structured = BM25(postings).scores([Concept("horse", horse), Concept("red", red)])
    independent = BM25(postings).scores([Concept("horse", (term,)) for term in horse] + [Concept("red", red)])
    assert independent[0] == pytest.approx(independent[1])
    assert structured[0] < structured[1]


def test_a_translation_that_no_document_tells_apart_adds_nothing(invert):
    """Each of the documents holds one of the two translations: the word is common, whichever it is written as."""
    bm25 = BM25(invert(["cheval"] * 5 + ["jument"] * 5))
    word = Concept("horse", (("cheval", 1.0), ("jument", 1.0)))
    assert bm25.scores([word]).max() < bm25.scores([Concept("horse", (("cheval", 1.0),))]).max()
    assert len(set(bm25.scores([word]).tolist())) == 1


@pytest.mark.parametrize("k1", [0.0, 1.5])
def test_an_impossible_translation_counts_for_nothing(invert, k1):
    bm25 = BM25(invert(["a", "b", "a b"]), k1=k1, expected_df=True)
    sure, unsure = (bm25.scores([Concept("?", terms)]) for terms in ((("a", 1.0),), (("a", 1.0), ("b", 0.0))))
    assert sure.tolist() == unsure.tolist()


def test_scoring_leaves_no_trace_in_the_next_query(invert):
    bm25 = BM25(invert(["a b", "b c", "c a", "d"]))
    first, second = ([Concept("?", tuple((term, 1.0) for term in terms))] for terms in ("abc", "bcd"))
    fresh = [BM25(bm25.postings).scores(query).tolist() for query in (first, second)]
    assert [bm25.scores(query).tolist() for query in (first, second, first)] == [*fresh, fresh[0]]


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_collections_without_words_score_nothing(invert, texts):
    bm25 = BM25(invert(texts))
    assert np.array_equal(bm25.scores([Concept("a", (("a", 1.0), ("b", 1.0)))]), np.zeros(len(texts)))
    assert bm25.scores([]).tolist() == [0.0] * len(texts)
