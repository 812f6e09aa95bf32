"""Ids looked up in a table, one by one or by their hashes."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.index import documents
from isogloss.index.documents import IdLookup
from isogloss.storage.strings import StringTable, taken

IDS = st.lists(st.text(max_size=3), unique=True, max_size=12)


@given(there=IDS, wanted=IDS)
@settings(deadline=None, max_examples=30)
@pytest.mark.parametrize("few", [0, 10**6], ids=["one by one", "by hashes"])
def test_the_positions_of_those_ids_that_the_table_has(few, there, wanted):
    table = sorted(there)
    with patch.object(documents, "_FEW", few):
        positions = IdLookup(StringTable.of(table)).positions(set(wanted))
    assert positions.tolist() == [position for position, id_ in enumerate(table) if id_ in wanted]


def test_ids_with_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(documents, "hash", lambda id_: 7, raising=False)
    lookup = IdLookup(StringTable.of(["a", "b", "c"]))
    assert lookup.positions({"c", "a", "x"}).tolist() == [0, 2]


def test_hashes_are_computed_once_after_many_lookups(monkeypatch):
    hashed = []
    monkeypatch.setattr(documents, "hash", lambda id_: hashed.append(id_) or hash(id_), raising=False)
    lookup = IdLookup(StringTable.of(sorted(str(number) for number in range(1_000))))
    for number in range(12):
        assert len(lookup.positions({str(number), "none"})) == 1
    assert not hashed
    for number in range(12, 100):
        assert len(lookup.positions({str(number), "none"})) == 1
    assert hashed.count("999") == 1


@given(tables=st.lists(st.lists(st.text(max_size=3), max_size=5), max_size=3), data=st.data())
@settings(deadline=None, max_examples=30)
def test_strings_taken_from_several_tables(tables, data):
    joined = [string for table in tables for string in table]
    positions = data.draw(st.lists(st.integers(0, len(joined) - 1), max_size=8) if joined else st.just([]))
    found = taken([StringTable.of(table) for table in tables], np.asarray(positions, dtype=np.int64))
    assert list(found) == [joined[position] for position in positions]


def test_many_strings_are_taken_in_several_goes(monkeypatch):
    monkeypatch.setattr("isogloss.storage.strings._TAKEN", 3)
    words = [str(number) for number in range(50)]
    assert list(taken([StringTable.of(words[:20]), StringTable.of(words[20:])], np.arange(50)[::-1])) == words[::-1]
