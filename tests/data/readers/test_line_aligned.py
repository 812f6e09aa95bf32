"""Line-aligned text and tables of two columns as parallel text."""

from __future__ import annotations

import pytest

from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError

CORPUS = {"corpus.en": "bees make honey\nyes\n\nlast", "corpus.es": "las abejas hacen miel\r\nsí\r\nnada\r\núltimo\r\n"}
PAIRS = [("bees make honey", "las abejas hacen miel"), ("yes", "sí"), ("last", "último")]


@pytest.fixture
def texts(put):
    def read(files, where="corpus", pair=("en", "es"), problems=None, packed=False, format_=""):
        source = open_source(f"{format_}{put(files, packed)}/{where}")
        return [each for _, each in source.parallel(pair, problems or Problems())]

    return read


@pytest.mark.parametrize("where", ["corpus", "corpus.en", "corpus.es", ""])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_lines_of_the_same_number_are_pairs(texts, where, packed):
    """Empty lines keep their place; ends of lines make no difference."""
    if packed and where.startswith("corpus."):
        where += ".gz"
    assert texts(CORPUS, where, packed=packed) == PAIRS
    assert texts(CORPUS, where, packed=packed, format_="moses:") == PAIRS


def test_the_other_direction_a_third_language_and_a_name_with_languages(texts):
    files = {f"Europarl.en-es.{code}": f"{code} line\n" for code in ("en", "es", "pt-BR")}
    assert texts(files, "Europarl.en-es", ("es", "pt")) == [("es line", "pt-BR line")]


def test_files_of_different_length_are_an_error(texts):
    error = r"corpus\.es:2: ends after 2 lines, but corpus\.en has more; line n of one must be the translation"
    with pytest.raises(InputError, match=error):
        texts({"corpus.en": "1\n2\n3\n", "corpus.es": "1\n2\n"})
    with pytest.raises(InputError, match=r"corpus\.en: ends after 0 lines, but corpus\.es has more"):
        texts({"corpus.en": "", "corpus.es": "1\n2\n"})


@pytest.mark.parametrize("broken", [b"\xff\ntwo\nthree\n", b"one\n\xff\nthree\n", b"one\ntwo\n\xff\n"])
def test_a_line_that_is_not_utf_8_is_an_error_or_skipped_with_its_translation(texts, broken):
    files = {"corpus.en": broken, "corpus.es": "uno\ndos\ntres\n"}
    with pytest.raises(InputError, match=r"corpus\.en:\d: not UTF-8"):
        texts(files)
    found = texts(files, problems=Problems(stop_at_errors=False))
    assert found == [pair for pair in (("one", "uno"), ("two", "dos"), ("three", "tres")) if pair[0].encode() in broken]


def test_a_language_or_a_corpus_that_is_not_there_is_an_error(texts):
    with pytest.raises(InputError, match=r"corpus: has no lines in en and fr; languages here: en, es"):
        texts(CORPUS, pair=("en", "fr"))
    with pytest.raises(InputError, match=r"corpse: has no line-aligned files, such as corpse\.en and corpse\.es"):
        texts(CORPUS, "corpse", format_="moses:")
    with pytest.raises(InputError, match="is neither a folder, a file, nor one of"):
        texts(CORPUS, "corpse")


def test_a_folder_with_documents_is_no_corpus(put):
    assert open_source(str(put(CORPUS))).format == "moses"
    assert open_source(str(put({"read.md": "x"}))).format == "folder"


def test_lines_of_one_language_are_documents(put, read):
    data = read(f"moses:{put(CORPUS)}/corpus", "en-es")
    assert [document.text for document in data.documents] == ["las abejas hacen miel", "sí", "nada", "último"]
    assert data.parallel == PAIRS


TABLE = "\ufeffbees\tabejas\nyes\tsí\tmore\r\n\n"


def test_the_first_column_of_a_table_is_the_query_language(texts):
    assert texts({"t.tsv": TABLE}, "t.tsv") == [("bees", "abejas"), ("yes", "sí")]


def test_the_first_line_of_a_table_may_name_the_languages(texts):
    table = "es\tfr\ten-GB\nabejas\tabeilles\tbees\nsí\toui\tyes\n"
    assert texts({"t.tsv": table}, "t.tsv") == [("bees", "abejas"), ("yes", "sí")]
    with pytest.raises(InputError, match=r"t\.tsv:1: has no column 'it'; there are es, fr, en-GB"):
        texts({"t.tsv": table}, "t.tsv", ("en", "it"))


def test_a_line_without_a_tab_is_an_error(texts):
    with pytest.raises(
        InputError, match=r"t\.tsv:2: expected a text and its translation separated by a tab, got 'x y'"
    ):
        texts({"t.tsv": "a\tb\nx y\n"}, "t.tsv")
