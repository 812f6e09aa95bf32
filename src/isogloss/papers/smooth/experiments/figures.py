"""Figures 1 to 5 of the smooth paper, each as SVG and PNG, with its numbers as a page, JSON and CSV.

The lines can be told apart in black and white.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.papers.reproduction.figures import line_style, new_figure, save_figure
from isogloss.papers.reproduction.pages import Page, markdown_table, write_csv
from isogloss.papers.similarity import smooth_cosine_gradient
from isogloss.papers.smooth.experiments import plan
from isogloss.papers.smooth.experiments.comparing import (
    PROTOCOLS,
    compare_under_both,
    comparisons_json,
    differences_tables,
)
from isogloss.papers.smooth.experiments.data import Trial
from isogloss.papers.smooth.experiments.measuring import binned_scores
from isogloss.papers.smooth.experiments.plan import Experiment, Result, training_line
from isogloss.papers.smooth.experiments.published import MEASURES
from isogloss.papers.smooth.losses import MeanSquaredError, SmoothOrdinalSearchLoss
from isogloss.storage.errors import InputError

FIGURE1_EPS = (0.05, 0.2, 0.5, 0.0)
FIGURE1_LEVELS = (-1, -0.5, 0, 0.5, 1, 2, 4, 8)
FIGURE2_THRESHOLDS = (0.0, 0.5)
CHOSEN_BY = "NDCG@5"
_CHOICES = ((CHOSEN_BY, "sampled"), ("MRR_mr", "full"))
FINALISTS = 3
"""So many pairs of thresholds of each eps, by each of the choices, are tried with all seeds."""
_GRID = ("NDCG@5", "MRR_mr")
Thresholds = tuple[float, float]
_FIGURE5 = ("P_mr@1", "NDCG@5", "MAP", "MRR_mr")
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_DENSITY_BINS = 1000
_THRESHOLD_LINE: dict[str, Any] = {"color": "0.55", "linewidth": 0.9, "linestyle": (0, (1, 1.5))}


def figure1(experiment: Experiment) -> Page:
    """The gradient of the smooth cosine."""
    draw_gradients(experiment.output / "figure1")
    return _captioned(
        1, "the gradient of the smooth cosine",
        "The derivative of the smooth cosine of (x1, x2) and (1, 1) with respect to x1.",
    )  # fmt: skip


def figure2(experiment: Experiment) -> Page:
    """SOSL against MSE."""
    draw_losses(experiment.output / "figure2")
    return _captioned(2, "SOSL against MSE", "SOSL and MSE of a score, for each class, at thresholds 0 and 0.5.")


def figure3(experiment: Experiment) -> Page:
    """How each loss scores the classes of the training pairs, and how much neighbouring classes overlap."""
    pair = experiment.setup.pairs[0]
    groups = experiment.groups(plan.figure3_trials(experiment.setup))
    found = {name: results[0] for name, results in groups.items() if results}
    _need(found)
    counts = {name: result.arrays["score_counts"] for name, result in found.items()}
    number = len(next(iter(counts.values())))
    classes = ["NR", "SR", "MR"] if number == 3 else [f"grade {grade}" for grade in range(number)]
    panels = {
        loss: {name: binned_scores(each) for name, each in zip(classes, by, strict=True)} for loss, by in counts.items()
    }
    highest = max(float(scores.max(initial=-1)) for classes_of in panels.values() for scores in classes_of.values())
    lines = {
        name: [threshold for threshold in map(float, result.trial.thresholds.split(",")) if threshold <= highest]
        for name, result in found.items()
    }
    draw_densities(experiment.output / "figure3", panels, lines if len(classes) == 3 else {})
    rows = [
        (loss, *(f"{np.median(binned_scores(each)):.3f}" for each in by), *(f"{o:.3f}" for o in class_overlaps(by)))
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
            "overlaps": {f"{a}, {b}": o for (a, b), o in zip(pairwise(classes), class_overlaps(by), strict=True)},
        }
        for loss, by in counts.items()
    }
    return Page(text, {**experiment.setup.about(), "losses": values})


def figure4_trials(experiment: Experiment) -> Iterator[Trial]:
    """The whole grid with the first seed; then, of each eps, the best pairs of thresholds with the other seeds."""
    grid = plan.figure4_trials(experiment.setup)
    yield from (trials[0] for by in grid.values() for trials in by.values())
    for by in grid.values():
        first = {thresholds: experiment.results(trials[:1]) for thresholds, trials in by.items()}
        if all(first.values()):
            yield from (trial for thresholds in finalists(first) for trial in by[thresholds])


def finalists(first: Mapping[Thresholds, Sequence[Result]]) -> list[Thresholds]:
    """The best of the first seed by either of ``_CHOICES``."""
    best = (sorted(first, key=lambda each: -_mean(first[each], *choice))[:FINALISTS] for choice in _CHOICES)
    return list(dict.fromkeys(thresholds for each in best for thresholds in each))


def figure4(experiment: Experiment) -> Page:
    """Measures against eps, the thresholds of each chosen on the split that is measured."""
    grid = {
        eps: {thresholds: results for thresholds, trials in by.items() if (results := experiment.results(trials))}
        for eps, by in plan.figure4_trials(experiment.setup).items()
    }
    chosen = {choice: {f"{eps:g}": _best(by, choice) for eps, by in grid.items() if by} for choice in _CHOICES}
    _need(chosen[_CHOICES[0]])
    values: dict[str, Any] = {}
    texts = []
    for number, (choice, best) in enumerate(chosen.items()):
        found = {eps: grid[float(eps)][thresholds] for eps, thresholds in best.items()}
        edges = {eps: on for eps, each in best.items() if (on := plan.edges(grid[float(eps)], each))}
        page = _figure4_part(experiment, choice, found, best, edges, "figure4" if number == 0 else "figure4-full")
        texts.append(page.text)
        values |= page.values if number == 0 else {"whole collection": page.values}
    every = [
        {
            "eps": eps,
            "thresholds": list(thresholds),
            "trials": [result.trial.name for result in results],
            **{f"{protocol} {name}": _mean(results, name, protocol) for protocol in PROTOCOLS for name in _GRID},
        }
        for eps, by in grid.items()
        for thresholds, results in by.items()
    ]
    return Page("\n\n".join([*texts, _grid_tables(every)]), {**values, "grid": every})


def _best(by: Mapping[Thresholds, Sequence[Result]], choice: tuple[str, str]) -> Thresholds:
    """Of the pairs of thresholds with the most seeds the best."""
    most = max(map(len, by.values()))
    return max(
        (each for each, results in by.items() if len(results) == most), key=lambda each: _mean(by[each], *choice)
    )


def _figure4_part(
    experiment: Experiment, choice: tuple[str, str], found: dict[str, list[Result]],
    best: Mapping[str, Thresholds], edges: Mapping[str, Sequence[str]], name: str,
) -> Page:  # fmt: skip
    """A curve whose thresholds were chosen by one measure, and the differences along it."""
    measure, protocol = choice
    shown = {eps: ",".join(f"{each:g}" for each in thresholds) for eps, thresholds in best.items()}
    title = f"Figure 4: measures against eps, {'-'.join(experiment.setup.pairs[0])}, chosen by {measure} ({protocol})"
    remark = (
        f"For each eps, of the pairs of thresholds in the table at the end, those with the highest {measure} on "
        f"{experiment.setup.split} ({protocol}) were chosen, where the paper takes those 'with the best results': the "
        f"curve is that of a validation set, a little too good. The whole grid has one seed; the best {FINALISTS} of "
        f"each eps have all seeds, and one of these is chosen. {edges_sentence(edges)}"
    )
    page = _curve(experiment, name, title, "eps", found, MEASURES, remark, {"thresholds": shown}, protocol)
    comparisons = compare_under_both({f"eps {eps}": results for eps, results in found.items()})
    text = "\n\n".join([page.text, *differences_tables(comparisons)])
    return Page(text, {**page.values, "edges": edges, "comparisons": comparisons_json(comparisons)})


def edges_sentence(edges: Mapping[str, Sequence[str]]) -> str:
    """Which optima lie on the edge of what was tried for their eps: a wider grid may have better ones.

    >>> edges_sentence({"0.5": ["theta2 0.8 is the highest"]})
    'On the edge of the grid, so a wider one (--grid) may have better ones: eps 0.5 (theta2 0.8 is the highest).'
    """
    if not edges:
        return "No optimum is on an edge of the grid."
    named = "; ".join(f"eps {eps} ({', '.join(on)})" for eps, on in edges.items())
    return f"On the edge of the grid, so a wider one (--grid) may have better ones: {named}."


def _grid_tables(every: Sequence[Mapping[str, Any]]) -> str:
    """All of the grid: sampled NDCG@5 and MRR_mr over the whole collection."""
    header = ("thresholds", *dict.fromkeys(f"eps {each['eps']:g}" for each in every))
    cells: dict[str, dict[str, str]] = {}
    for each in sorted(every, key=lambda each: list(each["thresholds"])):
        row = cells.setdefault(",".join(f"{threshold:g}" for threshold in each["thresholds"]), {})
        row[f"eps {each['eps']:g}"] = f"{each[f'sampled {CHOSEN_BY}']:.3f} / {each['full MRR_mr']:.3f}"
    rows = [(thresholds, *(row.get(name, "—") for name in header[1:])) for thresholds, row in cells.items()]
    return f"The whole grid, {CHOSEN_BY} sampled / MRR_mr over the whole collection:\n\n{markdown_table(header, rows)}"


def figure5(experiment: Experiment) -> Page:
    """Measures against the number of irrelevant documents."""
    found = {
        str(number): results
        for number, trial in plan.figure5_trials(experiment.setup).items()
        if (results := experiment.results([trial]))
    }
    title = f"Figure 5: measures against irrelevant documents, {'-'.join(experiment.setup.pairs[0])}"
    remark = "Training and ranking use the same number of irrelevant documents a query. One seed."
    return _curve(experiment, "figure5", title, "irrelevant documents a query", found, _FIGURE5, remark, {})


def draw_gradients(path: Path) -> list[Path]:
    """Heat maps of the partial derivative of r_eps((x1, x2), (1, 1)) with respect to x1, for several eps."""
    figure = new_figure(12.5, 3.7)
    panels = figure.subplots(1, len(FIGURE1_EPS), sharey=True)
    for axes, eps in zip(panels, FIGURE1_EPS, strict=True):
        image = _heat_map(axes, eps)
        axes.set(title=f"$\\epsilon$ = {eps:g}" + (" (cosine)" if eps == 0 else ""), xlabel="$x_1$")
        axes.set(xticks=(-1, -0.5, 0, 0.5, 1), yticks=(-1, -0.5, 0, 0.5, 1))
    panels[0].set_ylabel("$x_2$")
    bar = figure.colorbar(image, ax=list(panels), shrink=0.95, pad=0.015, format="%g")
    bar.set_label("$\\partial r_\\epsilon\\,/\\,\\partial x_1$", fontsize=11)
    figure.supxlabel(_figure1_caption(), fontsize=9)
    return save_figure(figure, path)


def _figure1_caption() -> str:
    centre = np.zeros((1, 1))
    peaks = [f"{_slopes(centre, centre, eps).item():.1f} at $\\epsilon$ = {eps:g}" for eps in FIGURE1_EPS if eps]
    lowest, highest = f"\N{MINUS SIGN}{-FIGURE1_LEVELS[0]}", FIGURE1_LEVELS[-1]
    return (
        f"Bands of slope, clipped: all below {lowest} has one colour, all above {highest} another."
        f" The slope is largest at the centre: {', '.join(peaks)}, without bound at $\\epsilon$ = 0."
    )


def _slopes(x1: NDArray[np.float64], x2: NDArray[np.float64], eps: float) -> NDArray[np.float64]:
    gradient = smooth_cosine_gradient(np.stack([x1, x2], axis=-1), np.ones(2), eps)[0]
    return np.asarray(gradient[..., 0], dtype=np.float64)


def _heat_map(axes: Any, eps: float) -> Any:
    """Bands of one colour between two levels, the lines between them labelled."""
    from matplotlib.colors import BoundaryNorm

    positions = np.linspace(-1, 1, 600)  # an even number: none is 0, where eps = 0 has no derivative
    values = _slopes(*np.meshgrid(positions, positions), eps)
    norm = BoundaryNorm(FIGURE1_LEVELS, ncolors=256, extend="both")
    image = axes.imshow(values, origin="lower", extent=(-1, 1, -1, 1), norm=norm, cmap="cividis", aspect="equal")
    ink = ["white" if level < 1 else "black" for level in FIGURE1_LEVELS]
    lines = axes.contour(
        positions, positions, values, levels=FIGURE1_LEVELS, colors=ink, linewidths=0.8, negative_linestyles="dashed"
    )
    axes.clabel(lines, manual=_label_positions(eps), fontsize=9, fmt="%g")
    return image


def _label_positions(eps: float) -> list[tuple[float, float]]:
    """Where lines have room for their label: 1 and 2 on the lower lobe's axis, 0.5 at x2 = -0.5, 0 at x1 = 0.7."""
    steps = np.linspace(1, 0.1, 500)
    fixed = np.ones_like(steps)
    lobe = (0.36 * steps, -0.93 * steps)
    positions = []
    for level, (x1, x2) in ((1, lobe), (2, lobe), (0.5, (steps, -0.5 * fixed)), (0, (0.7 * fixed, steps))):
        crossing = np.flatnonzero(np.diff(_slopes(x1, x2, eps) > level))
        positions += [(float(x1[step]), float(x2[step])) for step in crossing[:1]]
    return positions


