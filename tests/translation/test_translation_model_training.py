"""Learning a model: from pages, from a dictionary, from both; what is rare; what does not matter."""

import random

import numpy as np
import pytest

from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation import model as channel_learning
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.model import ARRAYS, train_translation_model

PLAIN = Tokenizer("en"), Tokenizer("fr")
ENGLISH = ["bee", "honey", "sea", "salt", "bread", "baker", "star", "night"]
FRENCH = ["abeille", "miel", "mer", "sel", "pain", "boulanger", "étoile", "nuit"]
ENTRIES = [("bee", "abeille", 0.0), ("bee", "mouche à miel", 0.0), ("oak", "chêne", 0.0), ("ice cream", "glace", 0.0)]


def made_up_pages(number=60, rare=False):
    """Sentences word for word; each perhaps with a name of its own on either side."""
    rng = random.Random(0)
    pages = []
    for page in range(number):
        words = rng.sample(range(len(ENGLISH)), 4)
        sides = [[names[word] for word in words] for names in (ENGLISH, FRENCH)]
        if rare:
            sides[0].insert(2, f"english{page}")
            sides[1].insert(2, f"french{page}")
        pages.append((" ".join(sides[0]), " ".join(sides[1])))
    return pages


def chance(model, word, term):
    """P(w | t) and P(t | w); None stands for unknown words."""
    number = len(model.query_words) if word is None else model.query_words.find(word)
    wanted = model.unknown if term is None else model.document_words.find(term)
    terms, said, meant = model.translations(number)
    (place,) = np.flatnonzero(terms == wanted)
    return said[place], meant[place]


def same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(one.model.arrays()[name], other.model.arrays()[name])
    assert list(one.model.query_words) == list(other.model.query_words)
    assert list(one.model.document_words) == list(other.model.document_words)


def test_pages_alone_tell_what_words_mean():
    model = train_translation_model(made_up_pages(), None, PLAIN, ()).model
    assert list(model.query_words) == sorted(ENGLISH)
    for word, term in zip(ENGLISH, FRENCH, strict=True):
        said, meant = chance(model, word, term)
        assert min(said, meant) > 0.7
        terms, probabilities, _ = model.translations(model.query_words.find(word))
        assert model.document_words[terms[np.argmax(probabilities)]] == term


def test_chances_are_chances():
    model = train_translation_model(made_up_pages(rare=True), Lexicon(ENTRIES), PLAIN, ["chêne"]).model
    words = np.repeat(np.arange(len(model.offsets) - 1), np.diff(model.offsets))
    assert model.query_probabilities.min() >= 0
    assert np.bincount(words, model.document_probabilities).max() <= 1 + 1e-5
    assert np.bincount(model.terms, model.query_probabilities).max() <= 1 + 1e-5
    assert len(model.offsets) == len(model.query_words) + 2
    assert len(model.query_counts) == len(model.query_words) + 1
    assert len(model.document_counts) == model.unknown + 1


def test_a_dictionary_alone_gives_its_entries_that_documents_can_use():
    held = ["abeille", "chêne", "mouche", "à", "glace"]
    model = train_translation_model([], Lexicon(ENTRIES), PLAIN, held).model
    assert list(model.query_words) == ["bee", "oak"]  # phrases have no place in it; "miel" stands in no document
    assert list(model.document_words) == ["abeille", "chêne"]
    assert chance(model, "oak", "chêne") == (pytest.approx(1), pytest.approx(1))
    assert model.query_counts.tolist() == [0, 0, 0]


def test_both_are_put_together_and_pages_outweigh_the_dictionary():
    pages = made_up_pages()
    lexicon = Lexicon([("bee", "guêpe", 0.0), ("oak", "chêne", 0.0), ("sea", "mer", 0.0)])
    model = train_translation_model(pages, lexicon, PLAIN, ["guêpe", "chêne"]).model
    assert chance(model, "oak", "chêne")[1] == pytest.approx(1)
    assert chance(model, "bee", "abeille")[1] > 0.6 > chance(model, "bee", "guêpe")[1] > 0
    alone = train_translation_model(pages, None, PLAIN, ()).model
    assert chance(model, "sea", "mer")[1] > chance(alone, "sea", "mer")[1]


