"""What the trained systems share: learning from a train split in the one loop, and a model that can be kept."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Self

from isogloss.data.dataset import Dataset
from isogloss.systems.base import System

if TYPE_CHECKING:
    from isogloss.training.distributed import Team
    from isogloss.training.learner import Learner, State
    from isogloss.training.loop import Checkpointer, Evaluator, Recipe, TrainingResult


class Trainable(System):
    """A system that learns a model, which can be kept without any documents."""

    learns = True

    @abstractmethod
    def train(
        self, training: Dataset, checkpointer: Checkpointer | None = None, team: Team | None = None
    ) -> TrainingResult:
        """Learn from the train split."""

    @abstractmethod
    def save_model(self, directory: Path) -> None:
        """Write what was learned into an existing directory."""

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
    """A system whose parameters are learned step by step."""

    @property
    @abstractmethod
    def recipe(self) -> Recipe:
        """How it is trained."""

    @abstractmethod
    def prepare(self, training: Dataset) -> tuple[Learner, Evaluator | None]:
        """What learns from a dataset's train split, and what measures it on its dev split where it has one."""

    @abstractmethod
    def adopt(self, parameters: State) -> None:
        """Score with these parameters from now on."""

    def train(
        self, training: Dataset, checkpointer: Checkpointer | None = None, team: Team | None = None
    ) -> TrainingResult:
        """Train, from the checkpointer's last checkpoint where it has one; with the other processes of a team."""
        from isogloss.training.loop import ProgressLine, Training

        learner, evaluate = self.prepare(training)
        trained = Training(learner, self.recipe, evaluate, checkpointer, ProgressLine(), team).run()
        self.adopt(trained.parameters)
        return trained
