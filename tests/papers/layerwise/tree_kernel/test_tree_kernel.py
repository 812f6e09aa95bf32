"""The partial tree kernel: values worked out by hand, all parts of small trees enumerated, what any kernel keeps."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.layerwise.tree_kernel import kernel as tree_kernel
from isogloss.papers.layerwise.tree_kernel.kernel import TreeKernel, normalized
from isogloss.papers.layerwise.tree_kernel.trees import Tree, parse_trees


def tree(brackets):
    return parse_trees(brackets)[0]


def partial_tree_kernel(first, second, decay=0.4, depth_decay=0.4):
    """K of two trees."""
    kernel = TreeKernel(decay, depth_decay)
    return kernel([first], kernel.prepare([second]))[0, 0]


def random_trees(labels="AB", leaves="ab"):
    """Small trees over few labels, so that parts repeat."""
    return st.recursive(
        st.sampled_from(leaves).map(Tree),
        lambda inner: st.builds(
            Tree, st.sampled_from(labels), st.lists(inner, min_size=1, max_size=3).map(tuple)
        ),
        max_leaves=5,
    )  # fmt: skip


def parts_of(node, decay):
    """Every part rooted at a node, as a tree, with its weight for this side: decay for itself, and for each gap."""
    found = [(Tree(node.label), decay)]
    for size in range(1, len(node.children) + 1):
        for chosen in combinations(range(len(node.children)), size):
            left_out = chosen[-1] - chosen[0] + 1 - size
            for parts in product(*(parts_of(node.children[i], decay) for i in chosen)):
                weight = decay**left_out * float(np.prod([weight for _, weight in parts]))
                found.append((Tree(node.label, tuple(part for part, _ in parts)), weight))
    return found


def size_of(part):
    return 1 + sum(map(size_of, part.children))


def nodes_of(node):
    return [node, *(below for child in node.children for below in nodes_of(child))]


def enumerated(first, second, decay, depth_decay):
    """The same as the kernel, one pair of equal parts after the other: mu counts the nodes of a part."""
    ours = [part for node in nodes_of(first) for part in parts_of(node, decay)]
    theirs = [part for node in nodes_of(second) for part in parts_of(node, decay)]
    return sum(
        weight * other_weight * depth_decay ** size_of(part)
        for part, weight in ours for other, other_weight in theirs if part == other
    )  # fmt: skip


def test_the_parts_of_a_verb_phrase_are_counted_as_in_the_papers():
    """(VP (V brought) (NP (D a) (N cat))): 30 parts at VP, 9 at NP, 2 at each tag, 1 at each word; all distinct."""
    phrase = tree("(VP (V brought) (NP (D a) (N cat)))")
    assert partial_tree_kernel(phrase, phrase, 1, 1) == 30 + 9 + 3 * 2 + 3


def test_the_papers_example_shares_the_parts_it_says():
    """(S DT JJ N) and (S DT N N) have (S N) twice and (S DT N) in common: Moschitti 2006, section 2."""
    first, second = tree("(S DT JJ N)"), tree("(S DT N N)")
    assert partial_tree_kernel(first, second, 1, 1) == 1 + 2 + (1 + 1 + 2 + 2)
    decay, depth_decay = 0.5, 0.25
    leaf = depth_decay * decay**2
    pairs = (
        leaf * leaf * (decay + decay**2)
    )  # JJ is left out of the first; the second N has one more left out before it
    expected = 3 * leaf + depth_decay * (decay**2 + 3 * leaf + pairs)
    assert partial_tree_kernel(first, second, decay, depth_decay) == pytest.approx(expected)


def test_a_single_word_and_trees_without_a_common_label():
    assert partial_tree_kernel(Tree("a"), Tree("a"), 0.4, 0.4) == pytest.approx(0.4**3)
    assert partial_tree_kernel(tree("(A b)"), tree("(B a)")) == 0.0


@settings(deadline=None, max_examples=150)
@given(random_trees(), random_trees(), st.sampled_from([0.3, 0.4, 1.0]), st.sampled_from([0.4, 0.7, 1.0]))
def test_it_is_the_sum_over_all_pairs_of_equal_parts(first, second, decay, depth_decay):
    computed = partial_tree_kernel(first, second, decay, depth_decay)
    assert computed == pytest.approx(enumerated(first, second, decay, depth_decay), rel=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.lists(random_trees(), min_size=2, max_size=6))
def test_it_is_a_kernel_symmetric_and_positive_and_normalised_to_one(trees):
    kernel = TreeKernel()
    values = kernel(trees, kernel.prepare(trees))
    own = kernel.of_themselves(trees)
    assert values == pytest.approx(values.T)
    assert values.diagonal() == pytest.approx(own)
    scaled = normalized(values, own, own)
    assert scaled.diagonal() == pytest.approx(np.ones(len(trees)))
    assert scaled.max() <= 1 + 1e-9 and scaled.min() >= 0
    assert np.linalg.eigvalsh(scaled).min() > -1e-9


def test_many_at_once_are_as_one_by_one_in_blocks_of_any_size(monkeypatch):
    rng = np.random.default_rng(2)
    trees = [
        Tree(
            "R", tuple(Tree("AB"[rng.integers(2)], (Tree("xyz"[rng.integers(3)]),)) for _ in range(rng.integers(1, 9)))
        )
        for _ in range(12)
    ]
    kernel = TreeKernel()
    alone = [[partial_tree_kernel(first, second) for second in trees] for first in trees]
    assert kernel(trees, kernel.prepare(trees)) == pytest.approx(np.asarray(alone))
    monkeypatch.setattr(tree_kernel, "_BLOCK_VALUES", 1)
    assert kernel(trees, kernel.prepare(trees)) == pytest.approx(np.asarray(alone))


def test_nothing_compared_with_nothing_has_no_values():
    kernel = TreeKernel()
    assert kernel([], kernel.prepare([Tree("a")])).shape == (0, 1)
    assert kernel([Tree("a")], kernel.prepare([])).shape == (1, 0)
