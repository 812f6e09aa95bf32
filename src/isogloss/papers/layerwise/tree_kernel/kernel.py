"""The partial tree kernel of Moschitti 2006 (Efficient convolution kernels for dependency and constituent trees).

It counts the parts that two trees have in common. A part is a node with any of its children, in order, each with any
of theirs, and so on. With c_s the sequence of the children of a node s:

    K(S, T) = sum_{s in S} sum_{t in T} D(s, t)
    D(s, t) = 0 where the labels differ, else u (l^2 + sum_p sum over the beginnings x of c_s, y of c_t of D_p(x, y))
    D_1(xa, yb) = D(a, b)
    D_p(xa, yb) = D(a, b) sum_{i <= |x|} sum_{j <= |y|} l^(|x| - i + |y| - j) D_{p-1}(x_1..i, y_1..j)

D_p(x, y) is about p children of each side, the last ones being the last of x and of y. l (lambda) makes less of
children that are left out between two that count, u (mu) of deep parts. (The paper's closed form has one l more for
each step from child to child; the recursion above is what it computes, and so do its author's and other programs.)
With l = u = 1, K counts pairs of equal parts. For the children of s and t write C_ij = D(c_i, c'_j), and A_ik =
l^(i - k - 1) for k < i, else 0; then all D_p are elements of

    S_1 = C,    S_(p+1) = C * (A S_p A'^T)    (* elementwise)

Equal subtrees of all trees are stored once, and a node is compared with all nodes of the other trees at the same time,
children before parents; so a kernel value costs microseconds without compiled code.

``train_svm`` trains a support vector machine (scikit-learn's, not measured, would be a dependency for 30 lines).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.layerwise.tree_kernel.trees import Tree
from isogloss.storage.progress import track

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
_BLOCK_VALUES = 10_000_000  # pairs of nodes whose D is in memory at once


class _Node(NamedTuple):
    """A node of some trees: its label, and its children as numbers lower than its own."""

    label: str
    children: tuple[int, ...]


class _Shared:
    """Trees with equal subtrees stored once."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.nodes: list[_Node] = []
        self._number_of: dict[_Node, int] = {}
        self.bags = [self._bag(self._add(tree)) for tree in trees]

    def _add(self, tree: Tree) -> int:
        node = _Node(tree.label, tuple([self._add(child) for child in tree.children]))
        number = self._number_of.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    def _bag(self, root: int) -> Counter[int]:
        """The nodes of a tree and their counts."""
        found: Counter[int] = Counter()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            found[node] += 1
            waiting.extend(self.nodes[node].children)
        return found


class _Alike(NamedTuple):
    """Nodes with one label and about as many children, and those children, one node a column, padded at the end."""

    nodes: Ids
    children: Ids


class PreparedTrees(NamedTuple):
    """Trees prepared for comparison: their distinct nodes by label, and the count of each node in each tree."""

    node_count: int
    by_label: dict[str, list[_Alike]]
    members: Ids
    """The nodes of the trees, one tree after the other."""
    times: Floats
    starts: Ids
    """Where each tree begins among the members."""


