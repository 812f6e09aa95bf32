"""The ad hoc paper's toy collection, on ours: queries of typical words, and what they find.

The paper searched chapters of three novels with words that are typical of one of them (``frodo sam beast orc blue``)
and looked whether the chapters that came first belong to it. Here each article is asked with its most typical words:
those of the English article with the highest TF-IDF that are no stop words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isogloss.data.documents import Collection
from isogloss.retrieval.postings import Postings
from isogloss.systems.base import System
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class ToyAnswer:
    """A query of typical words, the document found first, and the rank of the right one (0: not found)."""

    query: str
    wanted: str
    found: str
    rank: int


def typical_words(documents: Collection, count: int = 5) -> list[str]:
    """For each document its words with the highest tf ln(N / df), stop words left out, as a query."""
    tokens = tokenize_texts(documents.texts(("text",)), Tokenizer(documents.language, drop_stop_words=True))
    postings = Postings.build(tokens)
    idf = {term: float(np.log(len(documents) / len(postings[term].documents))) for term in tokens.terms}
    queries = []
    for number in range(len(tokens)):
        words = tokens.text(number)
        best = sorted(set(words), key=lambda word: (-words.count(word) * idf[word], word))[:count]
        queries.append(" ".join(best))
    return queries


def ask_toy(system: System, sources: Collection, targets: Collection) -> list[ToyAnswer]:
    """Ask a fitted and indexed system for the translation of every source document by its typical words."""
    answers = []
    for document, query in zip(sources, typical_words(sources), strict=True):
        wanted = document.translations.get(targets.language, "")
        ranking = system.search(query, len(targets))
        rows = ranking.rows.tolist()
        ids = [targets.ids[row] for row in rows]
        answers.append(ToyAnswer(query, wanted, ids[0] if ids else "", ids.index(wanted) + 1 if wanted in ids else 0))
    return answers
