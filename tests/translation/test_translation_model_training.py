"""Learning a model: from pages, from a dictionary, from both; what is rare; what does not matter."""

import random

import numpy as np
import pytest

from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation import model as training
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.model import ARRAYS, Compound, Knowledge, dictionary_table, train_translation_model
from isogloss.translation.word_tables import WordTable

PLAIN = Tokenizer("en"), Tokenizer("fr")
ENGLISH = ["bee", "honey", "sea", "salt", "bread", "baker", "star", "night"]
FRENCH = ["abeille", "miel", "mer", "sel", "pain", "boulanger", "étoile", "nuit"]
ENTRIES = [("bee", "abeille", 0.0), ("bee", "mouche à miel", 0.0), ("oak", "chêne", 0.0), ("ice cream", "glace", 0.0)]


def known(entries, strength=5.0):
    return [Knowledge(dictionary_table(Lexicon(entries), PLAIN), strength)]


def table_of(entries, seen):
    """A table of {(query word, document word): (P(t | w), P(w | t))}, each word seen so often."""
    queries, documents = (sorted({pair[side] for pair in entries}, key=str.encode) for side in (0, 1))
    pairs = sorted((queries.index(w), documents.index(t), *both) for (w, t), both in entries.items())
    numbers, others, forward, backward = zip(*pairs, strict=True)
    return WordTable(
        queries, documents, np.asarray(numbers, np.int32), np.asarray(others, np.int32),
        np.asarray(forward, np.float32), np.asarray(backward, np.float32),
        *(np.full(len(side), seen, np.float32) for side in (queries, documents)),
    )  # fmt: skip


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
    model = train_translation_model(made_up_pages(120), [], PLAIN).model
    assert list(model.query_words) == sorted(ENGLISH)
    for word, term in zip(ENGLISH, FRENCH, strict=True):
        said, meant = chance(model, word, term)
        assert min(said, meant) > 0.7
        terms, probabilities, _ = model.translations(model.query_words.find(word))
        assert model.document_words[terms[np.argmax(probabilities)]] == term


def test_chances_are_chances():
    model = train_translation_model(made_up_pages(rare=True), known(ENTRIES), PLAIN).model
    words = np.repeat(np.arange(len(model.offsets) - 1), np.diff(model.offsets))
    assert model.query_probabilities.min() >= 0
    assert np.bincount(words, model.document_probabilities).max() <= 1 + 1e-5
    assert np.bincount(model.terms, model.query_probabilities).max() <= 1 + 1e-5
    assert len(model.offsets) == len(model.query_words) + 2
    assert len(model.query_counts) == len(model.query_words) + 1
    assert len(model.document_counts) == model.unknown + 1


def test_a_dictionary_alone_gives_its_entries():
    """Each translation counts once; so few counts leave half of the probability to words that nobody told of."""
    model = train_translation_model([], known(ENTRIES, strength=10.0), PLAIN).model
    assert list(model.query_words) == ["bee", "oak"]  # phrases are left out
    assert list(model.document_words) == ["abeille", "chêne", "miel", "mouche"]
    assert chance(model, "oak", "chêne") == (pytest.approx(0.5), pytest.approx(0.5))
    assert chance(model, "bee", "abeille") == (pytest.approx(0.5), pytest.approx(0.25))
    assert chance(model, "bee", "miel") == (pytest.approx(0.5), pytest.approx(0.125))  # "à" is a stop word
    assert model.query_counts.tolist() == [0, 0, 0]


def test_the_table_of_a_dictionary_holds_both_directions():
    table = dictionary_table(Lexicon([*ENTRIES, ("wasp", "mouche", 0.0), ("hive", "ruche", 0.25)]), PLAIN)
    assert table.query_words == ["bee", "hive", "oak", "wasp"]
    assert table.document_words == ["abeille", "chêne", "miel", "mouche", "ruche"]
    rows = zip(table.query_numbers.tolist(), table.document_numbers.tolist(), strict=True)
    pairs = [(table.query_words[w], table.document_words[t]) for w, t in rows]
    assert pairs == [
        ("bee", "abeille"), ("bee", "miel"), ("bee", "mouche"), ("hive", "ruche"), ("oak", "chêne"), ("wasp", "mouche")
    ]  # fmt: skip
    assert table.query_probabilities.tolist() == [0.5, 0.25, 0.25, 1, 1, 1]
    assert table.document_probabilities.tolist() == pytest.approx([1, 1, 1 / 3, 1, 1, 2 / 3])