def draw_losses(path: Path) -> list[Path]:
    """SOSL against MSE at thresholds (0, 0.5), one panel a class."""
    scores = np.linspace(-1, 1, 401)
    figure = new_figure(10.5, 3.4)
    panels = figure.subplots(1, 3, sharey=True)
    losses = {"SOSL": SmoothOrdinalSearchLoss(FIGURE2_THRESHOLDS), "MSE": MeanSquaredError(FIGURE2_THRESHOLDS)}
    for grade, axes in enumerate(panels):
        for number, (name, loss) in enumerate(losses.items()):
            axes.plot(scores, loss.values(scores, grade), label=name, linewidth=1.8, **line_style(number))
        _mark_thresholds(axes, FIGURE2_THRESHOLDS)
        axes.set_title(f"y = {grade + 1}", pad=16)
        axes.set(xlabel="relevance score r", xlim=(-1, 1))
    panels[0].set_ylabel("loss")
    panels[0].set_ylim(bottom=-0.05)
    panels[0].legend(loc="upper left", handlelength=3)
    return save_figure(figure, path)


def draw_densities(
    path: Path, panels: Mapping[str, Mapping[str, ArrayLike]], thresholds: Mapping[str, Sequence[float]]
) -> list[Path]:
    """The density of the scores of each class, one panel a loss (figure 3).

    ``panels`` maps a panel's title to the scores of each class by its name, ``thresholds`` to its vertical lines.
    """
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = new_figure(5 * columns, 2.9 * rows + 0.4)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, classes) in zip(all_axes, panels.items(), strict=False):
        for number, (name, scores) in enumerate(classes.items()):
            axes.plot(*density(scores), label=name, linewidth=1.8, **line_style(number))
        _mark_thresholds(axes, thresholds.get(title, ()))
        axes.set_title(title, pad=16)
        axes.set(xlabel="relevance score r", ylabel="density", xlim=_score_range(panels))
        axes.set_ylim(bottom=0)
    for axes in all_axes[len(panels) :]:
        axes.remove()
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, handlelength=3.5)
    return save_figure(figure, path)


