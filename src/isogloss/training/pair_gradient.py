r"""The gradient of one pair, compiled: from two means to the slope that each word vector of both texts gets.

::

    q = tanh(a), d = tanh(b);  r = q.d / ((|q| + eps)(|d| + eps))
    dr/dq = d / ((|q| + eps)(|d| + eps)) - r q / (|q| (|q| + eps))
    dL/da = L'(r) dr/dq (1 - q^2),  and each of the text's n words gets 1/n of it
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isogloss.base.compiled import compiled_arithmetic

_TINY = np.float32(1e-15)  # its square is still a float32
_ONE = np.float32(1)


@compiled_arithmetic
def differentiate(
    query: Any, document: Any, query_words: int, document_words: int, grade: int, loss: Any, number: int
) -> tuple[float, float]:
    """Means in, slopes of the mean loss of ``number`` pairs out, in place; the loss, and a bound on their norm."""
    kind, lower, upper, slope, eps = loss
    size = len(query)
    product, query_square, document_square = np.float32(0), np.float32(0), np.float32(0)
    for j in range(size):
        query[j] = hyperbolic_tangent(query[j])
        document[j] = hyperbolic_tangent(document[j])
        product += query[j] * document[j]
        query_square += query[j] * query[j]
        document_square += document[j] * document[j]
    query_norm, document_norm = math.sqrt(query_square), math.sqrt(document_square)
    query_size, document_size = max(query_norm + eps, _TINY), max(document_norm + eps, _TINY)
    score = product / query_size / document_size
    value, towards = loss_and_slope(score, kind, lower[grade], upper[grade], slope)
    towards /= np.float32(number)
    across = towards / query_size / document_size
    if eps == 0 and (query_norm == 0 or document_norm == 0):
        across = np.float32(0)  # the cosine has no gradient there
    query_along = towards * score / query_size / max(query_norm, _TINY)
    document_along = towards * score / document_size / max(document_norm, _TINY)
    query_share, document_share = _ONE / np.float32(max(1, query_words)), _ONE / np.float32(max(1, document_words))
    total = np.float32(0)
    for j in range(size):
        q, d = query[j], document[j]
        query_slope = (across * d - query_along * q) * (_ONE - q * q)
        document_slope = (across * q - document_along * d) * (_ONE - d * d)
        total += query_slope * query_slope + document_slope * document_slope
        query[j] = query_slope * query_share
        document[j] = document_slope * document_share
    return value, math.sqrt(total)


@compiled_arithmetic
def hyperbolic_tangent(x: Any) -> Any:
    """The tanh to 2e-7, by Lambert's continued fraction of x/2 and doubling: without branches, it runs in registers."""
    x = np.float32(-9) if x < -9 else x  # written so that what is not a number stays so
    x = np.float32(9) if x > 9 else x
    half = x * np.float32(0.5)
    s = half * half
    above = _ONE + s * (
        np.float32(4729725 / 34459425)
        + s * (np.float32(135135 / 34459425) + s * (np.float32(990 / 34459425) + s * np.float32(1 / 34459425)))
    )
    below = _ONE + s * (
        np.float32(16216200 / 34459425)
        + s * (np.float32(945945 / 34459425) + s * (np.float32(13860 / 34459425) + s * np.float32(45 / 34459425)))
    )
    t = half * above / below
    return (t + t) / (_ONE + t * t)


@compiled_arithmetic
def loss_and_slope(score: Any, kind: int, lower: Any, upper: Any, slope: Any) -> Any:
    """Either kind of loss (``models/losses/loss.py``)."""
    if kind == 0:
        above: Any = max(score - upper, np.float32(0))
        below: Any = max(lower - score, np.float32(0))
        return above * above + below * below, np.float32(2) * (above - below)
    right, left = slope * (score - upper), slope * (lower - score)
    value = _softplus(right) + _softplus(left) - math.log(-math.expm1(slope * (lower - upper)))
    return np.float32(value), np.float32(slope * (_sigmoid(right) - _sigmoid(left)))


@compiled_arithmetic
def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@compiled_arithmetic
def _sigmoid(x: float) -> float:
    return 0.5 + 0.5 * math.tanh(0.5 * x)
