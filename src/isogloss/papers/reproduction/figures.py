"""Figures of the papers, drawn by matplotlib (extra ``papers``): the same bytes for the same data."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from isogloss.storage.errors import import_extra
from isogloss.storage.files import atomic_file

_DPI = 120
_LABELS = 8  # on an axis, side by side
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9")
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)))
_MARKERS = "osD^vP*"


def need_drawing() -> None:
    """Raise, before the work is done, if matplotlib is missing."""
    import_extra("matplotlib", "papers", "drawing a figure")


def new_figure(width: float, height: float) -> Any:
    """An empty figure, its size in inches, that no window knows of."""
    need_drawing()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def line_style(number: int, markers: bool = False) -> dict[str, Any]:
    """How the curve of that number is drawn: apart from the others in black and white too."""
    style = {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number % len(_DASHES)],
    }
    return style | {"marker": _MARKERS[number % len(_MARKERS)]} if markers else style


def save_figure(figure: Any, path: Path) -> list[Path]:
    """Write a figure as ``path`` + ``.svg`` and ``.png``, each whole or not at all."""
    paths = [path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png")]
    for target in paths:
        _write(figure, target)
    return paths


def label_log_axis(axes: Any, values: Sequence[float], labels: Mapping[float, str] | None = None) -> None:
    """A logarithmic x axis with these ascending values as ticks, without those whose labels would touch the next."""
    axes.set_xscale("log")
    if not values:
        return
    nearest = (values[-1] / values[0]) ** (1 / _LABELS)
    kept = [values[-1]]
    for value in reversed(values[:-1]):
        if kept[-1] / value >= nearest:
            kept.append(value)
    axes.set_xticks(kept, [(labels or {}).get(value, f"{value:,.10g}") for value in kept])
    axes.set_xticks([], minor=True)


def draw_lines(
    path: Path, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, title: str,
    labels: Mapping[float, str] | None = None,
) -> None:  # fmt: skip
    """Curves over a logarithmic axis, as a PNG file; the axis is labelled where the points are."""
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    for number, (name, (xs, ys)) in enumerate(curves.items()):
        axes.plot(xs, ys, label=name, **line_style(number, markers=True))
    label_log_axis(axes, sorted({value for xs, _ in curves.values() for value in xs}), labels)
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.set_ylim(bottom=0, top=1.05 * max((value for _, ys in curves.values() for value in ys), default=1.0))
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=3)
    _write(figure, path)


def _write(figure: Any, path: Path) -> None:
    """One picture in the format of its suffix, without the date and the random names that would make it differ."""
    from matplotlib import rc_context

    kind = path.suffix.removeprefix(".")
    image = io.BytesIO()
    with rc_context({"svg.hashsalt": "isogloss"}):
        figure.savefig(image, format=kind, dpi=_DPI, metadata={"Date": None} if kind == "svg" else None)
    with atomic_file(path) as file:
        cast(TextIO, file).buffer.write(image.getvalue())
