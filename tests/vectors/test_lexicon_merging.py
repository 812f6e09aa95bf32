"""Several lexicons as one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.vectors.lexicon import Lexicon
from isogloss.vectors.merging import merge_lexicons


def contents(lexicon):
    return {" ".join(phrase): {" ".join(t.phrase): t.probability for t in lexicon[phrase]} for phrase in lexicon}


def test_every_phrase_of_every_lexicon_is_there():
    merged = merge_lexicons(Lexicon([("ice cream", "glace", 0.0)]), Lexicon([("sea", "mer", 1.0)]), Lexicon())
    assert contents(merged) == {"ice cream": {"glace": 1.0}, "sea": {"mer": 1.0}}
    assert list(merged.cut(["ice", "cream"])) == [("ice", "cream")]


def test_measured_probabilities_are_averaged():
    one = Lexicon([("sea", "mer", 0.9), ("sea", "océan", 0.1)])
    other = Lexicon([("sea", "océan", 0.5), ("sea", "flots", 0.5)])
    merged = contents(merge_lexicons(one, other))["sea"]
    assert merged == pytest.approx({"mer": 0.45, "océan": 0.3, "flots": 0.25})
    assert list(merged) == ["mer", "océan", "flots"]


def test_probabilities_that_do_not_add_up_are_made_to():
    assert contents(merge_lexicons(Lexicon([("sea", "mer", 0.2), ("sea", "océan", 0.2)])))["sea"] == pytest.approx(
        {"mer": 0.5, "océan": 0.5}
    )


def test_a_dictionary_without_probabilities_has_the_smaller_say_where_the_word_was_measured():
    dictionary = Lexicon([("sea", "océan", 0.0), ("salt", "sel", 0.0), ("salt", "saler", 0.0)])
    merged = contents(merge_lexicons(dictionary, Lexicon([("sea", "mer", 1.0)])))
    assert merged["sea"] == pytest.approx({"mer": 1 / 1.2, "océan": 0.2 / 1.2})
    assert merged["salt"] == pytest.approx({"sel": 1 / 1.9, "saler": 0.9 / 1.9})


def test_of_equal_translations_those_of_the_first_lexicon_come_first():
    one, other = Lexicon([("sea", "mer", 1.0)]), Lexicon([("sea", "flots", 1.0)])
    assert list(contents(merge_lexicons(one, other))["sea"]) == ["mer", "flots"]
    assert list(contents(merge_lexicons(other, one))["sea"]) == ["flots", "mer"]


def test_merging_nothing_gives_nothing():
    assert contents(merge_lexicons()) == contents(merge_lexicons(Lexicon())) == {}


ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["sea", "salt", "old salt"]), st.sampled_from(["mer", "sel", "loup de mer"]), st.floats(0, 1)
    )
)


@given(lexicons=st.lists(ENTRIES, max_size=4))
@settings(deadline=None, max_examples=60)
def test_what_is_merged_adds_up_to_one(lexicons):
    merged = contents(merge_lexicons(*map(Lexicon, lexicons)))
    for found in merged.values():
        assert sum(found.values()) == pytest.approx(1)
        assert list(found.values()) == sorted(found.values(), reverse=True)
    assert set(merged) == {word for entries in lexicons for word, _, _ in entries}
