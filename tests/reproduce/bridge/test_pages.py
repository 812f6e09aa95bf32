"""The pages of `bridge`, from trials that were made up, and the trials themselves on the demo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.reproduce.bridge.pages import (
    ITEMS,
    ablation,
    ablations,
    calibration,
    calibration_error,
    calibration_of,
    compared,
    reliability,
    results_of,
)
from isogloss.reproduce.bridge.trials import ABLATIONS, WHOLE, BridgeTrials, PairData, Setup
from isogloss.reproduce.pages import Experiment, bootstrap_interval, chosen_items
from isogloss.reproduce.running import RunOptions
from isogloss.reproduce.trials import Outcome, TrialDirectory
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.model import INGREDIENTS

TRIALS = BridgeTrials("demo")
PAIR = ("en", "fr")
CHANCES = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50)
SMALL = {"epochs": "1", "dimension": "8"}


@pytest.fixture(scope="module")
def demo():
    return PairData.read("demo", PAIR)


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
    def test_every_ingredient_is_left_out_once(self, experiment):
        trials = ablations(experiment, PAIR)
        assert list(trials) == [WHOLE, *ABLATIONS, "pretrained=use"]
        assert {f"without={name}" for name in INGREDIENTS} < set(ABLATIONS)
        assert len({trial.name for trial in trials.values()}) == len(trials)
        assert all(trial.settings["epochs"] == "1" for trial in trials.values())

    def test_what_cannot_be_left_out_is_not(self, demo):
        trials = Setup("demo", (PAIR,)).ablations(PAIR, PairData(demo.dataset, ""))
        assert not {"without=lexicon", "without=pages", "pretrained=use"} & set(trials)
        assert "without=vectors" in trials

    def test_both_items_share_the_whole_system(self, experiment):
        both, first = missing_trials(ITEMS.values(), experiment), missing_trials([ITEMS["ablation"]], experiment)
        assert [trial.name for trial in both] == [trial.name for trial in first]

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
        assert "| `without=pages`: no translated pages: trained on the dictionary alone | — |" in text

    def test_without_any_trial_there_is_a_page(self, experiment):
        assert "No trial of this was run to its end." in ablation(experiment).text


class TestCalibration:
    def test_chances_are_held_against_grades(self, experiment):
        pytest.importorskip("matplotlib")
        trial = experiment.setup.whole(PAIR)[WHOLE]
        scores = np.asarray([4.0, -4.0, 4.0, -4.0, 4.0, -4.0], np.float32)
        keep(
            experiment, trial, np.ones(4), {"slope": 1.0, "context": 0.0, "biases": [0.0, 0.0]}, scores=scores,
            grades=np.asarray([2, 0, 1, 0, 2, 2], np.int8), counts=np.asarray([2, 2, 0, 2]),
            first_there=np.asarray([4.0, 4.0, -np.inf, 4.0]), first_gone=np.asarray([-4.0, -4.0, -np.inf, 4.0]),
        )  # fmt: skip
        found = calibration_of(experiment.trials.read(trial))
        assert found["thresholds"] == (0, 0)
        assert found["first_hit_below_threshold"] == {"there": 0.25, "gone": 0.75}
        high = 1 / (1 + np.exp(-4.0))
        partly, fully = found["reliability"]["at least partially relevant"], found["reliability"]["relevant"]
        assert [each["observed"] for each in partly["bins"]] == pytest.approx([1 / 3, 1])
        assert partly["error_of_first_hits"] == pytest.approx(1 - high, abs=1e-5)
        assert fully["error_of_first_hits"] == pytest.approx(high - 2 / 3, abs=1e-5)
        page = calibration(experiment)
        assert "| the whole system | 0.00 | 0.250 | 0.750 |" in page.text
        assert (experiment.output / "calibration.en-fr.svg").exists()

    def test_a_model_without_thresholds_is_reported(self, experiment):
        keep(experiment, experiment.setup.whole(PAIR)[WHOLE], np.ones(3))
        assert "No model has thresholds" in calibration(experiment).text


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
    assert len(counts) == len(result.arrays["first_gone"]) == len(result.arrays["MRR_mr"]) == queries
    assert counts.sum() == len(result.arrays["scores"]) == len(result.arrays["grades"])
    assert result.arrays["grades"].max() == 2
    assert (result.arrays["first_gone"] <= result.arrays["first_there"] + 1e-6).mean() > 0.9
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
