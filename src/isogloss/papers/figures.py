"""Figures of the papers, drawn by matplotlib (extra ``plot``)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO, cast

from isogloss.base.errors import import_extra
from isogloss.base.files import atomic_file


def need_drawing() -> None:
    """Raise, before the work is done, if matplotlib is missing."""
    import_extra("matplotlib", "plot", "drawing a figure")


def draw_lines(
    path: Path, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, title: str
) -> None:
    """Curves over a logarithmic axis, as a PNG file."""
    need_drawing()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, (xs, ys) in curves.items():
        axes.plot(xs, ys, marker="o", label=name)
    axes.set_xscale("log")
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=120)
    with atomic_file(path) as file:
        cast(TextIO, file).buffer.write(image.getvalue())
