"""Ids looked up in a table, one by one or by their hashes."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.index import documents as id_lookup
from isogloss.index.documents import IdLookup
from isogloss.storage.strings import StringTable, taken

IDS = st.lists(st.text(max_size=3), unique=True, max_size=12)


@given(there=IDS, asked=IDS)
@settings(deadline=None)
@pytest.mark.parametrize("few", [0, 10**6], ids=["one by one", "by hashes"])
def test_the_places_of_those_that_are_there(few, there, asked):
    table = sorted(there)
    with patch.object(id_lookup, "_FEW", few):
        places = IdLookup(StringTable.of(table)).places(set(asked))
    assert places.tolist() == [place for place, id_ in enumerate(table) if id_ in asked]


def test_ids_with_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(id_lookup, "_hashes_of", lambda ids, count: np.asarray([7] * count))
    lookup = IdLookup(StringTable.of(["a", "b", "c"]))
    assert lookup.places({"c", "a", "x"}).tolist() == [0, 2]


def test_hashes_are_worked_out_once_many_have_been_asked_for(monkeypatch):
    made, hashes_of = [], id_lookup._hashes_of
    monkeypatch.setattr(id_lookup, "_hashes_of", lambda ids, count: made.append(count) or hashes_of(ids, count))
    lookup = IdLookup(StringTable.of(sorted(str(number) for number in range(1_000))))
    for number in range(12):
        assert len(lookup.places({str(number), "none"})) == 1
    assert not made
    for number in range(12, 100):
        assert len(lookup.places({str(number), "none"})) == 1
    assert made.count(1_000) == 1


@given(tables=st.lists(st.lists(st.text(max_size=3), max_size=5), max_size=3), data=st.data())
@settings(deadline=None)
def test_strings_taken_from_several_tables(tables, data):
    joined = [string for table in tables for string in table]
    places = data.draw(st.lists(st.integers(0, len(joined) - 1), max_size=8) if joined else st.just([]))
    found = taken([StringTable.of(table) for table in tables], np.asarray(places, dtype=np.int64))
    assert list(found) == [joined[place] for place in places]


def test_many_strings_are_taken_in_several_goes(monkeypatch):
    monkeypatch.setattr("isogloss.storage.strings._TAKEN", 3)
    words = [str(number) for number in range(50)]
    assert list(taken([StringTable.of(words[:20]), StringTable.of(words[20:])], np.arange(50)[::-1])) == words[::-1]