def test_both_are_put_together_and_pages_outweigh_the_dictionary():
    pages = made_up_pages()
    entries = [("bee", "guêpe", 0.0), ("oak", "chêne", 0.0), ("sea", "mer", 0.0)]
    model = train_translation_model(pages, known(entries), PLAIN).model
    assert chance(model, "oak", "chêne")[1] == pytest.approx(5 / 15)
    assert chance(model, "bee", "abeille")[1] > 0.5 > chance(model, "bee", "guêpe")[1] > 0
    alone = train_translation_model(pages, [], PLAIN).model
    assert chance(model, "sea", "mer")[1] > chance(alone, "sea", "mer")[1]


class TestKnowledgeIsCombinedWordByWord:
    """Own pages have "bee" often, "oak" once and "elm" never; the dictionary lacks "elm"."""

    PAGES = (*made_up_pages(), ("an oak is an oak", "un chêne est un chêne"))
    DICTIONARY = table_of({("bee", "guêpe"): (1, 1), ("oak", "rouvre"): (1, 1)}, np.inf)
    STARTER = table_of({("bee", "essaim"): (1, 1), ("oak", "gland"): (1, 1), ("elm", "orme"): (1, 1)}, 2.0)

    def forward(self, word, pages=PAGES, strengths=(5.0, 20.0)):
        knowledge = [Knowledge(table, s) for table, s in zip((self.DICTIONARY, self.STARTER), strengths, strict=True)]
        model = train_translation_model(pages, knowledge, PLAIN).model
        terms, _, forward = model.translations(model.query_words.find(word))
        names = [*model.document_words, "?"]
        return {names[term]: value for term, value in zip(terms.tolist(), forward.tolist(), strict=True)}

    def test_a_word_that_own_pages_show_often_is_decided_by_them(self):
        found = self.forward("bee")
        assert max(found, key=found.get) == "abeille"
        assert found["abeille"] > 0.5 > 0.2 > found["guêpe"] > found["essaim"] > 0

    def test_one_that_they_hardly_show_by_the_dictionary(self):
        found = self.forward("oak")
        assert max(found, key=found.get) == "rouvre"
        assert found["gland"] < found["rouvre"]

    def test_one_that_neither_shows_by_the_starter(self):
        assert self.forward("elm") == {"orme": pytest.approx(2 / 12)}

    def test_without_pages_the_formula_is_the_share_of_pseudo_counts(self):
        assert self.forward("oak", []) == {"rouvre": pytest.approx(5 / 17), "gland": pytest.approx(2 / 17)}
        assert self.forward("oak", [], (1.0, 1.0)) == {"rouvre": pytest.approx(1 / 12), "gland": pytest.approx(1 / 12)}

    def test_more_own_pages_make_the_others_count_less(self):
        shares = [self.forward("bee", self.PAGES[:count]).get("guêpe", 0.0) for count in (0, 5, 20, 60)]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 2 * shares[-1]

    def test_a_table_of_both_directions_is_not_turned_round(self):
        """Of one query word with two translations P(t | w) is shared, P(w | t) is not."""
        table = table_of({("bank", "banque"): (0.75, 1.0), ("bank", "rive"): (0.25, 1.0)}, 1000.0)
        model = train_translation_model([], [Knowledge(table, 990.0)], PLAIN).model
        assert chance(model, "bank", "banque") == (pytest.approx(0.99), pytest.approx(0.7425))
        assert chance(model, "bank", "rive") == (pytest.approx(0.99), pytest.approx(0.2475))


def test_words_of_a_dictionary_that_pages_have_once_are_known():
    model = train_translation_model([("the bee", "une abeille")], known([("bee", "abeille", 0.0)]), PLAIN).model
    assert list(model.query_words) == ["bee"]
    assert chance(model, "bee", "abeille")[0] > 0.35


@pytest.mark.parametrize(
    "knowledge", [[], known([]), known([("ice cream", "glace", 0.0)])], ids=["none", "empty", "no use"]
)
@pytest.mark.parametrize("pages", [[], [("", "")], [("?!", "…")]], ids=["none", "empty", "no words"])
def test_nothing_to_learn_from_is_said_in_one_line(pages, knowledge):
    with pytest.raises(InputError, match=r"^nothing to learn translations from: neither [^\n]*$"):
        train_translation_model(pages, knowledge, PLAIN)


def test_what_is_rare_in_one_language_is_rare_in_the_other():
    trained = train_translation_model(made_up_pages(rare=True), [], PLAIN)
    model = trained.model
    assert list(model.query_words) == sorted(ENGLISH)
    terms, said, meant = model.translations(len(ENGLISH))
    assert terms[np.argmax(said)] == terms[np.argmax(meant)] == model.unknown
    assert min(chance(model, None, None)) > 0.4
    assert model.query_counts[-1] == model.document_counts[-1] == 60
    assert (trained.queries.ids == len(ENGLISH)).sum() == 60


