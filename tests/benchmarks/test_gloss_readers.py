"""The reader test of ``benchmarks/glosses.py``: lists and answers apart, and how picks are scored."""

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def glosses(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import glosses

    return glosses


@pytest.fixture
def lists(glosses, tmp_path):
    """Two lists of one kind, and one of another."""
    kinds = ("starter", 2), ("starter", 1), ("own pages", 3)
    rows = [
        {"set": "x:en-fr", "knowledge": kind, "id": str(number), "query": "q", "glosses": ["a", "b"], "answer": answer}
        for number, (kind, answer) in enumerate(kinds)
    ]
    glosses.write_lists(tmp_path / "lists", rows)
    return tmp_path / "lists"


def test_lists_do_not_tell_the_answers(lists):
    assert "answer" not in lists.read_text("utf-8")
    assert "gloss" not in lists.with_name("lists.answers").read_text("utf-8")


def test_right_picks_are_counted_with_their_interval(glosses, lists):
    picks = lists.with_name("picks")
    picks.write_text("2 2\n1 2\n", "utf-8")
    assert glosses.scores(lists, picks) == ["x:en-fr, starter: 1 of 2, 0.500 (0.095 to 0.905), not [2]"]


@pytest.mark.parametrize(("text", "message"), [("1 2\n", "no pick from list 2"), ("9 1\n", "does not have")])
def test_a_reader_reads_all_lists_of_a_kind(glosses, lists, text, message):
    picks = lists.with_name("picks")
    picks.write_text(text, "utf-8")
    with pytest.raises(SystemExit, match=message):
        glosses.scores(lists, picks)


@pytest.mark.parametrize(("right", "of"), [(0, 5), (41, 43), (49, 49)])
def test_the_interval_is_that_of_scipy(glosses, right, of):
    stats = pytest.importorskip("scipy.stats")
    interval = stats.binomtest(right, of).proportion_ci(method="wilson")
    assert glosses.wilson_interval(right, of) == pytest.approx((interval.low, interval.high), abs=1e-6)
