"""Trainable systems: a model that is trained on a train split, and saved without documents."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.systems.base import System

if TYPE_CHECKING:
    from isogloss.training.distributed import Team
    from isogloss.training.learner import Learner, State
    from isogloss.training.loop import Checkpointer, Evaluator, Recipe, TrainingResult

_FEWEST_HELD_OUT, _MOST_HELD_OUT = 20, 500


class Trainable(System):
    """A system with a trained model, which can be saved without any documents."""

    learns = True

    @abstractmethod
    def train(
        self, training: Dataset, checkpointer: Checkpointer | None = None, team: Team | None = None
    ) -> TrainingResult:
        """Train on the train split."""

    @abstractmethod
    def save_model(self, directory: Path) -> None:
        """Write the model into an existing directory."""

    @abstractmethod
    def load_model(self, directory: Path) -> None:
        """Read what ``save_model`` wrote."""

    def save_shared(self, directory: Path) -> None:
        self.save_model(directory)

    def load_shared(self, directory: Path) -> Self:
        self.load_model(directory)
        return self

    def fit(self, training: Dataset) -> None:
        self.train(training)


class TrainedSystem(Trainable):
    """A system whose parameters are trained by gradient descent, epoch by epoch."""

    @property
    @abstractmethod
    def recipe(self) -> Recipe:
        """Epochs, batches and rates of the training."""

    @abstractmethod
    def prepare(self, training: Dataset) -> tuple[Learner, Evaluator | None]:
        """The learner of a dataset's train split, and the evaluator on its dev split where it has one."""

    @abstractmethod
    def adopt(self, parameters: State) -> None:
        """Score with these parameters from now on."""

    def train(
        self, training: Dataset, checkpointer: Checkpointer | None = None, team: Team | None = None
    ) -> TrainingResult:
        """Train, from the last checkpoint where there is one; with the other processes of a team."""
        from isogloss.training.loop import ProgressLine, Training

        learner, evaluator = self.prepare(training)
        trained = Training(learner, self.recipe, evaluator, checkpointer, ProgressLine(), team).run()
        self.adopt(trained.parameters)
        return trained


def hold_out(training: Dataset) -> tuple[Dataset, list[str]]:
    """A dataset without a fifth of its train queries, and the judged queries of that fifth; none if they are few.

    What is fitted on top of a model (weights, a calibration) is fitted on queries that the model is not trained on.
    """
    queries = training.splits.get("train", [])
    order = np.random.default_rng(0).permutation(len(queries)).tolist()
    fifth = len(queries) // 5
    held_out = [queries[i] for i in order[:fifth] if queries[i] in training.judgments]
    if len(held_out) < _FEWEST_HELD_OUT:
        return training, []
    kept = [queries[i] for i in sorted(order[fifth:])]
    return replace(training, splits={"train": kept}), held_out[:_MOST_HELD_OUT]
