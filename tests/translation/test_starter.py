"""Starter tables: written and read back, exchanged, joined through English; damage is said; the shipped ones."""

import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation import starter
from isogloss.translation.starter import load_starter, starter_file, starter_languages
from isogloss.translation.word_tables import WordTable, pack_table, read_table, write_table

PACKAGE = Path(__file__).parents[2] / "packages" / "starter"
TABLES = PACKAGE / "src" / "isogloss_starter" / "tables"
shipped = pytest.mark.skipif(not (TABLES / "tables.json").is_file(), reason="the tables are not built")


def table_of(entries, counts=8.0):
    """A table of {(query word, document word): (P(d | q), P(q | d))}."""
    queries, documents = (sorted({pair[side] for pair in entries}, key=str.encode) for side in (0, 1))
    pairs = sorted((queries.index(q), documents.index(d), *both) for (q, d), both in entries.items())
    columns = list(zip(*pairs, strict=True)) or [(), (), (), ()]
    return WordTable(
        queries,
        documents,
        *(np.asarray(column, np.int32) for column in columns[:2]),
        *(np.asarray(column, np.float32) for column in columns[2:]),
        np.full(len(queries), counts, np.float32),
        np.full(len(documents), counts, np.float32),
    )


def probabilities(table):
    """P(document word | query word) and the reverse, by words."""
    return {
        (table.query_words[q], table.document_words[d]): (forward, backward)
        for q, d, forward, backward in zip(*(array.tolist() for array in table[2:6]), strict=True)
    }


FRENCH = {("hors", "cheval"): (0.9, 0.8), ("hors", "jument"): (0.1, 0.5), ("sea", "mer"): (1.0, 1.0)}
SWAHILI = {("hors", "farasi"): (1.0, 1.0), ("sea", "bahari"): (0.5, 1.0), ("lake", "ziwa"): (0.5, 0.5)}


@pytest.fixture
def folder(tmp_path):
    write_table(tmp_path / "fr.words.xz", table_of(FRENCH))
    write_table(tmp_path / "sw.words.xz", table_of(SWAHILI))
    return tmp_path


words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8)
entries = st.dictionaries(
    st.tuples(words, words),
    st.tuples(st.floats(1e-6, 1), st.floats(1e-6, 1)),
    max_size=40,
)


@settings(max_examples=50, deadline=None)
@given(entries, st.integers(1, 10**9))
def test_a_table_is_read_back_within_five_percent(tmp_path_factory, entries, count):
    path = tmp_path_factory.mktemp("tables") / "xx.words.xz"
    table = table_of(entries, count)
    write_table(path, table)
    read = read_table(path)
    assert (read.query_words, read.document_words) == (table.query_words, table.document_words)
    assert np.array_equal(read.query_numbers, table.query_numbers)
    assert np.array_equal(read.document_numbers, table.document_numbers)
    for found, wanted in zip(read[4:], table[4:], strict=True):
        assert np.allclose(found, wanted, rtol=0.05)
        assert found.dtype == np.float32
    assert pack_table(table) == pack_table(table_of(entries, count))


def test_every_damage_is_an_input_error(folder):
    path = folder / "fr.words.xz"
    content = path.read_bytes()
    for position in range(0, len(content) - 1, 3):
        path.write_bytes(content[:position])
        with pytest.raises(InputError, match="damaged word table"):
            read_table(path)
        path.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        with pytest.raises(InputError, match="damaged word table"):
            read_table(path)


def test_a_hostile_file_is_an_input_error(folder):
    path = folder / "fr.words.xz"
    plain = lzma.decompress(path.read_bytes())
    for hostile in (
        b"",
        b"another format\n",
        plain + b"more",
        plain.replace(b'"pairs": 3', b'"pairs": 4'),
        plain.replace(b'"pairs": 3', b'"pairs": -1'),
        plain.replace(b'"words": [2, 3]', b'"words": [2, 1]'),
        plain.replace(b'"words": [2, 3]', b'"words": 7'),
        plain[: plain.index(b"{")] + b"{}\n",
        b"\0" * 2**27,
    ):
        path.write_bytes(lzma.compress(hostile, preset=1))
        with pytest.raises(InputError, match="damaged word table"):
            read_table(path)


