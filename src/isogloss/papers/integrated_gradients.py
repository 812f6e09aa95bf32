"""The share of each word in a vector that a network makes of many words: integrated gradients.

    e(x) - e(0) = sum_i A_i,   A_i = int_0^1 (de / dx_i)(t x) x_i dt        (Sundararajan et al. 2017)

x are the vectors of a text's words and 0 the same text with every vector zero. The integral is a Gauss-Legendre sum,
exact for what is smooth along the way. With more nodes it is repeated until the A_i add up; what then is still missing,
and e(0), are no word's.

Of two texts whose vectors are compared by an inner product both sides come apart, and each pair of words has its share:

    e(x).f(y) = sum_ij A_i.B_j + e(0).f(y) + (e(x) - e(0)).f(0)

The vectors A_i of the few words of a query can all be had (``word_shares``); of the many words of a document only the
products A_i.B_j (``shares_along``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

Encode = Callable[[Tensor], Tensor]
"""Word vectors ``[copies, words, dimension]`` of some copies of a text to one row each."""
_FEWEST, _MOST = 8, 128
_FEW = 8  # nodes are enough to tell which of a document's words count most
_TOLERANCE = 5e-4


class Shares(NamedTuple):
    """The share of each word, row by row; ``rest`` is no word's.

    ``error`` is the length of what the integral missed, as a share of the whole.
    """

    words: Tensor
    rest: Tensor
    error: float


def word_shares(encode: Encode, vectors: Tensor) -> Shares:
    """The share of each word in the vector that ``encode`` makes of a text: a row a word."""
    return _refined(lambda nodes, weights: _vector_shares(encode, vectors, nodes, weights), encode, vectors)


def shares_along(encode: Encode, vectors: Tensor, directions: Tensor) -> Shares:
    """The products of each word's share with some directions, ``[words, directions]``."""

    def products(copies: Tensor) -> Tensor:
        return encode(copies) @ directions.T

    return _refined(lambda nodes, weights: _number_shares(products, vectors, nodes, weights), products, vectors, _FEW)


def _refined(shares: Callable[[Tensor, Tensor], Tensor], encode: Encode, vectors: Tensor, most: int = _MOST) -> Shares:
    """Integrate with more and more nodes until nothing is missing."""
    with torch.no_grad():
        whole, none = encode(torch.stack([vectors, torch.zeros_like(vectors)]))
    if not len(vectors):
        return Shares(vectors.new_zeros(0, len(whole)), whole, 0.0)
    number = _FEWEST
    while True:
        nodes, weights = np.polynomial.legendre.leggauss(number)
        words = shares(vectors.new_tensor((nodes + 1) / 2), vectors.new_tensor(weights / 2))
        error = float((whole - none - words.sum(dim=0)).norm() / whole.norm().clamp(min=1e-12))
        if error <= _TOLERANCE or number >= most:
            return Shares(words, whole - words.sum(dim=0), error)
        number *= 4


def _vector_shares(encode: Encode, vectors: Tensor, nodes: Tensor, weights: Tensor) -> Tensor:
    """One row a word: the gradient of v.e(t x) is linear in v, so that its own gradient by v is the derivative of e."""
    copies = _copies(vectors, nodes)
    encoded = encode(copies)
    direction = torch.zeros_like(encoded, requires_grad=True)
    (gradient,) = torch.autograd.grad(encoded, copies, direction, create_graph=True)
    along = (gradient * vectors).sum(dim=2)
    wanted = [
        torch.autograd.grad(along[:, word].sum(), direction, retain_graph=True)[0] for word in range(len(vectors))
    ]
    return torch.stack([(weights[:, None] * each).sum(dim=0) for each in wanted])


def _number_shares(encode: Encode, vectors: Tensor, nodes: Tensor, weights: Tensor) -> Tensor:
    """One row a word, one column for each of the few numbers that ``encode`` gives."""
    copies = _copies(vectors, nodes)
    summed = (weights[:, None] * encode(copies)).sum(dim=0)
    gradients = [torch.autograd.grad(each, copies, retain_graph=True)[0] for each in summed]
    return torch.stack([(gradient * vectors).sum(dim=(0, 2)) for gradient in gradients], dim=1)


def _copies(vectors: Tensor, nodes: Tensor) -> Tensor:
    """The text at each node of its way from zero."""
    return (nodes[:, None, None] * vectors.detach()).requires_grad_()
