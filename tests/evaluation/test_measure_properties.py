"""What must hold for every measure, whatever the ranking."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from isogloss.data.documents import Judgment
from isogloss.data.judgments import Judgments
from isogloss.evaluation.measures import MEASURES, gather_gains, measure

grades = st.lists(st.integers(0, 2), max_size=20)
queries = st.tuples(grades, st.lists(st.integers(0, 2), max_size=6))
quickly = settings(max_examples=33, deadline=None)

DEPTHS = {"P_mr@1": 1, "P_mr@5": 5, "P_r@5": 5, "NDCG@5": 5, "R_mr@10": 10, "P@10": 10, "nDCG@10": 10}
RELEVANT_ONLY = ("P_mr@1", "P_mr@5", "MRR_mr", "R_mr@10")


@quickly
@given(st.lists(queries, min_size=1, max_size=5))
def test_values_lie_between_0_and_1(values_of, batch):
    for name, values in values_of(*batch).items():
        assert all(0.0 <= value <= 1.0 for value in values), name


@quickly
@given(grades)
def test_a_perfect_ranking_scores_1_where_the_depth_allows(values_of, ranked):
    assume(2 in ranked)
    relevant, best = sum(grade > 0 for grade in ranked), ranked.count(2)
    expected = dict.fromkeys(MEASURES, 1.0) | {
        "P_r@5": min(1.0, relevant / 5),
        "P@10": min(1.0, relevant / 10),
        "R_mr@10": min(1.0, 10 / best),
    }
    assert {name: value for name, [value] in values_of((sorted(ranked, reverse=True), [])).items()} == expected


@quickly
@given(queries, st.data())
def test_moving_a_better_document_up_never_lowers_a_measure(values_of, query, data):
    ranked, missed = query
    pairs = [(i, j) for j in range(len(ranked)) for i in range(j) if ranked[i] < ranked[j]]
    assume(pairs)
    i, j = data.draw(st.sampled_from(pairs))
    better = list(ranked)
    better[i], better[j] = better[j], better[i]
    before, after = values_of((ranked, missed)), values_of((better, missed))
    for name in MEASURES:
        assert after[name][0] >= before[name][0] - 1e-12, name


@quickly
@given(queries, st.integers(1, 300))
def test_unjudged_documents_at_the_end_change_nothing_at_all(values_of, query, count):
    ranked, missed = query
    assert values_of(([*ranked, *[0] * count], missed)) == values_of((ranked, missed))


@quickly
@given(st.lists(queries, min_size=2, max_size=5))
def test_the_value_of_a_query_does_not_depend_on_the_others(values_of, batch):
    together, backwards = values_of(*batch), values_of(*batch[::-1])
    alone = [values_of(query) for query in batch]
    for name in MEASURES:
        assert together[name] == backwards[name][::-1] == [values[name][0] for values in alone], name


@pytest.mark.parametrize(("name", "depth"), DEPTHS.items())
@settings(max_examples=25, deadline=None)
@given(query=queries, seed=st.randoms(use_true_random=False))
def test_the_order_past_the_depth_changes_nothing(values_of, name, depth, query, seed):
    ranked, missed = query
    tail = ranked[depth:]
    seed.shuffle(tail)
    assert values_of((ranked[:depth] + tail, missed))[name] == values_of((ranked, missed))[name]


@quickly
@given(queries)
def test_measures_are_ordered_as_their_definitions_say(values_of, query):
    value = {name: values[0] for name, values in values_of(query).items()}
    assert value["P_mr@1"] <= value["P_mr@5"]
    assert value["P_mr@1"] <= value["MRR_mr"] <= value["MRR_r"]
    assert value["P_mr@5"] >= (value["MRR_mr"] >= 0.2)
    assert value["R@100"] <= value["R@1000"]
    assert value["P_r@5"] * 5 <= value["P@10"] * 10 + 1e-12


@quickly
@given(queries)
def test_partially_relevant_documents_are_nothing_to_the_relevant_only_measures(values_of, query):
    ranked, missed = query
    without = ([2 * (grade == 2) for grade in ranked], [2 * (grade == 2) for grade in missed])
    for name in RELEVANT_ONLY:
        assert values_of(query)[name] == values_of(without)[name]


@quickly
@given(queries)
def test_binary_measures_do_not_tell_relevant_from_partially_relevant(values_of, query):
    flat = tuple([min(1, grade) for grade in part] for part in query)
    for name in ("P_r@5", "MAP", "MRR_r", "P@10", "Rprec", "R@100", "R@1000"):
        assert values_of(query)[name] == values_of(flat)[name]


@quickly
@given(st.integers(0, 30), st.integers(0, 6))
def test_a_query_without_a_relevant_document_scores_0(values_of, ranked, missed):
    assert all(values == [0.0] for values in values_of(([0] * ranked, [0] * missed)).values())


@quickly
@given(st.permutations(range(8)), st.permutations(range(8)))
def test_names_of_documents_and_order_of_judgments_do_not_matter(make_run, judged_order, naming):
    plain = [2, 0, 1, 0, 0, 1, 2, 0]
    straight = Judgments([Judgment("q", str(d), plain[d]) for d in range(8)])
    renamed = Judgments([Judgment("q", str(naming[d]), plain[d]) for d in judged_order])
    first = measure(gather_gains(make_run({"q": [str(d) for d in range(6)]}), straight, ["q"]))
    second = measure(gather_gains(make_run({"q": [str(naming[d]) for d in range(6)]}), renamed, ["q"]))
    assert {name: value.tolist() for name, value in first.items()} == {k: v.tolist() for k, v in second.items()}
