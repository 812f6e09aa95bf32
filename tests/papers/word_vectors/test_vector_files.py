"""Vector files: every format is recognised, and what is wrong is said with its place."""

import gzip
import struct

import numpy as np
import pytest

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.files import read_vectors
from isogloss.storage.errors import InputError

WORDS = ["cat", "été", "中文"]
MATRIX = np.float32([[0.5, -1.25, 3], [0, 1e-7, -2e9], [1 / 3, 0.1, 7]])
TEXT = "cat 0.5 -1.25 3\nété 0 1e-7 -2e9\n中文 0.33333334 0.1 7\n"


@pytest.fixture
def file(tmp_path):
    def write(data, name="vectors.txt"):
        data = data.encode() if isinstance(data, str) else data
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def same(vectors, words, matrix):
    assert list(vectors.words) == list(words)
    assert vectors.matrix.dtype == np.float32
    assert np.array_equal(vectors.matrix, np.float32(matrix))
    return True


def refused(path, what, **options):
    with pytest.raises(InputError) as error:
        read_vectors(path, **options)
    message = str(error.value)
    assert what in message
    assert str(path) in message
    assert "\n" not in message
    return message


def binary(words, rows, end=b"\n"):
    packed = [
        word.encode() + b" " + struct.pack(f"<{len(row)}f", *row) + end for word, row in zip(words, rows, strict=True)
    ]
    return f"{len(words)} {len(rows[0])}\n".encode() + b"".join(packed)


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.vec", "vectors.txt.gz", "vectors"])
@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "3 3\n" + TEXT,
        "\ufeff" + TEXT,
        "\ufeff3 3\r\n" + TEXT.replace("\n", "\r\n"),
        "3\t3\n" + TEXT.replace(" ", "\t"),
        TEXT.replace("\n", " \n"),
        TEXT.replace(" ", "  ") + "\n\n",
        TEXT.removesuffix("\n"),
        "3 3\n" + TEXT.replace("-1.25", "-1.25e+0").replace(" 3\n", " +3.\n").replace("0.1", ".1"),
    ],
    ids=[
        "GloVe",
        "word2vec",
        "BOM",
        "Windows",
        "tabs",
        "trailing spaces",
        "double spaces",
        "no end",
        "ways of writing",
    ],
)
def test_text_is_read_with_and_without_a_header_however_it_is_spaced(file, text, name):
    assert same(read_vectors(file(text, name)), WORDS, MATRIX)


@pytest.mark.parametrize("name", ["vectors.bin", "vectors.bin.gz", "vectors", "vectors.txt"])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["the original tool", "gensim"])
def test_binary_files_are_recognised_whatever_their_name(file, name, end):
    assert same(read_vectors(file(binary(WORDS, MATRIX, end), name)), WORDS, MATRIX)


def test_text_named_like_a_binary_file_is_read_as_text(file):
    assert same(read_vectors(file("3 3\n" + TEXT, "vectors.bin")), WORDS, MATRIX)


@pytest.mark.parametrize("other", ["\x1f", "\x01b", "é" * 9])
def test_short_lines_of_odd_words_are_still_text(file, other):
    assert same(read_vectors(file(f"2 1\n0 1\n{other} 2\n")), ["0", other], [[1], [2]])


def test_a_file_is_found_under_the_name_it_has_without_gz(file):
    assert len(read_vectors(str(file(TEXT, "vectors.txt.gz")).removesuffix(".gz"))) == 3


def test_only_the_line_feed_ends_a_line_and_only_ascii_spaces_separate(file):
    words = ["a\x85b", "c\u2028d", "e\u00a0f", "\u3000"]
    path = file("".join(f"{word} 1 2\n" for word in words))
    assert list(read_vectors(path).words) == words


def test_words_of_glove_may_hold_spaces(file):
    path = file(". . . 0.5 1\nat name@domain.com 1 2\ncat 3 4\n1 5 6\n")
    assert same(read_vectors(path), [". . .", "at name@domain.com", "cat", "1"], [[0.5, 1], [1, 2], [3, 4], [5, 6]])


