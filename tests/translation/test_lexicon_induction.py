"""Lexicons from translated texts: what is kept, its probabilities, its options; the order of the texts is nothing."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.dataset import load_dataset
from isogloss.data.parallel import translated_pages
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError
from isogloss.translation import word_alignment as induction
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.word_alignment import induce_lexicon

NOUNS = {"cat": "chat", "dog": "chien", "horse": "cheval", "bird": "oiseau", "fish": "poisson"}
VERBS = {"sleeps": "dort", "eats": "mange", "drinks": "boit", "runs": "court"}
PAGES = [(f"The {noun} {verb}.", f"Le {NOUNS[noun]} {VERBS[verb]}.") for noun, verb in itertools.product(NOUNS, VERBS)]


def contents(lexicon):
    return {" ".join(phrase): [(" ".join(t.phrase), t.probability) for t in lexicon[phrase]] for phrase in lexicon}


def first_translations(lexicon):
    return {word: found[0][0] for word, found in contents(lexicon).items()}


def test_the_best_translation_of_every_word_comes_first():
    assert first_translations(induce_lexicon(PAGES)) == {"the": "le"} | NOUNS | VERBS


def test_the_most_frequent_words_come_first_then_the_alphabet_decides():
    assert list(contents(induce_lexicon(PAGES))) == ["the", *sorted(VERBS), *sorted(NOUNS)]


LINES = st.lists(
    st.tuples(*[st.lists(st.sampled_from(["sea", "salt", "mer", "sel", "水"]), max_size=6).map(" ".join)] * 2),
    min_size=1,
    max_size=8,
)


@given(pairs=LINES, maximum=st.integers(1, 4), minimum=st.sampled_from([0.0, 0.03, 0.3]))
@settings(deadline=None, max_examples=30)
def test_probabilities_fall_and_add_up_to_one_and_keep_to_the_limits(pairs, maximum, minimum):
    pairs.append(("mer", "sea"))
    lexicon = induce_lexicon(pairs, minimum_count=1, maximum_translations=maximum, minimum_probability=minimum)
    for found in contents(lexicon).values():
        probabilities = [probability for _, probability in found]
        assert sum(probabilities) == pytest.approx(1)
        assert probabilities == sorted(probabilities, reverse=True)
        assert len(found) <= maximum
        assert min(probabilities) >= minimum


@given(orders=LINES.flatmap(lambda pairs: st.tuples(st.just(pairs), st.permutations(pairs))))
@settings(deadline=None, max_examples=30)
def test_the_order_of_the_texts_does_not_matter_at_all(orders):
    first, second = (
        list(contents(induce_lexicon([*pairs, ("mer", "sea")], minimum_count=1)).items()) for pairs in orders
    )
    assert first == second


def test_rare_words_take_no_part():
    pages = [*PAGES, ("The zebra sleeps.", "Le zèbre dort.")]
    assert ("zebra",) not in induce_lexicon(pages)
    assert first_translations(induce_lexicon(pages, minimum_count=1))["zebra"] == "zèbre"


def test_stop_words_of_both_languages_take_no_part_if_they_are_dropped():
    lexicon = induce_lexicon(PAGES, ("en", "fr"), drop_stop_words=True)
    assert first_translations(lexicon) == NOUNS | VERBS
    assert all(word != "le" for found in contents(lexicon).values() for word, _ in found)
    assert ("the",) in induce_lexicon(PAGES, ("en", "fr"))


def test_what_is_induced_can_be_saved_and_read(tmp_path):
    lexicon = induce_lexicon(PAGES)
    lexicon.save(tmp_path / "en-fr.tsv")
    assert contents(Lexicon.read(tmp_path / "en-fr.tsv")) == contents(lexicon)


def test_of_very_much_text_only_every_nth_pair_is_used(monkeypatch):
    seen = []
    real = induction.align_words

    def spy(source, target, *options):
        seen.append((len(source.ids), len(target.ids)))
        return real(source, target, *options)

    monkeypatch.setattr(induction, "align_words", spy)
    induce_lexicon(PAGES, minimum_count=1)
    assert first_translations(induce_lexicon(PAGES, minimum_count=1, maximum_words=30))["the"] == "le"
    assert seen == [(60, 60), (30, 30)]


@pytest.mark.parametrize(
    ("pairs", "what"),
    [
        ([], "induction: no pairs of texts to induce a lexicon from"),
        ([("one", "un")], r"induction: no word is seen 2 times beside another in 1 pairs of texts; give more"),
        ([("", ""), ("?", "!")], "no word is seen 2 times"),
        ([("one one", ""), ("", "un un")], "no word is seen 2 times"),
    ],
)
def test_nothing_to_learn_from_is_an_error(pairs, what):
    with pytest.raises(InputError, match=what) as caught:
        induce_lexicon(pairs)
    assert "\n" not in str(caught.value)


def test_the_bundled_collection_teaches_common_words():
    pages = translated_pages(load_dataset(open_source("demo"), ("en", "fr")))
    found = first_translations(induce_lexicon(pages, ("en", "fr")))
    wanted = {"and": "et", "is": "est", "water": "eau", "with": "avec", "animal": "animal"}
    assert {word: found.get(word) for word in wanted} == wanted
