"""Making, opening and changing indexes: a system and its documents, on disk."""

from isogloss.indexing.making import make_index
from isogloss.indexing.reader import OpenIndex, open_index
from isogloss.indexing.writer import IndexWriter

__all__ = ["IndexWriter", "OpenIndex", "make_index", "open_index"]