def _score_range(panels: Mapping[str, Mapping[str, ArrayLike]]) -> tuple[float, float]:
    """From the lowest to the highest score, and a little more."""
    scores = [np.asarray(values) for classes in panels.values() for values in classes.values()]
    lowest = min((values.min() for values in scores if values.size), default=-1.0)
    highest = max((values.max() for values in scores if values.size), default=1.0)
    return max(-1.0, float(lowest) - 0.05), min(1.0, float(highest) + 0.05)


def draw_measures(path: Path, x: str, xs: Sequence[float], curves: Mapping[str, Sequence[float]]) -> list[Path]:
    """Measures against one setting (figures 4 and 5)."""
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    for number, (name, values) in enumerate(curves.items()):
        axes.errorbar(xs, values, label=name, capsize=3, markersize=5, **line_style(number, markers=True))
    axes.set(xlabel=x, ylabel="measure")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=3.5)
    return save_figure(figure, path)


def _mark_thresholds(axes: Any, thresholds: Sequence[float]) -> None:
    """Vertical lines, named at the top."""
    for number, threshold in enumerate(thresholds, start=1):
        axes.axvline(threshold, **_THRESHOLD_LINE)
        axes.annotate(
            f"$\\theta_{number}$", (threshold, 1), xycoords=axes.get_xaxis_transform(), xytext=(0, 2),
            textcoords="offset points", ha="center",
        )  # fmt: skip


