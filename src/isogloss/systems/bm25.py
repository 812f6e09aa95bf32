"""BM25 with the query as it stands, untranslated: the floor that every table shows."""

from __future__ import annotations

from isogloss.lexical.bm25 import Concept
from isogloss.lexical.translation import untranslated
from isogloss.systems.lexical import LexicalOptions, LexicalSystem


class UntranslatedBM25(LexicalSystem):
    """Query words are matched with document words of the same spelling (or stem)."""

    name = "bm25"
    paper = "Robertson and Zaragoza 2009, The Probabilistic Relevance Framework: BM25 and Beyond"
    summary = "BM25 with the query as it stands, untranslated: the floor"
    options_type = LexicalOptions

    def concepts(self, query: str) -> list[Concept]:
        return untranslated(query, self.tokenizer)
