"""Ranking of (query, document) pairs as trees, by a support vector machine (Da San Martino et al. 2017).

*Matches.* A query word matches a document word that is one of its translations (or, without a lexicon, has its stem).
As in the paper, the two nodes above a matched word are marked in both trees: ``(PHRASE (CONTENT tax))`` becomes
``(REL-PHRASE (REL-CONTENT tax))``. So parts of trees show which parts of a text have a counterpart in the other.

*Features* x of a pair: the first-stage score over the best possible one; and the shares of query words and of document
words that are matched, unweighted and weighted by ln(1 + (N - df + 0.5) / (df + 0.5)). They see whole texts, the kernel
only the first words of each, because its cost grows fast.

*Kernel* of two pairs, k being the normalised partial tree kernel and x scaled to mean 0 and variance 1:

    K((q, d), (q', d')) = k(q, q') + k(d, d') + x . x' / n        (product: k(q, q') k(d, d') + x . x' / n)

The paper adds up the same kernels over trees marked the same way; its features of similarity need tools that we lack.

*Objective*: either the right document of a question ranks above the others (``ranking``, on differences of pairs of one
question), or pairs are classified as right or wrong (``classification``, as in the paper), where wrong pairs outnumber
right ones and so cost less each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.papers.layerwise.tree_kernel.kernel import Floats, Ids, TreeKernel, normalized, train_svm
from isogloss.papers.layerwise.tree_kernel.trees import Tree, parse_trees
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.strings import StringTable
from isogloss.text.tokenizer import tokenize
from isogloss.translation.lexicon import Phrase
from isogloss.translation.queries import QueryTranslator

OBJECTIVES = ("ranking", "classification")
PAIR_KERNELS = ("sum", "product")
MARK = "REL-"
_MARKED_LEVELS = 2

Weight = Callable[[str], float]
"""The weight of a word."""


class TreePair(NamedTuple):
    """A query and a document, as marked trees, and the features of the pair."""

    query: Tree
    document: Tree
    features: Sequence[float]


class PairKernel:
    """K between any pairs and the known pairs; ``use_features``: with the summand of x."""

    def __init__(
        self, kernel: TreeKernel, known: Sequence[TreePair], combine: str, use_features: bool,
        scale: tuple[Floats, Floats] | None = None,
    ) -> None:  # fmt: skip
        self._kernel, self._product, self._use_features = kernel, combine == "product", use_features
        self._sides = [(kernel.prepare(trees), kernel.of_themselves(trees)) for trees in _trees(known)]
        features = _features(known)
        self.scale = scale or (features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9))
        self._known_features = self._scaled(features)

    def __call__(self, pairs: Sequence[TreePair]) -> Floats:
        """One pair a row, one known pair a column."""
        queries, documents = (
            normalized(self._kernel(trees, known), self._kernel.of_themselves(trees), own)
            for trees, (known, own) in zip(_trees(pairs), self._sides, strict=True)
        )
        combined = queries * documents if self._product else queries + documents
        if self._use_features:
            features = self._scaled(_features(pairs)) / self._known_features.shape[1]
            combined += np.einsum("pf,kf->pk", features, self._known_features)
        return combined

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
        """Write the known pairs and their weights."""
        for side in ("query", "document"):
            StringTable.of(str(getattr(pair, side)) for pair in self._known).save(directory, f"known.{side}")
        save_array(directory / "known.features.npy", _features(self._known))
        save_array(directory / "known.weights.npy", self._weights)
        save_array(directory / "known.scale.npy", np.stack(self._kernel.scale))

    @classmethod
    def load(cls, directory: Path, kernel: TreeKernel, combine: str, use_features: bool) -> TreeRanker:
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
    """Train on groups of pairs, each of one question with the right pair first; pairs of weight 0 are dropped."""
    pairs = [pair for group in groups for pair in group]
    everything = PairKernel(kernel, pairs, combine, use_features)
    train = _train_ranking if objective == "ranking" else _train_classes
    weights = train(everything(pairs), np.asarray([len(group) for group in groups]), cost, seed)
    kept = np.flatnonzero(weights)
    known = [pairs[i] for i in kept.tolist()]
    return TreeRanker(PairKernel(kernel, known, combine, use_features, everything.scale), known, weights[kept])


def _train_ranking(kernel: Floats, sizes: Ids, cost: float, seed: int) -> Floats:
    """The examples, all positive, are the differences of the right pair of a group and each other pair."""
    starts: Ids = np.cumsum(sizes) - sizes
    wrong: Ids = np.setdiff1d(np.arange(len(kernel)), starts)
    right: Ids = np.repeat(starts, sizes - 1)
    left = kernel[right] - kernel[wrong]
    differences = left[:, right] - left[:, wrong]
    alphas = train_svm(differences, np.ones(len(wrong)), np.full(len(wrong), cost), seed=seed)
    weights = np.zeros(len(kernel))
    np.add.at(weights, right, alphas)
    np.subtract.at(weights, wrong, alphas)
    return weights


def _train_classes(kernel: Floats, sizes: Ids, cost: float, seed: int) -> Floats:
    """Each pair is an example; the constant is the bias."""
    labels = -np.ones(len(kernel))
    labels[np.cumsum(sizes) - sizes] = 1.0
    share = (labels < 0).sum() / max(1, (labels > 0).sum())
    return train_svm(kernel + 1, labels, np.where(labels > 0, cost * share, cost), seed=seed)


def _features(pairs: Sequence[TreePair]) -> Floats:
    return np.asarray([pair.features for pair in pairs], dtype=np.float64).reshape(len(pairs), -1)


def _trees(pairs: Sequence[TreePair]) -> tuple[list[Tree], list[Tree]]:
    return [pair.query for pair in pairs], [pair.document for pair in pairs]


class Match(NamedTuple):
    """The positions of a query word and of a document word that match."""

    query: int
    document: int


class WordMatcher:
    """Matches the words of two texts by the best translations of a query translator."""

    def __init__(self, translator: QueryTranslator) -> None:
        self._translator, self._terms = translator, translator.tokenizer
        self._known: dict[Phrase, frozenset[str]] = {}

    def __call__(self, query: Sequence[str], document: Sequence[str]) -> list[Match]:
        """The matches of tokens (of :func:`~isogloss.text.tokenizer.tokenize`), ordered by position."""
        positions: dict[str, list[int]] = {}
        for position, term in enumerate(self._terms.terms(document)):
            positions.setdefault(term, []).append(position)
        found, start = set(), 0
        for phrase in self._translator.lexicon.cut(query):
            matched = [position for term in self.targets(phrase) for position in positions.get(term, ())]
            found |= {Match(own, position) for own in range(start, start + len(phrase)) for position in matched}
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
    """The words of a tree as tokens of our tokenizer, one a leaf; a leaf without a token stays as it is."""
    return ["".join(tokenize(word)) or word for word in tree.words()] if tree.children else []


def mark(tree: Tree, matched: Collection[int]) -> Tree:
    """The tree with the parents and grandparents of some leaves marked; the root never is.

    >>> print(mark(Tree("S", (Tree("NP", (Tree("N", (Tree("tax"),)), Tree("P", (Tree("on"),)))),)), {0}))
    (S (REL-NP (REL-N tax) (P on)))
    """
    marked, _ = _marked(tree, matched, count())
    return marked._replace(label=tree.label)


def beginning(tree: Tree, words: int) -> Tree:
    """The tree of the first ``words`` words.

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


