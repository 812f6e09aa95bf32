"""Systems whose parameters are trained by gradient descent, epoch by epoch, with the training loop of the papers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isogloss.data.dataset import Dataset
from isogloss.systems.trainable import TrainableSystem, TrainingHistory

if TYPE_CHECKING:
    from isogloss.papers.learner import Learner, State
    from isogloss.papers.training_loop import Evaluator, Recipe
    from isogloss.systems.run_directory import RunDirectory

DEVICES = ("auto", "cpu", "cuda")
"""Where networks are trained: ``auto`` is a GPU where there is one."""


class TrainedSystem(TrainableSystem):
    """A system whose parameters are trained by gradient descent, epoch by epoch."""

    measures_on_dev = True
    trains_by_epochs = True

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

    @property
    def dev_measure(self) -> str:
        return self.recipe.measure

    def train(self, training: Dataset, run: RunDirectory | None = None) -> TrainingHistory:
        """Train, from the last checkpoint of the run where there is one."""
        from isogloss.papers.checkpoints import RunCheckpoints
        from isogloss.papers.training_loop import ProgressLine, Training

        learner, evaluator = self.prepare(training)
        checkpointer = RunCheckpoints(run) if run is not None else None
        trained = Training(learner, self.recipe, evaluator, checkpointer, ProgressLine()).run()
        self.adopt(trained.parameters)
        return TrainingHistory(trained.history, _kept_epoch(trained.history, self.recipe))


def _kept_epoch(history: list[dict[str, Any]], recipe: Recipe) -> Mapping[str, Any]:
    """The best epoch by the dev measure where training stops early, otherwise the last."""
    if not recipe.patience:
        return history[-1]
    return max(history, key=lambda epoch: float(epoch[recipe.measure]))
