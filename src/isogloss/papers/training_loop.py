"""The one training loop: epochs, batches, rates, dev measure, early stopping, checkpoints, interruption, progress.

A run that was interrupted or killed continues from its last checkpoint to the same result as one that never stopped:
the order of an epoch depends on the seed and the epoch alone, and a checkpoint holds the learner's whole state and the
position in the epoch.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NoReturn, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.learner import Learner, State
from isogloss.storage.errors import InputError
from isogloss.storage.progress import is_shown

_CHUNK_SECONDS = 0.3
_RECORD_SECONDS = 1.0
_CHECKPOINT_SECONDS = 20.0

Evaluator = Callable[[State], Mapping[str, float]]
"""The dev measures of some parameters."""


class Interruption:
    """Inside the block the first Ctrl-C only sets ``requested``; the second raises KeyboardInterrupt as usual."""

    def __init__(self) -> None:
        self.requested = False
        self._here = threading.current_thread() is threading.main_thread()  # only there can signals be caught

    def __enter__(self) -> Self:
        if self._here:
            self._before = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *_: object) -> None:
        if self._here:
            signal.signal(signal.SIGINT, self._before)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@dataclass(frozen=True)
class Recipe:
    """Epochs over all examples in batches, in a new order each; the rate falls by ``decay`` an epoch.

    With ``patience`` training stops after so many epochs without a better dev measure, and the best epoch is kept;
    without, it runs to its end and the last epoch is kept. ``measures_start``: what is there before the first epoch is
    measured as epoch 0, and kept where no epoch is better.
    """

    epochs: int = 30
    batch: int = 128
    rate: float = 0.01
    decay: float = 1.0
    shuffle: bool = True
    patience: int = 0
    measure: str = "NDCG@5"
    seed: int = 0
    measures_start: bool = False

    def order(self, epoch: int, examples: int) -> NDArray[np.int64]:
        """The order of an epoch (from 0); depends on the seed and the epoch alone, so that it can be resumed."""
        if not self.shuffle:
            return np.arange(examples)
        return np.random.default_rng([self.seed, epoch]).permutation(examples)

    def rate_of(self, epoch: int) -> float:
        """The rate of an epoch (from 0)."""
        return self.rate * self.decay**epoch


class TrainingStopped(InputError):  # noqa: N818 - it is not always an error
    """Training diverged or was asked to stop; its last good state is in the run directory, if there is one."""


class TrainingInterrupted(TrainingStopped):
    """The user asked it to stop."""


@dataclass
class Position:
    """How far a training is: the epoch and the batches done in it, what was measured, the best so far."""

    epoch: int = 0
    batch: int = 0
    losses: float = 0.0
    seconds: float = 0.0
    best: float = float("-inf")
    best_epoch: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


class Checkpointer(Protocol):
    """Writes and reads the state of a training: a run directory."""

    def resume(self) -> tuple[Position, State, State] | None:
        """The last checkpoint: position, learner's state, best parameters (empty: the last are the best)."""

    def checkpoint(self, position: Position, state: State, best: State) -> None:
        """Write a checkpoint in place of the last."""

    def record(self, history: list[dict[str, Any]]) -> None:
        """Write what was measured, an entry an epoch."""

    @property
    def how_to_resume(self) -> str:
        """What the user can do to resume."""


class ProgressLine:
    """One line on the terminal, redrawn: loss, examples a second, dev measure, time left; none without a terminal."""

    def __init__(self) -> None:
        self._live: Any = None

    def show(self, position: Position, batches: int, recipe: Recipe, rate: float) -> None:
        """Redraw after some batches; ``rate`` is the examples a second."""
        if not is_shown():
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=sys.stderr), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(describe(position, batches, recipe, rate), refresh=True)

    def end(self) -> None:
        """Training is over."""
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


@dataclass(frozen=True)
class TrainingResult:
    """The parameters of the epoch that is kept, and what was measured in each epoch."""

    parameters: State
    history: list[dict[str, Any]]


