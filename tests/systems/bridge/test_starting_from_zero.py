"""``bridge`` with nothing but documents: a starter table is enough, in every direction."""

from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection, Document
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.model import DEFAULT_CALIBRATIONS, default_weights, used_features
from isogloss.systems.glossers import forms_at_hand
from isogloss.systems.registry import make_system
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.word_tables import WordTable, write_table

WORDS = {
    "en": ["sea", "honey", "bread", "salt", "star", "night", "oak", "baker"],
    "fr": ["mer", "miel", "pain", "sel", "étoile", "nuit", "chêne", "boulanger"],
    "it": ["mare", "miele", "pane", "sale", "stella", "notte", "quercia", "fornaio"],
}
TEXTS = {
    "en": ["the salt of the sea", "honey on bread", "a star at night", "the baker under the oak"],
    "fr": ["le sel de la mer", "du miel sur le pain", "une étoile dans la nuit", "le boulanger sous le chêne"],
    "it": ["il sale del mare", "il miele sul pane", "una stella nella notte", "il fornaio sotto la quercia"],
}


@pytest.fixture
def starter(tmp_path, monkeypatch):
    """A package with tables of two languages, before any that is installed."""
    folder = tmp_path / "site" / "isogloss_starter" / "tables"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("", encoding="utf-8")
    for language in ("fr", "it"):
        sides = [Tokenizer(each, stems=True).terms(WORDS[each]) for each in ("en", language)]
        queries, documents = (sorted(side, key=str.encode) for side in sides)
        pairs = sorted((queries.index(w), documents.index(t)) for w, t in zip(*sides, strict=True))
        numbers, others = (np.asarray(column, np.int32) for column in zip(*pairs, strict=True))
        chances, counts = np.full(len(pairs), 0.8, np.float32), np.full(len(queries), 50, np.float32)
        table = WordTable(queries, documents, numbers, others, chances, chances, counts, counts)
        write_table(folder / f"{language}.words.xz", table)
    monkeypatch.setattr("isogloss.translation.starter._PACKAGE", "isogloss_starter")
    monkeypatch.syspath_prepend(tmp_path / "site")


def documents_alone(language, texts=None):
    texts = TEXTS[language] if texts is None else texts
    return Collection([Document(str(number), text) for number, text in enumerate(texts)], language)


def trained(pair, documents=None, **settings):
    documents = documents_alone(pair[1]) if documents is None else documents
    system = make_system("bridge", pair, settings)
    data = load_dataset(Demo(), ("en", "fr"))
    system.fit(replace(data, pair=pair, documents=documents, queries={}, judgments=Judgments(), splits={}))
    system.index(documents, ("text",))
    return system


@pytest.mark.parametrize("pair", [("en", "fr"), ("fr", "en"), ("fr", "it"), ("it", "fr")], ids="-".join)
def test_documents_are_enough_where_there_is_a_starter_table(starter, pair):
    system = trained(pair)
    for row, words in enumerate(([0, 3], [1, 2], [4, 5], [6, 7])):
        query = " ".join(WORDS[pair[0]][word] for word in words)
        found = system.search(query, 4)
        assert found.rows[0] == row
        assert np.isfinite(found.scores).all()
        assert system.unknown_words(query) == []
        lines = system.explain(query, row, "")
        assert sum(line.score for line in lines) == pytest.approx(found.scores[0], abs=1e-4)
    np.testing.assert_array_equal(
        system.model.weights, default_weights() * used_features(system.model.features, system.options)
    )
    assert system.model.calibration == DEFAULT_CALIBRATIONS[False]


@pytest.mark.parametrize("pair", [("en", "fr"), ("en", "sw"), ("fr", "sw"), ("sw", "en")], ids="-".join)
def test_without_any_knowledge_it_is_said_in_one_line_what_to_do(pair):
    message = r"^bridge: nothing to learn translations from: [^\n]*; install isogloss-starter, or [^\n]*lexicon='FILE'$"
    with pytest.raises(InputError, match=message):
        trained(pair, documents_alone("fr"))


