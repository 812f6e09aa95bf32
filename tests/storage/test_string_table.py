"""Strings in flat arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.arrays import load_array
from isogloss.storage.strings import StringTable

any_string = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"])), max_size=8)
modest = settings(deadline=None, max_examples=150)


@modest
@given(strings=st.lists(any_string))
def test_any_strings_come_back_by_number_in_memory_and_from_disk(strings, tmp_path_factory):
    directory = tmp_path_factory.mktemp("table")
    table = StringTable.of(iter(strings))
    table.save(directory, "words")
    for made in (table, StringTable.load(directory, "words")):
        assert len(made) == len(strings)
        assert list(made) == strings


@modest
@given(st.sets(any_string), any_string)
def test_a_sorted_table_finds_its_strings_and_no_others(strings, other):
    ordered = sorted(strings)
    table = StringTable.of(ordered)
    assert [table.find(string) for string in ordered] == list(range(len(ordered)))
    assert table.find(other) == (ordered.index(other) if other in strings else None)


@pytest.mark.parametrize("number", [-1, 2, 100])
def test_a_number_outside_the_table_is_an_index_error(number):
    with pytest.raises(IndexError):
        StringTable.of(["a", "b"])[number]


def test_the_files_are_two_plain_arrays(tmp_path):
    StringTable.of(["ab", "", "é"]).save(tmp_path, "words")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words.bytes.npy", "words.offsets.npy"]
    assert np.load(tmp_path / "words.bytes.npy").tobytes() == "abé".encode()
    assert np.load(tmp_path / "words.offsets.npy").tolist() == [0, 2, 2, 4]


def test_a_loaded_table_is_mapped_and_not_read(tmp_path):
    StringTable.of(["ab"]).save(tmp_path, "words")
    assert isinstance(load_array(tmp_path / "words.bytes.npy"), np.memmap)


@pytest.mark.parametrize("part", ["bytes", "offsets"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: b"no array at all"])
def test_a_damaged_file_is_a_value_error_that_names_it(part, damage, tmp_path):
    StringTable.of(["ab", "c"]).save(tmp_path, "words")
    path = tmp_path / f"words.{part}.npy"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"words\.{part}\.npy is not a whole array"):
        StringTable.load(tmp_path, "words")


def test_parts_of_two_tables_do_not_fit(tmp_path):
    StringTable.of(["ab", "c"]).save(tmp_path, "words")
    np.save(tmp_path / "words.bytes.npy", np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="does not fit"):
        StringTable.load(tmp_path, "words")


def test_a_pickle_is_never_loaded(tmp_path):
    np.save(tmp_path / "words.bytes.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="not a whole array"):
        load_array(tmp_path / "words.bytes.npy")
