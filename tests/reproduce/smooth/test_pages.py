"""The pages of `reproduce smooth`: what stands in them, also where trials are missing."""

import json
import math

import numpy as np
import pytest

from isogloss.reproduce.pages import Experiment, chosen_items, summarise
from isogloss.reproduce.smooth import plan
from isogloss.reproduce.smooth.figures import class_overlaps, figure4
from isogloss.reproduce.smooth.measuring import SCORE_BINS
from isogloss.reproduce.smooth.pages import ITEMS, against_first, claims, is_significant, table2, table3
from isogloss.reproduce.smooth.plan import Setup, training_line
from isogloss.reproduce.smooth.published import MEASURES, TABLE2, TABLE3
from isogloss.reproduce.smooth.theory import fitted_power, gap_points, sosl_bound, theory
from isogloss.reproduce.smooth.training import SmoothTrials
from isogloss.reproduce.trials import Outcome, TrialDirectory

SETUP = Setup("demo", (("en", "fr"), ("en", "zh")), seeds=3)
QUERIES = 60


@pytest.fixture
def experiment(tmp_path):
    return experiment_of(SETUP, tmp_path)


def experiment_of(setup, output):
    return Experiment(setup, SmoothTrials().cached_data(), TrialDirectory(output / "trials"), output)


def keep(experiment, trial, level, train_loss=0.01, loss=0.03, pairs=1000):
    """A trial with values around a level, the same luck of each query for all trials."""
    luck = np.random.default_rng(0).normal(0, 0.01, QUERIES)
    values = np.clip(level + luck, 0, 1)
    options = trial.options()
    record = {
        "options": {"dimension": 64, "eps": options.eps, "seed": options.seed},
        "pairs": pairs, "steps": 30 * pairs // 128,
        "recipe": {"batch": 128, "rate": 0.01, "epochs": 30}, "queries": {"train": pairs // 40, trial.split: QUERIES},
        "documents": 500, "device": "abacus", "history": [{}] * 30, "losses": {"train": train_loss, trial.split: loss},
        **{protocol: {name: float(values.mean()) for name in MEASURES} for protocol in ("sampled", "full")},
    }  # fmt: skip
    arrays = {f"{protocol}.{name}": values.astype(np.float32) for protocol in ("sampled", "full") for name in MEASURES}
    counts = np.zeros((3, SCORE_BINS), np.int32)
    counts[:, [1000, 1300, 1700]] = np.diag([100, 10, 2])
    experiment.trials.write(trial, Outcome(record, {**arrays, "score_counts": counts}))


class TestSummaries:
    def test_the_interval_is_student_s(self):
        stats = pytest.importorskip("scipy.stats")
        for values in ([0.1, 0.4], [0.5, 0.6, 0.55], np.random.default_rng(0).random(12).tolist()):
            low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
            found = summarise(values)
            assert (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high))

    def test_one_seed_has_no_interval_and_none_no_mean(self):
        assert summarise([0.5]).as_json() == {"mean": 0.5, "half_interval": None, "seeds": [0.5]}
        assert summarise([]).as_json() == {"mean": None, "half_interval": None, "seeds": []}

    def test_differences_are_of_seed_averages_and_corrected(self, experiment):
        groups = plan.table2_trials(SETUP, SETUP.pairs[0])
        for name, level in (("SOSL", 0.8), ("3Part_L2", 0.8), ("MSE", 0.7)):
            for trial in groups[name]:
                keep(experiment, trial, level + 0.01 * trial.options().seed)
        found = against_first(experiment.groups(groups))
        assert {(each.left, each.right) for each in found} == {("SOSL", "3Part_L2"), ("SOSL", "MSE")}
        assert {each.right for each in found if is_significant(each)} == {"MSE"}
        assert [each.difference for each in found if each.right == "MSE"] == pytest.approx([0.1] * 7, abs=1e-6)
        assert all(each.t_test_holm >= each.t_test for each in found)
        assert against_first({"SOSL": [], "MSE": []}) == []