@pytest.mark.parametrize("settings", [{"without": "starter"}, {"stems": "no"}], ids=["left out", "no stems"])
def test_a_starter_table_can_be_left_out_and_needs_stems(starter, settings):
    with pytest.raises(InputError, match="nothing to learn translations from"):
        trained(("en", "fr"), **settings)


@pytest.mark.parametrize("without", ["bm25", "reverse", "weights", "vectors", "pages,lexicon", "unknown"])
def test_what_else_is_left_out_leaves_the_starter(starter, without):
    system = trained(("en", "fr"), without=without)
    assert system.search("honey bread", 1).rows.tolist() == [1]


def test_a_query_of_unknown_words_and_an_empty_one_find_nothing(starter):
    system = trained(("en", "fr"))
    for query in ("", "?!", "zzyzx qwertz"):
        assert len(system.search(query, 5).rows) == 0
        assert np.isfinite(system.scores(query)).all()
        assert system.best_possible(query) > 0
    assert system.unknown_words("zzyzx sea") == ["zzyzx"]


@pytest.mark.parametrize("texts", [[], [""], ["…", ""], ["la mer"]], ids=["none", "empty", "no words", "one"])
def test_few_documents_or_none_are_searched(starter, texts):
    system = trained(("en", "fr"), documents_alone("fr", texts))
    found = system.search("sea", 5)
    assert found.rows.tolist() == [row for row, text in enumerate(texts) if "mer" in text]
    assert np.isfinite(found.scores).all()
    assert system.best_possible("sea") > 0


def test_it_is_the_same_twice_and_after_it_was_saved(starter, tmp_path):
    first, second = trained(("fr", "it")), trained(("fr", "it"))
    first.save(tmp_path)
    again = make_system("bridge", ("fr", "it"), {}).load(tmp_path)
    for query in ("miel pain", "mer", "zzyzx", ""):
        np.testing.assert_array_equal(first.scores(query), second.scores(query))
        np.testing.assert_array_equal(first.scores(query), again.scores(query))


def test_words_that_come_later_are_found_through_the_starter(starter, tmp_path, pages):
    """The table has words that no document has when the index is made."""
    make_index(tmp_path / "index", "bridge", pages(languages=("fr",)), ["fr"])
    query = "oak"
    assert [hit.document.id for hit in Searcher(open_index(tmp_path / "index")).search(query)] == []
    with IndexWriter(tmp_path / "index") as writer:
        writer.add([Document("tree", "un grand chêne", "", "fr")])
        writer.commit()
        (hit,) = Searcher(open_index(tmp_path / "index")).search(query)
        assert hit.document.id == "tree"
        assert hit.explanation[0].query_word == "oak"
        writer.compact()
    (hit,) = Searcher(open_index(tmp_path / "index")).search(query)
    assert hit.document.id == "tree"


def test_a_short_stem_of_the_documents_does_not_make_a_mistyped_word_a_known_one(tmp_path):
    (tmp_path / "en-cs.tsv").write_text("container\tkontejner\nmemory\tpaměť\n", encoding="utf-8")
    texts = documents_alone("cs", ["kontejner containers má paměť", "Orlane a jiné"])
    system = trained(("en", "cs"), texts, lexicon=str(tmp_path / "en-cs.tsv"))
    assert system.term_of("containers") == system.term_of("contaner") == "conta"
    assert system.knows(["contaner", "container", "orlane"]) == [False, True, True]


def test_translations_are_words_where_the_forms_of_stems_are_at_hand(starter, monkeypatch):
    forms = {"boulang": "boulangerie", "étoil": "étoile"}
    monkeypatch.setattr("isogloss.systems.glossers.starter_forms", lambda language: forms if language == "fr" else {})
    forms_at_hand.cache_clear()
    try:
        found = dict(trained(("en", "fr")).translations("a star for the baker"))
    finally:
        forms_at_hand.cache_clear()
    assert (found["star"], found["baker"]) == (["étoile"], ["boulangerie"])
