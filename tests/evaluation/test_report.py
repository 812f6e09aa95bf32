"""From a system to values, means and the JSON that is a contract."""

import json

import pytest

from isogloss.evaluation.measures import MEASURES
from isogloss.evaluation.protocols import PROTOCOLS, make_task
from isogloss.evaluation.report import as_json, compare_results, evaluate_run
from isogloss.systems.evaluate import evaluate_system

DOCUMENTS = {f"d{number}": float(number) for number in range(30)}
QUERIES = {"a": 3.2, "b": 17.2, "c": 9.0, "d": 25.2}
GRADES = {"a": {"d3": 2, "d4": 1}, "b": {"d18": 2}, "d": {"d1": 2, "d25": 1}}


@pytest.fixture
def task(make_dataset):
    lists = {query: dict.fromkeys(("d3", "d18", "d25"), 0) | {"d3": 1} for query in ("a", "b", "d")}
    return make_task(make_dataset(DOCUMENTS, QUERIES, GRADES, lists), "dev", "full")


@pytest.fixture
def result(nearness, task):
    return evaluate_system(nearness(), task, ("text",))


def test_a_system_is_fitted_then_indexed_then_measured_over_the_judged_queries_only(nearness, task):
    system = nearness(weight=3)
    result = evaluate_system(system, task, ("text",))
    assert system.log == ["fit", "index"]
    assert result.values["MRR_mr"].tolist() == pytest.approx([1, 1 / 2, 1 / 29])
    assert result.means()["MRR_mr"] == pytest.approx((1 + 1 / 2 + 1 / 29) / 3)
    assert list(result.means()) == list(MEASURES)
    assert result.options == {"horizon": 1e9, "weight": 3, "passages": 0}
    assert result.run.name == "nearness"
    assert result.seconds > 0


def test_a_run_is_measured_by_the_task_and_a_judged_query_missing_from_it_scores_0(task, make_run):
    result = evaluate_run(make_run({"a": ["d3"], "c": ["d9"], "unknown": ["d3"], "b": ["never seen", "d18"]}), task)
    assert result.values["MRR_mr"].tolist() == [1, 0.5, 0]
    assert result.means()["MRR_mr"] == 0.5
    assert result.options == {}


def test_a_run_read_back_from_its_file_has_exactly_the_same_values(result, task, tmp_path):
    result.run.write(tmp_path / "run.trec")
    again = evaluate_run(type(result.run).read(tmp_path / "run.trec"), task)
    assert again.means() == result.means()


def test_the_json_has_the_keys_of_the_contract_and_is_json(result, task, make_run):
    results = {"nearness": result, "mine": evaluate_run(make_run({"a": ["d3"]}), task)}
    made = json.loads(json.dumps(as_json(task, "dev", results, []), allow_nan=False))
    assert made.items() >= {"data": "fake:here", "pair": "en-fr", "split": "dev", "protocol": "full"}.items()
    assert made["unjudged_queries"] == 1
    assert [system["name"] for system in made["systems"]] == ["nearness", "mine"]
    for system, name in zip(made["systems"], results, strict=True):
        assert system.keys() >= {"name", "measures", "queries", "seconds"}
        assert system["measures"] == results[name].means()
        assert system["queries"] == 3
    assert "comparisons" not in made


def test_the_comparisons_are_in_the_json_with_both_tests_and_their_corrections(result, task, make_run):
    results = {"nearness": result, "mine": evaluate_run(make_run({"a": ["d3"]}), task)}
    comparisons = compare_results(results, seed=1)
    made = json.loads(json.dumps(as_json(task, "dev", results, comparisons), allow_nan=False))
    assert [c["measure"] for c in made["comparisons"]] == ["MRR_mr", "NDCG@5", "MAP"]
    for comparison in made["comparisons"]:
        assert comparison.keys() == {
            "measure", "left", "right", "difference", "wins", "ties", "losses",
            "t_test", "randomisation", "t_test_holm", "randomisation_holm",
        }  # fmt: skip
        assert (comparison["left"], comparison["right"]) == ("nearness", "mine")
        assert comparison["wins"] + comparison["ties"] + comparison["losses"] == 3
        assert 0 <= comparison["t_test"] <= comparison["t_test_holm"] <= 1


def test_rankings_that_differ_in_length_only_tie_exactly(task, make_run):
    # the same ranks of the judged documents in a short and in a long list: rounding must not make a winner
    ranked = {query: [f"x{n}" for n in range(7)] + list(GRADES[query]) for query in ("a", "b", "d")}
    longer = {query: [*documents, *(f"y{n}" for n in range(990))] for query, documents in ranked.items()}
    results = {"short": evaluate_run(make_run(ranked), task), "long": evaluate_run(make_run(longer), task)}
    assert [(c.wins, c.ties, c.losses) for c in compare_results(results)] == [(0, 3, 0)] * 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_names_itself_and_its_settings(task, nearness, protocol):
    task = make_task(task.dataset, "dev", protocol, negatives=4, seed=7, depth=11)
    made = as_json(task, "dev", {"n": evaluate_system(nearness(), task, ("text",))}, [])
    assert (made["protocol"], made["negatives"], made["seed"], made["depth"]) == (protocol, 4, 7, 11)
    assert made["documents"] == 30
