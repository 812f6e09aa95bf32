"""The pages of `reproduce smooth`: what stands in them, also where trials are missing."""

import json
import math

import numpy as np
import pytest

from isogloss.papers.reproduction.pages import Experiment, chosen_items, summarise
from isogloss.papers.reproduction.trials import Outcome, TrialDirectory
from isogloss.papers.smooth.experiments import plan
from isogloss.papers.smooth.experiments.comparing import OverSeeds, against_first, compare_under_both, is_significant
from isogloss.papers.smooth.experiments.figures import class_overlaps, figure4
from isogloss.papers.smooth.experiments.measuring import SCORE_BINS
from isogloss.papers.smooth.experiments.pages import ITEMS, claims, table2, table3
from isogloss.papers.smooth.experiments.plan import Grid, Setup, fixed_by, training_line
from isogloss.papers.smooth.experiments.published import MEASURES, TABLE2, TABLE3
from isogloss.papers.smooth.experiments.theory import fitted_power, gap_points, sosl_bound, theory
from isogloss.papers.smooth.experiments.training import SmoothTrials

SETUP = Setup("demo", (("en", "fr"), ("en", "zh")), seeds=3)
FIGURE4 = len(plan.EPS) * len(Grid().thresholds())  # one seed, until the best are known
QUERIES = 60


@pytest.fixture
def experiment(tmp_path):
    return experiment_of(SETUP, tmp_path)


def experiment_of(setup, output):
    return Experiment(setup, SmoothTrials().cached_data(), TrialDirectory(output / "trials"), output)


