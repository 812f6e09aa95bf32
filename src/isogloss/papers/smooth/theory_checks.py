"""The constants of the smooth paper's theory against sampled values: whether they are kept, and how nearly reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.losses import SmoothOrdinalSearchLoss
from isogloss.nn.similarity import smooth_cosine, smooth_cosine_gradient, smooth_scale
from isogloss.papers.smooth import theory

EPS = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0)
DIMENSIONS = (1, 2, 8, 64)
THRESHOLDS = ((0.0,), (0.2, 0.7), (0.0, 0.5), (-0.9, -0.5, 0.1, 0.95))
_ROUNDING = 1e-6

Vectors = NDArray[np.float64]
Gradient = Callable[[Vectors], Vectors]


class Check(NamedTuple):
    """One bound, and the largest value that was found under it."""

    claim: str
    setting: str
    samples: int
    bound: float
    largest: float

    @property
    def share(self) -> float:
        """The share of the bound that was reached."""
        return self.largest / self.bound

    @property
    def holds(self) -> bool:
        """Whether the bound was kept (up to the rounding of finite differences)."""
        return self.share <= 1 + _ROUNDING


def check_constants(seed: int = 0) -> list[Check]:
    """Every constant of ``theory`` against sampled values, as rows of a table."""
    random = np.random.default_rng(seed)
    return [*_gradients(random), *_losses(), *_hessians(random), *_models(random)]


def _gradients(random: np.random.Generator, samples: int = 2000) -> Iterator[Check]:
    """Vectors of all lengths, 0 and next to it among them."""
    for eps in EPS:
        one = both = 0.0
        for dimension in DIMENSIONS:
            queries, documents = _pairs(random, samples, dimension, lengths=(-12, 3))
            queries[: samples // 10] = 0
            documents[samples // 20 : samples // 5] = 0
            gradients = smooth_cosine_gradient(queries, documents, eps)
            one = max(one, *(_largest_norm(gradient) for gradient in gradients))
            both = max(both, _largest_norm(np.concatenate(gradients, axis=1)))
        count = samples * len(DIMENSIONS)
        setting = f"eps {eps:g}"
        yield Check("|grad r_eps| <= 2/eps, one vector", setting, 2 * count, theory.gradient_bound(eps), one)
        sharper = theory.similarity_regularity(eps).lipschitz
        yield Check("|grad r_eps| <= 1/eps, both vectors", setting, count, sharper, both)


def _losses(samples: int = 4001) -> Iterator[Check]:
    scores = np.linspace(-1, 1, samples)
    for thresholds in THRESHOLDS:
        loss = SmoothOrdinalSearchLoss(thresholds)
        shown = ", ".join(f"{threshold:g}" for threshold in thresholds)
        curvature = 0.0
        for grade in range(loss.grades):
            slopes = loss.slopes(scores, grade)
            curvature = max(curvature, float(np.abs(np.diff(slopes) / np.diff(scores)).max()))
            bound, largest = theory.sosl_slope(thresholds, grade), float(np.abs(slopes).max())
            yield Check("|SOSL'| within Proposition 1", f"thresholds {shown}; y = {grade + 1}", samples, bound, largest)
        count = samples * loss.grades
        yield Check("|SOSL''| <= 2", f"thresholds {shown}", count, theory.SOSL_CURVATURE, curvature)


def _hessians(random: np.random.Generator, samples: int = 200) -> Iterator[Check]:
    for eps in (0.05, 0.5, 1.0):
        one = both = 0.0
        for dimension in (1, 2, 8):
            queries, documents = _pairs(random, samples, dimension, lengths=(-4, 3))
            joint = _joint_gradient(eps)
            hessians = _differentiate(joint, np.concatenate([queries, documents], axis=1))
            one = max(one, _largest_norm(hessians[:, :dimension, :dimension]))
            both = max(both, _largest_norm(hessians))
        count = 3 * samples
        bound = theory.hessian_bound(eps)
        yield Check("|grad^2 r_eps| <= N/eps^2, N = 2, one vector", f"eps {eps:g}", count, bound, one)
        yield Check("|grad^2 r_eps| <= 2/eps^2, both vectors", f"eps {eps:g}", count, bound, both)


def _models(random: np.random.Generator, samples: int = 200) -> Iterator[Check]:
    """The loss over embeddings: texts of one word each, where the encoder is as steep as it gets."""
    thresholds, dimension = (0.2, 0.7), 8
    for eps in (0.05, 0.5, 1.0):
        regularity = theory.model_regularity(eps, thresholds)
        words = np.concatenate(_pairs(random, samples, dimension, lengths=(-4, 1)), axis=1)
        steepest = most_curved = 0.0
        for grade in range(3):
            gradient = _model_gradient(eps, SmoothOrdinalSearchLoss(thresholds), grade)
            steepest = max(steepest, _largest_norm(gradient(words)))
            most_curved = max(most_curved, _largest_norm(_differentiate(gradient, words)))
        count = 3 * samples
        yield Check("|grad SOSL/4| <= L over embeddings", f"eps {eps:g}", count, regularity.lipschitz, steepest)
        yield Check(
            "|grad^2 SOSL/4| <= gamma over embeddings", f"eps {eps:g}", count, regularity.smoothness, most_curved
        )


def _pairs(
    random: np.random.Generator, samples: int, dimension: int, lengths: tuple[int, int]
) -> tuple[Vectors, Vectors]:
    """Pairs of vectors in every direction (a third of them parallel), their lengths powers of 10 between two."""
    queries, documents = random.standard_normal((2, samples, dimension))
    documents[::3] = queries[::3] * random.choice([-1, 1], (len(queries[::3]), 1))
    wanted = 10 ** random.uniform(*lengths, (2, samples, 1))
    return wanted[0] * smooth_scale(queries, 0.0), wanted[1] * smooth_scale(documents, 0.0)


def _joint_gradient(eps: float) -> Gradient:
    """The gradient of r_eps at rows that hold a query and a document side by side."""

    def gradient(rows: Vectors) -> Vectors:
        queries, documents = np.split(rows, 2, axis=1)
        return np.concatenate(smooth_cosine_gradient(queries, documents, eps), axis=1, dtype=np.float64)

    return gradient


def _model_gradient(eps: float, loss: SmoothOrdinalSearchLoss, grade: int) -> Gradient:
    """The gradient of SOSL(r_eps(tanh a, tanh b)) / 4 at rows that hold a and b."""
    by_vectors = _joint_gradient(eps)

    def gradient(rows: Vectors) -> Vectors:
        vectors = np.tanh(rows)
        queries, documents = np.split(vectors, 2, axis=1)
        slopes = loss.slopes(smooth_cosine(queries, documents, eps), grade)[:, None]
        return np.asarray(slopes / theory.SOSL_MAXIMUM * by_vectors(vectors) * (1 - vectors**2))

    return gradient


def _differentiate(gradient: Gradient, rows: Vectors) -> NDArray[np.float64]:
    """Second derivatives by central differences, in steps that are short beside either vector."""
    halves = np.split(rows, 2, axis=1)
    step = 1e-4 * np.min([np.linalg.norm(half, axis=1) for half in halves], axis=0)[:, None]
    columns: list[Any] = []
    for column in range(rows.shape[1]):
        shift = np.zeros_like(rows)
        shift[:, column] = step[:, 0]
        columns.append((gradient(rows + shift) - gradient(rows - shift)) / (2 * step))
    return np.stack(columns, axis=2)


def _largest_norm(values: NDArray[np.floating[Any]]) -> float:
    """The largest length of the rows, or the largest spectral norm of the matrices."""
    axes = -1 if values.ndim == 2 else (-2, -1)
    return float(np.linalg.norm(values, 2, axis=axes).max())