def test_words_of_a_dictionary_that_pages_have_need_no_further_document():
    model = train_translation_model([("the bee", "une abeille")], Lexicon(ENTRIES), PLAIN, ()).model
    assert list(model.query_words) == ["bee"]
    assert chance(model, "bee", "abeille")[0] > 0.5


@pytest.mark.parametrize(
    "lexicon", [None, Lexicon(), Lexicon([("oak", "chêne", 0.0)])], ids=["none", "empty", "no use"]
)
@pytest.mark.parametrize("pages", [[], [("", "")], [("?!", "…")]], ids=["none", "empty", "no words"])
def test_nothing_to_learn_from_is_said_in_one_line(pages, lexicon):
    with pytest.raises(InputError, match=r"^nothing to learn translations from: there are neither [^\n]*$"):
        train_translation_model(pages, lexicon, PLAIN, ["mer"])


def test_what_is_rare_in_one_language_is_rare_in_the_other():
    trained = train_translation_model(made_up_pages(rare=True), None, PLAIN, ())
    model = trained.model
    assert list(model.query_words) == sorted(ENGLISH)
    terms, said, meant = model.translations(len(ENGLISH))
    assert terms[np.argmax(said)] == terms[np.argmax(meant)] == model.unknown
    assert min(chance(model, None, None)) > 0.4
    assert model.query_counts[-1] == model.document_counts[-1] == 60
    assert (trained.queries.ids == len(ENGLISH)).sum() == 60


def test_unknown_words_can_be_left_out():
    trained = train_translation_model(made_up_pages(rare=True), None, PLAIN, (), unknown=False)
    assert len(trained.model.translations(len(ENGLISH))[0]) == 0
    assert trained.model.unknown not in trained.model.terms
    assert trained.queries.ids.max() < len(ENGLISH)
    assert np.diff(trained.queries.offsets).tolist() == [4] * 60
    same(trained, train_translation_model(made_up_pages(rare=False), None, PLAIN, (), unknown=False))


def test_the_order_of_the_pages_does_not_matter_and_it_is_always_the_same():
    pages = made_up_pages(rare=True)
    first = train_translation_model(pages, Lexicon(ENTRIES), PLAIN, ["chêne"])
    same(first, train_translation_model(pages, Lexicon(ENTRIES), PLAIN, ["chêne"]))
    shuffled = random.Random(1).sample(pages, len(pages))
    same(first, train_translation_model(shuffled, Lexicon(ENTRIES), PLAIN, ["chêne"]))


def test_texts_come_back_in_the_numbers_of_the_channel():
    pages = sorted(made_up_pages(5, rare=True))
    trained = train_translation_model(pages, None, PLAIN, ())
    words = [*trained.model.document_words, "?"]
    for number, (_, page) in enumerate(pages):
        ids = trained.documents.ids[trained.documents.offsets[number] : trained.documents.offsets[number + 1]]
        known = [word if word in words else "?" for word in page.split()]
        assert [words[number] for number in ids.tolist()] == known


def test_words_are_stems_where_the_tokenisers_make_them():
    pages = [("bees make honey", "les abeilles font le miel")] * 2
    model = train_translation_model(pages, None, (Tokenizer("en", stems=True), Tokenizer("fr", stems=True)), ()).model
    assert "bee" in model.query_words
    assert "abeil" in model.document_words


def test_of_very_many_pages_the_same_are_taken_of_both_sides(monkeypatch):
    """One side has twice as many words: every second page is taken of both, not every second of one."""
    pages = [(f"{english} {english}", french) for english, french in made_up_pages()]
    monkeypatch.setattr(channel_learning, "_MOST_WORDS", 240)
    seen = []
    align = channel_learning.align_words

    def watched(source, target):
        seen.append([np.diff(side.offsets) > 0 for side in (source, target)])
        return align(source, target)

    monkeypatch.setattr(channel_learning, "align_words", watched)
    train_translation_model(pages, None, PLAIN, ())
    ((queries, documents),) = seen
    np.testing.assert_array_equal(queries, documents)
    assert queries.sum() == 30


def test_hostile_texts_are_learned_from():
    pages = [("\ud800 bee\0 bee 𝒷", "\x00\ufeff abeille abeille \U0001f41d"), ("bee", "abeille"), ("", "rien")]
    model = train_translation_model(pages, None, PLAIN, ()).model
    assert chance(model, "bee", "abeille")[0] > 0.5
