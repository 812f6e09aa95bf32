"""Arrays that compiled code must not get are refused, with the name of the array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.storage import array_checks
from isogloss.storage.array_checks import check_lists, check_offsets, check_type, check_within


@pytest.mark.parametrize("block", [2, 2**22])
@given(lists=st.lists(st.sets(st.integers(0, 9)).map(sorted), max_size=6))
def test_whole_lists_pass_and_any_other_order_does_not(block, lists):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_checks, "_BLOCK", block)
        offsets = np.cumsum([0, *map(len, lists)])
        numbers = np.asarray([number for each in lists for number in each], dtype=np.int32)
        check_offsets(offsets, len(numbers), "offsets")
        check_lists(offsets, numbers, 10, "lists")
        start = 0
        for each in lists:
            if len(each) > 1:
                for changed in (each[::-1], [each[0], *each[:-1]]):
                    wrong = numbers.copy()
                    wrong[start : start + len(each)] = changed
                    with pytest.raises(ValueError, match="lists does not ascend within a list"):
                        check_lists(offsets, wrong, 10, "lists")
            start += len(each)


@pytest.mark.parametrize("block", [1, 2**22])
@pytest.mark.parametrize(
    ("offsets", "why"),
    [
        ([0, 3, 2, 5], "does not ascend"),
        ([0, 9, 5], "does not ascend"),
        ([0, -1, 5], "does not ascend"),
        ([1, 5], "has 1 to 5, not 0 to 5"),
        ([0, 4], "has 0 to 4, not 0 to 5"),
        ([-1, 5], "has -1 to 5"),
    ],
)
def test_offsets_that_lead_elsewhere_are_refused(offsets, why, block, monkeypatch):
    monkeypatch.setattr(array_checks, "_BLOCK", block)
    with pytest.raises(ValueError, match=f"^o.npy {why}|^o.npy does not fit: it {why}"):
        check_offsets(np.asarray(offsets), 5, "o.npy")


@pytest.mark.parametrize("offsets", [np.zeros(0, np.int64), np.array([0.0, 5.0]), np.array([[0, 5]])])
def test_offsets_of_another_kind_are_refused(offsets):
    with pytest.raises(ValueError, match=r"^o\.npy "):
        check_offsets(offsets, 5, "o.npy")


@pytest.mark.parametrize("numbers", [[0, 5], [-1, 2], [2**31 - 1]])
def test_numbers_out_of_range_are_refused(numbers):
    check_within(np.asarray([0, 4, 4, 0]), 5, "n.npy")
    check_within(np.zeros(0, np.int32), 0, "n.npy")
    with pytest.raises(ValueError, match=r"^n\.npy has numbers from .* to .*, not 0 to 4"):
        check_within(np.asarray(numbers, np.int32), 5, "n.npy")
    with pytest.raises(ValueError, match="not of integers"):
        check_within(np.zeros(2), 5, "n.npy")


def test_types_and_sizes_are_compared():
    check_type(np.zeros(3, np.int32), np.int32, "t.npy", 3)
    for array, size in ((np.zeros(3), 3), (np.zeros((3, 1), np.int32), 3), (np.zeros(3, np.int32), 4)):
        with pytest.raises(ValueError, match=r"^t\.npy "):
            check_type(array, np.int32, "t.npy", size)
