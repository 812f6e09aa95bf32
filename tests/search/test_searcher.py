"""The engine: one list out of several languages, their scores made comparable."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from isogloss.data.documents import Collection, Document
from isogloss.index.commit import Commit
from isogloss.index.documents import DocumentStore, JoinedDocuments
from isogloss.index.language_index import MappedLanguageIndex
from isogloss.index.manifest import Manifest
from isogloss.index.reader import OpenIndex
from isogloss.index.score_scales import divisors
from isogloss.retrieval.field_lists import build_field_lists
from isogloss.retrieval.postings import JoinedPostings
from isogloss.retrieval.ranking import Ranking
from isogloss.search.hits import Hits
from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution
from isogloss.systems.registry import make_system


def searcher_over(languages, open_sources=dict, fields=("title", "text")):
    class Index(OpenIndex):
        sources = cached_property(lambda _: open_sources())

    counts = {name: each.count for name, each in languages.items()}
    manifest = Manifest("bm25-dict", {}, ("en",), fields, counts, "tests")
    return Searcher(Index(Path("nowhere"), manifest, Commit(""), {"en": languages}, {}, {}))


FRENCH = {"f1": "sel de mer", "f2": "mer et vent", "f3": "le vent", "f4": "sel sel sel"}
ITALIAN = {"i1": "sale di mare", "i2": "mare e vento", "i3": "vento, vento, vento e sale", "i4": "pane"}


@pytest.fixture
def make_index_of(tmp_path):
    def make(language, texts, lexicon):
        path = tmp_path / f"en-{language}.tsv"
        path.write_text(lexicon, encoding="utf-8")
        documents = Collection([Document(id_, text, language=language) for id_, text in texts.items()], language)
        system = make_system("bm25-dict", ("en", language), {"lexicon": str(path)})
        system.index(documents, ("text",))
        store = DocumentStore.of(documents)
        return MappedLanguageIndex(system, JoinedDocuments([store], store.id_order), JoinedPostings([]))

    return make


@pytest.fixture
def languages(make_index_of):
    return {
        "fr": make_index_of("fr", FRENCH, "salt\tsel\nsea\tmer\nwind\tvent\n"),
        "it": make_index_of("it", ITALIAN, "salt\tsale\nsea\tmare\nwind\tvento\n"),
    }


@pytest.mark.parametrize("query", ["salt", "sea wind", "salt sea wind", "wind zebra"])
def test_languages_are_merged_by_scores_that_compare(languages, query):
    wanted = {}
    scales = divisors(query, {language: each.system for language, each in languages.items()}, {})
    for language, each in languages.items():
        for row, score in enumerate(each.system.scores(query)):
            if score > 0:
                wanted[each.store[row].id] = pytest.approx(score / scales[language])
    hits = searcher_over(languages).search(query, k=100)
    assert {hit.document.id: hit.score for hit in hits} == wanted
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.score <= 1 for hit in hits)
    assert all(hit.language == hit.document.language for hit in hits)


def test_a_language_in_which_a_word_is_missing_stays_behind(make_index_of):
    """Both languages hold the sea; only the French one knows what else the query wants."""
    languages = {
        "fr": make_index_of("fr", {"f1": "mer salée", "f2": "pain"}, "sea\tmer\nsalty\tsalée\n"),
        "it": make_index_of("it", {"i1": "mare", "i2": "pane"}, "sea\tmare\n"),
    }
    assert [hit.document.id for hit in searcher_over(languages).search("salty sea")] == ["f1", "i1"]


def test_one_language_alone_keeps_its_scores(languages):
    system = languages["fr"].system
    hits = searcher_over({"fr": languages["fr"]}).search("salt sea")
    assert [hit.score for hit in hits] == pytest.approx(
        sorted((s for s in system.scores("salt sea") if s), reverse=True)
    )


def test_a_document_scores_the_same_whichever_languages_are_asked_for(languages):
    searcher = searcher_over(languages)
    both = {hit.document.id: hit.score for hit in searcher.search("salt sea")}
    french = {hit.document.id: hit.score for hit in searcher.search("salt sea", languages=["fr"])}
    assert french == {id_: score for id_, score in both.items() if id_.startswith("f")}


@pytest.mark.parametrize("names", [["fr"], ["fr", "it"]])
def test_contributions_sum_to_the_score_that_is_shown(languages, names):
    for hit in searcher_over({name: languages[name] for name in names}).search("salt sea wind"):
        assert sum(part.score for part in hit.explanation) == pytest.approx(hit.score, rel=1e-5)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_no_more_than_k_are_given_and_they_are_the_best(languages, k):
    searcher = searcher_over(languages)
    assert searcher.search("salt sea", k) == searcher.search("salt sea", 100)[:k]


def test_equal_scores_are_ordered_by_document_id(make_index_of):
    languages = {
        name: make_index_of(name, {f"{n}-{name}": "sal" for n in (2, 1)}, "salt\tsal\n") for name in ("pt", "es")
    }
    assert [hit.document.id for hit in searcher_over(languages).search("salt")] == ["1-es", "1-pt", "2-es", "2-pt"]


@pytest.mark.parametrize("query", ["", "zebra", "?!"])
def test_what_is_not_there_is_not_found(languages, query):
    assert searcher_over(languages).search(query) == []


def test_the_unknown_words_are_those_that_no_language_knows(make_index_of):
    searcher = searcher_over(
        {"fr": make_index_of("fr", FRENCH, "salt\tsel\n"), "it": make_index_of("it", ITALIAN, "sea\tmare\n")}
    )
    assert searcher.unknown_words("sea zebra salt sel yak") == ["zebra", "yak"]
    assert searcher.unknown_words("sea zebra salt sel yak", ["fr"]) == ["sea", "zebra", "yak"]
    assert searcher.translations("salt sea sel") == {
        "fr": [("salt", ["sel"]), ("sel", ["sel"])],
        "it": [("sea", ["mare"])],
    }


def test_stop_words_are_translated_only_where_a_query_has_no_others(make_index_of):
    searcher = searcher_over({"fr": make_index_of("fr", FRENCH, "salt\tsel\nthe\tle\nof\tde\n")})
    assert searcher.translations("the salt of") == {"fr": [("salt", ["sel"])]}
    assert searcher.translations("of the") == {"fr": [("of", ["de"]), ("the", ["le"])]}


SOURCES = [("z", "zebra"), ("10", "ten"), ("2", "two"), ("été", "summer"), ("a b", "letters"), ("9" * 30, "nines")]


@pytest.fixture
def engine_with_sources(languages):
    store = DocumentStore.of(Collection([Document(id_, text, language="en") for id_, text in SOURCES], "en"))
    return searcher_over(languages, lambda: {"en": store})


def test_a_source_document_is_found_by_number_from_one_or_by_id(engine_with_sources):
    for row, (id_, text) in enumerate(SOURCES, start=1):
        assert engine_with_sources.source(str(row)).text == text
        assert engine_with_sources.source(id_).text == ("ten" if id_ == "2" else text)  # the number counts first


@pytest.mark.parametrize("name", ["0", "7", "-1", "", "a", "zz", "9" * 31, "²"])
def test_a_source_document_that_is_not_there_is_an_error(engine_with_sources, name):
    with pytest.raises(InputError, match="is neither a number from 1 to 6 nor the id of one"):
        engine_with_sources.source(name)


def test_source_documents_are_opened_when_they_are_asked_for(languages):
    opened = []

    def open_sources():
        opened.append(True)
        return {"en": languages["fr"].store}

    searcher = searcher_over(languages, open_sources)
    assert searcher.search("salt")
    assert not opened
    assert [searcher.source(number).id for number in ("1", "4")] == ["f1", "f4"]
    assert opened == [True]


def test_an_index_without_source_documents_says_so(languages):
    with pytest.raises(InputError, match="keeps no documents in the language of the queries"):
        searcher_over(languages).source("1")


def test_pages_of_hits_are_stretches_of_the_one_list(languages):
    searcher = searcher_over(languages)
    all_hits = searcher.search("salt sea wind", 100)
    assert len(all_hits) > 5
    for offset in (0, 2, 4, 100):
        assert searcher.search("salt sea wind", 2, offset=offset) == all_hits[offset : offset + 2]


def test_many_queries_are_answered_like_each_alone(languages):
    searcher, queries = searcher_over(languages), ["salt", "sea wind", "zebra", ""]
    for languages in (None, ["it"]):
        alone = [searcher.search(query, 3, languages, explain=False) for query in queries]
        assert searcher.search_many(queries, 3, languages) == alone
    assert all(hit.explanation == () for hits in alone for hit in hits)


def test_a_document_is_given_by_its_id_and_explained(languages):
    searcher = searcher_over(languages)
    assert searcher.get("i2").text == "mare e vento"
    assert searcher.get("i2", "fr") is None
    for hit in searcher.search("salt sea"):
        assert searcher.explain("salt sea", hit.language, hit.document.id) == hit.explanation
    with pytest.raises(InputError, match="'i2' is not in this index in 'fr'"):
        searcher.explain("salt", "fr", "i2")


def test_what_is_deleted_or_does_not_pass_the_filter_is_not_found(languages):
    french = languages["fr"]
    fields = JoinedPostings([build_field_lists([Document(id_, "", fields={"kind": id_ < "f3"}) for id_ in FRENCH])])
    searcher = searcher_over({"fr": replace(french, live=np.asarray([True, False, True, True]), fields=fields)})
    assert {hit.document.id for hit in searcher.search("sea wind salt")} == {"f1", "f3", "f4"}
    assert [hit.document.id for hit in searcher.search("sea wind salt", filters={"kind": "true"})] == ["f1"]
    assert [hit.document.id for hit in searcher.search_many(["sea"], filters={"kind": "true"})[0]] == ["f1"]
    assert searcher.get("f2") is None
    assert searcher.languages["fr"].count == 3


@pytest.mark.parametrize(
    ("thresholds", "classes"),
    [
        ((), [None, None, None]),
        ((0.5,), ["relevant", "not relevant", "not relevant"]),
        ((0.3, 0.5), ["relevant", "partially relevant", "not relevant"]),
        ((0.1, 0.3, 0.6), ["partially relevant"] * 3),
    ],
)
def test_the_class_of_a_hit_is_told_by_the_thresholds_of_its_system(languages, monkeypatch, thresholds, classes):
    system = languages["fr"].system
    monkeypatch.setattr(system, "thresholds", lambda: thresholds)
    found = Ranking(np.arange(3), np.asarray([0.55, 0.4, 0.2]))
    monkeypatch.setattr(system, "search", lambda query, k, allowed=None: Ranking(found.rows[:k], found.scores[:k]))
    hits = searcher_over({"fr": languages["fr"]}).search("salt")
    assert [hit.relevance for hit in hits] == classes


@pytest.mark.parametrize(
    ("thresholds", "doubtful"), [((), False), ((0.5,), False), ((0.2, 0.5), False), ((0.6,), True), ((0.6, 0.9), True)]
)
def test_answers_are_doubtful_whose_best_hit_is_not_relevant(languages, monkeypatch, thresholds, doubtful):
    system = languages["fr"].system
    monkeypatch.setattr(system, "thresholds", lambda: thresholds)
    found = Ranking(np.arange(3), np.asarray([0.55, 0.4, 0.2]))
    monkeypatch.setattr(system, "search", lambda query, k, allowed=None: Ranking(found.rows[:k], found.scores[:k]))
    searcher = searcher_over({"fr": languages["fr"]})
    assert searcher.search("salt").doubtful == doubtful
    assert searcher.search_many(["salt"])[0].doubtful == doubtful
    assert not searcher.search("salt", offset=1).doubtful, "hits after the first may well be bad"
    assert not Hits().doubtful


def test_one_language_that_has_something_dispels_the_doubt(languages, monkeypatch):
    monkeypatch.setattr(languages["fr"].system, "thresholds", lambda: (100.0,))
    monkeypatch.setattr(languages["it"].system, "thresholds", lambda: (1e-9,))
    searcher = searcher_over(languages)
    assert searcher.search("salt", languages=["fr"]).doubtful
    assert not searcher.search("salt").doubtful


def test_the_passage_is_the_one_the_system_names(languages, monkeypatch):
    monkeypatch.setattr(languages["fr"].system, "passage", lambda query, row: (row, row + 3))
    hits = searcher_over(languages, fields=("text",)).search("salt", languages=["fr"])
    assert {hit.document.id: hit.passage for hit in hits} == {"f1": (0, 3), "f4": (3, 6)}
    assert searcher_over(languages, fields=("text",)).text_of(hits[0].document) == hits[0].document.text


def test_the_first_hits_are_put_in_another_order_whatever_page_is_asked_for(languages):
    searcher = searcher_over(languages)
    plain = searcher.search("salt sea wind", 100)

    class Backwards(Reranker):
        def reorder(self, query, hits):
            turned = [*reversed(hits[: self.depth]), *hits[self.depth :]]
            return [replace(hit, rank=rank) for rank, hit in enumerate(turned, start=1)]

    backwards = Backwards(scores_of("salt sea wind"), ("en", "fr"), 4)
    turned = searcher.reranked_by(backwards)
    wanted = [hit.document.id for hit in backwards.reorder("", plain)]
    assert [hit.document.id for hit in turned.search("salt sea wind", 100)] == wanted
    assert [hit.document.id for hit in turned.search("salt sea wind", 2, offset=1)] == wanted[1:3]
    assert [hit.document.id for hit in turned.search_many(["salt sea wind"], 3)[0]] == wanted[:3]
    (first,) = turned.search("salt sea wind", 1)
    assert first.explanation == searcher.explain("salt sea wind", first.language, first.document.id) != ()
    assert searcher.search("salt sea wind", 100) == plain


def scores_of(asked):
    """Texts score by their length, and for no other query."""

    def score(query, texts):
        assert query == asked
        return np.asarray([len(text) for text in texts], np.float32)

    return score


def halves(query, text, score):
    """An explanation by two words."""
    first, *_, last = text.split()
    return [Contribution("all", (first,), score / 2), Contribution("of it", (last,), score / 2)]


def test_a_hit_is_explained_by_what_gave_its_score(languages):
    query, searcher = "salt sea wind", searcher_over(languages)
    turned = searcher.reranked_by(Reranker(scores_of(query), ("en", "fr"), explain_text=halves))
    hits = turned.search(query, 100)
    assert {hit.language: hit.reranked for hit in hits} == {"fr": True, "it": False}
    for hit in [*hits, *(turned.explained(query, hit) for hit in turned.search_many([query], 100)[0])]:
        assert sum(part.score for part in hit.explanation) == pytest.approx(hit.score)
        assert [part.query_word == "all" for part in hit.explanation].count(True) == hit.reranked
        assert turned.explain(query, hit.language, hit.document.id, hit.reranked) == hit.explanation
        plain = turned.explain(query, hit.language, hit.document.id)
        assert plain == searcher.explain(query, hit.language, hit.document.id)
        assert (plain == hit.explanation) != hit.reranked


def test_what_no_re_ranker_scores_cannot_be_explained_by_it(languages):
    searcher = searcher_over(languages)
    with pytest.raises(InputError, match=r"^reranked: nothing re-ranks the hits here"):
        searcher.explain("salt", "fr", "f1", reranked=True)
    turned = searcher.reranked_by(Reranker(scores_of("salt"), ("en", "fr"), explain_text=halves))
    with pytest.raises(InputError, match=r"^reranked: hits in 'it' are not re-ranked, only those in 'fr'"):
        turned.explain("salt", "it", "i1", reranked=True)
    with pytest.raises(InputError, match="'f9' is not in this index in 'fr'"):
        turned.explain("salt", "fr", "f9", reranked=True)


def test_a_slow_re_ranker_makes_explaining_slow_where_it_re_ranks(languages):
    searcher = searcher_over(languages)
    assert searcher.explains_quickly()
    slow, quick = (Reranker(scores_of("q"), ("en", "fr"), explains_quickly=quickly) for quickly in (False, True))
    assert searcher.reranked_by(quick).explains_quickly()
    assert not searcher.reranked_by(slow).explains_quickly()
    assert searcher.reranked_by(slow).explains_quickly(["it"])


def test_words_of_a_re_ranker_are_words_and_those_of_a_system_its_terms(languages):
    searcher = searcher_over(languages)
    assert searcher.term_of("fr")("vents") == languages["fr"].system.term_of("vents") == "vent"
    assert searcher.term_of("fr", reranked=True)("vents") == "vents"


def test_an_unknown_language_is_refused_with_those_there_are(languages):
    with pytest.raises(InputError, match=r"^language: 'de' is not in this index; it has fr, it$"):
        searcher_over(languages).search("salt", languages=["fr", "de"])


def test_a_re_ranker_re_orders_hits_of_queries_in_its_own_language(languages):
    searcher = searcher_over(languages)
    both = replace(searcher.index.manifest, query_languages=("en", "it"))
    indexes = {"en": languages, "it": languages}
    index = replace(searcher.index, manifest=both, by_query_language=indexes)
    reranker = Reranker(lambda query, texts: np.arange(len(texts), dtype=np.float32), ("en", "fr"))
    searcher = Searcher(index, reranker)
    assert any(hit.reranked for hit in searcher.search("salt"))
    assert not any(hit.reranked for hit in searcher.asked_in("it").search("salt"))
    assert searcher.asked_in("it").asked_in("en").reranker is reranker
