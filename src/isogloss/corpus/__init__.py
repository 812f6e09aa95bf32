"""Documents, queries, graded judgments: reading, checking, writing, grading, splitting them."""

from isogloss.corpus.collection import Collection
from isogloss.corpus.dataset import Dataset, load_collection, load_dataset
from isogloss.corpus.judgments import Judgments
from isogloss.corpus.records import Document, Judgment, Query
from isogloss.corpus.sources import open_source

__all__ = [
    "Collection", "Dataset", "Document", "Judgment", "Judgments", "Query",
    "load_collection", "load_dataset", "open_source",
]  # fmt: skip
