"""Tables and figures of the layer-wise paper, from trials that were made up."""

import re
from dataclasses import replace

import numpy as np
import pytest

from isogloss.papers.layerwise.experiments.data import Drawing
from isogloss.papers.layerwise.experiments.pages import (
    ITEMS,
    NO_COMPARISON,
    checked_claims,
    difference,
    distances,
    figure_alphas,
    figure_distance,
    holds,
    probe,
    table1,
    table3,
)
from isogloss.papers.layerwise.experiments.plan import (
    Experiment,
    Setup,
    chosen,
    grid_trials,
    table1_trials,
    table3_trials,
)
from isogloss.papers.layerwise.experiments.published import CLAIMS, PUBLISHED, Claim, published_data
from isogloss.papers.layerwise.experiments.training import LayerwiseTrials
from isogloss.papers.reproduction.pages import chosen_items
from isogloss.papers.reproduction.trials import Outcome, TrialDirectory
from isogloss.storage.errors import InputError

PAIR, ALONE = ("en", "fr"), ("fr", "fr")


@pytest.fixture
def experiment(questions, tmp_path):
    setup = Setup(f"wikiclir:{questions}", (PAIR, ALONE), Drawing(), 2, alphas=("-1", "0", "1"))
    return Experiment(setup, LayerwiseTrials().cached_data(), TrialDirectory(tmp_path / "trials"), tmp_path)


def keep(store, trial, mean, validation=None, lists="same", device="none", speed=1000):
    """A trial whose values lie about the mean."""
    values = np.clip(mean + 0.02 * np.sin(np.arange(10) + trial.seed), 0, 1)
    record = {
        "lists": lists, "measured": {"MAP": mean, "P@10": mean / 10}, "seconds": 1.0, "device": device,
        "date": "2026-01-01", "validation": {"MAP": mean if validation is None else validation},
        "pairs_per_second": speed, "history": [{"W_1": 0.5, "W_2": 0.25}, {"W_1": 0.4, "W_2": 0.2}][: 1 + trial.seed],
        "probe": [0.9, 0.6],
    }  # fmt: skip
    store.directory.mkdir(parents=True, exist_ok=True)
    store.write(trial, Outcome(record, {"MAP": values, "P@10": values / 10}))


def keep_grid(experiment, means):
    for trials, mean in zip(grid_trials(experiment, PAIR).values(), means, strict=True):
        for trial in trials:
            keep(experiment.trials, trial, 0.5, mean)


class TestPlan:
    def test_the_alphas_are_chosen_on_the_lists_to_choose_by(self, experiment):
        assert chosen(experiment, PAIR) is None
        keep_grid(experiment, (0.2, 0.6, 0.4))
        assert chosen(experiment, PAIR) == "0"

    def test_alphas_that_failed_are_not_waited_for(self, experiment):
        keep_grid(experiment, (0.2, 0.4, 0.6))
        for trial in grid_trials(experiment, PAIR)["1"]:
            experiment.trials.remove(trial)
            experiment.trials.write_error(trial, "diverged")
        assert chosen(experiment, PAIR) == "0"

    def test_trials_that_depend_on_the_choice_are_planned_after_it(self, experiment):
        items = chosen_items(ITEMS, ["table3"]).values()
        before = experiment.needed(items)
        keep_grid(experiment, (0.6, 0.4, 0.2))
        after = experiment.needed(items)
        assert {trial.name for trial in before} < {trial.name for trial in after}
        assert {trial.settings["alphas"] for trial in after if trial not in before} == {"-1,-1"}
        assert len(before) == 2 * 5  # -1; 0, which is ADV-ONE; 1, which is ADV-ALL; ADV-NON; ours

    def test_rows_are_those_that_make_sense_for_the_pair(self, experiment):
        assert set(table1_trials(experiment, ALONE)) == {
            "BM25", "TRANS", "TOPIC", "DSSM", "AI-CNN", "CNTN", "Match-SRNN", "Smooth, monolingual",
        }  # fmt: skip
        assert {"CNTN-MT", "Match-SRNN-MT", "CLANN", "CLTK", "the paper's model", "PSQ"} <= set(
            table1_trials(experiment, PAIR)
        )
        assert [len(table1_trials(experiment, ALONE)[name]) for name in ("BM25", "DSSM")] == [1, 2]

    def test_an_unknown_item_is_an_error(self):
        with pytest.raises(InputError, match="'table9' is not one of table1, table2"):
            chosen_items(ITEMS, ["table9"])


def test_what_the_paper_says_is_transcribed_whole():
    assert [len(PUBLISHED[item]) for item in ("table1", "table2", "table3")] == [12, 3, 5]
    assert PUBLISHED["table1"]["the paper's model"] == PUBLISHED["table3"]["the paper's model"]
    for item, claims in CLAIMS.items():
        assert {name for claim in claims for name in (claim.left, claim.right)} <= set(PUBLISHED[item])
    assert published_data("zh") == ("Baidu",)
    assert published_data("sw") == ("Yahoo", "Baidu")


