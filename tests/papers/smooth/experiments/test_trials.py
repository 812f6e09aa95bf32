"""Trials of the smooth paper: named by what they do, measured as `evaluate` would, kept whole, run on bare machines."""

import dataclasses
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.evaluation.protocols import make_task
from isogloss.papers.reproduction.running import RunOptions, plan_text
from isogloss.papers.reproduction.trials import TrialDirectory
from isogloss.papers.smooth.experiments.data import PackedData, Trial, TrialData, settings_of, write_pack
from isogloss.papers.smooth.experiments.measuring import binned_scores
from isogloss.papers.smooth.experiments.published import MEASURES
from isogloss.papers.smooth.experiments.training import SmoothTrials, chosen_device
from isogloss.papers.smooth.system import Smooth
from isogloss.papers.smooth.training_setup import prepare
from isogloss.storage.errors import InputError
from isogloss.systems.evaluate import evaluate_system

TRIALS = SmoothTrials()
PAIR = ("en", "fr")
TINY = {"dimension": 4, "epochs": 1, "rate": 0.1}
ABSENT = ("icu4py", "Stemmer", "py3langid", "rich", "safetensors", "numba", "scipy", "matplotlib", "ir_datasets")


@pytest.fixture(autouse=True)
def without_numba(monkeypatch):
    """Starting its threads takes longer than these trials do."""
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.fixture(scope="module")
def data():
    return TrialData("demo", PAIR)


def trial(**settings):
    return Trial("demo", PAIR, {**TINY, **settings})


class TestTrial:
    def test_the_name_tells_what_differs_from_the_paper_and_the_seed(self):
        assert Trial("x", PAIR).name == "en-fr_average_sosl_seed-0"
        assert (
            Trial("x", PAIR, {"loss": "po-open", "slope": 1.0}, "test", queries=25_000).name
            == "en-fr_average_po-open_slope-1.0_split-test_queries-25000_seed-0"
        )
        assert trial(query_vectors="a/b.vec").name.startswith(
            "en-fr_average_sosl_dimension-4_epochs-1_rate-0.1_query_vectors-b.vec"
        )

    def test_a_long_name_is_cut_and_stays_its_own(self):
        names = {trial(query_vectors="x" * 300 + end).name for end in "ab"}
        assert len(names) == 2
        assert all(len(name) == 150 for name in names)

    def test_saying_what_the_paper_says_changes_nothing(self):
        letter = {"epochs": 30, "batch": 128, "rate": 0.01, "seed": 0, "eps": 1.0, "dev_queries": 0}
        assert Trial("x", PAIR, letter) == Trial("x", PAIR)
        assert settings_of({"encoder": "lstm", "epochs": 15, "batch": 128}) == {"encoder": "lstm", "batch": 128}
        assert (
            Trial("x", PAIR, {"eps": 0.5, "dimension": 8}).name == Trial("x", PAIR, {"dimension": 8, "eps": 0.5}).name
        )

    def test_the_identity_is_of_settings_and_content_not_of_the_path(self):
        one = Trial("here", PAIR)
        assert one.identity("content") == Trial("there", PAIR).identity("content")
        others = [Trial("here", ("en", "it")), Trial("here", PAIR, {"seed": 1}), Trial("here", PAIR, train_share=0.5)]
        assert (
            len({one.identity("content"), one.identity("other"), *(each.identity("content") for each in others)}) == 5
        )

    @pytest.mark.parametrize("is_folder", [False, True])
    def test_the_identity_is_of_the_content_of_word_vectors_wherever_they_are(self, tmp_path, is_folder):
        def identity(place, content):
            path = tmp_path / place / "en.vec"
            (path if is_folder else path.parent).mkdir(parents=True, exist_ok=True)
            (path / "matrix.npy" if is_folder else path).write_text(content)
            return trial(query_vectors=str(tmp_path / place / "{query}.vec")).identity("data")

        one = identity("here", "1 2\na 0.5 0.5\n")
        assert identity("there", "1 2\na 0.5 0.5\n") == one
        assert identity("elsewhere", "1 2\na 0.5 0.7\n") != one
        assert trial().identity("data") != one

    def test_a_trial_of_another_revision_is_another_trial(self, monkeypatch):
        before = trial().identity("data")
        monkeypatch.setattr(Trial, "revision", 1)
        assert trial().identity("data") != before

    def test_a_plan_reads_back_each_trial_once(self):
        trials = [trial(), Trial("demo", PAIR, {}, "test", 20, 0.5, "monolingual")]
        assert TRIALS.read_plan(plan_text([*trials, trials[0]]), "plan") == trials

    @pytest.mark.parametrize(
        ("text", "wrong"),
        [
            ("not JSON", "plan: is not a plan"),
            ("[]", "plan: is not a plan"),
            ('{"trials": [{"pair": "en-fr"}]}', "is not a trial"),
            ('{"trials": [{"data": "demo", "pair": "en"}]}', "'en' is not written like en-fr"),
            ('{"trials": [{"data": "demo", "pair": "en-fr", "settings": {"depth": 3}}]}', "has no option 'depth'"),
            ('{"trials": [{"data": "demo", "pair": "en-fr", "settings": {"loss": "x"}}]}', "smooth.loss: 'x'"),
            ('{"trials": [{"data": "demo", "pair": "en-fr", "start": "cold"}]}', "start 'cold' is not one of"),
        ],
    )
    def test_a_wrong_plan_is_an_error_in_a_sentence(self, text, wrong):
        with pytest.raises(InputError, match=re.escape(wrong)):
            TRIALS.read_plan(text, "plan")


