"""The data file of combining marks against this Python's Unicode database."""

import unicodedata
from importlib import resources
from itertools import pairwise

import pytest

from isogloss.text.normalization import WORD


@pytest.fixture(scope="module")
def ranges():
    lines = resources.files("isogloss.text").joinpath("combining_marks.txt").read_text("utf-8").splitlines()
    return [tuple(int(end, 16) for end in line.split("-")) for line in lines if not line.startswith("#")]


def test_the_ranges_are_ascending_and_apart(ranges):
    ends = [end for pair in ranges for end in pair]
    assert ends == sorted(ends)
    assert all(second[0] > first[1] + 1 for first, second in pairwise(ranges))


def test_the_file_has_every_mark_of_this_python_and_nothing_that_it_knows_to_be_none(ranges):
    marks = {number for first, last in ranges for number in range(first, last + 1)}
    known = {number for number in range(0x110000) if unicodedata.category(chr(number))[0] == "M"}
    assert known <= marks
    assert {unicodedata.category(chr(number)) for number in marks - known} <= {"Cn"}


def test_every_mark_continues_a_word_and_none_starts_one(ranges):
    for first, last in ranges:
        for number in range(first, last + 1):
            assert WORD.fullmatch(f"a{chr(number)}b"), hex(number)
            assert not WORD.match(chr(number)), hex(number)
