"""Typing errors in queries: what is read as what, and what is left alone."""

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss
from isogloss.data.documents import Collection, Document
from isogloss.search.spelling import Correction, ReadQuery, likelihood, one_slip_away, read_query
from isogloss.systems.registry import make_system

modest = settings(deadline=None, max_examples=50)
WORDS = st.text(string.ascii_lowercase, min_size=3, max_size=9)
TEXTS = ["Limite de mémoire du conteneur", "Le conteneur et la mémoire", "Le docteur Zamenhof", "sel de mer"]
LEXICON = (
    "container\tconteneur\nmemory\tmémoire\nlimit\tlimite\nsalt\tsel\nsea\tmer\nform\tforme\nfarm\tferme\n"
    "ice cream\tglace\nthe\tle\n"
)


@pytest.fixture(params=["psq", "bm25-dict"])
def system(request, tmp_path):
    (tmp_path / "en-fr.tsv").write_text(LEXICON, "utf-8")
    made = make_system(request.param, ("en", "fr"), {"lexicon": str(tmp_path / "en-fr.tsv")})
    made.index(Collection([Document(str(number), text) for number, text in enumerate(TEXTS)], "fr"), ("text",))
    return made


@pytest.fixture
def many_words(monkeypatch):
    """The few words here pass for many."""
    monkeypatch.setattr("isogloss.search.spelling._FEW_WORDS", 0)


def slips(word, letters):
    """Every word with one letter more, one less, another one, or two exchanged."""
    for i in range(len(word) + 1):
        yield from (word[:i] + letter + word[i:] for letter in letters)
        yield word[:i] + word[i + 1 :]
        yield from (word[:i] + letter + word[i + 1 :] for letter in letters)
        yield word[:i] + word[i + 1 : i + 2] + word[i : i + 1] + word[i + 2 :]


@modest
@given(WORDS)
def test_what_is_one_slip_away_is_so_from_both_sides(word):
    near = one_slip_away(word, string.ascii_lowercase)
    assert near == {*slips(word, string.ascii_lowercase)} - {word}
    for other in sorted(near)[::40]:
        assert word in one_slip_away(other, string.ascii_lowercase)


@modest
@given(WORDS.filter(lambda word: len(word) > 4), st.data())
def test_missing_and_exchanged_letters_are_likelier_than_wrong_ones_and_keys_nearby_than_others(word, data):
    place = data.draw(st.integers(1, len(word) - 2))
    missing = likelihood(word[:place] + word[place + 1 :], word)
    head, tail = word[:place], word[place + 1 :]
    typed = {
        letter: likelihood(head + letter + tail, word) for letter in string.ascii_lowercase if letter != word[place]
    }
    assert missing > max(typed.values()) > min(typed.values())


@pytest.mark.usefixtures("many_words")
def test_a_query_with_errors_is_read_as_the_one_without(system):
    read = read_query("Contaner memroy, limt!", [system])
    assert read.query == "Container memory, limit!"
    assert read.corrected == (
        Correction("contaner", "container"), Correction("memroy", "memory"), Correction("limt", "limit")
    )  # fmt: skip
    assert system.search(read.query, 3).rows.tolist() == system.search("container memory limit", 3).rows.tolist()


@pytest.mark.parametrize(
    "query",
    [
        "containers of memories, limited",  # other forms of known words
        "the form of a farm",  # each one slip away from the other
        "zamenhof", "Zamenhof's",  # a name in the documents
        "cream",  # a word that the lexicon has in a phrase only
        "lim1t limit2 memory_limt --limt=3 limt@example.org",  # codes and addresses
        "LIMT", "liMt", "getMemroy",
        "lm", "мемори", "記憶", "",
        "limitf limit",  # two that are alike are both meant
        "nulla salus extra ecclesiam limt",  # another language
    ],
)  # fmt: skip
def test_known_words_names_codes_and_other_scripts_are_left_alone(system, query):
    assert read_query(query, [system]) == ReadQuery(query)


@modest
@given(query=st.text(max_size=60))
def test_reading_never_fails_and_reads_its_own_result_as_it_is(query):
    system = _system()
    read = read_query(query, [system])
    assert (read.query == query) == (not read.corrected)
    assert all(system.knows([each.read_as for each in read.corrected]))
    assert read_query(read.query, [system]).query == read.query


def _system():
    if not _MADE:
        _MADE.append(make_system("bm25", ("en", "en"), {}))
        _MADE[0].index_texts(["container memory limit", "the sea is salt"])
    return _MADE[0]


_MADE: list = []


def test_where_few_words_are_known_a_short_word_with_a_wrong_letter_may_be_right(system):
    assert not read_query("how bees make firm limbs", [system]).corrected
    assert read_query("contaimer", [system]).query == "container"


