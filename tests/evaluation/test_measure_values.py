"""Measures worked out by hand, and the corners: nothing found, nothing judged, other grades."""

from math import log2

import pytest

from isogloss.data.documents import Judgment
from isogloss.data.judgments import Judgments
from isogloss.evaluation.measures import MEASURES, gather_gains, measure


def test_a_ranking_worked_out_by_hand(values_of):
    # found: partially relevant 2nd, relevant 6th, partially relevant 12th; one partially relevant missed
    got = {name: value for name, [value] in values_of(([0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1], [1, 0])).items()}
    ideal5 = 2 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert got == pytest.approx(
        {
            "P_mr@1": 0, "P_mr@5": 0, "P_r@5": 1 / 5, "NDCG@5": (1 / log2(3)) / ideal5,
            "MAP": (1 / 2 + 2 / 6 + 3 / 12) / 4, "MRR_mr": 1 / 6, "MRR_r": 1 / 2, "R_mr@10": 1, "P@10": 2 / 10,
            "Rprec": 1 / 4, "nDCG@10": (1 / log2(3) + 2 / log2(7)) / ideal5, "R@100": 3 / 4, "R@1000": 3 / 4,
        }
    )  # fmt: skip


def test_gains_are_linear_two_halves_make_a_whole(values_of):
    assert values_of(([0, 2], [])) == {**values_of(([0, 2], [])), "NDCG@5": [pytest.approx(1 / log2(3))]}
    one_first, two_first = values_of(([1, 2], []))["NDCG@5"][0], values_of(([2, 1], []))["NDCG@5"][0]
    assert one_first == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))
    assert two_first == 1.0


def test_success_is_not_divided_by_the_depth(values_of):
    assert values_of(([0, 0, 0, 0, 2], []))["P_mr@5"] == [1.0]


def test_a_query_that_is_in_the_run_with_nothing_found_scores_0(make_run):
    judgments = Judgments([Judgment("q", "d", 2)])
    for ranked in ({}, {"q": []}, {"other": ["d"]}):
        values = measure(gather_gains(make_run(ranked), judgments, ["q"]))
        assert all(value.tolist() == [0.0] for value in values.values())


def test_documents_that_were_never_judged_count_as_irrelevant(make_run):
    judgments = Judgments([Judgment("q", "known", 2)])
    values = measure(gather_gains(make_run({"q": ["unheard of", "known"]}), judgments, ["q"]), ["MRR_mr", "P_mr@1"])
    assert {name: value.tolist() for name, value in values.items()} == {"MRR_mr": [0.5], "P_mr@1": [0.0]}


@pytest.mark.parametrize(("top_grade", "expected"), [(None, 1 / 3), (2, 1 / 2), (1, 1.0)])
def test_the_grade_of_a_relevant_document_is_the_format_s_or_the_highest_there_is(make_run, top_grade, expected):
    judgments = Judgments([Judgment("q", d, g) for d, g in (("a", 1), ("b", 2), ("c", 4))], top_grade)
    gains = gather_gains(make_run({"q": ["a", "b", "c"]}), judgments, ["q"])
    assert measure(gains, ["MRR_mr"])["MRR_mr"].tolist() == pytest.approx([expected])


def test_no_queries_give_no_values(make_run):
    assert {name: len(values) for name, values in measure(gather_gains(make_run({}), Judgments(), [])).items()} == (
        dict.fromkeys(MEASURES, 0)
    )


def test_measures_are_named_as_in_the_papers():
    papers = "P_mr@1 P_mr@5 P_r@5 NDCG@5 MAP MRR_mr MRR_r R_mr@10 P@10 Rprec"
    assert list(MEASURES) == [*papers.split(), "nDCG@10", "R@100", "R@1000"]
