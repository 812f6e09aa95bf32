"""Rankings are ordered by score, descending, then by document id, ascending as strings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.documents import id_order
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.run import Run
from isogloss.retrieval.ranking import top_k

ids_and_scores = st.dictionaries(st.text(min_size=1, max_size=4), st.integers(-2, 2), max_size=30)


def sorted_in_python(pairs, k):
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


@settings(max_examples=66, deadline=None)
@given(ids_and_scores, st.integers(0, 35), st.sampled_from([np.float32, np.float64]))
def test_top_k_is_the_beginning_of_a_full_sort(scored, k, dtype):
    ids = list(scored)
    scores = np.asarray(list(scored.values()), dtype=dtype)
    rows, best = top_k(scores, k, id_order(ids))
    assert [(ids[row], score) for row, score in zip(rows.tolist(), best.tolist(), strict=True)] == sorted_in_python(
        scored.items(), k
    )


@settings(max_examples=33, deadline=None)
@given(ids_and_scores, st.integers(1, 35), st.integers(-3, 2), st.randoms(use_true_random=False))
def test_top_k_of_some_rows_above_a_floor_is_a_sort_of_those(scored, k, above, random):
    ids = list(scored)
    rows = random.sample(range(len(ids)), k=len(ids) // 2)
    values = np.asarray([scored[ids[row]] for row in rows], dtype=float)
    found, best = top_k(values, k, id_order(ids), np.asarray(rows, dtype=int), above=above)
    wanted = [(ids[row], scored[ids[row]]) for row in rows if scored[ids[row]] > above]
    assert [(ids[row], score) for row, score in zip(found.tolist(), best.tolist(), strict=True)] == sorted_in_python(
        wanted, k
    )


@pytest.mark.parametrize("nothing", [np.nan, -np.inf])
def test_a_document_without_a_score_is_not_found(nothing):
    assert top_k(np.asarray([1.0, nothing, 2.0]), 3, np.arange(3)).rows.tolist() == [2, 0]


def test_minus_zero_ties_with_zero():
    assert top_k(np.asarray([0.0, -0.0]), 1, np.asarray([1, 0])).rows.tolist() == [1]


DOCUMENTS = {"d9": 1.0, "d10": -1.0, "e": 0.5, "D9": 1.0, "é": 1.0, "d1": 1.0}
IN_ORDER = ["e", "D9", "d1", "d10", "d9", "é"]  # ids are strings: "d10" stands before "d9", capitals before the rest


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6, 100])
def test_ties_are_broken_by_id_at_the_depth_of_the_full_protocol(make_dataset, nearness, depth):
    dataset = make_dataset(DOCUMENTS, {"q": 0}, {"q": {"d9": 2}})
    system = nearness()
    system.index(dataset.documents, ("text",))
    assert make_task(dataset, "dev", "full", depth=depth).run(system).documents("q") == IN_ORDER[:depth]


@pytest.mark.parametrize("protocol", ["sampled", "candidates"])
def test_ties_are_broken_by_id_in_the_other_protocols(make_dataset, nearness, protocol):
    everything = dict.fromkeys(DOCUMENTS, 0) | {"d9": 1}
    dataset = make_dataset(DOCUMENTS, {"q": 0}, {"q": {"d9": 2}}, {"q": everything})
    system = nearness()
    system.index(dataset.documents, ("text",))
    assert make_task(dataset, "dev", protocol).run(system).documents("q") == IN_ORDER


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]])
def test_ties_in_a_run_file_are_broken_by_id_whatever_the_lines_and_ranks_say(tmp_path, order):
    lines = [f"q Q0 {document} {rank} {-abs(DOCUMENTS[document])} x\n" for rank, document in enumerate(DOCUMENTS)]
    (tmp_path / "run").write_text("".join(lines[i] for i in order), encoding="utf-8")
    assert Run.read(tmp_path / "run").documents("q") == IN_ORDER