@pytest.mark.usefixtures("many_words")
def test_a_word_that_is_known_in_any_language_of_the_documents_is_left_alone(system):
    other = make_system("bm25", ("en", "en"), {})
    other.index_texts(["a limt is a limb"])
    assert read_query("limt", [system]).corrected and not read_query("limt", [system, other]).corrected


def test_compounds_of_known_words_are_left_alone_where_a_language_has_them():
    system = make_system("bm25", ("de", "de"), {"stems": "false"})
    system.index_texts(["Tabellen und eine Ansicht", "Tabellenansichten"])
    assert not read_query("tabellenansicht", [system]).corrected
    assert read_query("tabelln", [system]).corrected == (Correction("tabelln", "tabellen"),)


def test_accents_are_letters_of_a_language():
    system = make_system("bm25", ("fr", "fr"), {})
    system.index_texts(["une bibliothèque municipale", "le théâtre"])
    assert read_query("théatre", [system]).query == "théâtre"


@pytest.fixture(scope="module")
def index():
    lexicon = {"container": "contenedor", "memory": "memoria", "limit": "límite", "honey": "miel", "the": "el"}
    return isogloss.Index.make(
        ["El límite de memoria del contenedor.", "Las abejas hacen miel.", "El doctor Zamenhof."], "es",
        lexicon=lexicon,
    )  # fmt: skip


@pytest.mark.usefixtures("many_words")
def test_hits_say_what_was_corrected_unless_the_query_is_to_be_searched_for_as_it_is(index):
    found = index.search("contaner memroy limt", explain=True)
    right = index.search("container memory limit", explain=True)
    assert [(hit.document.id, hit.score) for hit in found] == [(hit.document.id, hit.score) for hit in right]
    assert found.read_as == "container memory limit" and [each.word for each in found.corrected] == [
        "contaner", "memroy", "limt"
    ]  # fmt: skip
    assert found[0].explanation == right[0].explanation != ()
    exact = index.search("contaner memroy limt", exact=True)
    assert exact.read_as == "contaner memroy limt" and not exact.corrected
    (many,) = index.search_many(["contaner memroy limt"])
    assert (many.corrected, many[0].document.id) == (found.corrected, found[0].document.id)
    assert not index.search_many(["contaner"], exact=True)[0].corrected


def test_bridge_knows_names_that_stand_in_the_documents(index):
    assert index.search("zamehnof").corrected == (Correction("zamehnof", "zamenhof"),)
    assert not index.search("zamenhof").corrected


def test_a_few_words_do_not_tell_how_likely_a_document_is_relevant(index):
    hits = index.search("container memory limit")
    assert {(hit.chance, hit.relevance) for hit in hits} == {(None, None)}
    assert not hits.doubtful
    assert hits[0].bar == 1
    assert all(0 < hit.bar <= 1 for hit in hits)


def test_the_calibrated_chance_rises_with_the_score_and_is_the_bar(index, monkeypatch):
    monkeypatch.setattr("isogloss.systems.bridge.system._COUNTED", 0)
    hits = index.search("container memory limit")
    chances = [hit.chance for hit in hits]
    assert chances == sorted(chances, reverse=True) and all(0 < chance < 1 for chance in chances)
    assert [hit.bar for hit in hits] == chances
    assert np.allclose(chances, [1 / (1 + np.exp(-hit.score)) for hit in hits])


def test_without_a_calibration_the_bar_is_the_share_of_the_best_score():
    index = isogloss.Index.make(["sel de mer", "mer"], "fr", system="psq", lexicon={"salt": "sel", "sea": "mer"})
    hits = index.search("salt sea")
    assert [hit.chance for hit in hits] == [None, None]
    assert hits[0].bar == 1 and hits[1].bar == pytest.approx(hits[1].score / hits[0].score)
    assert index.search("salt sea", k=1, offset=1)[0].bar == hits[1].bar


@pytest.mark.parametrize("name", ["psq", "bridge"])
def test_the_total_is_the_number_of_documents_that_can_be_found(name):
    texts = [f"el contenedor {number}" for number in range(30)] + ["la miel"] * 5 + ["nada"]
    index = isogloss.Index.make(texts, "es", system=name, lexicon={"container": "contenedor", "honey": "miel"})
    for query in ("container", "honey", "container honey", "honey nothing"):
        every = index.search(query, k=100)
        assert (every.total, every.total_is_exact) == (len(every), True)
        first = index.search(query, k=2)
        assert (first.total, first.total_is_exact) == (len(every), True)
    index.delete(["1", "31"])
    assert index.search("container honey", k=2).total == len(index.search("container honey", k=100))
    (many,) = index.search_many(["container"], k=3)
    assert (many.total, many.total_is_exact) == (3, False)