def test_to_english_the_sides_are_exchanged(folder):
    table = load_starter("fr", "en", folder)
    assert table.query_words == ["cheval", "jument", "mer"]
    found = probabilities(table)
    assert found["jument", "hors"] == pytest.approx((0.5, 0.1), rel=0.05)
    assert [pair[0] for pair in found] == sorted(pair[0] for pair in found)


def test_between_other_languages_the_way_goes_through_english(folder):
    table = load_starter("fr", "sw", folder)
    assert (table.query_words, table.document_words) == (["cheval", "jument", "mer"], ["bahari", "farasi", "ziwa"])
    assert probabilities(table) == {
        ("cheval", "farasi"): pytest.approx((0.8, 0.9), rel=0.1),
        ("jument", "farasi"): pytest.approx((0.5, 0.1), rel=0.1),
        ("mer", "bahari"): pytest.approx((0.5, 1.0), rel=0.1),
    }


def test_what_there_is_not(folder):
    assert load_starter("en", "xx", folder) is None
    assert load_starter("xx", "en", folder) is None
    assert load_starter("fr", "xx", folder) is None
    assert load_starter("fr", "fr", folder) is None
    assert load_starter("en", "en", folder) is None
    assert starter_file("xx", folder) is None
    assert starter_languages(folder) == ["fr", "sw"]


def test_another_code_of_a_language(folder):
    write_table(folder / "nb.words.xz", table_of({("sea", "hav"): (1.0, 1.0)}))
    assert load_starter("en", "no", folder).document_words == ["hav"]
    assert load_starter("no", "nb", folder) is None


def test_without_the_package_there_is_no_table(monkeypatch):
    monkeypatch.setattr(starter, "_PACKAGE", "isogloss_starter_of_nobody")
    before = set(sys.modules)
    assert (load_starter("en", "fr"), starter_file("fr"), starter_languages()) == (None, None, [])
    assert "isogloss_starter" not in set(sys.modules) - before


@shipped
def test_the_shipped_tables_are_those_that_were_built_and_small():
    record = json.loads((TABLES / "tables.json").read_text())["languages"]
    assert sorted(record) == starter_languages(TABLES)
    assert len(record) >= 40
    sizes = []
    for language, about in record.items():
        note = note_of(starter_file(language, TABLES))
        assert (note.size, note.hash) == (about["bytes"], about["hash"])
        sizes.append(note.size)
    assert max(sizes) <= 1_000_000
    assert sum(sizes) <= 40_000_000


@shipped
@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("fr", {"water": "eau", "king": "roi", "window": "fenêtre"}),
        ("de", {"water": "Wasser", "king": "König", "window": "Fenster"}),
        ("zh", {"water": "水", "file": "文件"}),
        ("sw", {"water": "maji", "horse": "farasi"}),
    ],
)
def test_the_shipped_tables_know_common_words(language, wanted):
    table = load_starter("en", language, TABLES)
    for word, translation in wanted.items():
        (stem,), (other,) = Tokenizer("en", stems=True)(word), Tokenizer(language, stems=True)(translation)
        row = table.query_numbers == table.query_words.index(stem)
        best = table.document_numbers[row][table.query_probabilities[row].argmax()]
        assert table.document_words[best] == other


@shipped
def test_each_shipped_table_is_sorted_and_sound():
    for language in ("fr", "ja", "sw"):
        table = load_starter("en", language, TABLES)
        assert table.query_words == sorted(set(table.query_words), key=str.encode)
        assert table.document_words == sorted(set(table.document_words), key=str.encode)
        keys = table.query_numbers.astype(np.int64) * len(table.document_words) + table.document_numbers
        assert (np.diff(keys) > 0).all()
        sums = np.bincount(table.query_numbers, table.query_probabilities)
        assert sums.max() < 1.06
        assert table.query_counts.min() >= 1
