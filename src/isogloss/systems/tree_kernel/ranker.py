"""Ranking pairs of texts by their trees: a support vector machine over pairs of trees (Da San Martino et al. 2017).

A pair is a query and a document, both as trees that show which words match (:mod:`isogloss.systems.tree_kernel.ranker`),
and some features that say the same in numbers. Two pairs are as alike as their queries and their documents are:

    K((q, d), (q', d')) = k(q, q') + k(d, d') + x . x' / n        k: the partial tree kernel, normalised

(``product``: k(q, q') k(d, d') + x . x' / n). x are the n features, made to have mean 0 and variance 1. The paper adds
up the same kernels over trees marked the same way; its features are of similarity too, but need tools that we lack.

Learned is either that the right document of a question is above the others (``ranking``), with the differences of
pairs of one question as examples, or which pairs are right (``classification``, as in the paper), where wrong pairs
outnumber right ones and so cost less each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.strings import StringTable
from isogloss.systems.tree_kernel.kernel import Floats, Ids, PreparedTrees, TreeKernel, normalized, train_svm
from isogloss.text.tokenizer import tokenize
from isogloss.text.trees import Tree, parse_trees
from isogloss.translation.lexicon import Phrase
from isogloss.translation.queries import QueryTranslator

OBJECTIVES = ("ranking", "classification")
PAIR_KERNELS = ("sum", "product")


class TreePair(NamedTuple):
    """A query and a document, as marked trees, and the features of the pair."""

    query: Tree
    document: Tree
    features: Sequence[float]


class _Side(NamedTuple):
    """The trees of one side of the known pairs, ready to be compared with, and their kernel with themselves."""

    trees: PreparedTrees
    own: Floats


class PairKernel:
    """K between any pairs and some that are known; ``use_features`` says whether x takes part."""

    def __init__(
        self, kernel: TreeKernel, known: Sequence[TreePair], combine: str, use_features: bool,
        scale: tuple[Floats, Floats] | None = None,
    ) -> None:  # fmt: skip
        self._kernel, self._product, self._use_features = kernel, combine == "product", use_features
        self._sides = [self._side([pair.query for pair in known]), self._side([pair.document for pair in known])]
        features = _features(known)
        self.scale = scale or (features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9))
        self._known_features = self._scaled(features)

    def __call__(self, pairs: Sequence[TreePair]) -> Floats:
        """One pair a row, one known pair a column."""
        queries = self._of_side(0, [pair.query for pair in pairs])
        documents = self._of_side(1, [pair.document for pair in pairs])
        combined = queries * documents if self._product else queries + documents
        if self._use_features:
            features = self._scaled(_features(pairs)) / self._known_features.shape[1]
            combined += np.einsum("pf,kf->pk", features, self._known_features)
        return combined

    def _side(self, trees: Sequence[Tree]) -> _Side:
        return _Side(self._kernel.prepare(trees), self._kernel.of_themselves(trees))

    def _of_side(self, side: int, trees: Sequence[Tree]) -> Floats:
        known = self._sides[side]
        own = self._kernel.of_themselves(trees)
        return normalized(self._kernel(trees, known.trees, "comparing trees"), own, known.own)

    def _scaled(self, features: Floats) -> Floats:
        mean, deviation = self.scale
        return np.asarray((features - mean) / deviation)


class TreeRanker:
    """Scores pairs: f(p) = sum_i weight_i K(p_i, p)."""

    def __init__(self, kernel: PairKernel, known: Sequence[TreePair], weights: Floats) -> None:
        self._kernel, self._known, self._weights = kernel, known, weights

    def __call__(self, pairs: Sequence[TreePair]) -> Floats:
        """The score of each pair."""
        # unlike @, equal pairs get equal scores
        return np.asarray(np.einsum("pk,k->p", self._kernel(pairs), self._weights))

    def save(self, directory: Path) -> None:
        """Write the pairs it compares with, and what each weighs."""
        for side in ("query", "document"):
            StringTable.of(str(getattr(pair, side)) for pair in self._known).save(directory, f"known.{side}")
        save_array(directory / "known.features.npy", _features(self._known))
        save_array(directory / "known.weights.npy", self._weights)
        save_array(directory / "known.scale.npy", np.stack(self._kernel.scale))

    @classmethod
    def load(cls, directory: Path, kernel: TreeKernel, combine: str, use_features: bool) -> TreeRanker:
        """Read what ``save`` wrote."""
        sides = [StringTable.load(directory, f"known.{side}") for side in ("query", "document")]
        features, weights, scale = (
            load_array(directory / f"known.{part}.npy") for part in ("features", "weights", "scale")
        )
        trees = [[parse_trees(brackets)[0] for brackets in side] for side in sides]
        known = [TreePair(*parts) for parts in zip(*trees, features.tolist(), strict=True)]
        if len(weights) != len(known):
            raise ValueError("known.weights.npy does not fit the known pairs")
        return cls(PairKernel(kernel, known, combine, use_features, (scale[0], scale[1])), known, weights)


def train_ranker(
    groups: Sequence[Sequence[TreePair]], kernel: TreeKernel, combine: str = "sum", objective: str = "ranking",
    cost: float = 1.0, use_features: bool = True, seed: int = 0,
) -> TreeRanker:  # fmt: skip
    """Learn from groups of pairs of one question each, the right one first. Pairs of no weight are dropped."""
    pairs = [pair for group in groups for pair in group]
    everything = PairKernel(kernel, pairs, combine, use_features)
    learn = _learn_ranking if objective == "ranking" else _learn_classes
    weights = learn(everything(pairs), np.asarray([len(group) for group in groups]), cost, seed)
    kept = np.flatnonzero(weights)
    known = [pairs[i] for i in kept.tolist()]
    return TreeRanker(PairKernel(kernel, known, combine, use_features, everything.scale), known, weights[kept])


def _learn_ranking(kernel: Floats, sizes: Ids, cost: float, seed: int) -> Floats:
    """Differences of the right pair of a group and each other one are the examples, all of them positive."""
    starts: Ids = np.cumsum(sizes) - sizes
    wrong: Ids = np.setdiff1d(np.arange(len(kernel)), starts)
    right: Ids = np.repeat(starts, sizes - 1)
    left = kernel[right] - kernel[wrong]
    differences = left[:, right] - left[:, wrong]
    learned = train_svm(differences, np.ones(len(wrong)), np.full(len(wrong), cost), seed=seed)
    weights = np.zeros(len(kernel))
    np.add.at(weights, right, learned)
    np.subtract.at(weights, wrong, learned)
    return weights


def _learn_classes(kernel: Floats, sizes: Ids, cost: float, seed: int) -> Floats:
    """Each pair is an example; the constant is the bias."""
    labels = -np.ones(len(kernel))
    labels[np.cumsum(sizes) - sizes] = 1.0
    share = (labels < 0).sum() / max(1, (labels > 0).sum())
    return train_svm(kernel + 1, labels, np.where(labels > 0, cost * share, cost), seed=seed)


def _features(pairs: Sequence[TreePair]) -> Floats:
    return np.asarray([pair.features for pair in pairs], dtype=np.float64).reshape(len(pairs), -1)


# Which words of two texts say the same, and trees that show it.
#
# A word of the query matches a word of the document that is one of its translations (or, without a lexicon, has its
# stem). As in Da San Martino et al. 2017 (Cross-language question re-ranking) and the systems it builds on, the two
# nodes above a matched word are marked in both trees: ``(PHRASE (CONTENT tax))`` becomes ``(REL-PHRASE (REL-CONTENT
# tax))``. Parts of trees then tell not only what stands in a text but what of it the other text answers to.

MARK = "REL-"
_MARKED_LEVELS = 2


class Match(NamedTuple):
    """A word of the query and a word of the document that say the same, by their places."""

    query: int
    document: int


class WordMatcher:
    """Finds the words of two texts that say the same, through a translator's lexicon and its number of translations."""

    def __init__(self, translator: QueryTranslator) -> None:
        self._translator, self._terms = translator, translator.tokenizer
        self._known: dict[Phrase, frozenset[str]] = {}

    def __call__(self, query: Sequence[str], document: Sequence[str]) -> list[Match]:
        """The matches of tokens (of :func:`~isogloss.text.tokenizer.tokenize`), ordered by place."""
        places: dict[str, list[int]] = {}
        for place, term in enumerate(self._terms.terms(document)):
            places.setdefault(term, []).append(place)
        found, start = set(), 0
        for phrase in self._translator.lexicon.cut(query):
            matched = [place for term in self.targets(phrase) for place in places.get(term, ())]
            found |= {Match(own, place) for own in range(start, start + len(phrase)) for place in matched}
            start += len(phrase)
        return sorted(found)

    def targets(self, phrase: Phrase) -> frozenset[str]:
        """The terms that a phrase of the query may match: those of its best translations, or its own without any."""
        if phrase not in self._known:
            best = sorted(self._translator.translate(phrase), key=lambda translation: -translation.probability)
            words = [word for translation in best[: self._translator.translations] for word in translation.phrase]
            self._known[phrase] = frozenset(self._terms.terms(words or phrase))
        return self._known[phrase]


