"""A word of the query that stands verbatim in at most three documents puts one of them among the first three."""

from copy import copy

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Document
from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.systems.registry import make_system

PAIR = ("en", "fr")
QUICK = {"epochs": "1", "dimension": "8"}
STRONG = "why is the sea salty: salt, sea, honey and bees"
MATCHING = ["La mer est salée, le sel de la mer et le miel des abeilles" + " table" * number for number in range(12)]
REST = " ".join(["Le boulanger prépare la farine du pain pendant toute la nuit sous les étoiles"] * 6)


@pytest.fixture(scope="module")
def fitted():
    system = make_system("bridge", PAIR, QUICK, Demo())
    system.fit(load_dataset(Demo(), PAIR))
    return system


def of(fitted, *texts):
    """Documents that match the strong part of the query, and these."""
    system = copy(fitted)
    system.index_texts([*MATCHING, *texts])
    return system


def first(system, query, allowed=None):
    return system.search(query, 10, allowed).rows[:3].tolist()


def raised(system, query, allowed=None):
    """Which of the first three are not there for what the features say."""
    found = system.search(query, 10, allowed)
    lines = [system.explain(query, row, "") for row in found.rows.tolist()]
    for row, score, each in zip(found.rows.tolist(), found.scores.tolist(), lines, strict=True):
        assert sum(line.score for line in each) == pytest.approx(score, abs=1e-4), row
    verbatim = [any(line.query_word == "(verbatim)" for line in each) for each in lines]
    return [row for row, each in zip(found.rows.tolist(), verbatim, strict=True) if each]