def keep(experiment, trial, level, train_loss=0.01, loss=0.03, pairs=1000, full=None):
    """A trial with values around a level, the same luck of each query for all trials."""
    luck = np.random.default_rng(0).normal(0, 0.01, QUERIES)
    values = {
        protocol: np.clip(level + luck if own is None else own + luck, 0, 1)
        for protocol, own in (("sampled", None), ("full", full))
    }
    options = trial.options()
    record = {
        "options": {"dimension": 64, "eps": options.eps, "seed": options.seed},
        "pairs": pairs, "steps": 30 * pairs // 128,
        "recipe": {"batch": 128, "rate": 0.01, "epochs": 30}, "queries": {"train": pairs // 40, trial.split: QUERIES},
        "documents": 500, "device": "abacus", "history": [{}] * 30, "losses": {"train": train_loss, trial.split: loss},
        **{protocol: {name: float(found.mean()) for name in MEASURES} for protocol, found in values.items()},
    }  # fmt: skip
    arrays = {f"{protocol}.{name}": found.astype(np.float32) for protocol, found in values.items() for name in MEASURES}
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
        found = against_first(experiment.groups(groups), "sampled")
        assert {(each.left, each.right) for each in found} == {("SOSL", "3Part_L2"), ("SOSL", "MSE")}
        assert {each.right for each in found if is_significant(each)} == {"MSE"}
        assert [each.difference for each in found if each.right == "MSE"] == pytest.approx([0.1] * 7, abs=1e-6)
        assert all(each.t_test_holm >= each.t_test for each in found)
        assert against_first({"SOSL": [], "MSE": []}, "sampled") == []

    def test_records_without_the_values_of_queries_are_tested_over_the_seeds(self, experiment):
        groups = plan.table2_trials(SETUP, SETUP.pairs[0])
        for name, level in (("SOSL", 0.8), ("3Part_L2", 0.8), ("MSE", 0.7)):
            for number, trial in enumerate(groups[name]):
                keep(experiment, trial, level + 0.001 * number * (name == "MSE"))
        for trial in groups["MSE"]:  # as those of docs/results/data
            (experiment.trials.directory / f"{trial.name}.npz").unlink()
        found = against_first(experiment.groups(groups), "sampled")
        assert {each.right for each in found if isinstance(each, OverSeeds)} == {"MSE"}
        assert {each.right for each in found if is_significant(each)} == {"MSE"}
        page = table2(experiment)
        assert "| SOSL − MSE | +0.099† |" in page.text
        assert "† significant at 5% by the paired t-test over the seeds alone" in page.text
        json.dumps(page.values, allow_nan=False)
        (only, *_) = groups["MSE"]
        groups["MSE"] = [only]
        assert not [each for each in against_first(experiment.groups(groups), "full") if each.right == "MSE"]

    def test_both_protocols_are_tested(self, experiment):
        groups = plan.table2_trials(SETUP, SETUP.pairs[0])
        for name, full in (("SOSL", 0.5), ("MSE", 0.3)):
            for trial in groups[name]:
                keep(experiment, trial, 0.8, full=full)
        found = compare_under_both(experiment.groups(groups))
        assert not any(map(is_significant, found["sampled"]))
        assert all(map(is_significant, found["full"]))
        assert [each.difference for each in found["full"]] == pytest.approx([0.2] * 7, abs=1e-6)
        lines = table2(experiment).text.splitlines()
        assert "| SOSL − MSE | +0.000 |" in "\n".join(lines[lines.index("Differences, sampled:") :])[:300]
        assert "| SOSL − MSE | +0.200* |" in "\n".join(lines[lines.index("Differences, full:") :])


class TestPlans:
    def test_items_share_what_they_have_in_common(self, experiment):
        numbers = {name: len(experiment.needed([item])) for name, item in ITEMS.items()}
        assert numbers == {
            "table1": 0, "table2": 30, "table3": 42, "figure1": 0, "figure2": 0, "figure3": 5, "figure4": FIGURE4,
            "figure5": 9, "claims": 24, "theory": 15,
        }  # fmt: skip
        # Shared: 6 averages, figure 3, one of the grid, one number of negatives, 12 of the claims, 3 of the theory.
        assert len(experiment.needed(ITEMS.values())) == 30 + 36 + FIGURE4 - 1 + 8 + 12 + 14

    def test_the_paper_s_rows_of_table_3_are_run_first_seed_by_seed(self, experiment):
        first = experiment.needed([ITEMS["table3"]])[:6]
        assert [(trial.pair[1], trial.options().encoder) for trial in first] == [
            (language, encoder) for language in ("fr", "zh") for encoder in ("average", "cnn", "lstm")
        ]
        assert not any(trial.options().seed or trial.options().shared for trial in first)

    def test_towers_and_what_is_ours_are_named(self):
        found = {name: trials[0].options() for name, trials in plan.table3_trials(SETUP, ("en", "fr")).items()}
        for name, options in found.items():
            assert options.shared == ("shared tower" in name)
            assert (options.squashed or options.both_last or options.shared) == name.startswith("ours: ")
        assert {plan.AS_PUBLISHED[name] for name in found if name in plan.AS_PUBLISHED} == set(TABLE3["fr"])

    def test_the_grid_is_choosable_and_thresholds_rise(self, tmp_path):
        setup = Setup("demo", SETUP.pairs, seeds=2, grid=Grid((0.5,), (0.2, 0.6), (0.5, 0.9)))
        found = plan.figure4_trials(setup)
        assert {eps: list(by) for eps, by in found.items()} == {0.5: [(0.2, 0.5), (0.2, 0.9), (0.6, 0.9)]}
        assert [trial.options().seed for trial in found[0.5][0.2, 0.9]] == [0, 1]
        assert found[0.5][0.6, 0.9][0].thresholds == "0.6,0.9"

    def test_settings_that_a_trial_has_other_values_of_are_found(self, tmp_path):
        setup = Setup("demo", SETUP.pairs, settings={"eps": 0.5, "epochs": 30, "thresholds": "0.1,0.9", "negatives": 7})
        experiment = experiment_of(setup, tmp_path)
        assert {name: fixed_by(setup, item.trials(experiment)) for name, item in ITEMS.items()} == {
            "table1": set(), "table2": {"thresholds"}, "table3": set(), "figure1": set(), "figure2": set(),
            "figure3": {"thresholds"}, "figure4": {"eps", "thresholds"}, "figure5": {"negatives"}, "claims": {"eps"},
            "theory": set(),
        }  # fmt: skip
        vectors = Setup("demo", SETUP.pairs, settings={"query_vectors": "en.vec"})
        found = {name: fixed_by(vectors, item.trials(experiment_of(vectors, tmp_path))) for name, item in ITEMS.items()}
        assert {name for name, keys in found.items() if keys} == {"claims"}  # one of them trains its own

    def test_the_paper_s_own_settings_are_the_first_trial(self, experiment):
        first = experiment.needed(ITEMS.values())[0]
        options = first.options()
        assert (options.encoder, options.dimension, options.eps, options.loss) == ("average", 64, 1.0, "sosl")
        assert (options.recipe().batch, options.recipe().rate, options.recipe().epochs) == (128, 0.01, 30)
        assert first.thresholds == "0.2,0.7"

    def test_settings_of_the_command_hold_where_the_item_sets_nothing(self, tmp_path):
        setup = Setup("demo", SETUP.pairs, settings={"eps": 0.5, "epochs": 3}, queries=100)
        needed = experiment_of(setup, tmp_path).needed(ITEMS.values())
        assert all((trial.options().epochs, trial.queries) == (3, 100) for trial in needed)
        assert {trial.options().eps for trial in plan.figure5_trials(setup).values()} == {0.5}

    def test_all_items_are_chosen_in_the_order_of_the_paper(self):
        assert list(chosen_items(ITEMS, ["theory", "table1"])) == ["table1", "theory"]
        assert list(chosen_items(ITEMS, [])) == list(ITEMS)


class TestPages:
    def test_table2_has_our_numbers_and_the_paper_s(self, experiment):
        for name, level in (("SOSL", 0.9), ("3Part_L2", 0.8), ("PO_S", 0.6), ("ours: PO_S without ends", 0.7)):
            for trial in plan.table2_trials(SETUP, ("en", "fr"))[name]:
                keep(experiment, trial, level)
        page = table2(experiment)
        lines = page.text.splitlines()
        assert "## en-fr (French)" in lines
        assert "| *SOSL, paper* | *0.438* | *0.832* | *0.607* | *0.811* | *0.841* | *0.607* | *0.919* |" in lines
        assert "Not run, or failed: MSE." in lines
        assert not any(line.startswith("| MSE") for line in lines)
        assert "| *PO_S, paper* | *0.254* | *0.704* | *0.604* | *0.729* | *0.795* | *0.445* | *0.856* |" in lines
        assert not any("ends, paper" in line for line in lines)
        assert any(line.startswith("| SOSL | 0.9") and "±" in line for line in lines)
        assert any(line.startswith("| SOSL − 3Part_L2 | +0.1") and "*" in line for line in lines)
        assert f"Highest mean: SOSL on {', '.join(MEASURES)}." in lines
        assert "No trial of this was run." in page.text  # en-zh
        values = json.loads(json.dumps(page.values))["results"]["en-fr"]
        assert values["rows"]["SOSL"]["sampled"]["MAP"]["mean"] == pytest.approx(0.9, abs=0.01)
        assert values["rows"]["SOSL"]["paper"]["MAP"] == 0.841
        assert "MSE" not in values["rows"]
        assert {protocol: len(found) for protocol, found in values["comparisons"].items()} == dict.fromkeys(
            ("sampled", "full"), 3 * 7
        )

    def test_table3_says_how_each_encoder_was_trained(self, experiment):
        for trials in plan.table3_trials(SETUP, ("en", "fr")).values():
            keep(experiment, trials[0], 0.5)
        page = table3(experiment)
        trained = "64 dimensions, eps 1, 1,000 pairs of 25 queries, batch 128, rate 0.01, epochs 30"
        assert f"*lstm, separate towers*: {trained}" in page.text
        rows = page.values["results"]["en-fr"]["rows"]
        assert rows["cnn, separate towers"]["epochs"] == [30]
        assert [name for name, row in rows.items() if row["paper"]] == list(plan.AS_PUBLISHED)

    def test_claims_are_made_of_what_was_run(self, experiment):
        found = plan.claims_trials(SETUP)["order of the pairs"]
        for trial in found["shuffled"]:
            keep(experiment, trial, 0.5)
        page = claims(experiment)
        assert "| as they stand | — |" in page.text
        assert page.values["claims"]["order of the pairs"]["comparisons"] == {"sampled": [], "full": []}
        for trial in found["as they stand"]:
            keep(experiment, trial, 0.4)
        assert "| shuffled − as they stand | +0.100* |" in claims(experiment).text

    def test_figure4_takes_the_best_thresholds_of_each_eps_and_names_those_on_an_edge(self, tmp_path):
        pytest.importorskip("matplotlib")
        setup = Setup("demo", SETUP.pairs, seeds=2, grid=Grid((0.0, 0.5, 1.0), (0.1, 0.2, 0.3), (0.6, 0.7, 0.8)))
        experiment, best = experiment_of(setup, tmp_path), {0.0: "0.1,0.7", 1.0: "0.2,0.7"}
        grid = plan.figure4_trials(setup)
        for eps, thresholds in best.items():
            for trials in grid[eps].values():
                for trial in trials:
                    good = trial.thresholds == thresholds
                    keep(experiment, trial, (0.9 if good else 0.5) + 0.02 * trial.options().seed, full=0.3 + eps / 10)
        page = figure4(experiment)
        assert page.values["x"] == [0, 1]
        assert page.values["thresholds"] == list(best.values())
        assert page.values["sampled"]["MAP"] == pytest.approx([0.91, 0.91], abs=0.01)  # means over the seeds
        assert len(page.values["grid"]) == 18
        assert page.values["edges"] == {"0": ["theta1 0.1 is the lowest"]}
        assert "(--grid) may have better ones: eps 0 (theta1 0.1 is the lowest)." in page.text
        assert "| eps 0 − eps 1 | -0.100* |" in page.text  # over the whole collection
        assert (experiment.output / "figure4.csv").read_text().splitlines()[1].startswith('0,"0.1,0.7",0.9')

    def test_the_best_thresholds_of_each_eps_are_run_with_all_seeds(self, tmp_path):
        setup = Setup("demo", SETUP.pairs, seeds=3, grid=Grid((0.0, 1.0), (0.1, 0.2, 0.3), (0.6, 0.7, 0.8)))
        experiment, item = experiment_of(setup, tmp_path), ITEMS["figure4"]
        assert {trial.options().seed for trial in experiment.needed([item])} == {0}
        for number, trials in enumerate(plan.figure4_trials(setup)[1.0].values()):
            keep(experiment, trials[0], 0.5 + number / 100, full=0.5 - number / 100)
        others = [trial for trial in experiment.needed([item]) if trial.options().seed]
        assert [trial.options().eps for trial in others] == [1.0] * 12  # two more seeds of the three best by each
        assert {trial.thresholds for trial in others} == {
            "0.1,0.6", "0.1,0.7", "0.1,0.8", "0.3,0.6", "0.3,0.7", "0.3,0.8"
        }  # fmt: skip

    def test_a_grid_without_an_optimum_on_its_edge_says_so(self, tmp_path):
        pytest.importorskip("matplotlib")
        setup = Setup("demo", SETUP.pairs, seeds=1, grid=Grid((1.0,), (0.1, 0.2, 0.3), (0.6, 0.7, 0.8)))
        experiment = experiment_of(setup, tmp_path)
        for thresholds, trials in plan.figure4_trials(setup)[1.0].items():
            keep(experiment, trials[0], 0.9 if thresholds == (0.2, 0.7) else 0.5)
        assert "No optimum is on an edge of the grid." in figure4(experiment).text

    def test_the_edge_is_that_of_what_was_run_for_this_eps(self, tmp_path):
        pytest.importorskip("matplotlib")
        setup = Setup("demo", SETUP.pairs, seeds=1, grid=Grid((1.0,), (0.1, 0.2, 0.3), (0.6, 0.7, 0.8)))
        experiment = experiment_of(setup, tmp_path)
        for thresholds, trials in plan.figure4_trials(setup)[1.0].items():
            if thresholds[0] > 0.1:
                keep(experiment, trials[0], 0.9 if thresholds == (0.2, 0.7) else 0.5)
        assert "better ones: eps 1 (theta1 0.2 is the lowest)." in figure4(experiment).text

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
        assert (
            "It goes with n to the power -0.50. The bound goes with n to the power -0.17, at gamma c = 0.5" in page.text
        )
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
        assert math.isnan(fitted_power([point.pairs for point in points], [point.gap.mean for point in points]))


def test_the_published_tables_have_the_paper_s_order():
    """SOSL beats 3Part on every measure of every language; the average beats both others."""
    for language, rows in TABLE2.items():
        assert all(np.greater(rows["SOSL"], rows["3Part_L2"]))
        for encoder in ("cnn", "lstm"):
            assert all(np.greater(TABLE3[language]["average"], TABLE3[language][encoder]))