def leaf_tokens(tree: Tree) -> list[str]:
    """The words of a tree as tokens of the house, one a leaf; a leaf that is none is kept as it is."""
    return ["".join(tokenize(word)) or word for word in tree.words()] if tree.children else []


def mark(tree: Tree, matched: Collection[int]) -> Tree:
    """The tree with the parents and grandparents of some leaves marked; the root never is.

    >>> print(mark(Tree("S", (Tree("NP", (Tree("N", (Tree("tax"),)), Tree("P", (Tree("on"),)))),)), {0}))
    (S (REL-NP (REL-N tax) (P on)))
    """
    marked, _ = _marked(tree, matched, count())
    return marked._replace(label=tree.label)


def beginning(tree: Tree, words: int) -> Tree:
    """The tree of so many words of the beginning.

    >>> print(beginning(Tree("S", (Tree("N", (Tree("tax"), Tree("on"))), Tree("N", (Tree("income"),)))), 1))
    (S (N tax))
    """
    return _cut(tree, words)[0]


def without_words(tree: Tree, words: Collection[str]) -> Tree:
    """The tree without some words, and without the nodes that have nothing left beneath them; its root stays.

    >>> print(without_words(Tree("S", (Tree("N", (Tree("Tax"),)), Tree("P", (Tree("on"),)))), {"tax"}))
    (S (P on))
    """
    return _thinned(tree, words) or Tree(tree.label)


