"""What the commands do, from Python: the names that ``isogloss`` itself offers."""

from isogloss.api.evaluating import Evaluation, evaluate
from isogloss.api.index import Index
from isogloss.api.training import TrainingRun, resume_training, train

__all__ = ["Evaluation", "Index", "TrainingRun", "evaluate", "resume_training", "train"]
