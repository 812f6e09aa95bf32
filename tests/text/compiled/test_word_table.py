"""A table of words finds the words it was made of, and no other."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from isogloss.text.compiled import word_table
from isogloss.text.compiled.word_table import characters_to_text, flat_characters, make_word_table


def find_words(table, words):
    characters, starts = flat_characters(words)
    return word_table.find_words(table, characters, starts[:-1], starts[1:])


words_of_any_kind = st.lists(st.text(st.characters(categories=None), max_size=6), max_size=40)


@settings(deadline=None, max_examples=20)
@given(words_of_any_kind, words_of_any_kind)
def test_words_are_found_in_their_first_row_and_others_nowhere(words, others):
    table = make_word_table(words)
    wanted = [*words, *others, *(word + "a" for word in words), *(word[:-1] for word in words)]
    assert find_words(table, wanted).tolist() == [words.index(word) if word in words else -1 for word in wanted]


def test_many_words():
    words = [f"{number:x}é" for number in range(5_000)]
    assert find_words(make_word_table(words), [*reversed(words), "zz"]).tolist() == [*reversed(range(5_000)), -1]


def test_equal_hashes_are_not_equal_words():
    table = make_word_table(["one", "two"])
    row_of_one = int(find_words(table, ["one"])[0])
    flat, _ = flat_characters(["six"])
    with_the_hash_of_one = word_table.hash_of(table.words, 0, 3)
    find = lambda word: word_table.find_word(*table, word, 0, 3, with_the_hash_of_one)  # noqa: E731
    assert (find(flat), find(flat_characters(["one"])[0])) == (-1, row_of_one)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(categories=None))))
def test_characters_go_to_code_points_and_back(texts):
    characters, starts = flat_characters(texts)
    assert characters_to_text(characters) == "".join(texts)
    assert [characters_to_text(characters[a:b]) for a, b in pairwise(starts)] == texts
