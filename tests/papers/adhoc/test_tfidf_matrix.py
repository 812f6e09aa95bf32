"""Sparse matrices of comparable documents are read, validated and written."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection, Document
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import find_writer, open_source
from isogloss.papers.adhoc.tfidf_matrix import (
    PlattOptions,
    TermWeights,
    find_mates,
    read_sparse,
    word_counts,
    write_platt,
    written_words,
)
from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import tokenize

TINY = {
    "en.mtx": "3 4 5\n1 1 2.5\n1 2 0.5\n2 3 1\n3 1\t2.5\n3 4 1e-1\n",
    "en.vocab": "Cat\nmilk\ntea\nriver\n",
    "es.mtx": "3 2 3\n1 1 1\n2 2 1\n3 1 1\n",
    "es.vocab": "gato\nté\n",
}
EVERYTHING = PlattOptions(drop_frequent=0, vocabulary_size=None)


@pytest.fixture
def platt(put):
    def make(changes=None, packed=False):
        return put(TINY | (changes or {}), packed)

    return make


def dense(matrix):
    found = np.zeros((len(matrix), len(matrix.vocabulary)))
    for row in range(len(matrix)):
        columns, values = matrix.row(row)
        found[row, columns] = values
    return found


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_matrix_becomes_flat_arrays(platt, packed):
    matrix = read_sparse(platt(packed=packed), "en")
    assert matrix.vocabulary == ["Cat", "milk", "tea", "river"]
    assert matrix.offsets.tolist() == [0, 2, 3, 5]
    assert matrix.columns.tolist() == [0, 1, 2, 0, 3]
    assert np.array_equal(matrix.values, np.float32([2.5, 0.5, 1, 2.5, 0.1]))
    assert (matrix.columns.dtype, matrix.values.dtype) == (np.int32, np.float32)


def test_rows_are_documents_and_queries_and_mates_are_relevant(platt, read):
    data = read(f"platt:{platt()}", "en-es")
    assert [(d.id, d.text, d.language) for d in data.documents] == [
        ("1", "gato", "es"), ("2", "té", "es"), ("3", "gato", "es")
    ]  # fmt: skip
    assert {q.id: set(q.text.split()) for q in data.queries.values()} == {
        "1": {"Cat", "milk"}, "2": {"tea"}, "3": {"Cat", "river"}
    }  # fmt: skip
    assert list(data.judgments) == [("1", "1", 2), ("2", "2", 2), ("3", "3", 2)]
    assert data.judgments.top_grade == 2
    assert sorted(data.splits) == ["dev", "test", "train"]
    assert data.source_documents.ids == ["1", "2", "3"]
    assert not data.problems.warnings


@pytest.mark.parametrize(
    "matrix",
    [
        "3 4 5\n0 0 2.5\n0 1 0.5\n1 2 1\n2 0 2.5\n2 3 0.1\n",
        "3 4 5\n3 4 0.1\n1 2 0.5\n2 3 1\n3 1 2.5\n1 1 2.5",
        "%%MatrixMarket matrix coordinate real general\n% words\n3 4 5\n1 1 2.5\n1 2 0.5\n2 3 1\n3 1 2.5\n3 4 0.1\n",
        "\ufeff3 4 5\r\n1 1 2.5\r\n1 2 0.5\r\n2 3 1\r\n3 1 2.5\r\n3 4 .1\r\n",
        "  3\t4  5\n\n1 1 2.5\n1 2 +0.5\n\n2.0 3e0 1\n3 1 2.5\n3 4 0.1\n\n",
    ],
    ids=["from 0", "any order", "Matrix Market", "Windows", "blank lines and odd spellings"],
)
def test_the_same_matrix_may_be_written_in_several_ways(platt, matrix):
    problems = Problems()
    found = read_sparse(platt({"en.mtx": matrix}), "en", problems)
    assert np.array_equal(dense(found), dense(read_sparse(platt(TINY), "en")))
    assert not problems.warnings


def test_indices_that_tell_nothing_are_taken_to_count_from_1_and_a_warning_says_so(platt):
    problems = Problems()
    matrix = read_sparse(platt({"en.mtx": "3 4 1\n2 2 1\n"}), "en", problems)
    assert (matrix.offsets.tolist(), matrix.columns.tolist()) == ([0, 0, 1, 1], [1])
    assert problems.warnings == {"unclear indices": 1}


def test_rows_may_be_empty_and_are_reported_as_empty_documents(platt, read):
    directory = platt({"es.mtx": "3 2 1\n3 2 1\n"})
    data = read(f"platt:{directory}", "en-es")
    assert [document.text for document in data.documents] == ["", "", "té"]
    assert data.problems.warnings == {"empty document text": 2}


# --- errors -------------------------------------------------------------------------------------------------

WRONG = {
    "no header": ("", r"en\.mtx: is empty, its first line must say rows, columns and non-zeros"),
    "short header": ("3 4\n1 1 1\n", r"en\.mtx:1: expected the numbers of rows, columns and non-zeros, got '3 4'"),
    "odd header": ("3 4 x\n", r"en\.mtx:1: expected the numbers of rows"),
    "negative header": ("3 -4 1\n", r"en\.mtx:1: expected the numbers of rows"),
    "impossible header": ("3 4 13\n", r"en\.mtx:1: 3 x 4 with 13 non-zeros cannot be"),
    "too large header": ("99999999999 4 1\n", r"en\.mtx:1: 99999999999 x 4 with 1 non-zeros cannot be"),
    "row too high": ("3 4 2\n1 4 1\n4 1 1\n", r"en\.mtx:3: row 4 is not between 1 and 3 \(line 2 shows .* from 1\)"),
    "column too high": ("3 4 1\n1 5 1\n", r"en\.mtx:2: column 5 is not between 0 and 4$"),
    "negative row": ("3 4 1\n-1 1 1\n", r"en\.mtx:2: row -1 is not between 0 and 3$"),
    "0 after 1-based": ("3 4 2\n3 4 1\n0 1 1\n", r"en\.mtx:3: row 0 is not between 1 and 3 \(line 2 shows .* from 1\)"),
    "top after 0-based": ("3 4 2\n0 1 1\n1 4 1\n", r"en\.mtx:3: column 4 is not between 0 and 3 \(line 2 .* from 0\)"),
    "no index": ("3 4 1\n1.5 1 1\n", r"en\.mtx:2: row '1\.5' is not an index"),
    "endless index": (f"3 4 1\n1 {'9' * 400} 1\n", r"en\.mtx:2: column '9{30}' is not an index"),
    "no number": ("3 4 2\n1 1 1\n3 1 x\n", r"en\.mtx:3: value 'x' is not a number"),
    "underscore": ("3 4 1\n1 1 1_0\n", r"en\.mtx:2: value '1_0' is not a number"),
    "negative": ("3 4 2\n3 1 1\n1 1 -0.5\n", r"en\.mtx:3: value -0\.5 is not a number from 0 up"),
    "nan": ("3 4 1\n3 1 nan\n", r"en\.mtx:2: value nan is not a number from 0 up"),
    "nan among blanks": ("3 4 1\n\n3 1 NaN\n", r"en\.mtx:3: value nan is not a number from 0 up"),
    "infinite": ("3 4 1\n3 1 inf\n", r"en\.mtx:2: value inf is not a number from 0 up"),
    "too large": ("3 4 1\n3 1 1e39\n", r"en\.mtx:2: value 1e\+39 is not a number from 0 up"),
    "two fields": ("3 4 2\n3 4 1\n1 1\n", r"en\.mtx:3: expected row, column and value, got '1 1'"),
    "four fields": ("3 4 1\n1 1 1 1\n", r"en\.mtx:2: expected row, column and value, got '1 1 1 1'"),
    "broken text": (b"3 4 1\n1 1 \xff\n", r"en\.mtx:2: value '\ufffd' is not a number"),
    "fewer": ("3 4 3\n1 1 1\n3 1 1\n", r"en\.mtx:1: says 3 non-zeros, but 2 follow; is the file whole\?"),
    "more": ("3 4 1\n1 1 1\n3 1 1\n", r"en\.mtx:1: says 1 non-zeros, but 2 follow"),
    "twice": ("3 4 3\n3 1 1\n1 1 1\n3 1 2\n", r"en\.mtx:4: row 3, column 1 occurs a second time"),
}


@pytest.mark.parametrize(("matrix", "message"), WRONG.values(), ids=list(WRONG))
def test_an_invalid_matrix_is_an_error_with_file_and_line(platt, matrix, message):
    with pytest.raises(InputError, match=message):
        read_sparse(platt({"en.mtx": matrix}), "en")


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ("Cat\nmilk\ntea\n", r"en\.vocab:3: 3 words for the 4 columns of .*en\.mtx:1"),
        ("Cat\nmilk\ntea\nriver\nsea\n", r"en\.vocab:5: 5 words for the 4 columns of .*en\.mtx:1"),
        ("", r"en\.vocab: 0 words for the 4 columns"),
        ("Cat\nmilk\nCat\nriver\n", r"en\.vocab:3: the word 'Cat' occurs a second time, first in line 1"),
        ("Cat\n\ntea\nriver\n", r"en\.vocab:2: no word for column 2"),
        (b"Cat\n\xff\ntea\nriver\n", r"en\.vocab:2: not UTF-8"),
    ],
    ids=["fewer", "more", "none", "duplicate", "gap", "broken text"],
)
def test_an_invalid_vocabulary_is_an_error_with_file_and_line(platt, vocabulary, message):
    with pytest.raises(InputError, match=message):
        read_sparse(platt({"en.vocab": vocabulary}), "en")


def test_a_vocabulary_may_end_in_blank_lines(platt):
    assert len(read_sparse(platt({"en.vocab": TINY["en.vocab"] + "\n \n"}), "en").vocabulary) == 4


def test_a_missing_vocabulary_is_named(platt):
    with pytest.raises(InputError, match=r"en\.vocab: no such file \(nor en\.vocab\.gz\)"):
        read_sparse(platt({"en.vocab": None}), "en")


def test_a_missing_matrix_is_answered_with_the_languages_there_are(platt, read):
    with pytest.raises(InputError, match=r"fr\.mtx: no such file .*; languages here: en, es$"):
        read(f"platt:{platt()}", "en-fr")


def test_matrices_of_different_heights_have_no_mates(platt, read):
    directory = platt({"es.mtx": "2 2 1\n1 1 1\n"})
    with pytest.raises(InputError, match=r"es\.mtx:1: 2 rows, but 3 in en\.mtx; row i of both must be mates"):
        read(f"platt:{directory}", "en-es")


def test_an_archive_that_is_cut_off_is_an_error(platt):
    directory = platt(packed=True)
    path = directory / "en.mtx.gz"
    lines = "".join(f"{row} {column} 0.{row}{column}\n" for row in range(1, 301) for column in range(1, 5))
    whole = gzip.compress(f"300 4 1200\n{lines}".encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"en\.mtx\.gz:2: the gzip archive is cut off"):
        read_sparse(directory, "en")


def test_wrong_entries_are_skipped_and_counted_when_wanted(platt, gather):
    lines = ["3 4 9", "1 1 1", "x 1 1", "1 9 1", "1 2 nan", "1 1 5", "2 2 -1", "3 4 1", "2 3 1"]
    changes = {"en.mtx": "\n".join(lines), "en.vocab": "Cat\nmilk\nCat\nriver\n"}
    data = gather(f"platt:{platt(changes)}", "en-es")
    assert {q.id: q.text for q in data.queries.values()} == {"1": "Cat", "2": "Cat", "3": "river"}
    assert data.problems.errors == {
        "malformed line": 1, "index out of range": 1, "wrong value": 2, "duplicate entry": 1, "duplicate word": 1,
        "wrong number of entries": 1,
    }  # fmt: skip


# --- counts of words ---------------------------------------------------------------------------------------

COUNTS = st.lists(st.dictionaries(st.integers(0, 7), st.integers(1, 30), max_size=6), min_size=2, max_size=8)


def weighted(counts, weigh):
    """Rows of word counts as a matrix whose weights are ``weigh(tf, N / df)``."""
    frequency = Counter(word for row in counts for word in row)
    entries = [(word, row[word]) for row in counts for word in sorted(row)]
    values = [weigh(tf, len(counts) / frequency[word]) for word, tf in entries]
    offsets = np.cumsum([0, *map(len, counts)])
    return TermWeights(list("abcdefgh"), offsets, np.int32([word for word, _ in entries]), np.float32(values)), entries


@settings(max_examples=40, deadline=None)
@given(COUNTS, st.sampled_from([np.log, np.log2, np.log10]))
def test_counts_are_recovered_from_tf_idf_with_any_logarithm(counts, logarithm):
    counts = [{word: 1 for word in range(8)}, *counts, {}, {}]  # each word is once somewhere, none everywhere
    matrix, entries = weighted(counts, lambda tf, rarity: tf * logarithm(rarity))
    assert word_counts(matrix).tolist() == [tf for _, tf in entries]


@settings(max_examples=40, deadline=None)
@given(COUNTS)
def test_weights_of_another_kind_count_every_word_once(counts):
    counts = [{word: 1 + word for word in range(8)}, *counts]
    matrix, entries = weighted(counts, lambda tf, rarity: (1 + np.log(tf)) * (1 + np.log(rarity)))
    assert word_counts(matrix).tolist() == [1] * len(entries)


def test_a_word_of_every_document_and_a_weight_of_0_count_once():
    matrix, entries = weighted(
        [{0: 3, 1: 1}, {0: 2}, {0: 1, 2: 2}, {0: 1, 2: 1}], lambda tf, rarity: tf * np.log(rarity)
    )
    assert dict(zip(entries, word_counts(matrix).tolist(), strict=True)) == {
        (0, 3): 1, (0, 2): 1, (0, 1): 1, (1, 1): 1, (2, 2): 2, (2, 1): 1
    }  # fmt: skip


def test_one_absurd_weight_does_not_make_an_endless_text():
    matrix, _ = weighted([{0: 1, 1: 1}] * 200 + [{2: 1}] * 200, lambda tf, rarity: tf * np.log(rarity))
    matrix.values[0] = 3e38
    assert word_counts(matrix)[0] == 10_000
    assert (word_counts(matrix)[1:] == 1).all()


# --- writing ---------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["Cat", "cat", "Été", "naïve", "x2", "हिन्दी", "river", "a"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


def mates(texts, others, languages=("en", "es")):
    return tuple(
        Collection([Document(f"{language}{n}", text) for n, text in enumerate(side)], language)
        for language, side in zip(languages, (texts, others), strict=True)
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=2, max_size=6))
def test_what_is_written_is_tf_idf_of_the_words_as_written(pairs):
    texts = [f"one {text}" for text, _ in pairs]
    others = [f"uno {text}" for _, text in pairs]
    with tempfile.TemporaryDirectory() as directory:
        write_platt(Path(directory) / "out", mates(texts, others), EVERYTHING)
        for language, side in (("en", texts), ("es", others)):
            matrix = read_sparse(Path(directory) / "out", language)
            found = dense(matrix)
            frequency = Counter(word for text in side for word in set(text.split()))
            assert set(matrix.vocabulary) == set(frequency)
            for row, text in enumerate(side):
                counts = Counter(text.split())
                expected = [counts[word] * np.log(len(side) / frequency[word]) for word in matrix.vocabulary]
                assert np.allclose(found[row], expected, rtol=2e-7, atol=0)
            assert np.count_nonzero(found) == len(matrix.values)


def test_the_files_are_these(tmp_path):
    write_platt(tmp_path / "out", mates(["tea tea Cat", "Cat the", "Cat"], ["té", "gato", "gato"]), EVERYTHING)
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "out").iterdir()} == {
        "en.vocab": "Cat\ntea\nthe\n",
        "en.mtx": "3 3 2\n1 2 2.19722458\n2 3 1.09861229\n",
        "es.vocab": "gato\nté\n",
        "es.mtx": "3 2 3\n1 2 1.09861229\n2 1 0.405465108\n3 1 0.405465108\n",
    }


def test_texts_come_back_as_their_kept_words(tmp_path):
    texts = ["Tea tea milk milk milk", "a river", "Tea", "milk a b"]
    write_platt(tmp_path / "out", mates(texts, texts), EVERYTHING)
    found = load_dataset(open_source(f"platt:{tmp_path / 'out'}"), ("en", "es"))
    assert [Counter(document.text.split()) for document in found.documents] == [Counter(text.split()) for text in texts]


def vocabulary_of(directory, texts, **options):
    write_platt(directory, mates(texts, texts), PlattOptions(**options), overwrite=True)
    return read_sparse(directory, "en").vocabulary


def test_the_recipe_drops_the_most_frequent_words_and_keeps_the_next(tmp_path):
    texts = ["the the the of of tea Tea", "the of river tea", "sea"]
    assert vocabulary_of(tmp_path / "out", texts, drop_frequent=0) == ["the", "of", "tea", "Tea", "river", "sea"]
    assert vocabulary_of(tmp_path / "out", texts, drop_frequent=2) == ["tea", "Tea", "river", "sea"]
    assert vocabulary_of(tmp_path / "out", texts, drop_frequent=2, vocabulary_size=2) == ["tea", "Tea"]
    assert vocabulary_of(tmp_path / "out", texts, drop_frequent=1, fold=True) == ["of", "tea", "river", "sea"]


def test_the_paper_drops_50_words_and_keeps_20000(tmp_path):
    texts = [" ".join(f"w{number:05}" for number in range(highest)) for highest in (20_100, 40, 60)]
    write_platt(tmp_path / "out", mates(texts, texts))
    words = read_sparse(tmp_path / "out", "en").vocabulary
    assert (len(words), words[0], words[-1]) == (20_000, "w00050", "w20049")


def test_stop_words_are_left_out_whatever_their_case_beside_the_most_frequent(tmp_path):
    texts = ["the the the tea The and river", "the tea and"]
    assert vocabulary_of(tmp_path / "out", texts, drop_frequent=1, drop_stop_words=True) == ["tea", "river"]


def test_words_are_those_of_the_tokeniser_but_not_folded():
    assert written_words("L'Homme A_B Straße x2") == ["L", "Homme", "A", "B", "Straße", "x2"]
    assert written_words("Te\u0301 co\u00adoperate") == ["Té", "cooperate"]
    assert written_words("CSS属性") == ["CSS", "属性"]


@settings(max_examples=40, deadline=None)
@given(st.text("aZéÉñß2½ﬁ _'-.\u0301\u00ad\u200cहिंनدا"))
def test_folding_the_words_as_written_gives_the_tokens(text):
    assert [token for word in written_words(text) for token in tokenize(word)] == tokenize(text)


# --- mates of a dataset ----------------------------------------------------------------------------------------------

PAGES = {
    "wiki_en.documents": "s1\tCat\tA cat purrs\ns2\tTea\tTea is hot\ns3\tBridge\tA bridge\ns4\tX\tUnasked\n",
    "en2en.rel": "q1\ts1\t2\nq1\ts3\t1\nq2\ts2\t2\nq3\ts3\t2\n",
}


def texts_of(collections):
    return [(ours.text, theirs.text) for ours, theirs in zip(*collections, strict=True)]


def test_mates_are_the_page_of_a_query_and_the_page_relevant_for_it(tiny, read):
    found = find_mates(read(tiny("wikiclir", PAGES)))
    assert texts_of(found) == [("A cat purrs", "un animal qui ronronne"), ("Tea is hot", "une boisson chaude")]
    assert [collection.language for collection in found] == ["en", "fr"]


def test_mates_of_some_splits_only(tiny, read):
    data = read(tiny("wikiclir", PAGES | {"splits/en.train": "q2\nq3\n", "splits/en.dev": "q1\n"}))
    assert texts_of(find_mates(data, ("train",))) == [("Tea is hot", "une boisson chaude")]
    assert len(find_mates(data, ("train", "dev"))[0]) == 2


def test_no_page_is_a_mate_twice(tiny, read):
    changes = PAGES | {
        "en2fr.rel": "q1\td1\t2\nq2\td1\t2\nq3\td3\t2\n",
        "en2en.rel": "q1\ts1\t2\nq2\ts2\t2\nq3\ts1\t2\n",
    }
    assert texts_of(find_mates(read(tiny("wikiclir", changes)))) == [("A cat purrs", "un animal qui ronronne")]


def test_the_demo_is_converted_and_read_again(tmp_path):
    dataset = load_dataset(open_source("demo"), ("en", "zh"))
    find_writer(f"platt:{tmp_path / 'out'}")(dataset, False)
    found = load_dataset(open_source(f"platt:{tmp_path / 'out'}"), ("en", "zh"))
    ours, theirs = find_mates(dataset)
    assert len(found.documents) == len(ours) == len(theirs) > 50
    again = find_mates(found)
    assert texts_of(again) == texts_of((found.source_documents, found.documents))
    kept = set(read_sparse(tmp_path / "out", "zh").vocabulary)
    for page, document in zip(theirs, found.documents, strict=True):
        assert Counter(document.text.split()) == Counter(word for word in written_words(page.text) if word in kept)


def test_data_that_do_not_know_where_queries_come_from_have_no_mates(tiny, read, tmp_path):
    with pytest.raises(InputError, match=r"en2en\.rel: no such file.*; platt: needs the en page that each query was"):
        write_platt(tmp_path / "out", read(tiny("wikiclir")))
    assert not (tmp_path / "out").exists()


def test_a_source_that_has_one_collection_for_all_languages_has_no_mates(tiny, read, tmp_path):
    with pytest.raises(InputError, match=r"beir:.* en-fr: has no documents in 'en' of its own, so no mates"):
        write_platt(tmp_path / "out", read(tiny("beir")))


def test_where_no_query_has_both_pages_there_are_no_mates(tiny, read, tmp_path):
    with pytest.raises(InputError, match=r"en-fr: no query has both the page it was taken from and a relevant doc"):
        write_platt(tmp_path / "out", read(tiny("wikiclir", PAGES | {"en2en.rel": "q3\ts3\t2\n"})))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (mates(["a b"], ["c", "d"]), r"out: 1 and 2 documents cannot be mates row by row"),
        (mates(["a"], ["b"], ("en", "en")), r"out: platt: has documents of two languages, not 'en' and 'en'"),
        (mates(["a b"], ["c d"]), r"the en documents have only 2 different words, none is left when the 50 most"),
    ],
)
def test_mates_that_cannot_be_written_are_an_error_and_nothing_is_written(tmp_path, data, message):
    with pytest.raises(InputError, match=message):
        write_platt(tmp_path / "out", data)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [{"drop_frequent": -1}, {"vocabulary_size": 0}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(InputError, match=rf"{next(iter(options))}: .* is below"):
        PlattOptions(**options)


def test_an_existing_output_is_replaced_only_with_overwrite(tmp_path):
    data = mates(["a b", "a"], ["c d", "c"])
    write_platt(tmp_path / "out", data, EVERYTHING)
    (tmp_path / "out" / "old").write_text("old")
    with pytest.raises(InputError, match=r"out: exists and is not empty; choose another output or add overwrite=True"):
        write_platt(tmp_path / "out", data, EVERYTHING)
    write_platt(tmp_path / "out", data, EVERYTHING, overwrite=True)
    assert not (tmp_path / "out" / "old").exists()
