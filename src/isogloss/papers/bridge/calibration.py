"""Whether the scores of ``bridge`` mean what they say: reliability, and whether it knows when nothing is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.bridge.experiment import Experiment
from isogloss.papers.bridge.reliability import BINS, calibration_error, reliability
from isogloss.papers.bridge.trial import Result
from isogloss.papers.bridge.trial_run import DEPTH
from isogloss.papers.figures import line_style, new_figure, save_figure
from isogloss.papers.pages import Page, markdown_table
from isogloss.systems.bridge.weights import Calibration

_NOTE = (
    f"Chances P(g ≥ j | score) of the first {DEPTH} documents found for each query, in {BINS} bins of equal width, "
    "beside the share of them that was judged so. ECE is the expected calibration error: the mean of the differences, "
    "each bin counted by its documents; first hits alone are what a reader sees first. *Nothing there* takes the "
    "documents of any relevance for a query out of the collection before it is searched; a first hit below the first "
    "threshold (an even chance to be at least partially relevant) is shown as *probably nothing here*."
)


def calibration(experiment: Experiment) -> Page:
    """Tables and a figure a pair."""
    sections, values = [f"# Do the scores of bridge mean what they say? {experiment.setup.data}"], {}
    for pair in experiment.setup.pairs:
        name, found = "-".join(pair), experiment.results(experiment.setup.whole(pair))
        known = {label: result for label, result in found.items() if result and result.record["calibration"]}
        values[name] = looked = {label: look_at(result) for label, result in known.items()}
        sections += [f"## {name}", experiment.about_line(found)]
        if not known:
            sections.append("No model has thresholds: too few train queries are judged to fit them.")
            continue
        draw(experiment.output / f"calibration.{name}", looked, {label: first_hits(r) for label, r in known.items()})
        sections += [f"![reliability](calibration.{name}.png)", _errors(looked), _nothing_there(looked), _bins(looked)]
    return Page("\n\n".join([*sections, _NOTE]), {**experiment.about(), "pairs": values})


def look_at(result: Result) -> dict[str, Any]:
    """All that the page says of a trial, as plain values."""
    found, model = result.arrays, _model(result)
    chances, grades = model.chances(found["scores"].astype(float)), found["grades"]
    is_first = np.zeros(len(grades), bool)
    is_first[(np.cumsum(found["counts"]) - found["counts"])[found["counts"] > 0]] = True
    kinds = {}
    for label, column in _levels(result.record["top_grade"], model).items():
        bins = reliability(chances[:, column], grades > column)
        firsts = reliability(chances[is_first, column], grades[is_first] > column)
        kinds[label] = {
            "bins": [each._asdict() for each in bins], "error": calibration_error(bins),
            "error_of_first_hits": calibration_error(firsts),
        }  # fmt: skip
    below = {name: float(np.mean(found[f"first_{name}"] < model.thresholds[0])) for name in ("there", "gone")}
    return {
        "documents": len(grades), "thresholds": model.thresholds, **model._asdict(), "reliability": kinds,
        "first_hit_below_threshold": below,
    }  # fmt: skip


def first_hits(result: Result) -> dict[str, NDArray[np.float64]]:
    """The chances of the first hits to be at least partially relevant, with and without anything to be found."""
    scores = {"relevant documents there": "first_there", "taken out": "first_gone"}
    return {label: _model(result).chances(result.arrays[name])[:, 0] for label, name in scores.items()}


def draw(path: Path, looked: Mapping[str, Any], firsts: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> None:
    """Predicted against observed, and the first hits' chances, as shares of the queries that have no more."""
    figure = new_figure(9.5, 4.2)
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
    number = 0
    for label, found in looked.items():
        for kind, each in found["reliability"].items():
            points = [(bin_["predicted"], bin_["observed"]) for bin_ in each["bins"]]
            left.plot(*zip(*points, strict=True), label=f"{kind}, {label}", **line_style(number, markers=True))
            number += 1
    left.set(xlabel="predicted chance", ylabel="observed share", title="reliability", xlim=(0, 1), ylim=(0, 1))
    for number, (label, chances) in enumerate((f"{k}, {n}", v) for n, by in firsts.items() for k, v in by.items()):
        right.plot(np.sort(chances), np.linspace(0, 1, len(chances)), label=label, **line_style(number))
    right.axvline(0.5, color="#999999", linewidth=0.8)
    right.set(xlabel="chance of the first hit", ylabel="share of queries with at most that", xlim=(0, 1), ylim=(0, 1))
    right.set_title("is anything there?")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
    save_figure(figure, path)


def _model(result: Result) -> Calibration:
    found = result.record["calibration"]
    return Calibration(float(found["slope"]), float(found["context"]), tuple(found["biases"]))


def _levels(top_grade: int, model: Calibration) -> dict[str, int]:
    """The kinds of relevance that there are chances of, with their columns."""
    last = min(top_grade, len(model.biases)) - 1
    return {"relevant": last} if last < 1 else {"at least partially relevant": 0, "relevant": last}


def _errors(looked: Mapping[str, Any]) -> str:
    rows = [
        (f"{label}, {kind}", f"{found['documents']:,}", f"{each['error']:.4f}", f"{each['error_of_first_hits']:.4f}")
        for label, found in looked.items()
        for kind, each in found["reliability"].items()
    ]
    return markdown_table(("chances", "documents", "ECE", "ECE of first hits"), rows)


def _nothing_there(looked: Mapping[str, Any]) -> str:
    rows = [
        (label, *(f"{threshold:.2f}" for threshold in found["thresholds"][:1]),
         *(f"{found['first_hit_below_threshold'][name]:.3f}" for name in ("there", "gone")))
        for label, found in looked.items()
    ]  # fmt: skip
    return markdown_table(("first hit below the first threshold", "threshold", "all there", "nothing there"), rows)


def _bins(looked: Mapping[str, Any]) -> str:
    rows = [
        (f"{label}, {kind}", f"{bin_['low']:.1f}–{bin_['high']:.1f}", f"{bin_['documents']:,}",
         f"{bin_['predicted']:.3f}", f"{bin_['observed']:.3f}")
        for label, found in looked.items()
        for kind, each in found["reliability"].items()
        for bin_ in each["bins"]
    ]  # fmt: skip
    return markdown_table(("bins", "chance", "documents", "predicted", "observed"), rows)
