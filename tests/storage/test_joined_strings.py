"""Tables of strings, joined where they are or copied into one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.strings import JoinedStrings, StringTable, save_joined

PARTS = st.lists(st.lists(st.text(max_size=5), max_size=5), max_size=4)


@given(parts=PARTS)
@settings(deadline=None)
def test_the_strings_follow_one_after_the_other(parts):
    joined = JoinedStrings([StringTable.of(part) for part in parts])
    assert list(joined) == [string for part in parts for string in part]


@pytest.mark.parametrize("number", [-1, 2])
def test_a_number_that_is_not_there_is_an_index_error(number):
    with pytest.raises(IndexError):
        JoinedStrings([["a"], ["b"]])[number]


@given(parts=PARTS, data=st.data())
@settings(deadline=None)
def test_what_is_kept_is_written_as_one_table(tmp_path_factory, parts, data):
    strings = [string for part in parts for string in part]
    keep = data.draw(st.lists(st.booleans(), min_size=len(strings), max_size=len(strings)))
    folder = tmp_path_factory.mktemp("joined")
    save_joined([StringTable.of(part) for part in parts], np.asarray(keep, dtype=bool), folder, "pages")
    kept = [string for string, wanted in zip(strings, keep, strict=True) if wanted]
    assert list(StringTable.load(folder, "pages")) == kept
