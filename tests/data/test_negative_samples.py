"""Random irrelevant documents: never judged, never twice, fixed by the seed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.splits import sample_negatives


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(0, 60), st.integers(0, 20), st.integers(0, 2**32), st.text(max_size=5))
def test_negatives_are_distinct_unjudged_rows_enough_or_all(data, documents, count, seed, query):
    judged = data.draw(st.lists(st.integers(0, documents - 1), max_size=10)) if documents else []
    rows = sample_negatives(query, judged, documents, count, seed).tolist()
    assert len(rows) == len(set(rows)) == min(count, documents - len(set(judged)))
    assert all(0 <= row < documents for row in rows)
    assert not set(rows) & set(judged)
    assert rows == sample_negatives(query, judged[::-1], documents, count, seed).tolist()


def test_seed_and_query_decide():
    def draw(query="q", seed=0):
        return sample_negatives(query, [1, 2], 10_000, 40, seed).tolist()

    assert draw() == draw()
    assert draw() != draw(seed=1)
    assert draw() != draw("r")


def test_every_unjudged_document_has_its_chance():
    drawn = {row for n in range(300) for row in sample_negatives(f"q{n}", [0], 30, 3).tolist()}
    assert drawn == set(range(1, 30))


def test_the_draw_of_a_seed_stays_the_same_for_good():
    assert sample_negatives("q1", [3], 1000, 5, 42).tolist() == [701, 609, 674, 120, 378]
