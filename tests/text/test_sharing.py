"""Work shared among processes gives what one process gives, and its errors are not lost."""

import os

import pytest

from isogloss.text.sharing import share_out

HERE = os.getpid()


def half(number):
    return number / 2


def fails_elsewhere(number):
    if os.getpid() != HERE:
        os._exit(1)
    return number


@pytest.mark.parametrize("processes", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_results_come_in_order(processes, count):
    assert share_out(half, range(count), processes) == [number / 2 for number in range(count)]


def test_others_take_part():
    assert len(set(share_out(lambda _: os.getpid(), range(6), 3))) == 3


def test_results_larger_than_a_pipe_holds_arrive_whole():
    assert share_out(lambda size: b"x" * size, [1_000_000] * 4, 2) == [b"x" * 1_000_000] * 4


def test_what_a_process_that_died_should_have_done_is_done_here():
    assert share_out(fails_elsewhere, [1, 2, 3], 2) == [1, 2, 3]


def test_an_error_in_another_process_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        share_out(lambda number: 1 / number, [1, 0], 2)
    with pytest.raises(ZeroDivisionError):
        share_out(lambda number: 1 / number, [0, 1], 2)
