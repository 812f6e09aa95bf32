"""Training and evaluating from Python: what the commands do, with their words for what is wrong."""

import json

import pytest

from isogloss import Index, InputError, evaluate, resume_training, train
from isogloss.cli.main import main

FEW = {"epochs": 1, "dimension": 8, "dev_queries": 0, "eps": 1.0}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    pytest.importorskip("numba")
    return train("smooth", "demo", "en-fr", tmp_path_factory.mktemp("runs") / "run", seed=3, **FEW)


def test_measures_are_those_of_the_command(tmp_path):
    evaluation = evaluate({"bm25": {}, "psq": {"translations": 3}}, "demo", "en-sw", depth=50)
    out = tmp_path / "result.json"
    command = ["evaluate", "bm25", "psq", "--data", "demo", "--pair", "en-sw", "--depth", "50", "--compare"]
    assert main([*command, "--set", "psq.translations=3", "--json", str(out), "--quiet"]) == 0
    told = json.loads(out.read_text())
    given = json.loads(json.dumps(evaluation.as_json(evaluation.compare())))
    for result in (told, given):
        for system in result["systems"]:
            del system["seconds"]
    assert given == told
    assert evaluation.measures["psq"] == told["systems"][1]["measures"]


def test_one_system_needs_no_list():
    assert list(evaluate("bm25", "demo", "en-fr", split="test").measures) == ["bm25"]


@pytest.mark.parametrize(
    ("systems", "complaint"),
    [
        (["psq", "psq"], "name each system once"),
        ("magic", "magic: neither a system"),
        ({"psq": {"magic": 1}}, "psq: has no option 'magic'"),
        ({"nowhere": {"lexicon": "x"}}, "nowhere: only systems have options"),
    ],
)
def test_what_is_wrong_with_systems_is_said_before_the_work(systems, complaint):
    with pytest.raises(InputError, match=complaint):
        evaluate(systems, "demo", "en-fr")


def test_a_run_is_evaluated_indexed_and_refused_for_another_pair(run):
    assert set(run.measures) == {"sampled", "full"}
    assert run.results["epochs"] == 1
    measured = evaluate([run.path, "bm25"], "demo", "en-fr", seed=3).measures[str(run.path)]
    assert measured == pytest.approx(run.measures["full"])
    assert len(Index.make("demo", "fr", system=run.path)) == 104
    with pytest.raises(InputError, match="was trained for en-fr, not for en-sw"):
        evaluate(run.path, "demo", "en-sw")


def test_a_run_puts_the_first_hits_in_its_own_order_until_it_is_told_to_stop(run):
    index = Index.make("demo", "fr")
    usual = index.search("how bees make honey", k=6, explain=True)
    by_run = Index.make("demo", "fr", system=run.path)
    reranked = index.rerank(run.path, depth=6).search("how bees make honey", k=6, explain=True)
    ids = [hit.document.id for hit in reranked]
    assert sorted(ids) == sorted(hit.document.id for hit in usual)
    scores = {hit.document.id: hit.score for hit in by_run.search("how bees make honey", k=104)}
    assert [hit.score for hit in reranked] == sorted((hit.score for hit in reranked), reverse=True)
    # an index reads titles too, a re-ranker texts alone
    assert [hit.score for hit in reranked] == pytest.approx([scores[id_] for id_ in ids], abs=2e-3)
    for hit in reranked:
        assert hit.reranked
        assert hit.relevance in ("relevant", "partially relevant", "not relevant")
        assert sum(part.score for part in hit.explanation) == pytest.approx(hit.score, abs=1e-4)
    first = reranked[0]
    said = index.explain("how bees make honey", first.document.id, reranked=True)
    assert [part[:2] for part in said] == [part[:2] for part in first.explanation]
    (found_first,) = (hit for hit in usual if hit.document.id == first.document.id)
    assert index.explain("how bees make honey", first.document.id) == found_first.explanation
    assert index.rerank(None).search("how bees make honey", k=6, explain=True) == usual
    with pytest.raises(InputError, match=r"^reranked: nothing re-ranks the hits here"):
        index.explain("how bees make honey", first.document.id, reranked=True)


def test_a_run_file_is_evaluated_as_it_is(run):
    measured = evaluate(run.path / "run.trec", "demo", "en-fr", seed=3).measures
    assert measured[str(run.path / "run.trec")]["MRR_mr"] == pytest.approx(run.measures["full"]["MRR_mr"])


def test_a_finished_run_is_given_as_it_is(run):
    assert resume_training(run.path).measures == run.measures
    with pytest.raises(InputError, match="exists and is not empty"):
        train("smooth", "demo", "en-fr", run.path, **FEW)


def test_the_same_run_by_the_command_has_the_same_config_and_measures(run, tmp_path):
    settings = [word for name, value in FEW.items() for word in ("--set", f"{name}={value}")]
    command = ["train", "smooth", "--data", "demo", "--pair", "en-fr", "--seed", "3", "-o", str(tmp_path / "run")]
    assert main([*command, *settings, "--quiet"]) == 0
    for name in ("config.toml", "model/config.json", "model/README.md"):
        assert (tmp_path / "run" / name).read_text() == (run.path / name).read_text()
    assert resume_training(tmp_path / "run").measures == run.measures


def test_a_grid_is_tried_and_its_best_is_trained(tmp_path):
    pytest.importorskip("numba")
    small = {"epochs": 1, "dimension": 8, "dev_queries": 5}
    done = train("smooth", "demo", "en-fr", tmp_path / "run", grid={"eps": [0.25]}, **small)
    assert [trial["settings"] for trial in done.trials] == [{"eps": "0.25"}]
    assert done.measure in done.trials[0]
    assert (tmp_path / "run" / "grid.jsonl").is_file()


def test_a_system_that_is_not_trained_is_refused(tmp_path):
    with pytest.raises(InputError, match="train: psq is not trained, it is ready at once; trained are bridge"):
        train("psq", "demo", "en-fr", tmp_path / "run")
    assert not (tmp_path / "run").exists()
