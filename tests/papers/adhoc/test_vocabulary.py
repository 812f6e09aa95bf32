"""Words with counts: which are kept, in which order, and what a file of them is."""

import gzip
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.adhoc.vocabulary import Vocabulary
from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import tokenize

token_lists = st.lists(st.lists(st.sampled_from(["a", "b", "é", "中", "zz", "𠀀"])), max_size=6)


@settings(deadline=None, max_examples=33)
@given(token_lists, st.integers(0, 4), st.none() | st.integers(0, 5))
def test_words_are_kept_by_count_and_size_and_ranked_by_count_then_code_points(texts, minimum, maximum):
    counter = Counter(token for text in texts for token in text)
    expected = sorted((word for word in counter if counter[word] >= minimum), key=lambda word: (-counter[word], word))
    vocabulary = Vocabulary.count(texts, minimum, maximum)
    assert list(vocabulary) == vocabulary.words == expected[:maximum]
    assert vocabulary.counts.tolist() == [counter[word] for word in vocabulary]
    assert len(vocabulary) == len(vocabulary.words)
    assert vocabulary.ids(vocabulary.words) == list(range(len(vocabulary)))


def test_equal_counts_are_ordered_by_code_point_whatever_came_first():
    assert Vocabulary.count([["é", "b", "a", "Z", "中"]]).words == ["Z", "a", "b", "é", "中"]
    assert Vocabulary.count([["中", "Z", "a", "b", "é"]], maximum_size=2).words == ["Z", "a"]


def test_unknown_tokens_have_no_id_and_known_ones_keep_their_order():
    vocabulary = Vocabulary.from_counts({"a": 3, "b": 2, "c": 1}, minimum_count=2)
    assert vocabulary.ids(["b", "c", "a", "?", "b"]) == [1, 0, 1]
    assert "a" in vocabulary
    assert "c" not in vocabulary
    assert 7 not in vocabulary


@pytest.mark.parametrize(("words", "counts"), [(["a"], []), (["a", "a"], [1, 2])])
def test_a_count_for_each_word_and_each_word_once(words, counts):
    with pytest.raises(ValueError, match=r"count|twice"):
        Vocabulary(words, counts)


@settings(deadline=None, max_examples=33)
@given(texts=st.lists(st.text(), max_size=4))
def test_what_is_saved_is_loaded_again_for_the_tokens_of_any_text(texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "words.tsv"
    vocabulary = Vocabulary.count(map(tokenize, texts))
    vocabulary.save(path)
    loaded = Vocabulary.load(path)
    assert loaded.words == vocabulary.words
    assert loaded.counts.tolist() == vocabulary.counts.tolist()
    assert loaded.counts.dtype == np.int64


def test_the_file_is_a_word_a_tab_and_a_count_a_line(tmp_path):
    Vocabulary(["le", "été"], [12, 3]).save(tmp_path / "words")
    assert (tmp_path / "words").read_bytes() == "le\t12\nété\t3\n".encode()


def test_a_gzipped_vocabulary_is_found_and_read(tmp_path):
    (tmp_path / "words.gz").write_bytes(gzip.compress(b"a\t2\n"))
    assert Vocabulary.load(str(tmp_path / "words")).words == ["a"]


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "\ufeffa", "a\0"])
def test_a_word_that_a_line_cannot_hold_is_refused_and_nothing_is_written(word, tmp_path):
    with pytest.raises(ValueError, match="a word with"):
        Vocabulary([word], [1]).save(tmp_path / "words")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    ["b", "b 2", "b\t", "b\t-1", "b\t1.5", "b\tmany", "b\t1\t2", "", "a\t7", "b\t" + "9" * 20, "b\t" + "9" * 5000],
    ids=lambda line: repr(line[:8]),
)
def test_a_damaged_line_is_an_input_error_that_names_file_and_line(line, tmp_path):
    path = tmp_path / "words"
    path.write_text(f"a\t2\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        Vocabulary.load(path)
    assert str(error.value).startswith(f"{path}:2: expected a new word, a tab and its count, got {line[:60]!r}")


def test_a_missing_vocabulary_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Vocabulary.load(tmp_path / "words")
