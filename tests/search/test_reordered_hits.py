"""Hits put in the order of another score."""

import numpy as np

from isogloss.data.documents import Document
from isogloss.search.hits import Hit
from isogloss.search.reranking import Reranker
from isogloss.systems.base import Contribution

WHY = (Contribution("sea", ("mer",), 1.0),)


def hits(*languages):
    return [
        Hit(rank, 10.0 - rank, language, Document(f"d{rank}", "x" * rank), WHY, None, "relevant")
        for rank, language in enumerate(languages, start=1)
    ]


def by_length(query, texts):
    return np.array([len(text) for text in texts], np.float32)


def test_the_first_hits_change_places_and_the_others_stay():
    found = Reranker(by_length, ("en", "fr"), depth=3).reorder("q", hits("fr", "fr", "fr", "fr"))
    assert [hit.document.id for hit in found] == ["d3", "d2", "d1", "d4"]
    assert [hit.rank for hit in found] == [1, 2, 3, 4]
    assert [hit.score for hit in found] == [3.0, 2.0, 1.0, 6.0]
    assert [hit.relevance for hit in found] == [None, None, None, "relevant"]
    assert [hit.reranked for hit in found] == [True, True, True, False]
    assert [hit.explanation for hit in found] == [(), (), (), WHY], "what found it does not explain the new score"


def test_hits_in_other_languages_keep_their_places():
    found = Reranker(by_length, ("en", "fr")).reorder("q", hits("fr", "it", "fr"))
    assert [(hit.document.id, hit.language) for hit in found] == [("d3", "fr"), ("d2", "it"), ("d1", "fr")]


def test_the_class_of_a_new_score_is_told_by_the_thresholds_of_what_gave_it():
    reranker = Reranker(by_length, ("en", "fr"), depth=3, thresholds=(2, 3))
    classes = ["relevant", "partially relevant", "not relevant", "relevant"]
    assert [hit.relevance for hit in reranker.reorder("q", hits("fr", "fr", "fr", "fr"))] == classes


def test_a_score_is_explained_as_it_is_given_or_found_out():
    def explain(query, text, score):
        return [Contribution(query, (text,), score)]

    reranker = Reranker(by_length, ("en", "fr"), explain_text=explain)
    document = Document("d", "abc")
    assert reranker.explain("q", document, 2.5) == (Contribution("q", ("abc",), 2.5),)
    assert reranker.explain("q", document) == (Contribution("q", ("abc",), 3.0),)
    assert Reranker(by_length, ("en", "fr")).explain("q", document) == ()


def test_equal_scores_go_by_id_and_nothing_gives_nothing():
    reranker = Reranker(lambda query, texts: np.zeros(len(texts)), ("en", "fr"))
    assert [hit.document.id for hit in reranker.reorder("q", hits("fr", "fr")[::-1])] == ["d1", "d2"]
    assert reranker.reorder("q", []) == []
    assert len(reranker.score("q", [])) == 0