def density(scores: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions in [-1, 1] and the density of the scores there, estimated with a Gaussian kernel.

        p(x) = 1 / (n h) sum_i phi((x - x_i) / h),  h = .9 min(standard deviation, interquartile range / 1.34) n^{-1/5}

    (Silverman's bandwidth). Scores are counted in fine bins first, so that millions cost no more than hundreds; what
    the kernel would spill over -1 or 1 is reflected, so that the density's integral is 1.
    """
    values = np.clip(np.asarray(scores, dtype=np.float64), -1, 1)
    counts, edges = np.histogram(values, bins=_DENSITY_BINS, range=(-1, 1))
    width = 2 / _DENSITY_BINS
    positions = (edges[:-1] + edges[1:]) / 2
    if not values.size:
        return positions, np.zeros(_DENSITY_BINS)
    bandwidth = max(_bandwidth(values), width)
    reach = min(int(np.ceil(5 * bandwidth / width)), _DENSITY_BINS)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * width / bandwidth) ** 2)
    reflected = np.pad(counts, reach, mode="symmetric")
    smooth = np.convolve(reflected, kernel / kernel.sum(), mode="valid")
    return positions, smooth / (values.size * width)


def _bandwidth(values: NDArray[np.float64]) -> float:
    quarters = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), float(quarters[1] - quarters[0]) / 1.34)
    return float(0.9 * (spread or values.std()) * values.size ** (-1 / 5))


def _captioned(number: int, title: str, caption: str) -> Page:
    text = f"# Figure {number}: {title}\n\n![figure {number}](figure{number}.png)\n\n{caption}"
    return Page(text, {"said": caption})


def _curve(
    experiment: Experiment, item: str, title: str, x: str, found: Mapping[str, Sequence[Result]],
    drawn: Sequence[str], remark: str, more: Mapping[str, Mapping[str, str]], protocol: str = "sampled",
) -> Page:  # fmt: skip
    """A figure of measures against a setting, means over the seeds; ``more`` has columns of its own."""
    _need(found)
    xs = [float(each) for each in found]
    curves = {
        each: {name: [_mean(results, name, each) for results in found.values()] for name in MEASURES}
        for each in PROTOCOLS
    }
    draw_measures(experiment.output / item, x, xs, {name: curves[protocol][name] for name in drawn})
    header = (x, *more, *MEASURES, "full MRR_mr")
    rows = [
        (
            each,
            *(column[each] for column in more.values()),
            *(f"{_mean(results, name):.4f}" for name in MEASURES),
            f"{_mean(results, 'MRR_mr', 'full'):.4f}",
        )
        for each, results in found.items()
    ]
    write_csv(experiment.output / f"{item}.csv", header, rows)
    parts = (
        f"# {title}",
        f"![{item}]({item}.png)",
        training_line([result for results in found.values() for result in results]),
        remark,
        markdown_table(header, rows),
    )
    values: dict[str, Any] = {
        "x": xs, **{name: list(column.values()) for name, column in more.items()}, **curves,
        "epochs": sorted({len(result.record["history"]) for results in found.values() for result in results}),
        "trials": [[result.trial.name for result in results] for results in found.values()],
    }  # fmt: skip
    return Page("\n\n".join(parts), {**experiment.setup.about(), **values})


def _mean(results: Sequence[Result], measure: str, protocol: str = "sampled") -> float:
    """A measure, averaged over the seeds."""
    return float(np.mean([result.mean(measure, protocol) for result in results]))


def _need(found: Mapping[str, Any]) -> None:
    if not found:
        raise InputError("reproduce: none of the trials of this figure was run to its end, so there is nothing to draw")


def _quantiles(counts: NDArray[np.int32]) -> dict[str, float]:
    scores = binned_scores(counts)
    return {f"{share:g}": float(np.quantile(scores, share)) for share in _QUANTILES} if len(scores) else {}


def class_overlaps(counts: NDArray[np.int32]) -> list[float]:
    """The overlap of each class with the next."""
    wide = counts.reshape(len(counts), -1, 20).sum(axis=2)  # bins of .02: narrow ones would differ by chance alone
    shares = wide / np.maximum(wide.sum(axis=1, keepdims=True), 1)
    return [float(np.minimum(left, right).sum()) for left, right in pairwise(shares)]
