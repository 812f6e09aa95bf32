"""Hard negatives that need no translation: the documents that share most with the positive one.

The candidate lists of the layer-wise paper are what BM25 finds in the documents' own language; negatives found the same
way, with the text of a query's relevant document, are of the kind that has to be told apart there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.base.progress import track
from isogloss.evaluation.ranking import top_k
from isogloss.lexical.bm25 import BM25, Concept
from isogloss.lexical.postings import Postings
from isogloss.text.batches import TokenizedTexts


def lexical_neighbours(documents: TokenizedTexts, rows: NDArray[np.int32], number: int) -> NDArray[np.int32]:
    """The ``number`` best of BM25 for each of the documents in ``rows``, itself left out; -1 if there are no more."""
    bm25 = BM25(Postings.build(documents))
    order = np.arange(len(documents))
    found = np.full((len(rows), number), -1, np.int32)
    for place, row in enumerate(track(rows.tolist(), "looking for hard negatives")):
        ids = documents.ids[documents.offsets[row] : documents.offsets[row + 1]]
        words, times = np.unique(ids, return_counts=True)
        concepts = [
            Concept(documents.terms[word], ((documents.terms[word], 1.0),), float(count))
            for word, count in zip(words.tolist(), times.tolist(), strict=True)
        ]
        scores = bm25.scores(concepts)
        scores[row] = 0.0
        best = top_k(scores, number, order, above=0.0).rows
        found[place, : len(best)] = best
    return found
