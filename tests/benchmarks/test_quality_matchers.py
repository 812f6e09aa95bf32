"""The matchers of the quality benchmark: lists of all systems, epochs by held-out train queries, a plan elsewhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ABSENT = ("icu4py", "Stemmer", "py3langid", "rich", "safetensors", "numba", "scipy", "matplotlib", "ir_datasets")
PAIR = ("en", "fr")
TINY = {"dimension": "6", "epochs": "2"}


@pytest.fixture
def benchmarks(monkeypatch):
    """Its modules can be imported."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def dataset(source):
    return load_dataset(open_source(source), PAIR)


class TestLists:
    def test_what_is_measured_is_what_every_system_ranks(self, benchmarks, dataset):
        from quality_lists import with_sampled_lists

        lists, system = with_sampled_lists(dataset), make_system("bm25", PAIR)
        system.index(dataset.documents, ("text",))
        run = make_task(dataset, "dev", "sampled").run(system)
        assert lists.splits["measured"] == list(run.rankings)
        measured = lists.candidates("measured")
        assert all({*measured[query]} == {*run.documents(query)} for query in run.rankings)
        assert measured["q20"]["d20"] == 2

    def test_epochs_are_chosen_by_train_queries_that_are_not_learned_from(self, benchmarks, dataset):
        from quality_lists import with_sampled_lists

        splits = with_sampled_lists(dataset).splits
        assert len(splits["dev"]) == 2
        assert sorted(splits["train"] + splits["dev"]) == sorted(dataset.splits["train"])

    def test_lists_that_the_data_bring_are_not_taken(self, benchmarks, questions, tmp_path):
        from quality_lists import with_sampled_lists

        for path in questions.iterdir():
            (tmp_path / path.name).symlink_to(path)
        (tmp_path / "candidates").mkdir()
        (tmp_path / "candidates" / "en2fr.dev").write_text("q20\td20\t1\nq20\td3\t0\n")
        found = with_sampled_lists(load_dataset(open_source(f"wikiclir:{tmp_path}"), PAIR))
        assert len(found.candidates("measured")["q20"]) == 40
        assert {*found.candidates("dev").queries} == {*found.splits["dev"]}


class TestRunning:
    def test_a_matcher_is_measured_as_all_systems_are(self, benchmarks, torch, source, dataset):
        from quality_lists import with_sampled_lists
        from quality_matchers import MatcherTrial, MatcherTrials
        from quality_trials import Trial

        trials, trial = MatcherTrials(), MatcherTrial(Trial(source, PAIR, "cntn", tuple(TINY.items())))
        outcome = trials.run(trial, trials.cached_data()(*trials.data_key(trial)), "cpu")
        system, task = make_system("cntn", PAIR, {**TINY, "device": "cpu"}), make_task(dataset, "dev", "sampled")
        system.fit(with_sampled_lists(dataset))
        system.index(dataset.documents, ("text",))
        expected = evaluate_run(task.run(system), task).values
        assert outcome.arrays["sampled"] == pytest.approx(expected["NDCG@5"], abs=1e-9)
        record = json.loads(json.dumps(outcome.record))
        assert record["measured"]["sampled"]["MAP"] == pytest.approx(expected["MAP"].mean())
        assert (record["pairs"], record["queries"], record["documents"]) == (18, 20, 40)

    def test_no_more_epochs_than_so_many_words_make(self, benchmarks, torch, source, monkeypatch):
        import quality_matchers as matchers
        from quality_trials import Trial

        monkeypatch.setitem(matchers.MOST_WORDS, "cntn", 2 * 18 * 8 + 1)  # 18 pairs of 4 and 4 words
        trial = matchers.MatcherTrial(Trial(source, PAIR, "cntn", (("dimension", "6"),)))
        trials = matchers.MatcherTrials()
        found = trials.run(trial, trials.cached_data()(*trials.data_key(trial)), "cpu").record
        assert (found["options"]["epochs"], len(found["history"])) == (2, 2)

    @pytest.mark.parametrize("text", ["[]", "{", '{"trials": [{"pair": "en-fr"}]}'])
    def test_a_wrong_plan_is_an_error_in_a_sentence(self, benchmarks, text):
        from quality_matchers import MatcherTrials

        with pytest.raises(InputError, match=r"x: is not a plan .*quality\.py --plan' writes one"):
            MatcherTrials().read_plan(text, "x")


def test_a_plan_is_run_with_torch_and_numpy_alone_and_its_rows_are_in_the_table(torch, source, tmp_path):
    pytest.importorskip("matplotlib")
    command = ["kept", "--data", f"{source}:en-fr", "--systems", "bm25,dssm,clann", "--only"]
    _run(tmp_path, "quality.py", *command, "dssm,clann", "--plan", "plan.json", "--pack", "packs")
    (tmp_path / "bare").mkdir()
    absent = "".join(f"sys.modules[{name!r}] = None\n" for name in ABSENT)
    (tmp_path / "bare" / "sitecustomize.py").write_text(f"import sys\n{absent}")
    lines = _run(tmp_path, "quality_matchers.py", "kept", "plan.json", "--device", "cpu", path="bare")
    assert lines[-1] == "2 of 2 trials are there, 0 failed"
    assert _run(tmp_path, "quality.py", *command, "bm25,dssm,clann")[-2:] == [
        "3 of 3 trials are there, 0 failed",
        "kept/quality.md",
    ]
    page = (tmp_path / "kept" / "quality.md").read_text()
    full, sampled = page.split("## sampled")
    rows = [line.split(" | ")[0] for line in sampled.splitlines() if line.startswith("| ")]
    assert rows[:4] == ["| system", "| bm25", "| dssm", "| clann"]
    assert "| clann" not in full
    assert "Matchers (dssm, clann)" in page
    (name,) = (tmp_path / "kept").glob("*_clann.npz")
    assert np.load(name)["sampled"].shape == (20,)


def _run(folder: Path, script: str, *arguments: str, path: str = "") -> list[str]:
    paths = [str(folder / path)] if path else []
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *arguments], cwd=folder, env=env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()
