"""The one training loop: epochs, batches, rates, dev measure, early stopping, checkpoints, interruption.

An interrupted or killed run goes on from its last checkpoint to the same result as one that was never stopped: the
order of an epoch depends on the seed and the epoch alone, and a checkpoint holds the learner's whole state and the
place in the epoch. Several processes run it side by side (``distributed.py``): the first decides, measures and keeps.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from types import FrameType
from typing import Any, NoReturn, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.training.distributed import Alone, PeerLost, Team
from isogloss.training.learner import Learner, State

# Ctrl-C where something must not be cut in the middle: once, it waits for a good moment; twice, it is at once.


class Interruption:
    """Inside the block the first Ctrl-C only sets ``asked``; the second raises KeyboardInterrupt as usual.

    One that comes within ``deaf`` seconds of the first is taken for the same.
    """

    def __init__(self, deaf: float = 0.0) -> None:
        self.asked = False
        self._deaf, self._asked_at = deaf, 0.0
        self._here = threading.current_thread() is threading.main_thread()  # only there can signals be caught

    def __enter__(self) -> Self:
        if self._here:
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._here:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if not self.asked:
            self.asked, self._asked_at = True, time.monotonic()
        elif time.monotonic() - self._asked_at >= self._deaf:
            raise KeyboardInterrupt


# How long, how fast and in what order something is learned.


@dataclass(frozen=True)
class Recipe:
    """Epochs over all examples in batches, in a new order each; the rate falls by ``decay`` an epoch.

    With ``patience`` training stops after so many epochs without a better dev measure, and the best epoch is kept;
    without, it runs to its end and the last epoch is kept.
    """

    epochs: int = 30
    batch: int = 128
    rate: float = 0.01
    decay: float = 1.0
    shuffle: bool = True
    patience: int = 0
    measure: str = "NDCG@5"
    seed: int = 0

    def order(self, epoch: int, examples: int) -> NDArray[np.int64]:
        """The order of an epoch (from 0); depends on nothing but the seed and the epoch, so that it can be resumed."""
        if not self.shuffle:
            return np.arange(examples)
        return np.random.default_rng([self.seed, epoch]).permutation(examples)

    def rate_of(self, epoch: int) -> float:
        """The rate of an epoch (from 0)."""
        return self.rate * self.decay**epoch


Judge = Callable[[State], Mapping[str, float]]
"""The dev measures of some parameters."""
_CHUNK_SECONDS = 0.3
_RECORD_SECONDS = 1.0
_CHECKPOINT_SECONDS = 20.0
_ECHO_SECONDS = 2.0  # torchrun passes a Ctrl-C on that the terminal has told all of its processes already


class TrainingStopped(InputError):  # noqa: N818 - it is not always an error
    """Training could not go on, or was asked to stop; what it had is kept where a run directory was given."""


class TrainingInterrupted(TrainingStopped):
    """The user asked it to stop."""


@dataclass
class Position:
    """Where a training stands: the epoch and the batches done in it, what was measured, the best so far."""

    epoch: int = 0
    batch: int = 0
    losses: float = 0.0
    seconds: float = 0.0
    best: float = float("-inf")
    best_epoch: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


class Checkpointer(Protocol):
    """Where a training leaves what it has: a run directory."""

    def resume(self) -> tuple[Position, State, State] | None:
        """The last checkpoint: the place, the learner's state, the best parameters (empty: the last are the best)."""

    def checkpoint(self, position: Position, state: State, best: State) -> None:
        """Keep all of it, in place of the last."""

    def record(self, history: list[dict[str, Any]]) -> None:
        """Keep what was measured, an entry an epoch."""

    @property
    def how_to_resume(self) -> str:
        """What the user can do to go on."""


class ProgressListener(Protocol):
    """Shows how training goes."""

    def show(self, position: Position, batches: int, recipe: Recipe, rate: float) -> None:
        """After some batches; ``rate`` is the examples a second."""

    def end(self) -> None:
        """Training is over."""


@dataclass(frozen=True)
class Trained:
    """What came out: the parameters that count, and what was measured in each epoch."""

    parameters: State
    history: list[dict[str, Any]]


