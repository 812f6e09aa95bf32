"""isogloss: search documents in one language with queries in another, and study how well it works.

>>> import isogloss
>>> index = isogloss.Index.make(["Las abejas hacen miel."], lexicon={"honey": "miel"})
>>> [hit.text for hit in index.search("who makes honey?")]
['Las abejas hacen miel.']
"""

from importlib import import_module

__version__ = "0.1.0"
_NAMES = {
    "Document": "isogloss.data.documents",
    "Evaluation": "isogloss.systems.evaluate",
    "Hit": "isogloss.search.hits",
    "Hits": "isogloss.search.hits",
    "Index": "isogloss.search.public",
    "InputError": "isogloss.storage.errors",
    "TrainingRun": "isogloss.systems.training_runs",
    "evaluate": "isogloss.systems.evaluate",
    "load_dataset": "isogloss.data.dataset",
    "resume_training": "isogloss.systems.training_runs",
    "train": "isogloss.systems.training_runs",
}
__all__ = ["__version__", *_NAMES]  # noqa: PLE0604 - all are strings


def __getattr__(name: str) -> object:
    """Import a name when it is first used, so that ``import isogloss`` takes no time."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(_NAMES[name]), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