def same_prepared(left, right):
    assert [list(left.words[side]) for side in left.words] == [list(right.words[side]) for side in right.words]
    assert left.grades == right.grades
    for field in dataclasses.fields(left.examples):
        mine, theirs = (getattr(each.examples, field.name) for each in (left, right))
        assert (
            [query.id for query in mine] == [query.id for query in theirs]
            if field.name == "queries"
            else (mine == theirs).all()
        )
    for side in ("queries", "documents"):
        for part in ("ids", "offsets"):
            assert (getattr(getattr(left.pairs, side), part) == getattr(getattr(right.pairs, side), part)).all()
    for part in ("query_of", "document_of", "grades"):
        assert (getattr(left.pairs, part) == getattr(right.pairs, part)).all()


def test_what_trials_share_is_what_each_would_prepare_alone(data):
    for settings in (
        {},
        {"seed": 3},
        {"seed": 3, "negatives": 7},
        {"vocabulary": 50},
        {"document_words": 5},
        {"minimum_count": 3},
    ):
        each = trial(**settings)
        same_prepared(data.prepared(each), prepare(each.options(), data.dataset))
    assert data.prepared(trial(seed=1)) is data.prepared(trial(seed=1, eps=0.5))
    assert data.prepared(trial(seed=1)).documents is data.prepared(trial(seed=2)).documents


def test_a_share_of_the_train_queries_grows_by_adding(data):
    found = []
    for share in (0.25, 0.5, 1.0):
        prepared = data.prepared(dataclasses.replace(trial(seed=2), train_share=share))
        found.append({query.id for query in prepared.examples.queries})
    assert found[0] < found[1] < found[2]
    assert [len(queries) for queries in found] == [31, 62, 124]


@pytest.mark.parametrize("settings", [{}, {"encoder": "cnn", "filters": 5}], ids=["average", "cnn"])
def test_a_trial_measures_what_evaluate_measures(data, settings):
    if settings:
        pytest.importorskip("torch").set_num_threads(1)
    this = trial(**settings, seed=1)
    outcome = TRIALS.run(this, data, "cpu")
    dataset = load_dataset(open_source("demo"), PAIR)
    for protocol in ("sampled", "full"):
        expected = evaluate_system(Smooth(this.options(), *PAIR), make_task(dataset, "dev", protocol), ("text",))
        assert outcome.record[protocol] == pytest.approx(expected.means(), abs=1e-12)
        for measure in MEASURES:
            assert (outcome.arrays[f"{protocol}.{measure}"] == expected.values[measure].astype(np.float32)).all()
    assert 0 < outcome.record["full"]["MAP"] < outcome.record["sampled"]["MAP"]