@pytest.mark.parametrize(
    ("said", "mean", "significant", "expected"),
    [
        ("better", 0.1, True, True), ("better", 0.1, False, None), ("better", -0.1, True, False),
        ("worse", -0.1, True, True), ("worse", 0.1, True, False), ("on par", 0.1, False, True),
        ("on par", -0.1, True, False), ("not better", -0.1, True, True), ("not better", 0.1, True, False),
        ("not worse", -0.1, False, True), ("not worse", -0.1, True, False),
        ("above", 0.1, True, True), ("above", 0.1, False, None), ("above", -0.1, True, False),
        ("below", -0.1, False, None),
    ],
)  # fmt: skip
def test_whether_a_claim_holds(said, mean, significant, expected):
    assert holds(Claim("a", "b", said), mean, significant) is expected


class TestPages:
    def test_a_table_has_our_numbers_the_papers_and_what_is_significant(self, experiment):
        keep_grid(experiment, (0.6, 0.4, 0.2))
        groups = table3_trials(experiment, PAIR)
        for name, mean in (("ADV-NON", 0.2), ("ADV-ONE", 0.7)):
            for trial in groups[name]:
                keep(experiment.trials, trial, mean, validation=0.4)
        page = table3(experiment)
        assert "chosen by the validation MAP: -1 (of -1; 0; 1)." in page.text
        assert "| ADV-NON | 0.200 ± 0.000 ▼ | 0.020 ± 0.000 ▼ | 0.501 | 0.353 | 0.420 | 0.328 | 1,000 |" in page.text
        assert "| ADV-ONE | 0.700 ± 0.000 ▲ |" in page.text
        assert "| ADV-TOP | — | — | 0.487 |" in page.text
        assert "| *best possible order* | *1.000* | *0.100* |" in page.text
        assert "| the paper's model is better than ADV-NON | MAP | +0.300 | 0.000 | — | yes |" in page.text
        assert "| the paper's model is better than ADV-ONE | MAP | -0.200 | 0.000 | — | no |" in page.text
        assert page.values["results"]["en-fr"]["rows"]["ADV-NON"]["MAP"]["seeds"] == [0.2, 0.2]
        assert "Seconds of the trials, each by itself: 8 on none 8 s." in page.text

    def test_speeds_of_several_machines_are_not_mixed(self, experiment):
        for trial in table3_trials(experiment, PAIR)["ADV-NON"]:
            keep(experiment.trials, trial, 0.2, device=f"machine {trial.seed}", speed=1000 + trial.seed)
        assert "| 1,000; 1,001 | 2 | machine 0, 2026-01-01; machine 1, 2026-01-01 |" in table3(experiment).text

    def test_pairs_of_the_same_documents_stand_in_one_table(self, experiment):
        for trials in table1_trials(experiment, ALONE).values():
            for trial in trials:
                keep(experiment.trials, trial, 0.3)
        text = table1(experiment).text
        assert "## fr-fr and en-fr" in text or "## en-fr and fr-fr" in text
        assert "| 1,000 | 1 | none, 2026-01-01 |" in text
        assert "| — | not run | — |" in text
        assert text.index("| BM25 (monolingual) | 0.300 |") < text.index("| CLANN (cross-language) | — |")

    def test_rows_of_other_lists_are_not_compared(self, experiment):
        groups = table1_trials(experiment, ALONE)
        keep(experiment.trials, groups["BM25"][0], 0.3)
        keep(experiment.trials, groups["TRANS"][0], 0.6, lists="others")
        rows = experiment.groups(groups)
        assert difference(rows["BM25"], rows["TRANS"], "MAP") is None
        assert difference(rows["BM25"], rows["TOPIC"], "MAP") is None
        claims = checked_claims("table1", rows)
        assert {(claim.left, claim.right) for claim in CLAIMS["table1"]} == {(c["left"], c["right"]) for c in claims}
        assert all(claim["holds"] is None and claim["why"] for claim in claims)

    def test_a_row_that_is_a_copy_of_another_is_no_comparison(self, experiment):
        keep_grid(experiment, (0.2, 0.4, 0.6))  # 1 is chosen, which is ADV-ALL
        rows = experiment.groups(table3_trials(experiment, PAIR))
        assert difference(rows["ADV-ALL"], rows["the paper's model"], "MAP") is None
        page = table3(experiment)
        assert NO_COMPARISON in page.text
        assert "| the paper's model is better than ADV-ALL | MAP | — | — | — | cannot be compared here |" in page.text
        keep_grid(experiment, (0.6, 0.4, 0.2))
        assert NO_COMPARISON not in table3(experiment).text

    def test_the_seeds_are_a_test_of_their_own(self, experiment):
        keep_grid(experiment, (0.6, 0.4, 0.2))
        groups = table3_trials(experiment, PAIR)
        for name, means in (("ADV-NON", (0.2, 0.4)), ("ADV-ONE", (0.5, 0.5))):
            for trial, mean in zip(groups[name], means, strict=True):
                keep(experiment.trials, trial, mean)
        rows = experiment.groups(groups)
        apart = difference(rows["ADV-ONE"], rows["ADV-NON"], "MAP")
        assert apart.mean == pytest.approx(0.2)
        assert apart.over_seeds == pytest.approx(0.2951672, abs=1e-6)  # t = .2 / (.1414 / sqrt 2) = 2, one degree
        assert difference(rows["ADV-ONE"][:1], rows["ADV-NON"], "MAP").over_seeds is None

    def test_records_without_the_values_of_queries_are_tested_over_the_seeds(self, experiment):
        groups = {**table1_trials(experiment, ALONE), **table1_trials(experiment, PAIR)}
        for name, mean in (("CNTN", 0.5), ("CNTN-MT", 0.3), ("BM25", 0.4)):
            for number, trial in enumerate(groups[name]):
                keep(experiment.trials, trial, mean + 0.001 * number * (name == "CNTN"))
                (experiment.trials.directory / f"{trial.name}.npz").unlink()  # as those of docs/results/data
        rows = experiment.groups(groups)
        apart = difference(rows["CNTN-MT"], rows["CNTN"], "MAP")
        assert apart.over_queries is None
        assert apart.probability == apart.over_seeds < 0.05
        untested = difference(rows["CNTN"], rows["BM25"], "MAP")
        assert untested.probability is None
        assert not untested.is_significant
        text = table1(experiment).text
        assert re.search(r"\| CNTN-MT is on par with CNTN \| MAP \| -0\.20\d \| — \| 0\.00\d \| no \|", text)
        assert re.search(r"\| CNTN is better than BM25 \| MAP \| \+0\.10\d \| — \| — \| not tested: no spread", text)

    def test_no_difference_shown_is_not_equality(self, experiment):
        groups = {**table1_trials(experiment, ALONE), **table1_trials(experiment, PAIR)}
        for name in ("CNTN", "CNTN-MT"):
            for trial in groups[name]:
                keep(experiment.trials, trial, 0.5)
        assert (
            "| CNTN-MT is on par with CNTN | MAP | +0.000 | 1.000 | 1.000 | no difference shown |"
            in table1(experiment).text
        )

    def test_alphas_that_were_given_are_not_called_chosen(self, experiment):
        given = replace(experiment, setup=replace(experiment.setup, alphas=("0",)))
        keep_grid(given, (0.6,))
        text = table3(given).text
        assert "Alphas of the layers below the last: 0, as given." in text
        assert "; epochs were chosen on" in text

    def test_a_claim_about_one_of_the_papers_data_is_checked_on_its_language_alone(self, experiment):
        groups = {**table1_trials(experiment, ALONE), **table1_trials(experiment, PAIR)}
        for name, mean in (("CNTN", 0.6), ("CNTN-MT", 0.3)):
            for trial in groups[name]:
                keep(experiment.trials, trial, mean)
        rows = experiment.groups(groups)
        said = {language: [] for language in ("en", "zh")}
        for language, found in said.items():
            claims = checked_claims("table1", rows, language)
            found += [(c["said"], c["holds"]) for c in claims if c["measure"] == "P@10" and not c["why"]]
        assert said == {"en": [("worse", True)], "zh": [("on par", False)]}

    def test_distances_are_averaged_over_the_seeds_that_came_so_far(self, experiment):
        keep_grid(experiment, (0.6, 0.4, 0.2))
        results = experiment.results(grid_trials(experiment, PAIR)["-1"])
        assert distances(results) == {"W_1": [0.5, 0.4], "W_2": [0.25, 0.2]}

    def test_figures_and_the_probe(self, experiment):
        pytest.importorskip("matplotlib")
        assert "No trial of this was run." in figure_distance(experiment).text
        keep_grid(experiment, (0.2, 0.6, 0.4))
        page = figure_alphas(experiment)
        assert "| 0 | 0.600 ± 0.000 | 0.500 ± 0.000 | 2 |" in page.text
        assert "| ADV-ONE | W_1 | 0.500 | 0.400 |" in figure_distance(experiment).text
        assert "| ADV-ALL | 0.900 ± 0.000 | 0.600 ± 0.000 | 0.500 ± 0.000 |" in probe(experiment).text
        for name in ("figure_alphas", "figure_distance"):
            assert (experiment.output / f"{name}.en-fr.png").read_bytes().startswith(b"\x89PNG")

    def test_every_item_has_a_page_before_any_trial_was_run(self, experiment):
        pytest.importorskip("matplotlib")
        for item in ITEMS.values():
            assert item.page(experiment).text.startswith("# ")
