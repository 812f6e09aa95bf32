"""Strings in flat arrays: one table, and several as one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.arrays import load_array
from isogloss.storage.strings import JoinedStrings, StringTable, save_joined

any_string = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"])), max_size=8)
modest = settings(deadline=None, max_examples=50)


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
    assert isinstance(load_array(tmp_path / "words.bytes.npy").base, np.memmap)


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


PARTS = st.lists(st.lists(st.text(max_size=5), max_size=5), max_size=4)


@given(parts=PARTS)
@settings(deadline=None, max_examples=40)
def test_the_strings_follow_one_after_the_other(parts):
    joined = JoinedStrings([StringTable.of(part) for part in parts])
    assert list(joined) == [string for part in parts for string in part]


@pytest.mark.parametrize("number", [-1, 2])
def test_a_number_that_is_not_there_is_an_index_error(number):
    with pytest.raises(IndexError):
        JoinedStrings([["a"], ["b"]])[number]


@given(parts=PARTS, data=st.data())
@settings(deadline=None, max_examples=40)
def test_what_is_kept_is_written_as_one_table(tmp_path_factory, parts, data):
    strings = [string for part in parts for string in part]
    keep = data.draw(st.lists(st.booleans(), min_size=len(strings), max_size=len(strings)))
    folder = tmp_path_factory.mktemp("joined")
    save_joined([StringTable.of(part) for part in parts], np.asarray(keep, dtype=bool), folder, "pages")
    kept = [string for string, wanted in zip(strings, keep, strict=True) if wanted]
    assert list(StringTable.load(folder, "pages")) == kept


@modest
@given(st.sets(any_string), st.lists(any_string))
def test_many_strings_are_found_at_once_as_each_alone(strings, others):
    table = StringTable.of(sorted(strings))
    wanted = [*strings, *others]
    found = [table.find(string) for string in wanted]
    assert table.find_all(wanted).tolist() == [-1 if number is None else number for number in found]