def test_unknown_words_can_be_left_out():
    trained = train_translation_model(made_up_pages(rare=True), [], PLAIN, unknown=False)
    assert len(trained.model.translations(len(ENGLISH))[0]) == 0
    assert trained.model.unknown not in trained.model.terms
    assert trained.queries.ids.max() < len(ENGLISH)
    assert np.diff(trained.queries.offsets).tolist() == [4] * 60
    same(trained, train_translation_model(made_up_pages(rare=False), [], PLAIN, unknown=False))


def test_the_order_of_the_pages_does_not_matter_and_it_is_always_the_same():
    pages = made_up_pages(rare=True)
    first = train_translation_model(pages, known(ENTRIES), PLAIN)
    same(first, train_translation_model(pages, known(ENTRIES), PLAIN))
    shuffled = random.Random(1).sample(pages, len(pages))
    same(first, train_translation_model(shuffled, known(ENTRIES), PLAIN))


def test_texts_come_back_in_the_numbers_of_the_channel():
    pages = sorted(made_up_pages(5, rare=True))
    trained = train_translation_model(pages, [], PLAIN)
    words = [*trained.model.document_words, "?"]
    for number, (_, page) in enumerate(pages):
        ids = trained.documents.ids[trained.documents.offsets[number] : trained.documents.offsets[number + 1]]
        known = [word if word in words else "?" for word in page.split()]
        assert [words[number] for number in ids.tolist()] == known


def test_words_are_stems_where_the_tokenisers_make_them():
    pages = [("bees make honey", "les abeilles font le miel")] * 2
    model = train_translation_model(pages, [], (Tokenizer("en", stems=True), Tokenizer("fr", stems=True))).model
    assert "bee" in model.query_words
    assert "abeil" in model.document_words


def test_of_very_many_pages_the_same_are_taken_of_both_sides(monkeypatch):
    """One side has twice as many words: every second page is taken of both, not every second of one."""
    pages = [(f"{english} {english}", french) for english, french in made_up_pages()]
    monkeypatch.setattr(training, "_MOST_WORDS", 240)
    seen = []
    align = training.align_words

    def watched(source, target, **settings):
        seen.append([np.diff(side.offsets) > 0 for side in (source, target)])
        return align(source, target, **settings)

    monkeypatch.setattr(training, "align_words", watched)
    train_translation_model(pages, [], PLAIN)
    ((queries, documents),) = seen
    np.testing.assert_array_equal(queries, documents)
    assert queries.sum() == 30


def test_hostile_texts_are_learned_from():
    pages = [("\ud800 bee\0 bee 𝒷", "\x00\ufeff abeille abeille \U0001f41d"), ("bee", "abeille"), ("", "rien")]
    model = train_translation_model(pages, [], PLAIN).model
    terms, backward, forward = model.translations(model.query_words.find("bee"))
    best = model.document_words.find("abeille")
    assert terms[np.argmax(backward)] == terms[np.argmax(forward)] == best


def test_a_compound_that_nobody_translates_means_what_its_parts_mean():
    """P(w | t) is the mean of its parts', P(t | w) also as much less as it is rarer than they are."""
    compounds = {"mielpain": Compound(("miel", "pain"), 0.25), "abeille": Compound(("miel", "mer"), 1.0)}
    entries = [("honey", "miel", 0.0), ("bread", "pain", 0.0), ("bee", "abeille", 0.0)]
    model = train_translation_model([], known(entries, 10.0), PLAIN, compounds=compounds).model
    for word, part in (("honey", "miel"), ("bread", "pain")):
        said, meant = chance(model, word, part)
        assert chance(model, word, "mielpain") == (pytest.approx(said / 2), pytest.approx(meant / 2 * 0.25))
    plain = train_translation_model([], known(entries, 10.0), PLAIN).model
    assert "mielpain" not in set(plain.document_words)
    assert chance(model, "bee", "abeille") == chance(plain, "bee", "abeille")
    left = 1 - chance(plain, "bee", "abeille")[0]  # "mer" is unknown, so "miel" counts half
    assert chance(model, "honey", "abeille")[0] == pytest.approx(left * chance(plain, "honey", "miel")[0] / 2)


def test_chances_with_compounds_are_chances():
    compounds = {f"{one}{two}": Compound((one, two), 1.0) for one in FRENCH for two in FRENCH}
    model = train_translation_model(made_up_pages(), known(ENTRIES), PLAIN, compounds=compounds).model
    assert len(model.document_words) > 64
    assert np.bincount(model.terms, model.query_probabilities).max() <= 1 + 1e-5
    without = train_translation_model(made_up_pages(), known(ENTRIES), PLAIN).model
    assert chance(model, "sea", "mer") == pytest.approx(chance(without, "sea", "mer"), rel=1e-2)
