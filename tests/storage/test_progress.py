"""Progress bars watch, they never meddle."""

import io
import sys

import pytest

from isogloss.storage import progress
from isogloss.storage.progress import set_quiet, track


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def watch(monkeypatch):
    """Call it and somebody watches (within the test: pytest sets the streams again after the fixtures)."""

    def watched(patience):
        set_quiet(False)  # commands of other tests may have been quiet
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(progress, "_PATIENCE_SECONDS", patience)
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    yield watched
    set_quiet(False)


LONG_WORK, SHORT_WORK = -1.0, 1e9


VALUES = [3, None, "x", 3]


@pytest.mark.parametrize("make", [list, iter, tuple])
def test_values_are_yielded_unchanged_and_silently_without_a_terminal(make, capsys):
    assert list(track(make(VALUES), "work")) == VALUES
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("make", [list, iter])
@pytest.mark.parametrize("sizes", [None, [1, 2, 3, 4]])
def test_values_are_yielded_unchanged_under_a_bar(make, sizes, watch, capsys):
    terminal = watch(LONG_WORK)
    assert list(track(make(VALUES), "counting sheep", total=10, sizes=sizes)) == VALUES
    assert "counting sheep" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_the_bar_counts_the_sizes_of_the_values_up_to_their_sum(watch):
    terminal = watch(LONG_WORK)
    list(track(["two", "three"], "work", total=5, sizes=[2, 3]))
    assert "5/5" in terminal.getvalue()


def test_quiet_means_no_bar_even_on_a_terminal(watch):
    terminal = watch(LONG_WORK)
    set_quiet(True)
    assert list(track(VALUES, "work")) == VALUES
    assert terminal.getvalue() == ""


def test_short_work_has_no_bar(watch):
    terminal = watch(SHORT_WORK)
    assert list(track(VALUES, "work")) == VALUES
    assert terminal.getvalue() == ""


def test_make_are_taken_one_at_a_time():
    taken = []
    tracked = track((taken.append(number) or number for number in range(5)), "work")
    assert [next(tracked), next(tracked)] == [0, 1]
    assert taken == [0, 1]


def test_an_error_in_the_work_comes_through(watch):
    def work():
        yield 1
        raise RuntimeError("broken")

    watch(LONG_WORK)
    with pytest.raises(RuntimeError, match="broken"):
        list(track(work(), "work"))
