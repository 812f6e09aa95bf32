"""A language in an engine, searched by a system that re-scores: what it fetches, and in what order it gives it."""

import numpy as np
import pytest
from tests.engines.kept import KeptEngine, kept_engine

from isogloss.data.documents import Collection, Document
from isogloss.engines.base import EngineHit
from isogloss.index.engine_language_index import EngineLanguageIndex
from isogloss.index.engine_systems import for_engine
from isogloss.index.in_engine import in_language
from isogloss.systems.bm25 import LexicalOptions, UntranslatedBM25

TEXTS = {
    "a": "le sel de la mer",
    "b": "le sel",
    "c": "le sel, le sel et encore le sel",
    "d": "le miel des abeilles",
    "e": "une mer salée sans rien d'autre à dire ici",
}


class Rescoring(UntranslatedBM25):
    """Prefers short texts among the best three, whatever their words are."""

    candidates = 3

    def rescore(self, query, texts):
        self.rescored = list(texts)
        return np.asarray([-len(text) for text in texts], np.float32)


@pytest.fixture
def index(tmp_path):
    with kept_engine():
        system = Rescoring(LexicalOptions(), "fr", "fr")
        engine = KeptEngine.create(f"kept:{tmp_path}", 0, name="pages", sparse=True)
        documents = Collection(
            (Document(id_, text, title=id_, fields={"n": len(text) // 10}) for id_, text in TEXTS.items()), "fr"
        )
        for batch, points in for_engine(system).points(documents, ("text",), 0, is_new=True):
            engine.add(in_language(batch, "fr"), points)
        yield EngineLanguageIndex(for_engine(system), engine, "fr", 0, len(documents), ("text",))
        engine.close()


def test_the_candidates_are_scored_anew_from_their_texts(index):
    found = index.search("sel mer", 2)
    first = index._engine.search("fr", [index.system.sparse_query("sel mer")], 3)[0]
    assert sorted(index.system.rescored) == sorted(TEXTS[hit.id] for hit in first)
    assert [hit.id for hit in found] == sorted((hit.id for hit in first), key=lambda id_: len(TEXTS[id_]))[:2]
    assert [hit.score for hit in found] == [-len(TEXTS[hit.id]) for hit in found]


def test_more_are_fetched_where_more_are_wanted(index):
    assert {hit.id for hit in index.search("sel mer", 10)} == {"a", "b", "c", "e"}
    assert len(index.system.rescored) == 4


def test_one_that_was_deleted_meanwhile_is_left_out(index, monkeypatch):
    monkeypatch.setattr(KeptEngine, "search", lambda self, *_: [[EngineHit("a", 2.0), EngineHit("gone", 1.0)]])
    assert [hit.id for hit in index.search("sel", 5)] == ["a"]


def test_no_document_is_found_for_a_query_without_a_known_word(index):
    assert index.search("zyx", 5) == []
    assert index.search_many([], 5) == []


def test_the_values_of_a_field_are_counted_from_what_is_fetched(index):
    assert index.value_counts("n", ["a", "b", "d", "gone"]) == {"1": 1, "0": 1, "2": 1}
    assert index.value_counts("other", ["a"]) == {}
