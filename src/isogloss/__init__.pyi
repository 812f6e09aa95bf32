from isogloss.data.dataset import load_dataset as load_dataset
from isogloss.data.documents import Document as Document
from isogloss.search.hits import Hit as Hit
from isogloss.search.hits import Hits as Hits
from isogloss.search.public import Index as Index
from isogloss.storage.errors import InputError as InputError
from isogloss.systems.evaluate import Evaluation as Evaluation
from isogloss.systems.evaluate import evaluate as evaluate
from isogloss.systems.training_runs import TrainingRun as TrainingRun
from isogloss.systems.training_runs import resume_training as resume_training
from isogloss.systems.training_runs import train as train

__version__: str