def _marked(tree: Tree, matched: Collection[int], positions: Iterator[int]) -> tuple[Tree, int]:
    """The tree, and how many levels above it are marked."""
    if not tree.children:
        return tree, _MARKED_LEVELS if next(positions) in matched else 0
    children, levels = zip(*(_marked(child, matched, positions) for child in tree.children), strict=True)
    reach = max(levels)
    return Tree(MARK + tree.label if reach else tree.label, children), max(0, reach - 1)


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
    """The weight of a word with this document frequency."""
    return math.log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5))


def make_pair(query: ReadTree, document: ReadTree, matcher: WordMatcher, found: float, words: int) -> TreePair:
    """Match the words of a query and a document, and mark both trees; ``found`` is the first-stage score."""
    matches = matcher(query.words, document.words)
    matched = {match.query for match in matches}, {match.document for match in matches}
    features = [found]
    for side, positions in zip((query, document), matched, strict=True):
        features += [_share([1.0] * len(side.words), positions), _share(side.weights, positions)]
    marked = [mark(side.tree, positions) for side, positions in zip((query, document), matched, strict=True)]
    return TreePair(beginning(marked[0], words), beginning(marked[1], words), features)


def _share(weights: Sequence[float], matched: Collection[int]) -> float:
    return sum(weights[position] for position in matched) / max(sum(weights), 1e-9)