@pytest.mark.parametrize(
    "name", ["Orlane", "git-rebase", "ERR_4711", "0x80070057", "libfoo2.so", "Ørsted", "C2H5OH", "蜂"], ids=ascii
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_name_a_command_or_an_error_code_is_among_the_first_three(fitted, name, count):
    texts = [f"{REST} {number} {name} {REST}" for number in range(count)]
    system, query = of(fitted, *texts), f"{STRONG} {name}"
    assert set(first(system, query)) & set(range(12, 12 + count))
    assert set(first(system, f"{name}")) & set(range(12, 12 + count))


def test_only_one_of_them_is_raised_and_only_if_none_is_there(fitted):
    query = f"{STRONG} ERR_4711"
    system = of(fitted, *(f"{REST} ERR_4711 {REST}" for _ in range(3)))
    assert len(raised(system, query)) == 1
    assert len(set(first(system, query)) & {12, 13, 14}) == 1
    there = of(fitted, "La mer salée ERR_4711")
    assert 12 in first(there, query)
    assert raised(there, query) == []


def test_what_stands_in_more_documents_is_raised_no_more(fitted):
    system = of(fitted, *(f"{REST} Orlane {REST}" for _ in range(4)))
    assert raised(system, f"{STRONG} Orlane") == []


def test_every_one_of_three_names_has_a_document_there(fitted):
    """Even one that was third before, and would be fourth when others are raised above it."""
    system = of(fitted, f"{REST} Orlane", f"{REST} Zorglub", f"{REST} Ninive4711")
    assert set(first(system, f"{STRONG} Orlane Zorglub Ninive4711")) == {12, 13, 14}
    assert raised(system, f"{STRONG} Orlane Zorglub Ninive4711")
    for place in range(3):
        query = f"{STRONG} Orlane Zorglub"
        third = first(of(fitted, f"{REST} Zorglub"), STRONG)[place]
        texts = [text + (" Orlane" if row == third else "") for row, text in enumerate(MATCHING)]
        system = copy(fitted)
        system.index_texts([*texts, f"{REST} Zorglub {REST}"])
        assert {third, 12} <= set(first(system, query))


def test_one_document_with_several_rare_words_takes_one_place(fitted):
    system = of(fitted, f"{REST} Orlane Zorglub {REST}", f"{REST} Orlane {REST}", f"{REST} Zorglub {REST}")
    query = f"{STRONG} Orlane Zorglub"
    shown = set(first(system, query))
    assert shown & {12, 13}
    assert shown & {12, 14}


def test_words_that_have_translations_raise_nothing(fitted):
    """An English word may stand in a French text by chance."""
    assert [word for word in ("honey", "night") if fitted.model.translation.query_words.find(word) is None] == []
    system = of(fitted, f"{REST} honey {REST}", f"{REST} night {REST}", f"{REST} Orlane {REST}")
    query = "the salty sea, honey at night"
    assert raised(system, query) == []
    assert raised(system, f"{query} Orlane") == [14]


def test_a_word_that_stays_as_it_is_is_a_name(fitted):
    """The dictionary translates "robusta" and "proton" by themselves, but "night" by another word."""
    system = of(fitted, f"{REST} robusta {REST}", f"{REST} night {REST}")
    assert 12 in first(system, f"{STRONG} robusta")
    assert raised(system, f"{STRONG} robusta night") == [12]
    assert [system.retriever.is_name(word, word) for word in ("proton", "night", "n8ght")] == [True, False, True]


def test_stop_words_raise_nothing(fitted):
    system = of(fitted, f"{REST} why {REST}", f"{REST} and {REST}")
    assert raised(system, STRONG) == []


def test_under_a_filter_one_of_those_allowed_is_among_the_first_three(fitted):
    system = of(fitted, f"{REST} Orlane", f"{REST} Orlane {REST}", f"{REST} Orlane {REST} {REST}")
    query = f"{STRONG} Orlane"
    best = set(first(system, query)) & {12, 13, 14}
    for excluded in ([], *([row] for row in (12, 13, 14)), [12, 13], [13, 14], [12, 14]):
        allowed = np.ones(15, bool)
        allowed[excluded] = False
        shown = first(system, query, allowed)
        assert set(shown) & {12, 13, 14} - set(excluded)
        assert not set(shown) & set(excluded)
        raised(system, query, allowed)  # explanations add up
    allowed = np.arange(15) < 12
    assert raised(system, query, allowed) == []
    assert set(first(system, query)) & {12, 13, 14} == best  # a filter leaves nothing behind


def test_what_is_deleted_is_not_counted(fitted):
    system = of(fitted, *(f"{REST} {number} Orlane {REST}" for number in range(5)))
    query = f"{STRONG} Orlane"
    live = np.ones(17, bool)
    live[[12, 16]] = False
    system.count_only(live)
    assert set(first(system, query, live)) & {13, 14, 15}
    live = live.copy()
    live[12:] = False
    system.count_only(live)
    assert max(first(system, query, live)) < 12
    assert raised(system, query, live) == []


def test_it_is_so_in_several_parts(fitted, tmp_path):
    folders = []
    for number, texts in enumerate((MATCHING[:6], [f"{REST} Orlane {REST}"], MATCHING[6:], [REST])):
        folders.append(tmp_path / str(number))
        folders[-1].mkdir()
        made = copy(fitted)
        made.index_texts(texts)
        made.save_part(folders[-1])
    joined = copy(fitted).load_parts(folders, np.arange(14))
    assert 6 in first(joined, f"{STRONG} Orlane")
    assert raised(joined, f"{STRONG} Orlane") == [6]


@pytest.mark.parametrize("texts", [[], [""], ["Orlane"], ["…", "Orlane", ""]], ids=["none", "empty", "one", "few"])
def test_few_documents_or_none(fitted, texts):
    system = copy(fitted)
    system.index_texts(texts)
    assert first(system, "Orlane sea") == [row for row, text in enumerate(texts) if text == "Orlane"]


def test_an_index_of_several_languages_shows_it_in_each(tmp_path):
    """The languages have one list, by the same scale; a name is among the first three of its language."""
    make_index(tmp_path / "index", "bridge", Demo(), ["fr", "it"], settings=QUICK)
    added = {"fr": f"{REST} Orlane {REST}", "it": "Il fornaio prepara il pane con la farina Zorglub. " * 9}
    with IndexWriter(tmp_path / "index") as writer:
        writer.add([Document(f"{language}-new", text, "", language) for language, text in added.items()])
        writer.commit()
        searcher = Searcher(open_index(tmp_path / "index"))
        for language, name in (("fr", "Orlane"), ("it", "Zorglub")):
            query = f"why is the sea salty {name}"
            hits = searcher.search(query, k=3, languages=[language])
            assert f"{language}-new" in [hit.document.id for hit in hits]
            for hit in (*hits, *searcher.search(query, k=5)):
                assert sum(line.score for line in hit.explanation) == pytest.approx(hit.score, abs=1e-4)
        writer.delete(["fr-new"])
        writer.commit()
    hits = Searcher(open_index(tmp_path / "index")).search("why is the sea salty Orlane", k=10)
    assert "fr-new" not in [hit.document.id for hit in hits]