class Training:
    """One training: a learner, a recipe, and perhaps a dev evaluator, a checkpointer and a progress line."""

    def __init__(
        self, learner: Learner, recipe: Recipe, evaluate: Evaluator | None = None,
        checkpointer: Checkpointer | None = None, progress: ProgressLine | None = None,
    ) -> None:  # fmt: skip
        if recipe.patience and evaluate is None:
            raise InputError("patience: early stopping needs judged dev queries to measure on, and there are none")
        self.learner, self.recipe, self.evaluate = learner, recipe, evaluate
        self.checkpointer, self.progress = checkpointer, progress
        self._position = Position()
        self._best: State = {}
        self._checkpointed_at = self._recorded_at = time.monotonic()

    def run(self) -> TrainingResult:
        """Train to the end, from the last checkpoint where there is one."""
        if self.learner.examples == 0:
            raise InputError("training: there are no examples to train on (no judged query in the train split)")
        self._begin()
        try:
            with Interruption() as interruption:
                while self._position.epoch < self.recipe.epochs and not self._enough():
                    self._epoch(interruption)
                    if interruption.requested:
                        self._interrupted()
        finally:
            if self.progress:
                self.progress.end()
        self._write(always=True)
        return TrainingResult(self._best or self.learner.parameters(), self._position.history)

    def _begin(self) -> None:
        """Continue from the last checkpoint where there is one."""
        checkpoint = self.checkpointer.resume() if self.checkpointer else None
        if checkpoint is None:
            self._measure_start()
            return
        self._position, state, self._best = checkpoint
        try:
            self.learner.restore(state)
        except (KeyError, ValueError) as error:
            what = "the checkpoint does not fit what is learned now"
            raise InputError(f"training: {what} ({error}); have the data changed? Begin the run again") from error

    def _measure_start(self) -> None:
        """Epoch 0 of the history, where the recipe wants it."""
        if self.recipe.measures_start and self.evaluate:
            self._measured({"epoch": 0, "batches": 0, "seconds": 0.0})

    def _epoch(self, interruption: Interruption) -> None:
        recipe, position = self.recipe, self._position
        self.learner.begin_epoch(position.epoch)
        order, rate = recipe.order(position.epoch, self.learner.examples), recipe.rate_of(position.epoch)
        batches = -(-len(order) // recipe.batch)
        for chunk in _chunks(position, batches):
            started = time.perf_counter()
            examples = order[chunk.start * recipe.batch : chunk.stop * recipe.batch]
            losses = self.learner.advance(examples, recipe.batch, rate)
            seconds = time.perf_counter() - started
            good = losses[np.isfinite(losses)]
            position.batch += len(good)
            position.losses = float(np.cumsum([position.losses, *good])[-1])  # one by one: chunks make no difference
            position.seconds += seconds
            if len(good) < len(losses):
                self._diverged(batches, float(losses[-1]))
            if self.progress:
                self.progress.show(position, batches, recipe, len(examples) / max(seconds, 1e-9))
            if interruption.requested:
                self._interrupted()
            self._write()
        self._close_epoch(len(order), batches, rate)

    def _close_epoch(self, examples: int, batches: int, rate: float) -> None:
        """Measure on dev, remember the best, write what is due."""
        position = self._position
        position.epoch += 1
        entry: dict[str, Any] = {
            "epoch": position.epoch, "loss": position.losses / batches, "rate": rate, "batches": batches,
            "seconds": round(position.seconds, 3), "examples_per_second": round(examples / max(position.seconds, 1e-9)),
        }  # fmt: skip
        self._measured(entry)
        position.batch, position.losses, position.seconds = 0, 0.0, 0.0
        self._write()

    def _measured(self, entry: dict[str, Any]) -> None:
        """Add an entry to the history, with what dev says; remember the best."""
        position = self._position
        if self.evaluate:
            parameters = self.learner.parameters()
            entry |= self.evaluate(parameters)
            if self.recipe.patience and entry[self.recipe.measure] > position.best:
                position.best, position.best_epoch, self._best = entry[self.recipe.measure], position.epoch, parameters
        position.history.append(entry)

    def _enough(self) -> bool:
        patience, position = self.recipe.patience, self._position
        return bool(patience and position.epoch - position.best_epoch >= patience)

    def _write(self, always: bool = False) -> None:
        """Write the history and a checkpoint, if they are due; a state that is not finite is never written."""
        if not self.checkpointer:
            return
        if always or time.monotonic() - self._recorded_at > _RECORD_SECONDS:
            self.checkpointer.record(self._position.history)
            self._recorded_at = time.monotonic()
        if always or time.monotonic() - self._checkpointed_at > _CHECKPOINT_SECONDS:
            state = self.learner.state()
            if all(np.isfinite(array).all() for array in state.values()):
                self.checkpointer.checkpoint(self._position, state, self._best)
            self._checkpointed_at = time.monotonic()

    def _diverged(self, batches: int, loss: float) -> NoReturn:
        self._write(always=True)
        where = f"batch {self._position.batch + 1} of {batches} in epoch {self._position.epoch + 1}"
        kept = "; the last good checkpoint is kept" if self.checkpointer else ""
        advice = "try a lower rate or a lower clip, and look at the word vectors if some were given"
        raise TrainingStopped(f"training: the loss of {where} is {loss}{kept}; {advice}")

    def _interrupted(self) -> NoReturn:
        self._write(always=True)
        epoch, batch = self._position.epoch, self._position.batch
        where = f"in epoch {epoch + 1}, batch {batch}" if batch else f"after epoch {epoch}"
        kept = f"it is kept; {self.checkpointer.how_to_resume}" if self.checkpointer else "it is lost"
        raise TrainingInterrupted(f"interrupted {where}: {kept}")


def _chunks(position: Position, batches: int) -> Iterator[range]:
    """Chunks of batches, each of about a third of a second: between them progress is shown and Ctrl-C is heeded."""
    size = 1
    while position.batch < batches:
        begun = time.perf_counter()
        yield range(position.batch, min(batches, position.batch + size))
        if time.perf_counter() - begun < _CHUNK_SECONDS / 2:
            size *= 2
