"""Ranking pairs of texts by their trees: a support vector machine over pairs of trees (Da San Martino et al. 2017).

A pair is a query and a document, both as trees that show which words match (:mod:`isogloss.lexical.tree_relations`),
and some features that say the same in numbers. Two pairs are as alike as their queries and their documents are:

    K((q, d), (q', d')) = k(q, q') + k(d, d') + x . x' / n        k: the partial tree kernel, normalised

(``product``: k(q, q') k(d, d') + x . x' / n). x are the n features, made to have mean 0 and variance 1. The paper adds
up the same kernels over trees marked the same way; its features are of similarity too, but need tools that we lack.

Learned is either that the right document of a question is above the others (``ranking``), with the differences of
pairs of one question as examples, or which pairs are right (``classification``, as in the paper), where wrong pairs
outnumber right ones and so cost less each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.base.arrays import load_array, save_array
from isogloss.base.strings import StringTable
from isogloss.lexical.svm import train_svm
from isogloss.lexical.tree_kernel import Floats, Ids, PreparedTrees, TreeKernel, normalized
from isogloss.text.trees import Tree, parse_trees

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
