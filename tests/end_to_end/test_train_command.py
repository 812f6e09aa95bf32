"""`isogloss train`: a run directory that can be used, resumed and repeated."""

import json
import shutil
import tomllib

import pytest

from isogloss.cli.main import main

DEMO = ("--data", "demo", "--pair", "en-fr")
QUICK = ("--set", "epochs=2", "--set", "dimension=8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "run"
    assert main(["--quiet", "train", "smooth", *DEMO, "-o", str(path), *QUICK]) == 0
    return path


@pytest.fixture
def trained(made, here):
    """A finished run on the demo."""
    shutil.copytree(made, here / "run")
    return here / "run"


def tables(folder):
    return (folder / "model" / "model.safetensors").read_bytes()


def test_a_run_holds_what_is_needed_to_repeat_and_to_use_it(trained):
    names = {path.name for path in trained.iterdir()}
    assert names == {"config.toml", "metrics.jsonl", "model", "run.trec", "finished.json"}
    config = tomllib.loads((trained / "config.toml").read_text(encoding="utf-8"))
    assert (config["system"], config["data"], config["pair"], config["seed"]) == ("smooth", "demo", "en-fr", 0)
    assert (config["options"]["epochs"], config["options"]["eps"]) == (2, 0.1)
    epochs = [json.loads(line) for line in (trained / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [entry["epoch"] for entry in epochs] == [1, 2]
    assert epochs[1]["loss"] < epochs[0]["loss"]
    assert {"NDCG@5", "MRR_mr", "rate", "examples_per_second"} <= set(epochs[0])
    card = (trained / "model" / "README.md").read_text(encoding="utf-8")
    assert "demo en-fr, train split" in card
    assert "| `epochs` | 2 |" in card


def test_the_same_seed_gives_the_same_model_and_another_seed_another(trained, run, here):
    for name, seed in (("again", 0), ("other", 1)):
        assert run("train", "smooth", *DEMO, "-o", name, *QUICK, "--seed", seed).code == 0
    assert tables(here / "again") == tables(trained)
    assert tables(here / "other") != tables(trained)


def test_few_queries_of_the_data_are_trained_on_and_evaluated(run, here):
    done = run("train", "smooth", *DEMO, "-o", "few", *QUICK, "--queries", 50)
    assert done.code == 0, done.err
    assert tomllib.loads((here / "few" / "config.toml").read_text(encoding="utf-8"))["queries"] == 50
    found = json.loads(run("evaluate", "few", *DEMO, "--queries", 50, "--json", "-").out)
    assert (found["systems"][0]["queries"], found["query_limit"]) == (10, 50)
    summary = json.loads((here / "few" / "finished.json").read_text(encoding="utf-8"))
    assert found["systems"][0]["measures"] == pytest.approx(summary["full"])


def test_evaluate_and_index_take_a_run_for_a_system(trained, run):
    found = json.loads(run("evaluate", trained, "bm25", *DEMO, "--json", "-").out)
    summary = json.loads((trained / "finished.json").read_text(encoding="utf-8"))
    by_name = {system["name"]: system["measures"] for system in found["systems"]}
    assert by_name[str(trained)] == pytest.approx(summary["full"])  # as deep: R@1000 needs a thousand
    assert run("index", "demo", "--system", trained, "--language", "fr", "-o", "index").code == 0
    answer = run("search", "index", "a tall mountain", "-k", "3", "--explain")
    assert answer.code == 0
    assert "[fr]" in answer.out


def test_the_run_file_is_what_evaluate_says(trained, run):
    found = json.loads(run("evaluate", trained / "run.trec", *DEMO, "--json", "-").out)
    summary = json.loads((trained / "finished.json").read_text(encoding="utf-8"))
    assert found["systems"][0]["measures"]["NDCG@5"] == pytest.approx(summary["full"]["NDCG@5"])


INTERRUPTING = """
import os, signal
from isogloss.papers.smooth.learners.cpu import NumbaAverage
advance, calls = NumbaAverage.advance, []
def interrupted(self, *arguments):
    calls.append(arguments)
    if len(calls) == 5:
        os.kill(os.getpid(), signal.SIGINT)
    return advance(self, *arguments)
NumbaAverage.advance = interrupted
"""


def test_an_interrupted_run_is_resumed_to_the_same_result(spawn, trained, here):
    """Ctrl-C keeps what there is and says how to go on; a run that was never stopped ends the same."""
    pytest.importorskip("numba")
    cut = spawn("train", "smooth", *DEMO, "-o", "cut", *QUICK, script=INTERRUPTING)
    assert cut.code == 2
    assert "isogloss train --resume -o cut" in cut.err
    assert {path.name for path in (here / "cut").iterdir()} >= {"config.toml", "checkpoint.safetensors"}
    assert not (here / "cut" / "model").exists()
    assert "not finished" in spawn("evaluate", "cut", *DEMO).err
    assert spawn("train", "--resume", "-o", "cut").code == 0
    assert tables(here / "cut") == tables(trained)
    assert "finished" in spawn("train", "--resume", "-o", "cut").err


def test_a_grid_is_searched_kept_and_not_searched_twice(run, here):
    grid = ("--grid", "eps=0.25;1", "--grid", "thresholds=0.2,0.7;0.1,0.5")
    done = run("train", "smooth", *DEMO, "-o", "best", *QUICK, *grid)
    assert done.code == 0, done.err
    trials = [json.loads(line) for line in (here / "best" / "grid.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(trials) == 4
    best = max(trials, key=lambda trial: trial["NDCG@5"])["settings"]
    config = json.loads((here / "best" / "model" / "config.json").read_text(encoding="utf-8"))
    assert {"eps": config["options"]["eps"], "thresholds": config["options"]["thresholds"]} == {
        "eps": float(best["eps"]),
        "thresholds": best["thresholds"],
    }
    assert all(trial["settings"]["thresholds"] in done.out for trial in trials)


def test_the_paper_s_own_grid_is_walked_by_default(run, here):
    pytest.importorskip("torch")
    told = {
        "layers": 2,
        "widths": 2,
        "beta": 0,
        "critic_steps": 0,
        "kernels": 2,
        "dimension": 4,
        "epochs": 1,
        "document_words": 20,
    }
    settings = [part for key, value in told.items() for part in ("--set", f"{key}={value}")]
    done = run("train", "layerwise", *DEMO, "-o", "best", *settings, "--grid", "paper", "--grid", "rate=0.01")
    assert done.code == 0, done.err
    trials = [json.loads(line) for line in (here / "best" / "grid.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {trial["settings"]["pooling"] for trial in trials} == {"k-max", "average"}
    assert len(trials) == 2
    assert all(trial["settings"].keys() == {"rate", "pooling"} for trial in trials)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("smooth", *DEMO, "-o", "x", "--grid", "paper"), "does not say what was chosen from"),
        (("smooth", "-o", "x"), "--data is missing"),
        (("--data", "demo", "--pair", "en-fr", "-o", "x"), "SYSTEM is missing"),
        (("bm25", *DEMO, "-o", "x"), "not trained"),
        (("nothing", *DEMO, "-o", "x"), "is not one of"),
        (("smooth", *DEMO, "-o", "x", "--set", "encoder=magic"), "not one of average, cnn, lstm"),
        (("smooth", *DEMO, "-o", "x", "--set", "thresholds=0.7,0.2"), "rise"),
        (("smooth", *DEMO, "-o", "x", "--set", "thresholds=a,b"), "list of numbers"),
        (("smooth", *DEMO, "-o", "x", "--set", "shared=true"), "choose encoder=cnn or lstm"),
        (("smooth", *DEMO, "-o", "x", "--grid", "eps"), "KEY=V1;V2"),
        (("smooth", *DEMO, "-o", "x", "--grid", "eps=1;huge"), "not a number"),
        (("--resume", "-o", "nowhere"), "not a run"),
        (("smooth", "--resume", "-o", "nowhere"), "SYSTEM cannot be changed"),
        (("smooth", *DEMO, "-o", "x", "--set", "query_vectors=missing.vec"), "missing.vec"),
        (("smooth", *DEMO, "-o", "x", "--on", "mars"), "invalid choice: 'mars'"),
        (("smooth", *DEMO, "-o", "x", "--on", "ray"), "smooth is trained by epochs, which takes one process"),
    ],
)
def test_what_is_wrong_is_reported_in_one_line_and_nothing_is_written(fails, arguments, said):
    assert said in fails("train", *arguments)


def test_a_run_that_is_trained_by_epochs_is_not_resumed_on_ray(trained, run):
    (trained / "finished.json").unlink()
    refused = run("train", "--resume", "-o", "run", "--on", "ray")
    assert (refused.code, "leave --on ray out" in refused.err) == (2, True)


def test_a_cluster_in_the_environment_does_not_matter_to_what_is_trained_by_epochs(trained, run, here, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert run("train", "smooth", *DEMO, "-o", "here", *QUICK).code == 0
    assert tables(here / "here") == tables(trained)


def test_a_run_for_other_languages_is_refused(trained, run):
    assert "trained for en-fr, not for en-it" in run("evaluate", trained, "--data", "demo", "--pair", "en-it").err
    said = run("index", "demo", "--system", trained, "--language", "it", "-o", "index").err
    assert "trained for en-fr, not for en-it" in said


def test_an_existing_run_is_kept_unless_overwritten(trained, run):
    before = tables(trained)
    refused = run("train", "smooth", *DEMO, "-o", "run", *QUICK, "--seed", 5)
    assert (refused.code, tables(trained)) == (2, before)
    assert run("train", "smooth", *DEMO, "-o", "run", *QUICK, "--seed", 5, "--overwrite").code == 0
    assert tables(trained) != before


def test_a_damaged_model_is_named(trained, run):
    (trained / "model" / "model.safetensors").write_bytes(b"nonsense")
    assert "damaged" in run("evaluate", trained, *DEMO).err