def test_a_trial_tells_what_was_done(data):
    record = TRIALS.run(trial(), data, "cpu").record
    assert json.loads(json.dumps(record)) == record
    assert record["options"]["dimension"] == 4
    assert record["recipe"]["epochs"] == len(record["history"]) == 1
    assert record["queries"] == {"train": 124, "dev": 42}
    assert (record["documents"], record["pairs"], record["steps"]) == (104, 5642, 45)
    assert record["learner"] == "NumpyAverage"
    assert 0 < record["losses"]["train"] < record["losses"]["dev"] < 4


def test_training_scores_are_counted_by_grade(data):
    counts = TRIALS.run(trial(), data, "cpu").arrays["score_counts"]
    grades = data.prepared(trial()).pairs.grades
    assert counts.sum(axis=1).tolist() == np.bincount(grades).tolist()
    assert (np.abs(binned_scores(counts[2])) <= 1).all()


def test_vectors_trained_on_each_language_are_another_start(data):
    random, trained = (
        TRIALS.run(dataclasses.replace(trial(), start=start), data, "cpu").record for start in ("random", "monolingual")
    )
    assert trained["losses"] != random["losses"]
    vectors = data.start_vectors(4, 0.1)
    assert [round(float(np.sqrt(np.mean(each.matrix**2))), 4) for each in vectors] == [0.1, 0.1]


def test_the_device_is_chosen_as_smooth_does(monkeypatch):
    assert chosen_device("cuda", "average") == "cuda"
    assert chosen_device("auto", "average") == "cpu"
    monkeypatch.setitem(sys.modules, "torch", None)
    assert chosen_device("auto", "cnn") == "cpu"


class TestPack:
    def test_a_pack_has_all_that_trials_need(self, data, tmp_path):
        write_pack(data, tmp_path)
        packed = PackedData(tmp_path, PAIR)
        assert packed.fingerprint == data.fingerprint
        same_prepared(packed.prepared(trial()), prepare(trial().options(), data.dataset))
        mine, theirs = TRIALS.run(trial(), packed, "cpu"), TRIALS.run(trial(), data, "cpu")
        assert mine.record["identity"] == theirs.record["identity"]
        assert mine.record["sampled"] == theirs.record["sampled"]
        assert all((mine.arrays[name] == theirs.arrays[name]).all() for name in theirs.arrays)
        assert packed.source_documents.text(3) == data.source_documents.text(3)

    def test_a_pack_of_few_queries_has_them_and_is_not_taken_for_all(self, tmp_path):
        few = TrialData("demo", PAIR, queries=50)
        write_pack(few, tmp_path)
        assert TRIALS.cached_data()(f"packed:{tmp_path}", PAIR, 50).dataset.splits == few.dataset.splits
        assert len(few.dataset.splits["train"]) == 30
        with pytest.raises(InputError, match="was packed with --queries 50, the plan has 0; pack it again"):
            TRIALS.cached_data()(f"packed:{tmp_path}", PAIR, 0)

    @pytest.mark.parametrize("content", [None, b"nothing like it"])
    def test_what_is_no_pack_is_refused(self, tmp_path, content):
        if content:
            (tmp_path / "en-fr.npz").write_bytes(content)
        with pytest.raises(InputError, match=r"en-fr\.npz: is not the pack of a pair"):
            TRIALS.cached_data()(f"packed:{tmp_path}", PAIR, 0)


