"""The figures and the probe: distances during training, MAP against the alphas, the language told from each layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.papers.figures import line_style, new_figure, save_figure
from isogloss.papers.layerwise import plan
from isogloss.papers.layerwise.experiment import Experiment
from isogloss.papers.layerwise.lists import MEASURED
from isogloss.papers.layerwise.tables import alphas_line
from isogloss.papers.layerwise.trial_store import Result
from isogloss.papers.pages import Page, markdown_table
from isogloss.papers.summaries import Summary, summarise

Curves = dict[str, dict[str, list[float]]]
"""Panel, layer, a distance an epoch."""


def figure_distance(experiment: Experiment) -> Page:
    """The critics' estimate of the Wasserstein distance on each layer, epoch by epoch."""
    sections, values = ["# The distance between the languages on each layer, during training"], {}
    for pair in experiment.setup.cross_language():
        name = "-".join(pair)
        groups = experiment.groups(plan.watched_trials(experiment.setup, pair, experiment.store))
        values[name] = curves = {label: distances(results) for label, results in groups.items() if results}
        if not curves:
            sections.append(f"## {name}\n\nNo trial of this was run.")
            continue
        draw_distances(experiment.output / f"figure_distance.{name}", curves)
        header = ("model", "layer", "first epoch", "last epoch")
        rows = [
            (label, layer, f"{found[0]:.3f}", f"{found[-1]:.3f}")
            for label, layers in curves.items()
            for layer, found in layers.items()
        ]
        sections += [
            f"## {name}", f"![distances](figure_distance.{name}.png)", alphas_line(experiment, pair),
            "W_j is what the critic of layer j says, a mean over the epoch and over the seeds that came so far; the "
            "critics of ADV-NON only watch.", markdown_table(header, rows),
        ]  # fmt: skip
    return Page("\n\n".join(sections), {**experiment.about(), "distances": values})


def figure_alphas(experiment: Experiment) -> Page:
    """MAP against the alphas that were tried."""
    sections, values = ["# MAP against the alphas of the layers"], {}
    for pair in experiment.setup.cross_language():
        name = "-".join(pair)
        found = experiment.groups(plan.alpha_trials(experiment.setup, pair))
        points = {alphas or "1": _both(results) for alphas, results in found.items()}
        values[name] = {alphas: {k: v.as_json() for k, v in both.items()} for alphas, both in points.items()}
        draw_alphas(experiment.output / f"figure_alphas.{name}", points)
        rows = [(alphas, *(str(both[lists]) for lists in ("validation", MEASURED))) for alphas, both in points.items()]
        sections += [
            f"## {name}", f"![alphas](figure_alphas.{name}.png)", alphas_line(experiment, pair),
            experiment.lists_line(pair), markdown_table(("alphas", "MAP, to choose by", "MAP, measured"), rows),
        ]  # fmt: skip
    return Page("\n\n".join(sections), {**experiment.about(), "alphas": values})


def probe(experiment: Experiment) -> Page:
    """How well a classifier tells the languages apart by each layer's vectors."""
    sections, values = ["# Telling the language from each layer's vector"], {}
    for pair in experiment.setup.cross_language():
        groups = experiment.groups(plan.watched_trials(experiment.setup, pair, experiment.store))
        layers = max((len(result.record["probe"]) for results in groups.values() for result in results), default=0)
        found = {
            label: [summarise([result.record["probe"][layer] for result in results]) for layer in range(layers)]
            for label, results in groups.items()
        }
        values["-".join(pair)] = {label: [each.as_json() for each in by] for label, by in found.items()}
        header = ("model", *(f"layer {layer + 1}" for layer in range(layers)), "MAP")
        rows = [
            (label, *map(str, by), str(summarise([result.mean("MAP") for result in groups[label]])))
            for label, by in found.items()
        ]
        sections += [f"## {'-'.join(pair)}", alphas_line(experiment, pair), markdown_table(header, rows)]
    sections.append(
        "The share of right answers of a classifier that was trained afterwards on the vectors of a part of the "
        "measured queries and of the documents relevant to them, and asked of the others; .5 is chance. None of these "
        "documents was a positive in training; they can have been negatives."
    )
    return Page("\n\n".join(sections), {**experiment.about(), "accuracy": values})


def distances(results: Sequence[Result]) -> dict[str, list[float]]:
    """W_j of each epoch, averaged over the seeds that came so far."""
    histories = [result.record["history"] for result in results]
    layers = sorted({key for history in histories for entry in history for key in entry if key.startswith("W_")})
    longest = max((len(history) for history in histories), default=0)
    found = {}
    for layer in layers:
        by_epoch = [[h[epoch][layer] for h in histories if epoch < len(h) and layer in h[epoch]] for epoch in range(longest)]  # fmt: skip  # noqa: E501
        found[layer] = [float(np.mean(each)) for each in by_epoch if each]
    return found


def draw_distances(path: Path, curves: Curves) -> list[Path]:
    """A panel a model, a curve a layer."""
    figure = new_figure(3.2 * len(curves) + 0.4, 3.2)
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (label, layers) in zip(panels, curves.items(), strict=True):
        for number, (layer, found) in enumerate(layers.items()):
            epochs = range(1, len(found) + 1)
            axes.plot(epochs, found, label=f"layer {layer.removeprefix('W_')}", linewidth=1.8, **line_style(number))
        axes.set(title=label, xlabel="epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("Wasserstein distance")
    if any(curves.values()):
        panels[0].legend(handlelength=3)
    return save_figure(figure, path)


def draw_alphas(path: Path, points: Mapping[str, Mapping[str, Summary]]) -> list[Path]:
    """MAP with its interval for each of the alphas, on the lists to choose by and on those measured."""
    figure = new_figure(max(5.0, 0.5 * len(points) + 2), 3.6)
    axes = figure.subplots()
    for number, (lists, label) in enumerate((("validation", "lists to choose by"), (MEASURED, "measured lists"))):
        known = [(place, both[lists]) for place, both in enumerate(points.values()) if both[lists].values]
        halves: list[Any] = [0.0 if math.isnan(each.half) else each.half for _, each in known]
        style = line_style(number, markers=True)
        places, means = [place + 0.06 * number for place, _ in known], [each.mean for _, each in known]
        axes.errorbar(places, means, yerr=halves, label=label, capsize=3, **style)
    axes.set_xticks(range(len(points)), list(points), rotation=90 if len(points) > 8 else 0)
    axes.set(xlabel="alphas of the layers below the last", ylabel="MAP")
    axes.grid(alpha=0.3)
    axes.legend(handlelength=3)
    return save_figure(figure, path)


def _both(results: Sequence[Result]) -> dict[str, Summary]:
    return {lists: summarise([result.mean("MAP", lists) for result in results]) for lists in ("validation", MEASURED)}
