from isogloss.api.evaluating import Evaluation as Evaluation
from isogloss.api.evaluating import evaluate as evaluate
from isogloss.api.index import Index as Index
from isogloss.api.training import TrainingRun as TrainingRun
from isogloss.api.training import resume_training as resume_training
from isogloss.api.training import train as train
from isogloss.base.errors import InputError as InputError
from isogloss.corpus.records import Document as Document

__version__: str
