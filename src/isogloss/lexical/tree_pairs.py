"""A query and a document as a pair of trees with their matches marked, and the features of the pair.

Features: the score of the search that found the document, over the best possible; and how much of the query is matched
and how much of the document, counting words alike and weighing each by its inverse document frequency ln(1 + (N - df +
0.5) / (df + 0.5)). They see the whole texts, the kernel so many words of their beginnings: its cost grows fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from isogloss.lexical.tree_ranker import TreePair
from isogloss.lexical.tree_relations import WordMatcher, beginning, leaf_tokens, mark
from isogloss.text.trees import Tree

Weight = Callable[[str], float]
"""The weight of a word."""


class ReadTree(NamedTuple):
    """A tree, its words and the weight of each."""

    tree: Tree
    words: Sequence[str]
    weights: Sequence[float]

    @classmethod
    def of(cls, tree: Tree, weight: Weight) -> ReadTree:
        """Read a tree."""
        words = leaf_tokens(tree)
        return cls(tree, words, [weight(word) for word in words])


def inverse_frequency(documents: int, document_frequency: int) -> float:
    """The weight of a word that so many of all documents hold."""
    return math.log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5))


def make_pair(query: ReadTree, document: ReadTree, matcher: WordMatcher, found: float, words: int) -> TreePair:
    """Match the words of a query and a document, mark both trees, count; ``found`` is what the search says."""
    matches = matcher(query.words, document.words)
    places = {match.query for match in matches}, {match.document for match in matches}
    features = [found]
    for side, matched in zip((query, document), places, strict=True):
        features += [_share([1.0] * len(side.words), matched), _share(side.weights, matched)]
    marked = [mark(side.tree, matched) for side, matched in zip((query, document), places, strict=True)]
    return TreePair(beginning(marked[0], words), beginning(marked[1], words), features)


def _share(weights: Sequence[float], matched: Collection[int]) -> float:
    return sum(weights[place] for place in matched) / max(sum(weights), 1e-9)