def _thinned(tree: Tree, words: Collection[str]) -> Tree | None:
    if not tree.children:
        return None if "".join(tokenize(tree.label)) in words else tree
    children = [child for child in (_thinned(each, words) for each in tree.children) if child is not None]
    return Tree(tree.label, tuple(children)) if children else None


def _cut(tree: Tree, words: int) -> tuple[Tree, int]:
    """The tree without the leaves after so many, and how many it has left."""
    if not tree.children:
        return tree, 1
    children: list[Tree] = []
    taken = 0
    for child in tree.children:
        if taken == words:
            break
        kept, leaves = _cut(child, words - taken)
        children.append(kept)
        taken += leaves
    return Tree(tree.label, tuple(children)), taken


def _marked(tree: Tree, matched: Collection[int], places: Iterator[int]) -> tuple[Tree, int]:
    """The tree, and for how many levels above it the mark goes on."""
    if not tree.children:
        return tree, _MARKED_LEVELS if next(places) in matched else 0
    children, levels = zip(*(_marked(child, matched, places) for child in tree.children), strict=True)
    reach = max(levels)
    return Tree(MARK + tree.label if reach else tree.label, children), max(0, reach - 1)


# A query and a document as a pair of trees with their matches marked, and the features of the pair.
#
# Features: the score of the search that found the document, over the best possible; and how much of the query is
# matched and how much of the document, counting words alike and weighing each by its inverse document frequency ln(1 +
# (N - df + 0.5) / (df + 0.5)). They see the whole texts, the kernel so many words of their beginnings: its cost grows
# fast.

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
