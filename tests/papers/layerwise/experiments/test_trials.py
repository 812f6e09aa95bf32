"""Trials of the layer-wise paper: lists drawn as the paper draws them, trainings that are kept, packs for elsewhere."""

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
from isogloss.papers.layerwise.experiments.data import (
    MEASURED,
    Drawing,
    PackedData,
    Trial,
    TrialData,
    limits,
    lists_hash,
    with_lists,
    write_pack,
)
from isogloss.papers.layerwise.experiments.training import LayerwiseTrials
from isogloss.papers.reproduction.running import RunOptions, plan_text
from isogloss.papers.reproduction.trials import TrialDirectory
from isogloss.storage.errors import InputError
from isogloss.systems.evaluate import evaluate_system

TRIALS = LayerwiseTrials()
PAIR = ("en", "fr")
DRAWING = Drawing(queries=12, validation=6, depth=5)
ABSENT = ("icu4py", "Stemmer", "py3langid", "rich", "safetensors", "numba", "scipy", "matplotlib", "ir_datasets")
RANDOM = {"query_vectors": "random", "document_vectors": "random"}
TINY = {"dimension": "6", "epochs": "2", "kernels": "3", "critic_steps": "1", "widths": "2", **RANDOM}


@pytest.fixture
def dataset(source):
    return load_dataset(open_source(source), PAIR)


def layerwise(source="x", seed=0, **settings):
    return Trial(source, PAIR, "layerwise-paper", {**TINY, **settings}, seed, DRAWING)


class TestLists:
    def test_they_are_the_best_of_bm25_in_the_documents_language(self, dataset):
        found = with_lists(dataset, DRAWING)
        lists = found.candidates(MEASURED)
        assert len(found.splits[MEASURED]) == 12
        assert max(len(lists[query]) for query in found.splits[MEASURED]) <= 5
        assert all(lists[query][f"d{query[1:]}"] == 1 for query in found.splits[MEASURED])  # three words in common
        assert found.splits["train"] == dataset.splits["train"]

    def test_what_is_measured_is_not_what_is_chosen_by(self, dataset):
        splits = with_lists(dataset, DRAWING).splits
        assert len(splits["dev"]) == 6
        assert not {*splits["dev"]} & {*splits[MEASURED]}
        assert {*splits["dev"], *splits[MEASURED]} <= {*dataset.splits["dev"]}

    def test_at_most_half_is_measured_unless_nothing_is_chosen(self, dataset):
        assert [len(with_lists(dataset, Drawing()).splits[name]) for name in (MEASURED, "dev")] == [10, 10]
        everything = with_lists(dataset, Drawing(validation=0))
        assert len(everything.splits[MEASURED]) == 20
        assert everything.splits["dev"] == everything.splits[MEASURED]

    def test_both_languages_of_a_query_have_the_same_lists(self, source, dataset):
        other = load_dataset(open_source(source), ("fr", "fr"))
        assert lists_hash(with_lists(dataset, DRAWING)) == lists_hash(with_lists(other, DRAWING))
        assert lists_hash(with_lists(dataset, DRAWING)) != lists_hash(with_lists(dataset, Drawing(queries=8)))

    def test_lists_that_the_data_bring_are_taken(self, questions, tmp_path):
        folder = tmp_path / "given"
        folder.mkdir()
        for path in questions.iterdir():
            (folder / path.name).symlink_to(path)
        (folder / "candidates").mkdir()
        (folder / "candidates" / "en2fr.dev").write_text("q20\td20\t1\nq20\td3\t0\nq21\td4\t0\nq21\td5\t0\n")
        found = with_lists(load_dataset(open_source(f"wikiclir:{folder}"), PAIR), DRAWING)
        assert found.splits[MEASURED] == ["q20", "q21"]
        assert dict(found.candidates(MEASURED)["q20"]) == {"d20": 1, "d3": 0}
        assert len(found.splits["dev"]) == 6
        bounds = limits(found)
        assert bounds["best possible order"]["MAP"].tolist() == [1.0, 0.0]
        assert bounds["best possible order"]["P@10"].tolist() == pytest.approx([0.1, 0.0])
        assert bounds["random order"]["MAP"][0] == pytest.approx(0.75, abs=0.1)

    def test_without_queries_in_the_documents_language_they_are_translated(self):
        found = with_lists(load_dataset(open_source("demo"), ("en", "sw")), Drawing(queries=5, validation=3))
        lists = found.candidates(MEASURED)
        assert len(found.splits[MEASURED]) == 5
        assert any(label for query in found.splits[MEASURED] for label in lists[query].values())


