"""The pages of ``benchmarks/bridge_ablation.py``, from trials that were made up, and the trials on the demo."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.reproduction.pages import Experiment, bootstrap_interval, chosen_items
from isogloss.papers.reproduction.running import RunOptions
from isogloss.papers.reproduction.trials import Outcome, TrialDirectory
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.model import INGREDIENTS

with pytest.MonkeyPatch.context() as import_path:
    import_path.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from bridge_ablation_pages import (
        ITEMS,
        SHARES,
        FirstHits,
        ablation,
        ablations,
        calibration,
        calibration_error,
        calibration_of,
        compared,
        flagged_of,
        reliability,
        results_of,
    )
    from bridge_ablation_trials import ABLATIONS, WHOLE, BridgeTrials, PairData, Setup, Trial

TRIALS = BridgeTrials("demo")
PAIR = ("en", "fr")
CHANCES = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50)
SMALL = {"epochs": "1", "dimension": "8"}


@pytest.fixture(scope="module")
def demo():
    return PairData.read("demo", PAIR)


@pytest.fixture
def with_starter(monkeypatch):
    monkeypatch.setattr("bridge_ablation_trials.load_starter", lambda *pair: object())


@pytest.fixture
def experiment(demo, tmp_path):
    store = TrialDirectory(tmp_path / "trials")
    store.directory.mkdir()
    setup = Setup("demo", (PAIR,), pretrained="use", settings=SMALL)
    return Experiment(setup, {PAIR: demo}.__getitem__, store, tmp_path)


def missing_trials(items, experiment, overwrite=False):
    return TRIALS.missing(experiment.needed(items), experiment.trials, experiment.data, overwrite)


def keep(experiment, trial, values, calibration=None, **arrays):
    record = {
        "identity": trial.identity(experiment.data(trial.pair).fingerprint),
        "measures": {"MRR_mr": float(values.mean())},
        "seconds": {"training": 2.0, "indexing": 1.0, "searching": 0.5}, "model_bytes": 10, "queries": len(values),
        "documents": 104, "options": {"lexicon": "x"}, "device": "none", "top_grade": 2, "calibration": calibration,
    }  # fmt: skip
    experiment.trials.write(trial, Outcome(record, {"MRR_mr": values, **arrays}))


class TestPlan:
    def test_every_ingredient_is_left_out_once(self, experiment, demo, with_starter):
        experiment = replace(experiment, data=lambda pair: PairData(demo.dataset, demo.lexicon))
        trials = ablations(experiment, PAIR)
        assert list(trials) == [WHOLE, *ABLATIONS, "pretrained=use"]
        assert {f"without={name}" for name in INGREDIENTS} < set(ABLATIONS)
        assert len({trial.name for trial in trials.values()}) == len(trials)
        assert all(trial.settings["epochs"] == "1" for trial in trials.values())

    def test_what_cannot_be_left_out_is_not(self, demo):
        knowledge = {"without=lexicon", "without=starter", "without=pages"}
        trials = Setup("demo", (PAIR,)).ablations(PAIR, PairData(demo.dataset, ""))
        assert not {*knowledge, "pretrained=use"} & set(trials)
        assert "without=vectors" in trials
        trials = Setup("demo", (PAIR,)).ablations(PAIR, demo)
        assert knowledge & set(trials) == {"without=lexicon", "without=pages"}

    def test_a_starter_table_can_be_left_out_where_there_is_one(self, demo, with_starter):
        trials = Setup("demo", (PAIR,)).ablations(PAIR, PairData(demo.dataset, ""))
        assert {"without=starter", "without=pages"} < set(trials)
        assert "without=lexicon" not in trials

    def test_both_items_share_the_whole_system(self, experiment):
        both, first = missing_trials(ITEMS.values(), experiment), missing_trials([ITEMS["ablation"]], experiment)
        assert [trial.name for trial in both] == [trial.name for trial in first]

    def test_files_of_a_trial_are_named_by_its_settings(self):
        assert Trial(PAIR).name == "en-fr_whole"
        assert Trial(PAIR, {"without": "lexicon"}).name == "en-fr_without-lexicon"

    def test_an_unknown_item_is_an_error(self):
        with pytest.raises(InputError, match="'table9' is not one of ablation, calibration"):
            chosen_items(ITEMS, ["table9"])


class TestAblation:
    def test_differences_are_to_the_whole_system_and_what_is_missing_is_a_dash(self, experiment):
        trials, whole = ablations(experiment, PAIR), np.linspace(0.5, 1, 40)
        keep(experiment, trials[WHOLE], whole)
        keep(experiment, trials["without=vectors"], whole - 0.25)
        keep(experiment, trials["stems=no"], whole)
        rows = {row["system"]: row for row in compared(results_of(experiment, trials))}
        worse, same = rows["without=vectors"], rows["stems=no"]
        assert worse["difference"] == pytest.approx(-0.25)
        assert worse["difference_interval"] == pytest.approx((-0.25, -0.25))
        assert (worse["wins"], worse["losses"]) == (0, 40)
        assert worse["p"] < worse["p_holm"] < 0.001
        assert (same["ties"], same["p_holm"]) == (40, 1)
        text = ablation(experiment).text
        assert "| `without=vectors`: no word vectors | 0.5000 [" in text
        assert "| -0.2500 [-0.2500, -0.2500] | 0 / 0 / 40 | 0.0002 | 3.5 |" in text
        assert (
            "| `without=pages`: no translated pages: trained on the dictionary and the starter table alone | — |"
            in text
        )

    def test_without_any_trial_there_is_a_page(self, experiment):
        assert "No trial of this was run to its end." in ablation(experiment).text


class TestCalibration:
    def test_chances_are_held_against_grades(self, experiment):
        pytest.importorskip("matplotlib")
        trial = experiment.setup.whole(PAIR)[WHOLE]
        scores = np.asarray([4.0, -4.0, 4.0, -4.0, 4.0, -4.0], np.float32)
        keep(
            experiment, trial, np.ones(4), {"slope": 1.0, "context": [0.0] * 3, "biases": [0.0, 0.0], "doubt": -1.0},
            scores=scores, grades=np.asarray([2, 0, 1, 0, 2, 2], np.int8), counts=np.asarray([2, 2, 0, 2]),
            text_there=np.asarray([4.0, 4.0, -np.inf, 4.0]), text_gone=np.asarray([-4.0, -4.0, -np.inf, 4.0]),
            text_right=np.asarray([True, False, False, True]),
        )  # fmt: skip
        found = calibration_of(experiment.trials.read(trial))
        assert found["thresholds"] == (-1, 0)
        assert set(found["flagged"]) == {"text"}
        assert found["flagged"]["text"] == {
            "right_first_hits": 2, "right": 0, "gone": 0.75, "gone_at": dict.fromkeys(SHARES, 0.75),
        }  # fmt: skip
        high = 1 / (1 + np.exp(-4.0))
        partly, fully = found["reliability"]["at least partially relevant"], found["reliability"]["relevant"]
        assert [each["observed"] for each in partly["bins"]] == pytest.approx([1 / 3, 1])
        assert partly["error_of_first_hits"] == pytest.approx(1 - high, abs=1e-5)
        assert fully["error_of_first_hits"] == pytest.approx(high - 2 / 3, abs=1e-5)
        page = calibration(experiment)
        assert "| the whole system, texts | -1.00 | 0.000 | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 |" in page.text
        assert (experiment.output / "calibration.en-fr.svg").exists()

    def test_without_any_trial_there_is_a_page(self, experiment):
        assert "No trial of this was run to its end." in calibration(experiment).text


def test_flagging_few_right_first_hits_flags_fewer_of_those_whose_answer_is_gone():
    hits = FirstHits(np.arange(100.0), np.append(np.full(50, -np.inf), np.arange(0.0, 50)))
    found = flagged_of(hits, 20.0)
    assert (found["right_first_hits"], found["right"], found["gone"]) == (100, 0.2, 0.7)
    assert found["gone_at"] == {0.01: 0.51, 0.02: 0.52, 0.05: 0.55, 0.1: 0.6}
    right, gone = hits.trade(np.arange(-1.0, 101))
    assert right.tolist() == sorted(right)
    assert gone.tolist() == sorted(gone)
    assert (right[0], gone[0], right[-1], gone[-1]) == (0, 0.5, 1, 1)


def test_without_a_right_first_hit_there_is_nothing_to_trade():
    found = flagged_of(FirstHits(np.zeros(0), np.asarray([-1.0, 1.0])), 0.0)
    assert np.isnan(found["right"])
    assert found["gone"] == 0.5
    assert set(found["gone_at"].values()) == {0}


def test_trials_are_run_once_and_those_of_another_lexicon_refused(demo, tmp_path):
    setup = Setup("demo", (PAIR,), settings=SMALL)
    experiment = Experiment(setup, {PAIR: demo}.__getitem__, TrialDirectory(tmp_path / "trials"), tmp_path)
    items = chosen_items(ITEMS, ["calibration"]).values()
    (trial,) = missing_trials(items, experiment)
    (report,) = TRIALS.run_all([trial], RunOptions(experiment.trials.directory), experiment.data)
    assert report.line.startswith("MRR_mr 0.")
    assert missing_trials(items, experiment) == []
    result = experiment.trials.read(trial)
    queries, counts = result.record["queries"], result.arrays["counts"]
    assert len(counts) == len(result.arrays["text_gone"]) == len(result.arrays["MRR_mr"]) == queries
    assert counts.sum() == len(result.arrays["scores"]) == len(result.arrays["grades"])
    assert result.arrays["grades"].max() == 2
    there, gone, right = (result.arrays[f"text_{name}"] for name in ("there", "gone", "right"))
    assert right.sum() > 10
    assert gone[right].mean() < there[right].mean()
    assert result.record["model_bytes"] > 0
    other = Experiment(setup, {PAIR: PairData(demo.dataset, "")}.__getitem__, experiment.trials, tmp_path)
    with pytest.raises(InputError, match="was run on other data"):
        missing_trials(items, other)
    assert missing_trials(items, other, overwrite=True) == [trial]


@given(CHANCES)
def test_bins_hold_every_chance_once_and_their_means(pairs):
    chances, outcomes = (np.asarray(each) for each in zip(*pairs, strict=True))
    bins = reliability(chances, outcomes)
    assert sum(each.documents for each in bins) == len(pairs)
    assert sum(each.documents * each.predicted for each in bins) == pytest.approx(chances.sum())
    assert sum(each.documents * each.observed for each in bins) == pytest.approx(outcomes.sum())
    assert all(each.low <= each.predicted + 1e-9 and each.predicted <= each.high + 1e-9 for each in bins)
    assert 0 <= calibration_error(bins) <= 1


def test_chances_that_come_true_as_often_as_they_say_have_no_error():
    chances, outcomes = np.repeat([0.25, 0.75], 4), np.asarray([1, 0, 0, 0, 1, 1, 1, 0], bool)
    assert calibration_error(reliability(chances, outcomes)) == 0
    assert calibration_error(reliability(chances, ~outcomes)) == pytest.approx(0.5)


def test_the_interval_holds_the_mean_and_narrows_with_more_values():
    values = np.random.default_rng(0).random(1000)
    few, many = (bootstrap_interval(each) for each in (values[:50], values))
    assert few[0] < values[:50].mean() < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert many == pytest.approx((values.mean() - half, values.mean() + half), abs=0.004)


def test_nothing_has_no_interval():
    assert np.isnan(bootstrap_interval(np.zeros(0))).all()
