"""A time limit that loops check."""

import threading

import pytest

from isogloss.storage.deadline import Deadline, DeadlineError, check


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_without_a_deadline_a_check_does_nothing():
    check()


def test_work_stops_at_the_first_check_after_its_time():
    clock = Clock()
    with Deadline(5.0, clock) as deadline:
        clock.now = 4.9
        check()
        assert not deadline.passed
        clock.now = 5.0
        with pytest.raises(DeadlineError):
            check()
    check()


def test_work_that_nobody_waits_for_stops():
    with Deadline(5.0, Clock()) as deadline:
        deadline.cancel()
        with pytest.raises(DeadlineError):
            check()


def test_the_inner_deadline_applies_and_then_the_outer_again():
    with Deadline(5.0, Clock()) as outer:
        with Deadline(1.0, Clock()) as inner:
            outer.cancel()
            check()
            assert not inner.passed
        with pytest.raises(DeadlineError):
            check()


def test_other_threads_have_none():
    stopped = []

    def other():
        try:
            check()
        except DeadlineError:
            stopped.append(1)

    with Deadline(0.0, Clock()):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert stopped == []