class TestPlans:
    def test_items_share_what_they_have_in_common(self, experiment):
        numbers = {name: len(experiment.needed([item])) for name, item in ITEMS.items()}
        assert numbers == {
            "table1": 0, "table2": 30, "table3": 6, "figure1": 0, "figure2": 0, "figure3": 5, "figure4": 176,
            "figure5": 9, "claims": 20, "theory": 15,
        }  # fmt: skip
        # Shared: 2 averages, figure 3, one of the grid, one number of negatives, 5 of the claims, 3 of the theory.
        assert len(experiment.needed(ITEMS.values())) == 30 + 4 + 175 + 8 + 15 + 12

    def test_the_paper_s_own_settings_are_the_first_trial(self, experiment):
        first = experiment.needed(ITEMS.values())[0]
        options = first.options()
        assert (options.encoder, options.dimension, options.eps, options.loss) == ("average", 64, 1.0, "sosl")
        assert (options.recipe().batch, options.recipe().rate, options.recipe().epochs) == (128, 0.01, 30)
        assert first.thresholds == "0.2,0.7"

    def test_settings_of_the_command_hold_where_the_item_sets_nothing(self, tmp_path):
        setup = Setup("demo", SETUP.pairs, settings={"eps": 0.5, "epochs": 3, "thresholds": "0.1,0.9"})
        assert all(trial.options().epochs == 3 for trial in experiment_of(setup, tmp_path).needed(ITEMS.values()))
        assert {trial.options().eps for trial in plan.figure5_trials(setup).values()} == {0.5}
        assert {trial.options().eps for trials in plan.figure4_trials(setup).values() for trial in trials} == set(
            plan.EPS
        )
        assert {
            trial.thresholds for trials in plan.table2_trials(setup, ("en", "fr")).values() for trial in trials
        } == {
            "0.2,0.7",
            "0.2,0.55,0.9",
        }

    def test_all_items_are_chosen_in_the_order_of_the_paper(self):
        assert list(chosen_items(ITEMS, ["theory", "table1"])) == ["table1", "theory"]
        assert list(chosen_items(ITEMS, [])) == list(ITEMS)


class TestPages:
    def test_table2_has_our_numbers_and_the_paper_s(self, experiment):
        for name, level in (("SOSL", 0.9), ("3Part_L2", 0.8), ("PO_S, slope 1", 0.1)):
            for trial in plan.table2_trials(SETUP, ("en", "fr"))[name]:
                keep(experiment, trial, level)
        page = table2(experiment)
        lines = page.text.splitlines()
        assert "## en-fr (French)" in lines
        assert "| *SOSL, paper* | *0.438* | *0.832* | *0.607* | *0.811* | *0.841* | *0.607* | *0.919* |" in lines
        assert "| MSE | — | — | — | — | — | — | — |" in lines
        assert any(line.startswith("| SOSL | 0.9") and "±" in line for line in lines)
        assert any(line.startswith("| SOSL − 3Part_L2 | +0.1") and "*" in line for line in lines)
        assert f"Highest mean: SOSL on {', '.join(MEASURES)}." in lines
        assert "No trial of this was run." in page.text  # en-zh
        values = json.loads(json.dumps(page.values))["results"]["en-fr"]
        assert values["rows"]["SOSL"]["sampled"]["MAP"]["mean"] == pytest.approx(0.9, abs=0.01)
        assert values["rows"]["SOSL"]["paper"]["MAP"] == 0.841
        assert values["rows"]["MSE"]["trials"] == []
        assert len(values["comparisons"]) == 2 * 7

    def test_table3_says_how_each_encoder_was_trained(self, experiment):
        for trials in plan.table3_trials(SETUP, ("en", "fr")).values():
            keep(experiment, trials[0], 0.5)
        page = table3(experiment)
        assert "*lstm*: 64 dimensions, eps 1, 1,000 pairs of 25 queries, batch 128, rate 0.01, epochs 30" in page.text
        assert page.values["results"]["en-fr"]["rows"]["cnn"]["epochs"] == [30]

    def test_claims_are_made_of_what_was_run(self, experiment):
        found = plan.claims_trials(SETUP)["order of the pairs"]
        for trial in found["shuffled"]:
            keep(experiment, trial, 0.5)
        page = claims(experiment)
        assert "| as they stand | — |" in page.text
        assert page.values["claims"]["order of the pairs"]["comparisons"] == []
        for trial in found["as they stand"]:
            keep(experiment, trial, 0.4)
        assert "| shuffled − as they stand | +0.100* |" in claims(experiment).text

    def test_figure4_takes_the_best_thresholds_of_each_eps(self, experiment):
        pytest.importorskip("matplotlib")
        grid = plan.figure4_trials(SETUP)
        for eps in (0.0, 1.0):
            for trial in grid[eps]:
                keep(experiment, trial, 0.9 if trial.thresholds == "0.1,0.6" else 0.5)
        page = figure4(experiment)
        assert page.values["x"] == [0, 1]
        assert page.values["thresholds"] == ["0.1,0.6", "0.1,0.6"]
        assert len(page.values["grid"]) == 32
        assert (experiment.output / "figure4.csv").read_text().splitlines()[1].startswith('0,"0.1,0.6",0.9')

    def test_the_overlap_of_classes_is_between_0_and_1(self):
        counts = np.zeros((3, SCORE_BINS), np.int32)
        counts[0, 100], counts[1, 100], counts[1, 900], counts[2, 1500] = 8, 1, 1, 5
        assert class_overlaps(counts) == [0.5, 0.0]

    def test_the_line_on_training_tells_spans(self, experiment):
        trials = plan.table2_trials(SETUP, ("en", "fr"))["SOSL"]
        for trial in trials:
            keep(experiment, trial, 0.5, pairs=1000 * (1 + trial.options().seed))
        assert "1,000 to 3,000 pairs" in training_line(experiment.results(trials))