class TestTrial:
    def test_ablations_are_named_by_what_they_do(self):
        names = {variant: layerwise(variant=variant).settings for variant in ("adv-non", "adv-all", "adv-one", "enc-k")}
        assert "alphas" not in names["adv-non"]
        assert names["adv-non"]["beta"] == "0"
        assert names["adv-all"] == layerwise().settings
        assert layerwise(variant="adv-one") == layerwise(alphas="0")
        assert layerwise(variant="enc-p", layers="1") == layerwise(layers="1")
        assert names["enc-k"]["widths"] == "3"
        assert layerwise(variant="adv-top", alphas="-1").settings["alphas"] == "-1,-1"

    def test_a_plan_reads_back_each_trial_once(self):
        trials = [layerwise(), Trial("demo", PAIR, "clann", {}, 3)]
        assert TRIALS.read_plan(plan_text([*trials, trials[0]]), "plan") == trials
        moved = [TRIALS.moved(trial, "packed:pack") for trial in trials]
        assert {trial.data for trial in TRIALS.read_plan(plan_text(moved), "plan")} == {"packed:pack"}

    @pytest.mark.parametrize(
        ("text", "wrong"),
        [
            ("[]", "plan: is not a plan"),
            ('{"trials": [{"pair": "en-fr"}]}', "is not a trial"),
            ('{"trials": [{"data": "x", "pair": "en-fr", "system": "y", "drawing": {}}]}', "system: 'y' is not one of"),
            (
                '{"trials": [{"data": "x", "pair": "en-fr", "system": "clann", "settings": {"a": "1"}, '
                '"drawing": {}}]}',
                "clann: has no option 'a'",
            ),
        ],
    )
    def test_a_wrong_plan_is_an_error_in_a_sentence(self, text, wrong):
        with pytest.raises(InputError, match=re.escape(wrong)):
            TRIALS.read_plan(text, "plan")