class TestRunning:
    def test_trials_are_run_once_and_found_again(self, tmp_path):
        data, store, trials = TRIALS.cached_data(), TrialDirectory(tmp_path), [trial(), trial(seed=1)]
        reports = list(TRIALS.run_all(TRIALS.missing(trials, store, data), RunOptions(tmp_path), data))
        assert [report.name for report in reports] == [each.name for each in trials]
        assert not any(report.failed for report in reports)
        assert "pairs/s" in reports[0].line
        assert TRIALS.missing([*trials, trial(seed=2)], store, data) == [trial(seed=2)]
        result = store.read(trials[1])
        assert result.mean("NDCG@5", "sampled") == pytest.approx(float(result.values("NDCG@5", "sampled").mean()))
        assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".json", ".npz", ".npz"]
        (tmp_path / f"{trials[0].name}.npz").unlink()  # what came without its other half is run again
        assert TRIALS.missing(trials, store, data) == [trials[0]]

    def test_a_trial_of_other_data_is_not_taken_for_this_one(self, tmp_path):
        data, store = TRIALS.cached_data(), TrialDirectory(tmp_path)
        list(TRIALS.run_all([trial()], RunOptions(tmp_path), data))
        path = tmp_path / f"{trial().name}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "identity": "another"}))
        with pytest.raises(
            InputError, match="other data or with other settings; choose another directory or --overwrite"
        ):
            TRIALS.missing([trial()], store, data)
        assert TRIALS.missing([trial()], store, data, overwrite=True) == [trial()]
        path.write_text("{")
        with pytest.raises(InputError, match="cannot be read"):
            TRIALS.missing([trial()], store, data)

    def test_one_that_fails_leaves_its_reason_and_the_others_go_on(self, tmp_path):
        bad = trial(thresholds="0.1,0.2,0.3")
        reports = list(TRIALS.run_all([bad, trial()], RunOptions(tmp_path)))
        assert [report.failed for report in reports] == [True, False]
        assert "smooth.thresholds: the data have" in (tmp_path / f"{bad.name}.error.txt").read_text()
        assert TrialDirectory(tmp_path).read(bad) is None

    def test_none_begins_after_the_time_is_up(self, tmp_path):
        assert list(TRIALS.run_all([trial()], RunOptions(tmp_path, seconds=0))) == []

    def test_an_interruption_ends_all_of_them(self, tmp_path, monkeypatch):
        from isogloss.papers.training_loop import Training, TrainingInterrupted

        def stop(self):
            raise TrainingInterrupted("interrupted in epoch 1, batch 3: it is lost")

        monkeypatch.setattr(Training, "run", stop)
        with pytest.raises(KeyboardInterrupt):
            list(TRIALS.run_all([trial()], RunOptions(tmp_path)))
        assert list(tmp_path.iterdir()) == []

    def test_a_plan_that_cannot_be_read_is_an_error(self, tmp_path, capsys):
        assert TRIALS.main([str(tmp_path), str(tmp_path / "plan.json")]) == 2
        assert "plan.json" in capsys.readouterr().err


def test_a_plan_runs_in_processes_on_a_machine_with_numpy_alone(data, tmp_path):
    write_pack(data, tmp_path / "words")
    bad = trial(thresholds="0.1,0.2,0.3")
    (tmp_path / "plan.json").write_text(plan_text([trial(), bad, trial(seed=1)]))
    absent = "".join(f"sys.modules[{name!r}] = None\n" for name in (*ABSENT, "torch"))
    (tmp_path / "sitecustomize.py").write_text(f"import sys\n{absent}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "isogloss.papers", "smooth", "out", "plan.json", "--processes", "2"]
    done = subprocess.run(
        [*command, "--data", "packed:words"], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert sum("FAILED" in line for line in lines) == 1
    assert lines[-1] == "2 of 3 trials are there, 1 failed"
    made = [trial(), trial(seed=1)]
    assert TRIALS.missing([*made, bad], TrialDirectory(tmp_path / "out"), TRIALS.cached_data()) == [bad]


@pytest.mark.parametrize("loss", ["sosl", "mse", "po", "po-open"])
def test_a_trial_has_the_papers_eps_and_thresholds_whatever_the_defaults_are(loss):
    options = Trial("demo", ("en", "fr"), {"loss": loss}).options()
    assert (options.eps, options.thresholds) == (1.0, "0.2,0.7")
    assert Trial("demo", ("en", "fr"), {"loss": loss, "eps": 0.1, "thresholds": "0.3,0.9"}).thresholds == "0.3,0.9"
    assert Trial("demo", ("en", "fr"), {"loss": "3part"}).options().thresholds == ""
