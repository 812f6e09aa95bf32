"""The paper's recipe: the most frequent words a lexicon knows, with the best of their translations."""

from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.word_vectors.alignment import frequent_pairs, lexicon_pairs
from isogloss.translation.lexicon import Lexicon


def lexicon(*entries):
    return Lexicon([(*entry, 0.0) if len(entry) == 2 else entry for entry in entries])


def choice(*translations, **known):
    return frequent_pairs(lexicon(*(("from", target) for target in translations)), {"from": 1}, 1, **known)[0][1]


def test_the_most_frequent_known_words_come_first_and_equals_by_name():
    words = lexicon(("dog", "perro"), ("cat", "gato"), ("ant", "hormiga"), ("ice cream", "helado"), ("emu", "emú"))
    counts = {"cat": 5, "the": 90, "ant": 5, "dog": 9, "emu": 0, "ice cream": 50, "ice": 8}
    assert frequent_pairs(words, counts, 10) == [("dog", "perro"), ("ant", "hormiga"), ("cat", "gato")]
    assert frequent_pairs(words, counts, 2) == [("dog", "perro"), ("ant", "hormiga")]
    assert frequent_pairs(words, counts, 0) == frequent_pairs(words, {}, 5) == []


def test_the_first_listed_translation_is_taken_when_nothing_speaks_for_another():
    assert choice("de", "desde") == "de"
    assert choice("de", "desde", target_counts={}, target_words=()) == "de"


def test_a_copy_is_taken_only_when_there_is_nothing_else():
    assert choice("from", "de") == "de"
    assert choice("from") == "from"
    assert choice("from", "de", target_words={"from"}, target_counts={"from": 9}) == "de"


def test_a_translation_with_a_vector_goes_before_a_frequent_one():
    assert choice("de", "desde", target_words={"desde"}) == "desde"
    assert choice("de", "desde", target_words={"desde"}, target_counts={"de": 9}) == "desde"
    assert choice("a partir de", "desde", target_words={"desde", "a", "de"}) == "desde"


def test_the_most_frequent_translation_goes_before_the_first_listed():
    assert choice("de", "desde", "por", target_counts={"de": 1, "desde": 3, "por": 3}) == "desde"
    assert choice("a partir de", "desde", target_counts={"a": 50, "partir": 2, "de": 90, "desde": 3}) == "desde"


def test_probabilities_where_the_lexicon_has_them_go_before_everything():
    words = lexicon(("http", "sitio", 0.1), ("http", "http", 0.9))
    assert frequent_pairs(words, {"http": 1}, 1, {"sitio": 100}, {"sitio"}) == [("http", "http")]


@given(
    entries=st.lists(st.tuples(st.sampled_from(["a", "b", "c d"]), st.sampled_from(["x", "y", "z w", "a"]))),
    counts=st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)),
    n=st.integers(0, 4),
)
def test_each_word_has_one_translation_that_the_lexicon_lists(entries, counts, n):
    words = lexicon(*entries)
    found = frequent_pairs(words, counts, n)
    assert set(found) <= set(lexicon_pairs(words)) == set(entries)
    assert len({word for word, _ in found}) == len(found) <= n