def test_a_limit_stops_before_what_is_wrong_further_on_and_counts_distinct_words(file):
    path = file("9 2\na 1 2\na 3 4\nb 5 6\nb 7 8\nc 9 x\n")
    assert same(read_vectors(path, limit=2), "ab", [[1, 2], [5, 6]])
    refused(path, ":6: 'x' is not a number", limit=3)
    assert same(read_vectors(file(binary("aab", [[1], [2], [3]])[:-3], "cut.bin"), limit=1), "a", [[1]])


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_an_error(file, limit):
    with pytest.raises(InputError, match="at least 1"):
        read_vectors(file(TEXT), limit)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("dog 1 2", "expected a word and 3 numbers as the first line has it, got 2"),
        ("dog", "got 0"),
        ("dog 1 2 3 4", "got 4"),
        ("dog 1 2 3 4 5", "got 5"),
        ("dog 1  2", "got 2"),
        ("dog 1 two 3", "'two' is not a number"),
        ("dog 1 2-3 4", "'2-3' is not a number"),
        ("dog 1 2.3.4 5", "'2.3.4' is not a number"),
        ("dog 1 . 5", "'.' is not a number"),
        ("dog 1 - 5", "'-' is not a number"),
        ("dog 1 0x10 5", "'0x10' is not a number"),
        ("dog 1 1_000 5", "'1_000' is not a number"),
        ("dog 1 2,5 3", "'2,5' is not a number"),
        ("dog 1 ２ 3", "'２' is not a number"),
        ("dog 1 nan 3", "the vector of 'dog' holds nan or infinity"),
        ("dog 1 -inf 3", "nan or infinity"),
        ("dog 1 1e39 3", "nan or infinity"),
        ("dog 1 1e999 3", "nan or infinity"),
        (" 1 2 3", "a vector whose word is empty"),
        (b"d\xffg 1 2 3", "is not UTF-8"),
    ],
)
@pytest.mark.parametrize("header", ["3 3\n", ""])
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.gz"])
def test_a_bad_line_is_an_error_with_its_place_or_is_skipped_and_counted(file, line, what, header, name):
    line = line if isinstance(line, bytes) else line.encode()
    path = file(header.encode() + b"cat 0.1 0.2 0.3\n" + line + b"\nbird 4 5 6\n", name)
    assert refused(path, what).startswith(f"{path}:{3 if header else 2}: ")
    problems = Problems(stop_at_errors=False)
    assert same(read_vectors(path, problems=problems), ["cat", "bird"], [[0.1, 0.2, 0.3], [4, 5, 6]])
    assert problems.errors.total() == 1
    assert problems.kept[0].location.line == (3 if header else 2)


def test_the_place_of_a_bad_line_is_right_far_into_a_file(file):
    lines = [f"word{row} {row} {row + 0.5}" for row in range(20_000)]
    lines[17_345] = "word 1 x"
    refused(file("20000 2\n" + "\n".join(lines)), ":17347: 'x' is not a number")
    refused(file("\n".join(lines)), ":17346: 'x' is not a number")


