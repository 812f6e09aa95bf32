"""Concepts as dimensions of sparse vectors: texts are expanded by all concepts that a lexicon can make of a query.

    tf(c, d) = sum_t w_t tf(t, d)

is then counted when a document is indexed, so that a query has one dimension for a word, and not one for each of its
translations (index-time probabilistic structured queries, Yang et al. 2024). A concept of one term with weight 1, such
as a verbatim term of a query, has the dimension of that term.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from isogloss.retrieval.bm25 import Terms
from isogloss.systems.sparse import DimensionCounts, dimensions_of
from isogloss.text.batches import TokenizedTexts


def concept_name(terms: Terms) -> str:
    r"""The string whose hash is the dimension of a concept.

    >>> concept_name((("mer", 1.0),)), concept_name((("mer", 0.75), ("océan", 0.25)))
    ('mer', '\x00mer\x000.75\x00océan\x000.25')
    """
    if len(terms) == 1 and terms[0][1] == 1.0:
        return terms[0][0]
    return "".join(f"\0{term}\0{weight!r}" for term, weight in terms)


class ConceptDimensions:
    """The concepts that each term is part of: ``concepts[offsets[row]:offsets[row + 1]]``, as dimensions."""

    def __init__(self, concepts: Iterable[Terms]) -> None:
        names: list[str] = []
        found: list[tuple[str, int, float]] = []
        for terms in concepts:
            name = concept_name(terms)
            if name != terms[0][0]:
                found += [(term, len(names), weight) for term, weight in terms if weight]
                names.append(name)
        self._row_of = {term: row for row, term in enumerate(dict.fromkeys(term for term, *_ in found))}
        rows = np.asarray([self._row_of[term] for term, *_ in found], np.int64)
        order = np.argsort(rows, kind="stable")
        self._offsets = np.searchsorted(rows[order], np.arange(len(self._row_of) + 1))
        numbers = np.asarray([number for _, number, _ in found], np.int64)
        self._concepts = dimensions_of(names)[numbers[order]].astype(np.uint64)
        self._weights = np.asarray([weight for *_, weight in found], np.float64)[order]

    def counted(self, tokens: TokenizedTexts) -> DimensionCounts:
        """The terms and the concepts of texts, with tf(t, d) and tf(c, d)."""
        terms = max(1, len(tokens.terms))
        texts = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
        pairs, counts = np.unique(texts * terms + tokens.ids, return_counts=True)
        text, term = np.divmod(pairs, terms)
        rows = np.fromiter((self._row_of.get(each, -1) for each in tokens.terms), np.int64, len(tokens.terms))[term]
        lengths = np.where(rows < 0, 0, self._offsets[rows + 1] - self._offsets[rows])
        begins = np.cumsum(lengths) - lengths
        each = np.arange(int(lengths.sum())) + np.repeat(self._offsets[rows] - begins, lengths)
        expanded = np.concatenate([np.repeat(text, lengths), text]).astype(np.uint64) << np.uint64(32)
        dimensions = np.concatenate([self._concepts[each], dimensions_of(tokens.terms)[term].astype(np.uint64)])
        keys, places = np.unique(expanded | dimensions, return_inverse=True)
        values = np.concatenate([np.repeat(counts, lengths) * self._weights[each], counts])
        offsets = np.searchsorted(keys >> np.uint64(32), np.arange(len(tokens) + 1, dtype=np.uint64))
        return DimensionCounts(offsets, keys.astype(np.uint32), np.bincount(places, values, len(keys)))