class TreeKernel:
    """The partial tree kernel; ``decay`` is l, ``depth_decay`` is u."""

    def __init__(self, decay: float = 0.4, depth_decay: float = 0.4) -> None:
        self._decay, self._depth_decay = decay, depth_decay

    def __call__(self, trees: Sequence[Tree], others: PreparedTrees, label: str = "comparing trees") -> Floats:
        """K of each tree with each of the others."""
        blocks = track(self._blocks(trees, others), label)
        return np.concatenate([np.zeros((0, len(others.starts))), *blocks])

    def of_themselves(self, trees: Sequence[Tree]) -> Floats:
        """K of each tree with itself."""
        return np.asarray([self._compare([tree], self.prepare([tree]))[0, 0] for tree in trees], dtype=np.float64)

    def prepare(self, trees: Sequence[Tree]) -> PreparedTrees:
        """Trees prepared for comparison."""
        shared = _Shared(trees)
        grouped: dict[tuple[str, int], list[int]] = {}
        for number, node in enumerate(shared.nodes):
            grouped.setdefault((node.label, len(node.children).bit_length()), []).append(number)
        by_label: dict[str, list[_Alike]] = {}
        for (label, _), numbers in grouped.items():
            children = [shared.nodes[number].children for number in numbers]
            padded = np.full((max(map(len, children)), len(numbers)), len(shared.nodes), dtype=np.int64)
            for column, each in enumerate(children):
                padded[: len(each), column] = each
            by_label.setdefault(label, []).append(_Alike(np.asarray(numbers, dtype=np.int64), padded))
        sizes = np.asarray([len(bag) for bag in shared.bags], dtype=np.int64)
        members = np.asarray([node for bag in shared.bags for node in bag], dtype=np.int64)
        times = np.asarray([count for bag in shared.bags for count in bag.values()], dtype=np.float64)
        return PreparedTrees(len(shared.nodes), by_label, members, times, np.cumsum(sizes) - sizes)

    def _blocks(self, trees: Sequence[Tree], others: PreparedTrees) -> Iterator[Floats]:
        """As many trees at a time as memory allows."""
        start = 0
        while start < len(trees):
            stop, nodes = start, 0
            while stop < len(trees) and (stop == start or nodes * others.node_count < _BLOCK_VALUES):
                nodes += _size(trees[stop])
                stop += 1
            yield self._compare(trees[start:stop], others)
            start = stop

    def _compare(self, trees: Sequence[Tree], others: PreparedTrees) -> Floats:
        """D of all pairs of nodes, then its sums over the nodes of the trees on both sides."""
        shared = _Shared(trees)
        deltas = np.zeros((len(shared.nodes), others.node_count + 1))  # the last column is what pads children
        for number, (label, children) in enumerate(shared.nodes):
            for alike in others.by_label.get(label, ()):
                sums = self._common_sequences(deltas, children, alike.children)
                deltas[number, alike.nodes] = self._depth_decay * (self._decay**2 + sums)
        rows = np.stack([np.asarray(list(bag.values())) @ deltas[list(bag)] for bag in shared.bags])
        if not len(others.starts):
            return np.zeros((len(trees), 0))
        return np.add.reduceat(rows[:, others.members] * others.times, others.starts, axis=1)

    def _common_sequences(self, deltas: Floats, children: tuple[int, ...], others: Ids) -> Floats | float:
        """The sum of all D_p of one node's children with those of each other node."""
        if not children or not len(others):
            return 0.0
        matches = deltas[np.asarray(children)[:, None, None], others]
        total: Floats = matches.sum(axis=(0, 1))
        ours, theirs = _gaps(len(children), self._decay), _gaps(len(others), self._decay)
        sequences = matches
        for _ in range(min(len(children), len(others)) - 1):
            after_ours = (ours @ sequences.reshape(len(children), -1)).reshape(matches.shape)
            sequences = matches * (theirs @ after_ours)
            if not sequences.any():
                break
            total += sequences.sum(axis=(0, 1))
        return total


def normalized(kernel: Floats, own: Floats, others: Floats) -> Floats:
    """K(S, T) / sqrt(K(S, S) K(T, T)): 1 for equal trees, whatever their size."""
    scaled: Floats = kernel / np.sqrt(np.outer(own, others))
    return scaled


@lru_cache(maxsize=1024)
def _gaps(size: int, decay: float) -> Floats:
    """A: the weight of going on at child i after child k, one ``decay`` for each child between."""
    between = np.subtract.outer(np.arange(size), np.arange(size)) - 1
    return np.where(between >= 0, float(decay) ** np.maximum(between, 0), 0.0)


def _size(tree: Tree) -> int:
    return 1 + sum(map(_size, tree.children))


def train_svm(
    kernel: Floats, labels: Floats, costs: Floats, rounds: int = 1000, tolerance: float = 1e-3, seed: int = 0
) -> Floats:
    """The weights a_i y_i of the examples of f(x) = sum_i a_i y_i K(x_i, x).

        min_a  1/2 sum_ij a_i a_j y_i y_j K_ij - sum_i a_i,    0 <= a_i <= C_i

    Coordinate descent in the dual (Hsieh et al. 2008): each a_i in turn is set to its optimum given the others, in an
    order shuffled each round, until the largest violation of the optimality conditions is below ``tolerance``.
    ``labels`` are y, +1 and -1; ``costs`` are C. There is no bias: add a constant to the kernel. With differences of
    two examples as examples, and all y = 1, it is the ranking machine of Joachims 2002.

    >>> train_svm(np.asarray([[2.0, 0.0], [0.0, 4.0]]), np.asarray([1.0, -1.0]), np.full(2, 10.0))
    array([ 0.5 , -0.25])
    """
    rng = np.random.default_rng(seed)
    signed = kernel * np.outer(labels, labels)
    curvature = np.maximum(signed.diagonal(), 1e-12)
    alphas, slopes = np.zeros(len(labels)), -np.ones(len(labels))
    for _ in range(rounds):
        worst = 0.0
        for i in rng.permutation(len(labels)).tolist():
            moved = min(max(alphas[i] - slopes[i] / curvature[i], 0.0), costs[i]) - alphas[i]
            worst = max(worst, abs(moved) * curvature[i])
            if moved:
                alphas[i] += moved
                slopes += moved * signed[i]
        if worst < tolerance:
            break
    return np.asarray(alphas * labels)