class Training:
    """One training: a learner, a recipe, perhaps a judge on dev, a keeper and a watcher, and who learns along."""

    def __init__(
        self, learner: Learner, recipe: Recipe, judge: Judge | None = None, keeper: Checkpointer | None = None,
        watcher: ProgressListener | None = None, team: Team | None = None,
    ) -> None:  # fmt: skip
        if recipe.patience and judge is None:
            raise InputError("patience: early stopping needs judged dev queries to measure on, and there are none")
        self._team = team or Alone()
        self.learner, self.recipe, self.judge = learner, recipe, judge
        self.keeper, self.watcher = (None, None) if self._team.rank else (keeper, watcher)
        self._position = Position()
        self._best: State = {}
        self._kept_at = self._recorded_at = time.monotonic()

    def run(self) -> Trained:
        """Train to the end, from the last checkpoint where there is one."""
        if self.learner.examples == 0:
            raise InputError("training: there are no examples to learn from (no judged query in the train split)")
        self._begin()
        try:
            with Interruption(deaf=_ECHO_SECONDS if self._team.size > 1 else 0.0) as interruption:
                while self._position.epoch < self.recipe.epochs and not self._enough():
                    self._epoch(interruption)
                    if self._team.any(interruption.asked):
                        self._interrupted()
        except PeerLost as lost:
            kept = f"; {self.keeper.how_to_resume}" if self.keeper else ""
            raise PeerLost(f"{lost}{kept}") from lost
        finally:
            if self.watcher:
                self.watcher.end()
        self._keep(always=True)
        return Trained(self._best or self.learner.parameters(), self._position.history)

    def _begin(self) -> None:
        """Go on from the last checkpoint where there is one; all processes from the same state."""
        if self._team.size > 1:
            self.learner.join(self._team)
            if self._team.agree(self.learner.examples) != self.learner.examples:
                raise InputError("training: the processes read different data; give all of them the same")
        found = self._team.decide(lambda: self.keeper.resume() if self.keeper else None)
        if found:
            self._position, state, self._best = found
        elif self._team.size > 1:
            state = self._team.decide(self.learner.state)
        else:
            return
        try:
            self.learner.restore(state)
        except (KeyError, ValueError) as error:
            what = "the checkpoint does not fit what is learned now"
            raise InputError(f"training: {what} ({error}); have the data changed? Begin the run again") from error

    def _epoch(self, interruption: Interruption) -> None:
        recipe, position = self.recipe, self._position
        self.learner.begin_epoch(position.epoch)
        order, rate = recipe.order(position.epoch, self.learner.examples), recipe.rate_of(position.epoch)
        batches = -(-len(order) // recipe.batch)
        for chunk in _chunks(position, batches, self._team):
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
            if self.watcher:
                self.watcher.show(position, batches, recipe, len(examples) / max(seconds, 1e-9))
            if self._team.any(interruption.asked):
                self._interrupted()
            self._keep()
        self._close_epoch(len(order), batches, rate)

    def _close_epoch(self, examples: int, batches: int, rate: float) -> None:
        """Measure on dev, remember the best, record, keep."""
        position = self._position
        position.epoch += 1
        entry: dict[str, Any] = {
            "epoch": position.epoch, "loss": position.losses / batches, "rate": rate, "batches": batches,
            "seconds": round(position.seconds, 3), "examples_per_second": round(examples / max(position.seconds, 1e-9)),
        }  # fmt: skip
        if judge := self.judge:
            parameters = self.learner.parameters()
            entry |= self._team.decide(lambda: judge(parameters))
            if self.recipe.patience and entry[self.recipe.measure] > position.best:
                position.best, position.best_epoch, self._best = entry[self.recipe.measure], position.epoch, parameters
        position.history.append(entry)
        position.batch, position.losses, position.seconds = 0, 0.0, 0.0
        self._keep()

    def _enough(self) -> bool:
        patience, position = self.recipe.patience, self._position
        return bool(patience and position.epoch - position.best_epoch >= patience)

    def _keep(self, always: bool = False) -> None:
        """Record and write a checkpoint, if it is time; what is not finite never takes the place of a good one."""
        if not self.keeper:
            return
        if always or time.monotonic() - self._recorded_at > _RECORD_SECONDS:
            self.keeper.record(self._position.history)
            self._recorded_at = time.monotonic()
        if always or time.monotonic() - self._kept_at > _CHECKPOINT_SECONDS:
            state = self.learner.state()
            if all(np.isfinite(array).all() for array in state.values()):
                self.keeper.checkpoint(self._position, state, self._best)
            self._kept_at = time.monotonic()

    def _diverged(self, batches: int, loss: float) -> NoReturn:
        self._keep(always=True)
        where = f"batch {self._position.batch + 1} of {batches} in epoch {self._position.epoch + 1}"
        kept = self._team.decide(lambda: "; the last good checkpoint is kept" if self.keeper else "")
        advice = "try a lower rate or a lower clip, and look at the word vectors if some were given"
        raise TrainingStopped(f"training: the loss of {where} is {loss}{kept}; {advice}")

    def _interrupted(self) -> NoReturn:
        self._keep(always=True)
        epoch, batch = self._position.epoch, self._position.batch
        where = f"in epoch {epoch + 1}, batch {batch}" if batch else f"after epoch {epoch}"
        kept = self._team.decide(lambda: f"it is kept; {self.keeper.how_to_resume}" if self.keeper else "it is lost")
        raise TrainingInterrupted(f"interrupted {where}: {kept}")


def _chunks(position: Position, batches: int, team: Team) -> Iterator[range]:
    """Stretches of batches, each of about a third of a second: time to look up and show how it goes."""
    size = 1
    while position.batch < batches:
        begun = time.perf_counter()
        yield range(position.batch, min(batches, position.batch + team.agree(size)))
        if time.perf_counter() - begun < _CHUNK_SECONDS / 2:
            size *= 2


def position_as_json(position: Position) -> dict[str, Any]:
    """A position as plain values; no best yet is None."""
    made = asdict(position)
    return {**made, "best": None if position.best == float("-inf") else position.best}


def position_from_json(found: Mapping[str, Any]) -> Position:
    """The opposite."""
    best = float("-inf") if found["best"] is None else found["best"]
    return Position(**{**found, "best": best})