class TestRunning:
    def test_a_network_is_measured_as_evaluate_measures_it(self, torch, source):
        trial, data = layerwise(source), TrialData(source, PAIR, DRAWING)
        outcome = TRIALS.run(trial, data, "cpu")
        system = trial.make(data.dataset.source, "cpu")
        expected = evaluate_system(system, make_task(data.dataset, MEASURED, "candidates"), ("text",))
        for name in ("MAP", "P@10"):
            assert outcome.arrays[name] == pytest.approx(expected.values[name], abs=1e-6)
        record = json.loads(json.dumps(outcome.record))
        assert record["queries"] == 12
        assert len(record["probe"]) == 2
        assert record["pairs"] == 20
        assert {"W_1", "W_2", "MAP"} <= record["history"][0].keys()
        assert record["validation"]["MAP"] == max(entry["MAP"] for entry in record["history"])

    def test_a_lexical_system_needs_no_arrays(self, source):
        outcome = TRIALS.run(
            Trial(source, ("fr", "fr"), "bm25", {}, 0, DRAWING), TrialData(source, ("fr", "fr"), DRAWING)
        )
        assert outcome.record["measured"]["MAP"] > 0.9
        assert "history" not in outcome.record

    def test_a_pack_gives_what_the_data_give(self, torch, source, tmp_path):
        data, trials = (
            TrialData(source, PAIR, DRAWING),
            [layerwise(source), Trial(source, PAIR, "cntn-mt", {}, 0, DRAWING)],
        )
        write_pack(data, PAIR, trials, tmp_path)
        packed = PackedData(tmp_path, PAIR)
        assert (packed.fingerprint, packed.lists) == (data.fingerprint, data.lists)
        for trial in trials:
            mine, theirs = packed.arrays(trial), data.arrays(trial)
            assert (mine.measured.grades == theirs.measured.grades).all()
            assert (mine.measured.queries.ids == theirs.measured.queries.ids).all()
            assert (mine.data.triples.documents.ids == theirs.data.triples.documents.ids).all()
            assert (mine.data.dev.document_of == theirs.data.dev.document_of).all()
        mine, theirs = TRIALS.run(trials[0], packed, "cpu"), TRIALS.run(trials[0], data, "cpu")
        assert mine.record["identity"] == theirs.record["identity"]
        assert (mine.arrays["MAP"] == theirs.arrays["MAP"]).all()
        with pytest.raises(InputError, match="a pack has arrays, no texts"):
            TRIALS.run(Trial(source, PAIR, "psq"), packed)

    @pytest.mark.parametrize("content", [None, "nothing like it"])
    def test_what_is_no_pack_is_refused(self, tmp_path, content):
        if content:
            (tmp_path / "en-fr.json").write_text(content)
        with pytest.raises(InputError, match=r"en-fr\.json: is not the pack of a pair"):
            PackedData(tmp_path, PAIR)

    def test_trials_are_run_once_and_one_that_fails_leaves_its_reason(self, source, tmp_path):
        good = Trial(source, PAIR, "psq", {}, 0, DRAWING)
        bad = Trial(source, PAIR, "psq", {"lexicon": "absent.tsv"}, 0, DRAWING)
        store, data = TrialDirectory(tmp_path), TRIALS.cached_data()
        reports = list(TRIALS.run_all([bad, good], RunOptions(tmp_path), data))
        assert [report.failed for report in reports] == [True, False]
        assert reports[1].line.startswith("MAP ")
        assert "absent.tsv" in (tmp_path / f"{bad.name}.error.txt").read_text()
        assert TRIALS.missing([bad, good], store, data) == [bad]
        assert store.is_settled(bad)
        assert not store.is_settled(layerwise())
        path = tmp_path / f"{good.name}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "identity": "another"}))
        with pytest.raises(InputError, match="other data or with other settings"):
            TRIALS.missing([good], store, data)
        assert TRIALS.missing([good], store, data, overwrite=True) == [good]

    def test_a_plan_that_cannot_be_read_is_an_error(self, tmp_path, capsys):
        assert TRIALS.main([str(tmp_path), str(tmp_path / "plan.json")]) == 2
        assert "plan.json" in capsys.readouterr().err


def test_a_plan_runs_in_processes_on_a_machine_with_torch_and_numpy_alone(torch, source, tmp_path):
    trials = [layerwise(source), Trial(source, PAIR, "cntn-mt", {"dimension": "4", "epochs": "1"}, 1, DRAWING)]
    trials.append(Trial(source, PAIR, "psq", {}, 0, DRAWING))
    write_pack(TrialData(source, PAIR, DRAWING), PAIR, trials[:2], tmp_path / "pack")
    (tmp_path / "plan.json").write_text(plan_text(TRIALS.moved(trial, "packed:pack") for trial in trials))
    absent = "".join(f"sys.modules[{name!r}] = None\n" for name in ABSENT)
    (tmp_path / "sitecustomize.py").write_text(f"import sys\n{absent}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    module = ["-m", "isogloss.papers", "layerwise", "out", "plan.json"]
    command = [sys.executable, *module, "--processes", "2"]
    done = subprocess.run(
        [*command, "--device", "cpu", "--seconds", "100"], cwd=tmp_path,
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    lines = done.stdout.splitlines()
    assert sum("a pack has arrays, no texts" in line for line in lines) == 1
    assert lines[-1] == "2 of 3 trials are there, 1 failed"
    kept = TrialDirectory(tmp_path / "out")
    assert TRIALS.missing(trials, kept, TRIALS.cached_data()) == [trials[2]]
    assert np.isfinite(kept.read(trials[0]).values("MAP")).all()
