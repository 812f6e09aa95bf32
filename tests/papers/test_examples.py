"""The pairs that are learned from are those the sampled protocol ranks; negatives can be drawn anew."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.evaluation.protocols import make_task
from isogloss.papers.examples import Examples, graded_examples, redraw


@pytest.fixture(scope="module")
def demo():
    return load_dataset(open_source("demo"), ("en", "fr"))


class Asked:
    """A system that notes the rows it is asked to score."""

    name = "asked"

    def __init__(self):
        self.rows = []

    def score(self, query, rows):
        self.rows.append(rows.tolist())
        return np.zeros(len(rows))


@pytest.mark.parametrize(
    ("split", "negatives", "seed"), [("dev", 40, 0), ("train", 7, 3), ("test", 0, 0), ("dev", 500, 1)]
)
def test_the_rows_are_those_of_the_sampled_protocol(demo, split, negatives, seed):
    task, asked = make_task(demo, split, "sampled", negatives, seed), Asked()
    task.run(asked)
    found = graded_examples(demo, split, negatives, seed)
    assert found.queries == task.queries
    starts = np.searchsorted(found.query_of, np.arange(len(task.queries) + 1))
    assert [found.document_of[a:b].tolist() for a, b in pairwise(starts)] == asked.rows
    ids = demo.documents.ids
    for query, row, grade, negative in zip(
        found.query_of, found.document_of, found.grades, found.negative, strict=True
    ):
        judged = demo.judgments[found.queries[query].id]
        assert negative == (ids[row] not in judged)
        assert grade == judged.get(ids[row], 0)


def test_a_part_of_the_queries_is_spread_over_the_split(demo):
    every, few = graded_examples(demo, "dev", 5, 0), graded_examples(demo, "dev", 5, 0, most_queries=10)
    places = [every.queries.index(query) for query in few.queries]
    assert len(places) == 10
    assert (places[0], places[-1]) == (0, len(every.queries) - 1)
    assert min(np.diff(places)) >= len(every.queries) // 10 - 1
    for number, place in enumerate(places):  # and has the same documents as before
        own = every.document_of[every.query_of == place]
        np.testing.assert_array_equal(few.document_of[few.query_of == number], own)
    assert graded_examples(demo, "dev", 5, 0, most_queries=10**6).queries == every.queries


def test_a_split_without_judged_queries_has_no_examples(demo):
    empty = type(demo)(demo.source, demo.pair, demo.documents, demo.queries, type(demo.judgments)(), demo.splits)
    found = graded_examples(empty, "train", 40, 0)
    assert (found.queries, len(found.query_of), len(found.document_of), len(found.grades)) == ([], 0, 0, 0)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_negatives_drawn_anew_are_never_judged_documents(data):
    documents = data.draw(st.integers(1, 12), "documents")
    query_of, document_of, negative = [], [], []
    for query in range(data.draw(st.integers(0, 4), "queries")):
        judged = data.draw(st.sets(st.integers(0, documents - 1), min_size=1))
        others = 5 if len(judged) < documents else 0
        query_of += [query] * (len(judged) + others)
        document_of += [*judged, *([-1] * others)]
        negative += [False] * len(judged) + [True] * others
    query_of, document_of = np.asarray(query_of, np.int32), np.asarray(document_of, np.int32)
    examples = Examples([], query_of, document_of, np.zeros(len(query_of), np.int32), np.asarray(negative, bool))
    drawn = redraw(examples, documents, 5, epoch=2)
    kept = ~examples.negative
    np.testing.assert_array_equal(drawn[kept], document_of[kept])
    assert ((drawn >= 0) & (drawn < documents)).all()
    judged = set(zip(query_of[kept].tolist(), document_of[kept].tolist(), strict=True))
    assert not judged & set(zip(query_of[~kept].tolist(), drawn[~kept].tolist(), strict=True))
    np.testing.assert_array_equal(redraw(examples, documents, 5, epoch=2), drawn)


def test_every_epoch_and_seed_draws_its_own(demo):
    examples = graded_examples(demo, "train", 40, 0)
    before = examples.document_of.copy()
    draws = [redraw(examples, len(demo.documents), *given) for given in ((0, 0), (0, 1), (1, 0))]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert (draws[one] == draws[other])[examples.negative].mean() < 0.1
    np.testing.assert_array_equal(examples.document_of, before)
    drawn = np.bincount(draws[0][examples.negative], minlength=len(demo.documents))
    assert drawn.min() > 0.5 * drawn.mean()  # all documents have their share
