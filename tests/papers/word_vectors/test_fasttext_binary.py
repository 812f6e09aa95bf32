"""fastText models, written here byte by byte as the format is defined, and vectors as fastText computes them."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.files import read_vectors
from isogloss.papers.word_vectors.formats.fasttext import ngram_buckets
from isogloss.storage.errors import InputError

SKIPGRAM, SUPERVISED = 2, 3


def matrix_bytes(rows):
    rows = np.asarray(rows, dtype="<f4")
    return struct.pack("<qq", *rows.shape) + rows.tobytes()


def model_bytes(  # what FastText::saveModel writes
    words, rows, minn=3, maxn=6, bucket=0, labels=(), version=12, model=SKIPGRAM, dim=None, pruned=-1, quantised=False
):
    dim = len(rows[0]) if dim is None else dim
    data = struct.pack("<ii", 793712314, version)
    # dim ws epoch minCount neg wordNgrams loss model bucket minn maxn lrUpdateRate, then t
    data += struct.pack("<12id", dim, 5, 5, 1, 5, 1, 2, model, bucket, minn, maxn, 100, 1e-4)
    data += struct.pack("<3iqq", len(words) + len(labels), len(words), len(labels), 1000, pruned)
    for kind, entries in enumerate((words, labels)):
        for entry in entries:
            data += (entry if isinstance(entry, bytes) else entry.encode()) + b"\0" + struct.pack("<qb", 10, kind)
    data += struct.pack("<?", quantised) + matrix_bytes(rows)
    return data + struct.pack("<?", False) + matrix_bytes(np.zeros((max(1, len(words)), dim)))


def fnv(data):
    value = 2166136261
    for byte in data:
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) % 2**32
    return value


def ngrams(word, minn, maxn):  # Dictionary::computeSubwords, in characters
    word = f"<{word}>"
    for start in range(len(word)):
        for size in range(max(1, minn), maxn + 1):
            end = start + size
            if end <= len(word) and not (size == 1 and (start == 0 or end == len(word))):
                yield word[start:end]


def expected(words, rows, minn, maxn, bucket):
    vectors = []
    for number, word in enumerate(words):
        grams = [] if word == "</s>" else list(ngrams(word, minn, maxn))
        vectors.append(np.mean(rows[[number, *(len(words) + fnv(gram.encode()) % bucket for gram in grams)]], axis=0))
    return np.array(vectors)


@pytest.fixture
def file(tmp_path):
    def write(data, name="model.bin"):
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


def refused(path, what):
    with pytest.raises(InputError, match=what) as error:
        read_vectors(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def random_rows(count, dimension=4, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


WORDS = ["</s>", "cat", "été", "мир", "中文", "a", "🙂k"]


@pytest.mark.parametrize("name", ["model.bin", "model", "model.bin.gz"])
@pytest.mark.parametrize(("minn", "maxn"), [(3, 6), (1, 1), (1, 3), (0, 2), (2, 2), (5, 5), (9, 12), (4, 3)])
def test_a_word_is_the_mean_of_its_own_row_and_those_of_its_ngrams(file, name, minn, maxn):
    rows = random_rows(len(WORDS) + 50)
    vectors = read_vectors(file(model_bytes(WORDS, rows, minn, maxn, bucket=50), name))
    assert vectors.words == WORDS
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_allclose(vectors.matrix, expected(WORDS, rows, minn, maxn, 50), atol=1e-6)


def test_a_tiny_model_by_hand(file):
    # "ab": "<a", "ab" and "b>" of two characters; with one bucket all three are row 1.
    vectors = read_vectors(file(model_bytes(["ab"], [[4.0, 0.0], [8.0, 4.0]], minn=2, maxn=2, bucket=1)))
    assert vectors["ab"].tolist() == [7.0, 3.0]


def test_buckets_are_those_of_fasttext_itself():
    # get_subwords of a model of fasttext 0.9.2 with bucket=5000, minn=3, maxn=6, less the number of its words.
    owners, found = ngram_buckets([b"cat", "été".encode()], 3, 6, 5000)
    assert owners.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1]
    assert sorted(found[owners == 0].tolist()) == sorted([1747, 3973, 3137, 4031, 2995, 1106])
    assert sorted(found[owners == 1].tolist()) == sorted([3133, 4617, 4949, 2927, 1363, 1535])


def test_without_ngrams_words_are_their_own_rows(file):
    rows = random_rows(2)
    assert np.array_equal(read_vectors(file(model_bytes(["cat", "dog"], rows, 0, 0))).matrix, rows)


def test_labels_of_a_classifier_are_no_words_and_old_classifiers_have_no_ngrams(file):
    rows = random_rows(2 + 30)
    data = model_bytes(["cat", "dog"], rows, 2, 3, 30, labels=["__label__a"], model=SUPERVISED)
    vectors = read_vectors(file(data))
    assert vectors.words == ["cat", "dog"]
    np.testing.assert_allclose(vectors.matrix, expected(["cat", "dog"], rows, 2, 3, 30), atol=1e-6)
    old = model_bytes(["cat", "dog"], rows, 2, 3, 30, labels=["__label__a"], model=SUPERVISED, version=11)
    assert np.array_equal(read_vectors(file(old)).matrix, rows[:2])


def test_a_limit_keeps_the_first_words_and_batches_join(file):
    words = [f"word{number}" for number in range(600)]
    rows = random_rows(600 + 1000)
    path = file(model_bytes(words, rows, 3, 4, 1000))
    wanted = expected(words, rows, 3, 4, 1000)
    for limit in (1, 255, 256, 300, 600, 1000, None):
        vectors = read_vectors(path, limit)
        assert vectors.words == words[:limit]
        np.testing.assert_allclose(vectors.matrix, wanted[:limit], atol=1e-6)


def test_words_that_are_not_utf8_are_errors_or_skipped_and_their_ngrams_harm_nobody(file):
    path = file(model_bytes([b"c\xe9t", b"\x80", "dog"], random_rows(3 + 20), 1, 3, 20))
    refused(path, "is not UTF-8")
    problems = Problems(stop_at_errors=False)
    assert read_vectors(path, problems=problems).words == ["dog"]
    assert problems.errors == {"broken UTF-8": 2}


def test_a_model_cut_anywhere_is_an_error(file):
    whole = model_bytes(["cat", "é"], random_rows(2 + 3, 2), 2, 3, 3)
    assert len(read_vectors(file(whole))) == 2
    for size in range(4, len(whole)):
        refused(file(whole[:size]), "ends in the middle of its (header|settings|dictionary|input matrix|output matrix)")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"quantised": True}, "a quantised model"),
        ({"pruned": 0}, "a quantised model with a pruned dictionary"),
        ({"pruned": 3}, "a quantised model with a pruned dictionary"),
        ({"version": 13}, "version 13 of fastText's format, 11 or 12 is needed"),
        ({"version": -1}, "version -1"),
        ({"dim": 3}, "vectors of 4 dimensions, but the settings say 3"),
        ({"bucket": 100}, "2 words and 100 buckets, but 12 vectors"),
        ({"bucket": 0}, "2 words and 0 buckets"),
        ({"bucket": -5}, "2 words and -5 buckets"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_why(file, options, what):
    refused(file(model_bytes(["cat", "dog"], random_rows(12), **{"bucket": 10} | options)), what)


@pytest.mark.parametrize("place", range(4, 130))
def test_a_damaged_model_is_an_error_or_read_but_never_a_crash(file, place):
    data = bytearray(model_bytes(["cat", "dog"], random_rows(12), 3, 6, 10))
    for value in (0x00, 0x7F, 0xFF):
        data[place] = value
        try:
            read_vectors(file(bytes(data)))
        except InputError as error:
            assert "\n" not in str(error)


def test_a_model_without_words_is_an_error(file):
    refused(file(model_bytes([], random_rows(5), bucket=5)), "holds no word vectors")


@given(
    words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=8),
    minn=st.integers(0, 4),
    maxn=st.integers(1, 7),
    bucket=st.integers(1, 2**31 - 1),
)
@settings(deadline=None, max_examples=40)
def test_ngrams_of_any_words_fall_where_the_definition_says(words, minn, maxn, bucket):
    owners, found = ngram_buckets([word.encode() for word in words], minn, maxn, bucket)
    wanted = [
        (number, fnv(gram.encode()) % bucket)
        for number, word in enumerate(words)
        if word != "</s>"
        for gram in ngrams(word, minn, maxn)
    ]
    assert sorted(zip(owners.tolist(), found.tolist(), strict=True)) == sorted(wanted)
