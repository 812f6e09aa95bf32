"""Vectors written and read back: in every format the same words and numbers, and whole or not at all."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.word_vectors.files import read_vectors, write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError

WORDS = ["cat", "été", "中文"]
MATRIX = np.float32([[0.5, -1.25, 3], [0, 1e-7, -2e9], [1 / 3, 0.1, 7]])
TARGETS = ["word2vec:{}/v.vec", "glove:{}/v.txt", "binary:{}/v.bin", "word2vec:{}/v.gz", "binary:{}/v.bin.gz", "{}/own"]


def same(vectors, words, matrix):
    assert list(vectors.words) == list(words)
    assert vectors.matrix.dtype == np.float32
    assert np.array_equal(vectors.matrix, np.float32(matrix))
    return True


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("target", TARGETS)
def test_a_limit_keeps_the_first_words(tmp_path, target, limit):
    words, matrix = [f"w{row}" for row in range(4)], np.arange(12).reshape(4, 3) + 1
    target = target.format(tmp_path)
    write_vectors(WordVectors(words, np.float32(matrix)), target)
    assert same(read_vectors(target.split(":")[-1], limit), words[:limit], matrix[:limit])


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_written_is_read_back_the_same(tmp_path, target):
    target = target.format(tmp_path)
    vectors = WordVectors(WORDS, MATRIX)
    write_vectors(vectors, target)
    assert same(read_vectors(target.split(":")[-1]), WORDS, MATRIX)
    with pytest.raises(InputError, match="exists and is not empty"):
        write_vectors(vectors, target)
    write_vectors(WordVectors(["dog"], np.float32([[1, 2, 3]])), target, overwrite=True)
    assert same(read_vectors(target.split(":")[-1]), ["dog"], [[1, 2, 3]])
    assert [path.name for path in tmp_path.iterdir()] == [target.rpartition("/")[2]]


def test_written_files_are_what_other_tools_expect(tmp_path):
    vectors = WordVectors(["cat", "été"], np.float32([[0.5, -2], [1e-10, 3]]))
    for form in ("word2vec", "glove", "binary"):
        write_vectors(vectors, f"{form}:{tmp_path / form}")
    assert (tmp_path / "glove").read_text("utf-8") == "cat 0.5 -2\nété 1.00000001e-10 3\n"
    assert (tmp_path / "word2vec").read_text("utf-8") == "2 2\n" + (tmp_path / "glove").read_text("utf-8")
    cat, ete = struct.pack("<2f", 0.5, -2), struct.pack("<2f", 1e-10, 3)
    assert (tmp_path / "binary").read_bytes() == b"2 2\ncat " + cat + b"\n\xc3\xa9t\xc3\xa9 " + ete + b"\n"


@pytest.mark.parametrize(
    ("word", "refusing"),
    [
        ("ice cream", ["word2vec", "binary"]),
        ("number 1", ["word2vec", "binary", "glove"]),
        ("two\nlines", ["word2vec", "binary", "glove"]),
        (" cat", ["word2vec", "binary", "glove"]),
        ("", ["word2vec", "binary", "glove"]),
        ("\ud800", ["word2vec", "binary", "glove"]),
        ("e\u00a0f", []),
    ],
)
def test_a_word_that_a_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path, word, refusing):
    vectors = WordVectors(["cat", word], np.float32([[1, 2], [3, 4]]))
    for form in ("word2vec", "binary", "glove"):
        path = tmp_path / form
        if form in refusing:
            with pytest.raises(InputError, match="write a directory"):
                write_vectors(vectors, f"{form}:{path}")
            assert not path.exists()
        else:
            write_vectors(vectors, f"{form}:{path}")
            assert same(read_vectors(path), vectors.words, vectors.matrix)
    write_vectors(vectors, str(tmp_path / "own"))
    assert same(read_vectors(tmp_path / "own"), vectors.words, vectors.matrix)


def test_an_unknown_target_and_one_without_a_file_are_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = WordVectors(WORDS, MATRIX)
    with pytest.raises(InputError, match="unknown format 'fasttext'; known: word2vec, glove, binary, or a directory"):
        write_vectors(vectors, "fasttext:out")
    with pytest.raises(InputError, match="a file name is needed"):
        write_vectors(vectors, "glove:")
    write_vectors(vectors, "./a:b")
    assert same(read_vectors("a:b"), WORDS, MATRIX)


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\x0b\x0c\x00\ufeff"), min_size=1)


@given(data=st.data(), dimension=st.integers(1, 12))
@settings(deadline=None, max_examples=20)
def test_any_numbers_survive_every_format(tmp_path_factory, data, dimension):
    words = data.draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    rows = data.draw(
        st.lists(st.lists(FLOATS, min_size=dimension, max_size=dimension), min_size=len(words), max_size=len(words))
    )
    directory = tmp_path_factory.mktemp("vectors")
    for target in (target.format(directory) for target in TARGETS):
        if target.startswith("glove") and words[0].isdecimal() and dimension == 1:
            continue  # two whole numbers in the first line are a header to every reader
        write_vectors(WordVectors(words, np.float32(rows)), target)
        assert same(read_vectors(target.split(":")[-1]), words, rows)
