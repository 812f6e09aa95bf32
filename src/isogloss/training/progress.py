"""The live line of a training: loss, examples a second, dev measure, time left."""

from __future__ import annotations

import sys
from typing import Any

from isogloss.storage.progress import is_shown
from isogloss.training.loop import Position, ProgressListener, Recipe


class ProgressLine(ProgressListener):
    """One line on the terminal, redrawn; nothing where nobody looks."""

    def __init__(self) -> None:
        self._live: Any = None

    def show(self, position: Position, batches: int, recipe: Recipe, rate: float) -> None:
        if not is_shown():
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=sys.stderr), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(describe(position, batches, recipe, rate), refresh=True)

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()


def describe(position: Position, batches: int, recipe: Recipe, rate: float) -> str:
    """``epoch 3/30  48%  loss 0.0312  112,000 examples/s  dev NDCG@5 0.812  1:20 left``."""
    left = (recipe.epochs - position.epoch) * batches - position.batch
    parts = [
        f"epoch {position.epoch + 1}/{recipe.epochs}", f"{position.batch / batches:4.0%}",
        f"loss {position.losses / max(1, position.batch):.4f}", f"{rate:,.0f} examples/s",
    ]  # fmt: skip
    if position.history and recipe.measure in position.history[-1]:
        parts.append(f"dev {recipe.measure} {position.history[-1][recipe.measure]:.4f}")
    minutes, seconds = divmod(round(left * recipe.batch / max(rate, 1e-9)), 60)
    return "  ".join([*parts, f"{minutes}:{seconds:02d} left"])