def test_duplicates_keep_the_first_and_zero_vectors_are_kept_both_counted(file):
    content = {"a": [1, 2], "b": [0, 0], "c": [3, 4]}
    for path in (
        file("a 1 2\nb -0 0.0\na 5 6\nc 3 4\nc 7 8\na 0 0\n"),
        file(binary("abacca", [[1, 2], [0, -0.0], [5, 6], [3, 4], [7, 8], [0, 0]]), "vectors.bin"),
    ):
        problems = Problems()
        assert same(read_vectors(path, problems=problems), content.keys(), list(content.values()))
        assert problems.warnings == {"duplicate word": 3, "zero vector": 1}
        assert not problems.errors


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("5 3\n" + TEXT, "promises 5 words, but 3 follow"),
        ("2 3\n" + TEXT, "promises 2 words, but 3 follow"),
        ("3 2\n" + TEXT, "expected a word and 2 numbers as the first line has it, got 3"),
        ("3 4\n" + TEXT, "expected a word and 4 numbers as the first line has it, got 3"),
        ("3 3\n" + TEXT[:-8], "expected a word and 3 numbers"),
        ("3 0\n" + TEXT, "expected a word and its numbers"),
        ("0 3\n", "holds no word vectors"),
        ("3 3\n", "promises 3 words, but 0 follow"),
        ("", "expected a word and its numbers, got ''"),
        ("\n\n", "expected a word and its numbers"),
        ("just words\n", "expected a word and its numbers, got 'just words'"),
        ("cat 1 2\ndog 1 2 3\n", ":2: expected a word and 2 numbers"),
    ],
)
def test_text_cut_off_or_at_odds_with_its_first_line_is_an_error(file, text, what):
    refused(file(text), what)


def test_a_binary_file_cut_anywhere_is_an_error(file):
    whole = binary(["cat", "dog"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], end=b"")
    for size in range(len(whole)):
        refused(file(whole[:size], "vectors.bin"), "vectors.bin")
    refused(file(whole[:-1], "vectors.bin"), "promises 2 words, but it ends after 1: cut off?")
    assert len(read_vectors(file(whole, "vectors.bin"))) == 2


@pytest.mark.parametrize(
    ("header", "what"),
    [
        (b"1 3\n", "goes on after the 1 words"),
        (b"2 2\n", "vectors.bin: "),
        (b"2 4\n", "vectors.bin: "),
        (b"2 0\n", "0 dimensions"),
        (b"2 999999999999999999\n", "ends after 0"),
    ],
)
def test_a_binary_file_at_odds_with_its_header_is_an_error(file, header, what):
    whole = binary(["cat", "dog"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    refused(file(header + whole.partition(b"\n")[2], "vectors.bin"), what)


def test_bad_words_and_numbers_of_a_binary_file_are_errors_or_skipped_and_counted(file):
    data = binary(["cat", "d?g", "", "fox", "cow"], [[1, 2], [3, 4], [5, 6], [float("nan"), 8], [9, 10]])
    path = file(data.replace(b"d?g", b"d\xffg"), "vectors.bin")
    refused(path, "is not UTF-8")
    problems = Problems(stop_at_errors=False)
    assert same(read_vectors(path, problems=problems), ["cat", "cow"], [[1, 2], [9, 10]])
    assert problems.errors == {"broken UTF-8": 1, "empty word": 1, "not finite": 1}


def test_many_binary_vectors_are_read_across_blocks(file):
    rows = np.random.default_rng(0).normal(size=(3000, 500)).astype(np.float32)
    words = [f"w{row}" for row in range(3000)]
    path = file(binary(words, rows), "vectors.bin")
    assert same(read_vectors(path), words, rows)
    assert same(read_vectors(path, limit=2500), words[:2500], rows[:2500])


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("glove.zip", b"PK\x03\x04\x14\x00", "a zip archive: unpack it first"),
        ("model", b"\x93NUMPY\x01\x00\x76\x00", "in no format known here"),
        ("old.bin", b"\x64\x00\x00\x00\x05\x00\x00\x00", "in no format known here"),
    ],
)
def test_what_is_in_no_known_format_is_an_error_that_lists_them(file, name, data, what):
    assert "word2vec" in refused(file(data, name), what)


def test_no_file_a_cut_archive_and_another_directory_are_errors(file, tmp_path):
    refused(tmp_path / "none", "no such file")
    path = file(TEXT * 1, "cut.gz")
    whole = path.read_bytes()
    for size in (1, 5, 20, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused(path, "cut off")
    path.write_bytes(whole[:-6] + b"xx" + whole[-4:])
    refused(path, "damaged gzip archive")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "not word vectors in the isogloss format")
