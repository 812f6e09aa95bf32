"""The figures of the smooth paper, each as SVG and PNG, to be read in black and white as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.nn.losses import MeanSquaredError, SmoothOrdinalSearchLoss
from isogloss.nn.similarity import smooth_cosine_gradient
from isogloss.papers.figures import line_style, new_figure, save_figure
from isogloss.papers.smooth.density import density

FIGURE1_EPS = (0.05, 0.2, 0.5, 0.0)
FIGURE1_LEVELS = (-1, -0.5, 0, 0.5, 1, 2, 4, 8)
FIGURE2_THRESHOLDS = (0.0, 0.5)
_THRESHOLD_LINE: dict[str, Any] = {"color": "0.55", "linewidth": 0.9, "linestyle": (0, (1, 1.5))}


def figure1(path: Path) -> list[Path]:
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

    places = np.linspace(-1, 1, 600)  # an even number: none is 0, where eps = 0 has no derivative
    values = _slopes(*np.meshgrid(places, places), eps)
    norm = BoundaryNorm(FIGURE1_LEVELS, ncolors=256, extend="both")
    image = axes.imshow(values, origin="lower", extent=(-1, 1, -1, 1), norm=norm, cmap="cividis", aspect="equal")
    ink = ["white" if level < 1 else "black" for level in FIGURE1_LEVELS]
    lines = axes.contour(
        places, places, values, levels=FIGURE1_LEVELS, colors=ink, linewidths=0.8, negative_linestyles="dashed"
    )
    axes.clabel(lines, manual=_label_places(eps), fontsize=9, fmt="%g")
    return image


def _label_places(eps: float) -> list[tuple[float, float]]:
    """Where lines have room for their label: 1 and 2 on the lower lobe's axis, 0.5 at x2 = -0.5, 0 at x1 = 0.7."""
    steps = np.linspace(1, 0.1, 500)
    fixed = np.ones_like(steps)
    lobe = (0.36 * steps, -0.93 * steps)
    places = []
    for level, (x1, x2) in ((1, lobe), (2, lobe), (0.5, (steps, -0.5 * fixed)), (0, (0.7 * fixed, steps))):
        crossing = np.flatnonzero(np.diff(_slopes(x1, x2, eps) > level))
        places += [(float(x1[step]), float(x2[step])) for step in crossing[:1]]
    return places


def figure2(path: Path) -> list[Path]:
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
    path: Path,
    panels: Mapping[str, Mapping[str, ArrayLike]],
    thresholds: Sequence[float] | Mapping[str, Sequence[float]] = (),
) -> list[Path]:
    """The density of the scores of each class, one panel a loss (figure 3).

    ``panels`` maps a panel's title to the scores of each class by its name; ``thresholds`` are vertical lines, the same
    in all panels or by title.
    """
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = new_figure(5 * columns, 2.9 * rows + 0.4)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, classes) in zip(all_axes, panels.items(), strict=False):
        for number, (name, scores) in enumerate(classes.items()):
            axes.plot(*density(scores), label=name, linewidth=1.8, **line_style(number))
        _mark_thresholds(axes, thresholds.get(title, ()) if isinstance(thresholds, Mapping) else thresholds)
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


def draw_measures(
    path: Path,
    x: str,
    xs: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    errors: Mapping[str, Sequence[float]] | None = None,
    title: str = "",
) -> list[Path]:
    """Measures against one setting (figures 4 and 5); ``errors`` are half the heights of bars, by measure."""
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    for number, (name, values) in enumerate(curves.items()):
        bars = (errors or {}).get(name)
        style = line_style(number, markers=True)
        axes.errorbar(xs, values, yerr=bars, label=name, capsize=3, markersize=5, **style)
    axes.set(xlabel=x, ylabel="measure", title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=3.5)
    return save_figure(figure, path)


def _mark_thresholds(axes: Any, thresholds: Sequence[float]) -> None:
    """Vertical lines, named at the top."""
    for number, threshold in enumerate(thresholds, start=1):
        axes.axvline(threshold, **_THRESHOLD_LINE)
        axes.annotate(
            f"$\\theta_{number}$",
            (threshold, 1),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
        )
