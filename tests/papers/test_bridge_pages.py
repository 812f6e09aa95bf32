"""The pages of `bridge`, from trials that were made up, and the trials themselves on the demo."""

import numpy as np
import pytest

from isogloss.papers.bridge.ablation import ablation, compared
from isogloss.papers.bridge.calibration import calibration, look_at
from isogloss.papers.bridge.experiment import Experiment
from isogloss.papers.bridge.items import ITEMS, chosen_items, missing_trials, run_trials
from isogloss.papers.bridge.plan import ABLATIONS, WHOLE, Setup
from isogloss.papers.bridge.trial import TrialStore
from isogloss.papers.bridge.trial_data import PairData
from isogloss.papers.kept_trials import Outcome
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.options import INGREDIENTS

PAIR = ("en", "fr")
SMALL = {"epochs": "1", "dimension": "8"}


@pytest.fixture(scope="module")
def demo():
    return PairData.read("demo", PAIR)


@pytest.fixture
def experiment(demo, tmp_path):
    store = TrialStore(tmp_path / "trials")
    store.directory.mkdir()
    return Experiment(Setup("demo", (PAIR,), pretrained="use", settings=SMALL), {PAIR: demo}, store, tmp_path)


def keep(experiment, trial, values, calibration=None, **arrays):
    record = {
        "identity": trial.identity(experiment.data[trial.pair].fingerprint),
        "measures": {"MRR_mr": float(values.mean())},
        "seconds": {"training": 2.0, "indexing": 1.0, "searching": 0.5}, "model_bytes": 10, "queries": len(values),
        "documents": 104, "options": {"lexicon": "x"}, "device": "none", "top_grade": 2, "calibration": calibration,
    }  # fmt: skip
    experiment.store.write(trial, Outcome(record, {"MRR_mr": values, **arrays}))


class TestPlan:
    def test_every_ingredient_is_left_out_once(self, experiment):
        trials = experiment.ablations(PAIR)
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

    def test_an_unknown_item_is_told(self):
        with pytest.raises(InputError, match="'table9' is not one of ablation, calibration"):
            chosen_items(["table9"])


class TestAblation:
    def test_differences_are_to_the_whole_system_and_what_is_missing_is_a_dash(self, experiment):
        trials, whole = experiment.ablations(PAIR), np.linspace(0.5, 1, 40)
        keep(experiment, trials[WHOLE], whole)
        keep(experiment, trials["without=vectors"], whole - 0.25)
        keep(experiment, trials["stems=no"], whole)
        rows = {row["system"]: row for row in compared(experiment.results(trials))}
        worse, same = rows["without=vectors"], rows["stems=no"]
        assert worse["difference"] == pytest.approx(-0.25)
        assert worse["difference_interval"] == pytest.approx((-0.25, -0.25))
        assert (worse["wins"], worse["losses"]) == (0, 40)
        assert worse["p"] < worse["p_holm"] < 0.001
        assert (same["ties"], same["p_holm"]) == (40, 1)
        text = ablation(experiment).text
        assert "| `without=vectors`: no word vectors | 0.5000 [" in text
        assert "| -0.2500 [-0.2500, -0.2500] | 0 / 0 / 40 | 0.0002 | 3.5 |" in text
        assert "| `without=pages`: no translated pages: the dictionary is all there is | — |" in text

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
        found = look_at(experiment.store.read(trial))
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

    def test_a_model_without_thresholds_is_told(self, experiment):
        keep(experiment, experiment.setup.whole(PAIR)[WHOLE], np.ones(3))
        assert "No model has thresholds" in calibration(experiment).text


def test_trials_are_run_once_and_those_of_another_lexicon_refused(demo, tmp_path):
    setup = Setup("demo", (PAIR,), settings=SMALL)
    experiment = Experiment(setup, {PAIR: demo}, TrialStore(tmp_path / "trials"), tmp_path)
    items = chosen_items(["calibration"]).values()
    (trial,) = missing_trials(items, experiment)
    (report,) = run_trials([trial], experiment)
    assert report.line.startswith("MRR_mr 0.")
    assert missing_trials(items, experiment) == []
    result = experiment.store.read(trial)
    queries, counts = result.record["queries"], result.arrays["counts"]
    assert len(counts) == len(result.arrays["first_gone"]) == len(result.arrays["MRR_mr"]) == queries
    assert counts.sum() == len(result.arrays["scores"]) == len(result.arrays["grades"])
    assert result.arrays["grades"].max() == 2
    assert (result.arrays["first_gone"] <= result.arrays["first_there"] + 1e-6).mean() > 0.9
    assert result.record["model_bytes"] > 0
    other = Experiment(setup, {PAIR: PairData(demo.dataset, "")}, experiment.store, tmp_path)
    with pytest.raises(InputError, match="was run on other data"):
        missing_trials(items, other)
    assert missing_trials(items, other, overwrite=True) == [trial]
