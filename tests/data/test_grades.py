"""Judgments that pages make by linking: translation 2, mutual link 1, anything else 0."""

from __future__ import annotations

import pytest

from isogloss.data.documents import Document
from isogloss.data.grades import GradedPages, first_sentence, without_title


def page(id_, links=(), translations=None, text="Some words here. And more.", queries=None):
    fields = {} if queries is None else {"queries": queries}
    language = id_.partition("-")[0]
    return Document(id_, text, "", language, links=tuple(links), translations=translations or {}, fields=fields)


def grades(pages, pair=("en", "fr")):
    return {(query, document): grade for query, document, grade in GradedPages(pages).judgments(pair)}


def test_a_translation_is_relevant_a_mutual_link_partly_a_one_way_link_not():
    pages = [
        page("en-a", translations={"fr": "fr-a"}),
        page("fr-a", links=["fr-mutual", "fr-out", "fr-mutual", "fr-a", "it-mutual", "nowhere"]),
        page("fr-mutual", links=["fr-a"]),
        page("fr-out"),
        page("fr-in", links=["fr-a"]),
        page("it-mutual", links=["fr-a"]),
    ]
    assert grades(pages) == {("en-a", "fr-a"): 2, ("en-a", "fr-mutual"): 1}


def test_links_of_the_query_page_say_nothing():
    pages = [
        page("en-a", links=["en-b"], translations={"fr": "fr-a"}),
        page("en-b", links=["en-a"], translations={"fr": "fr-b"}),
        page("fr-a"),
        page("fr-b"),
    ]
    assert grades(pages) == {("en-a", "fr-a"): 2, ("en-b", "fr-b"): 2}


@pytest.mark.parametrize("names", [({"fr": "fr-a"}, {}), ({}, {"en": "en-a"}), ({"fr": "gone"}, {"en": "en-a"})])
def test_either_side_may_name_the_translation(names):
    pages = [page("en-a", translations=names[0]), page("fr-a", translations=names[1])]
    assert grades(pages) == {("en-a", "fr-a"): 2}
    assert grades(pages, ("fr", "en")) == {("fr-a", "en-a"): 2}


@pytest.mark.parametrize("named", ["gone", "it-a"])
def test_a_translation_that_is_missing_or_in_another_language_is_none(named):
    pages = [page("en-a", translations={"fr": named}), page("it-a"), page("fr-b")]
    assert grades(pages) == {}


def test_a_page_is_relevant_for_its_own_query_in_its_own_language():
    pages = [page("en-a", links=["en-b"]), page("en-b", links=["en-a"]), page("en-c", links=["en-a"])]
    assert grades(pages, ("en", "en")) == {
        ("en-a", "en-a"): 2, ("en-a", "en-b"): 1, ("en-b", "en-b"): 2, ("en-b", "en-a"): 1, ("en-c", "en-c"): 2,
    }  # fmt: skip


def test_own_queries_take_the_place_of_the_first_sentence():
    pages = [page("en-a", translations={"fr": "fr-a"}, queries=["one thing", "What is it?"]), page("fr-a")]
    assert [(query.id, query.text) for query in GradedPages(pages).queries("en")] == [
        ("en-a.1", "one thing"), ("en-a.2", "What is it?"),
    ]  # fmt: skip
    assert grades(pages) == {("en-a.1", "fr-a"): 2, ("en-a.2", "fr-a"): 2}


def test_no_own_queries_means_no_query_at_all():
    assert GradedPages([page("en-a", queries=[])]).queries("en") == []


def test_a_sentence_that_is_only_its_title_asks_nothing():
    assert GradedPages([Document("a", "Tea. It is hot.", "Tea", "en")]).queries("en") == []
    assert len(GradedPages([Document("a", "Tea is hot.", "Tea", "en")], minimum_words=2).queries("en")) == 1
    assert GradedPages([Document("a", "Tea is hot.", "Tea", "en")], minimum_words=3).queries("en") == []


def test_pairs_are_those_with_a_translation():
    pages = [page("en-a", translations={"fr": "fr-a"}), page("fr-a"), page("it-a")]
    graded = GradedPages(pages)
    assert graded.languages == ["en", "fr", "it"]
    assert graded.pairs() == [("en", "en"), ("en", "fr"), ("fr", "en"), ("fr", "fr"), ("it", "it")]
    assert graded.pairs(["en"]) == [("en", "en"), ("en", "fr")]


def test_the_queries_of_pages_about_one_thing_are_one_group():
    pages = [page("en-a", translations={"fr": "fr-a"}, queries=["x", "y"]), page("fr-a", translations={"en": "en-a"})]
    graded = GradedPages(pages)
    assert graded.groups("en") == {"en-a.1": "en-a", "en-a.2": "en-a"}
    assert graded.groups("fr") == {"fr-a": "en-a"}


@pytest.mark.parametrize(
    ("language", "title", "text", "query"),
    [
        ("en", "Great Wall", "The great wall is a WALL of stone. It is long.", "The is a of stone."),
        ("en", "Tea (drink)", "Tea is a hot drink, made at 3.5 minutes! Good.", "is a hot, made at 3.5 minutes!"),
        ("fr", "Éléphant", "L'éléphant est un animal de la savane. Il est gris.", "L' est un animal de la savane."),
        ("fr", "Thé", "Le thé est-il chaud ? Oui.", "Le est-il chaud?"),
        ("zh", "长城", "长城是中国古代的城墙。它很长。", "是中国古代的城墙。"),
        ("zh", "茶", "茶是一种热饮！很好。", "是一种热饮！"),
    ],
)
def test_the_query_is_the_first_sentence_without_the_words_of_the_title(language, title, text, query):
    [found] = GradedPages([Document("a", text, title, language)]).queries(language)
    assert (found.text, found.title, found.language) == (query, title, language)


@pytest.mark.parametrize(("text", "sentence"), [("", ""), (" \n ", ""), ("no end", "no end"), ("A. B.", "A."),
                                                ("第一句。第二句。", "第一句。")])  # fmt: skip
def test_the_first_sentence_is_found_in_any_text(text, sentence):
    assert first_sentence(text) == sentence


def test_a_title_without_words_takes_nothing_away():
    assert without_title("A cat, black.", "???") == "A cat, black."
