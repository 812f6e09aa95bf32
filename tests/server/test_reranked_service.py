"""A service whose first hits a re-ranker puts in order: each hit says so, and is explained by what gave its score."""

import numpy as np
import pytest

from isogloss.search.reranking import Reranker
from isogloss.systems.base import Contribution

SEARCH, EXPLAIN = "/api/v1/search", "/api/v1/explain"
QUERY = "salt and sea"


def by_length(query, texts):
    return np.asarray([len(text) / 100 for text in texts], np.float32)


@pytest.fixture
def explained():
    """The texts that the re-ranker has explained."""
    return []


@pytest.fixture
def reranking(serving, made_index, tmp_path, monkeypatch, explained):
    def explain(query, text, score):
        explained.append(text)
        return [Contribution("salt", ("mers", "sel"), score - 1), Contribution("sea", ("vent",), 1.0)]

    def load(run, depth):
        return Reranker(by_length, ("en", "fr"), depth, explain, "a-matcher", (0.2,))

    monkeypatch.setattr("isogloss.server.app.load_reranker", load)
    client = serving(rerank=tmp_path / "run", compare=made_index)
    explained.clear()
    return client


def test_hits_say_whose_their_score_is_and_are_marked_without_explaining_it(reranking, explained):
    answer = reranking.get(SEARCH, params={"q": QUERY}).json()
    hits = {hit["id"]: hit for hit in answer["hits"]}
    assert {hit["reranked"] for hit in hits.values() if hit["language"] == "fr"} == {True}
    assert {hit["reranked"] for hit in hits.values() if hit["language"] == "it"} == {False}
    assert [part["text"] for part in hits["f1"]["snippet"] if part["match"]] == ["sel", "mer"]
    assert (hits["f3"]["relevance"], hits["f1"]["relevance"]) == ("relevant", "not relevant")
    assert {hit["relevance"] for hit in hits.values() if hit["language"] == "it"} == {None}
    assert explained == []


def test_every_explanation_adds_up_to_the_score_that_is_shown(reranking):
    for hit in reranking.get(SEARCH, params={"q": QUERY, "explain": "1"}).json()["hits"]:
        assert sum(reason["score"] for reason in hit["explanation"]) == pytest.approx(hit["score"], rel=1e-4)
        asked = {"q": QUERY, "language": hit["language"], "id": hit["id"], "reranked": hit["reranked"]}
        said = reranking.post(EXPLAIN, json=asked).json()
        assert said["explanation"] == hit["explanation"]
        assert said["score"] == pytest.approx(hit["score"], rel=1e-4)
        assert said["system"] == ("a-matcher" if hit["reranked"] else "bm25-dict")
        got = reranking.get(EXPLAIN, params={**asked, "reranked": str(hit["reranked"]).lower()}).json()
        assert got == said


def test_the_words_of_a_re_ranker_are_shown_and_marked_as_it_reads_them(reranking):
    hits = reranking.get(SEARCH, params={"q": QUERY, "lang": "fr", "explain": "1"}).json()["hits"]
    first = next(hit for hit in hits if hit["id"] == "f1")
    assert [part["text"] for part in first["snippet"] if part["match"]] == ["sel"], "it names 'mers', not 'mer'"
    words = {reason["query_word"]: reason["document_words"] for reason in first["explanation"]}
    assert words == {"salt": ["sel", "Sel"], "sea": ["vent"]}


def test_by_default_the_score_of_the_first_stage_is_explained(reranking, explained):
    asked = {"q": QUERY, "language": "fr", "id": "f1"}
    usual = reranking.get(EXPLAIN, params=asked).json()
    assert usual["system"] == "bm25-dict"
    assert explained == []
    assert usual == reranking.get(EXPLAIN, params={**asked, "index": "compare"}).json()
    compared = reranking.get(SEARCH, params={"q": QUERY, "index": "compare"}).json()["hits"]
    assert not any(hit["reranked"] for hit in compared)


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        (
            {"language": "it", "id": "i1"},
            "reranked: hits in 'it' are not re-ranked, only those in 'fr'; ask without it",
        ),
        ({"language": "fr", "id": "f1", "index": "compare"}, "reranked: nothing re-ranks the hits here; ask without"),
    ],
)
def test_a_score_that_no_re_ranker_gives_is_refused(reranking, which, sentence):
    answer = reranking.get(EXPLAIN, params={"q": QUERY, "reranked": "true", **which})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith(sentence)


def test_a_service_without_a_re_ranker_says_so(client):
    asked = {"q": QUERY, "language": "fr", "id": "f1"}
    answer = client.get(EXPLAIN, params={**asked, "reranked": "1"})
    assert answer.status_code == 422
    assert "nothing re-ranks the hits here" in answer.json()["error"]["message"]
    assert client.get(EXPLAIN, params={**asked, "reranked": "0"}).json() == client.get(EXPLAIN, params=asked).json()
    assert client.get(EXPLAIN, params={**asked, "id": "f9", "reranked": "1"}).status_code == 404
