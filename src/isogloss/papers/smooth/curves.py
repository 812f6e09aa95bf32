"""Figures 3, 4 and 5 of the smooth paper from trials: each drawn, with its numbers as a page, JSON and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.adhoc import write_csv
from isogloss.papers.pages import Page, markdown_table
from isogloss.papers.smooth.drawings import draw_densities, draw_measures
from isogloss.papers.smooth.pages import Experiment, training_line
from isogloss.papers.smooth.plan import figure4_trials, figure5_trials, table2_trials
from isogloss.papers.smooth.published import MEASURES
from isogloss.papers.smooth.trial_measuring import binned_scores
from isogloss.papers.smooth.trial_store import Result
from isogloss.storage.errors import InputError

CHOSEN_BY = "NDCG@5"
_FIGURE5 = ("P_mr@1", "NDCG@5", "MAP", "MRR_mr")
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def figure3(experiment: Experiment) -> Page:
    """How each loss scores the classes of the training pairs, and how much neighbouring classes overlap."""
    pair = experiment.setup.pairs[0]
    groups = {name: trials[:1] for name, trials in table2_trials(experiment.setup, pair).items()}
    found = {name: results[0] for name, results in experiment.groups(groups).items() if results}
    _need(found)
    counts = {name: result.score_counts for name, result in found.items()}
    classes = _class_names(len(next(iter(counts.values()))))
    panels = {
        loss: {name: binned_scores(each) for name, each in zip(classes, by, strict=True)} for loss, by in counts.items()
    }
    highest = max(float(scores.max(initial=-1)) for classes_of in panels.values() for scores in classes_of.values())
    lines = {
        name: [threshold for threshold in _numbers(result.trial.thresholds) if threshold <= highest]
        for name, result in found.items()
    }
    draw_densities(experiment.output / "figure3", panels, lines if len(classes) == 3 else ())
    rows = [
        (loss, *(f"{np.median(binned_scores(each)):.3f}" for each in by), *(f"{o:.3f}" for o in _overlaps(by)))
        for loss, by in counts.items()
    ]
    header = ("loss", *(f"median {name}" for name in classes), *(f"overlap {a}, {b}" for a, b in pairwise(classes)))
    text = (
        f"# Figure 3: scores of the training pairs, {'-'.join(pair)}\n\n![figure 3](figure3.png)\n\n"
        f"{training_line(list(found.values()))}\n\n{markdown_table(header, rows)}\n\n"
        "Overlap is the share of two classes' scores that could belong to either: the integral of the smaller density."
    )
    values = {
        loss: {
            "trial": found[loss].trial.name,
            "classes": {name: _quantiles(each) for name, each in zip(classes, by, strict=True)},
            "overlaps": {f"{a}, {b}": o for (a, b), o in zip(pairwise(classes), _overlaps(by), strict=True)},
        }
        for loss, by in counts.items()
    }
    return Page(text, {**experiment.about(), "losses": values})


def figure4(experiment: Experiment) -> Page:
    """Measures against eps, the thresholds of each chosen on the split that is measured."""
    grid = {eps: experiment.results(trials) for eps, trials in figure4_trials(experiment.setup).items()}
    chosen = {
        f"{eps:g}": max(results, key=lambda result: result.mean(CHOSEN_BY)) for eps, results in grid.items() if results
    }
    thresholds = {eps: result.trial.thresholds for eps, result in chosen.items()}
    title = f"Figure 4: measures against eps, {'-'.join(experiment.setup.pairs[0])}"
    remark = (
        f"For each eps, of {max(map(len, grid.values()))} pairs of thresholds, those with the highest {CHOSEN_BY} on "
        f"{experiment.setup.split} (sampled) were chosen, where the paper takes those 'with the best results': the "
        "curve is that of a validation set, a little too good. One seed."
    )
    page = _curve(experiment, "figure4", title, "eps", chosen, MEASURES, remark, {"thresholds": thresholds})
    every = [
        {
            "eps": float(eps),
            "thresholds": result.trial.thresholds,
            "trial": result.trial.name,
            CHOSEN_BY: result.mean(CHOSEN_BY),
        }
        for eps, results in grid.items()
        for result in results
    ]
    return Page(page.text, {**page.values, "grid": every})


def figure5(experiment: Experiment) -> Page:
    """Measures against the number of irrelevant documents."""
    found = {
        str(number): result
        for number, trial in figure5_trials(experiment.setup).items()
        for result in experiment.results([trial])
    }
    title = f"Figure 5: measures against irrelevant documents, {'-'.join(experiment.setup.pairs[0])}"
    remark = "As many irrelevant documents a query are learned from as are ranked. One seed."
    return _curve(experiment, "figure5", title, "irrelevant documents a query", found, _FIGURE5, remark, {})


def _curve(
    experiment: Experiment, item: str, title: str, x: str, found: Mapping[str, Result], drawn: Sequence[str],
    remark: str, more: Mapping[str, Mapping[str, str]],
) -> Page:  # fmt: skip
    """A figure of measures against a setting; ``more`` has columns of its own."""
    _need(found)
    xs = [float(each) for each in found]
    curves = {name: [result.mean(name) for result in found.values()] for name in MEASURES}
    draw_measures(experiment.output / item, x, xs, {name: curves[name] for name in drawn})
    header = (x, *more, *MEASURES, "full MRR_mr")
    rows = [
        (each, *(column[each] for column in more.values()), *(f"{result.mean(name):.4f}" for name in MEASURES),
         f"{result.mean('MRR_mr', 'full'):.4f}")
        for each, result in found.items()
    ]  # fmt: skip
    write_csv(experiment.output / f"{item}.csv", header, rows)
    parts = (
        f"# {title}",
        f"![{item}]({item}.png)",
        training_line(list(found.values())),
        remark,
        markdown_table(header, rows),
    )
    values: dict[str, Any] = {
        "x": xs, **{name: list(column.values()) for name, column in more.items()}, "sampled": curves,
        "full": {name: [result.mean(name, "full") for result in found.values()] for name in MEASURES},
        "epochs": sorted({len(result.record["history"]) for result in found.values()}),
        "trials": [result.trial.name for result in found.values()],
    }  # fmt: skip
    return Page("\n\n".join(parts), {**experiment.about(), **values})


def _need(found: Mapping[str, Result]) -> None:
    if not found:
        raise InputError("reproduce: none of the trials of this figure was run to its end, so there is nothing to draw")


def _numbers(thresholds: str) -> list[float]:
    return [float(threshold) for threshold in thresholds.split(",")]


def _class_names(number: int) -> list[str]:
    return ["NR", "SR", "MR"] if number == 3 else [f"grade {grade}" for grade in range(number)]


def _quantiles(counts: NDArray[np.int32]) -> dict[str, float]:
    scores = binned_scores(counts)
    return {f"{share:g}": float(np.quantile(scores, share)) for share in _QUANTILES} if len(scores) else {}


def _overlaps(counts: NDArray[np.int32]) -> list[float]:
    """The overlap of each class with the next."""
    wide = counts.reshape(len(counts), -1, 20).sum(axis=2)  # bins of .02: narrow ones would differ by chance alone
    shares = wide / np.maximum(wide.sum(axis=1, keepdims=True), 1)
    return [float(np.minimum(left, right).sum()) for left, right in pairwise(shares)]