class TestGap:
    def test_the_page_shows_gap_bound_and_their_ratio(self, experiment):
        pytest.importorskip("matplotlib")
        for share, trials in plan.theory_trials(SETUP).items():
            for trial in trials:
                keep(
                    experiment,
                    trial,
                    0.5,
                    train_loss=0.01,
                    loss=0.01 + 0.02 / math.sqrt(share),
                    pairs=int(800_000 * share),
                )
        page = theory(experiment)
        assert "41 of 41 bounds hold on all samples." in page.text
        assert "It goes with n to the power -0.50" in page.text
        assert [point["pairs"] for point in page.values["gap"]] == [50_000, 100_000, 200_000, 400_000, 800_000]
        assert [path.suffix for path in sorted(experiment.output.glob("theory.*"))] == [".csv", ".png", ".svg"]
        json.dumps(page.values, allow_nan=False)

    def test_without_trials_there_is_the_bound_alone(self, experiment):
        page = theory(experiment)
        assert "## The bound" in page.text
        assert "measured" not in page.text.lower().replace("measures", "")
        assert page.values["gap"] == []

    def test_the_bound_falls_with_n_and_has_no_end_for_the_cosine(self):
        bounds = [sosl_bound(n, 1000, 1.0, (0.2, 0.7)) for n in (100, 1000, 10_000)]
        assert bounds == sorted(bounds, reverse=True)
        assert sosl_bound(100, 1000, 0.0, (0.2, 0.7)) == math.inf

    def test_gaps_that_are_not_above_0_have_no_power(self, experiment):
        trials = plan.theory_trials(SETUP)
        for share in (0.5, 1.0):
            keep(experiment, trials[share][0], 0.5, train_loss=0.03, loss=0.02)
        points = gap_points({share: experiment.results(each) for share, each in trials.items()})
        assert [point.share for point in points] == [0.5, 1.0]
        assert math.isnan(fitted_power(points))


def test_the_published_tables_have_the_paper_s_order():
    """SOSL beats 3Part on every measure of every language; the average beats both others."""
    for language, rows in TABLE2.items():
        assert all(np.greater(rows["SOSL"], rows["3Part_L2"]))
        for encoder in ("cnn", "lstm"):
            assert all(np.greater(TABLE3[language]["average"], TABLE3[language][encoder]))
