"""The theory of the smooth paper: Lipschitz and smoothness constants of its loss, and the generalisation bound.

Four things here differ from the paper's text, where it is silent, at odds with itself, or too careful:

- Lemma A.2 needs the inner function's Lipschitz constant squared (see ``compose``).
- Theorem A.4 wants a loss in [0, 1], so SOSL is divided by its maximum 4 (``SOSL_MAXIMUM``).
- The main text's growth T^{1 - 1/(gamma c)} is not Theorem A.4's T^{gamma c / (gamma c + 1)}; A.4's is used. With it, T
  may grow at the rate of n where gamma c < 1 (the main text says 2).
- The bound is computed with the longest gradient of the smooth cosine, 1 / eps; the paper's 2 / eps is twice as long.

``check_constants`` compares every constant with sampled values. The item ``theory`` also compares the bound with the
measured gap: the mean SOSL of the pairs of unseen queries less that of the training pairs. Theorem 3 bounds it for SGD
with rates c/t; the trials use Adam with a fixed rate, as the paper does: only size and shape can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.reproduction.figures import label_log_axis, line_style, new_figure, save_figure
from isogloss.papers.reproduction.pages import Page, Summary, markdown_table, summarise, write_csv
from isogloss.papers.similarity import smooth_cosine, smooth_cosine_gradient, smooth_scale
from isogloss.papers.smooth.experiments.plan import Experiment, Result, theory_trials, training_line
from isogloss.papers.smooth.losses import SmoothOrdinalSearchLoss
from isogloss.storage.errors import InputError

SOSL_MAXIMUM = 4.0
SOSL_SLOPE = 4.0
SOSL_CURVATURE = 2.0
HESSIAN_FACTOR = 2.0
"""N(p) of Lemma 2's proof, for every p (derived in ``similarity_regularity``)."""
TANH_CURVATURE = 4 / (3 * math.sqrt(3))
"""The largest |tanh''(x)|, where tanh(x)^2 = 1/3."""
CHECKED_EPS = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0)
CHECKED_DIMENSIONS = (1, 2, 8, 64)
CHECKED_THRESHOLDS = ((0.0,), (0.2, 0.7), (0.0, 0.5), (-0.9, -0.5, 0.1, 0.95))
_ROUNDING = 1e-6

Vectors = NDArray[np.float64]
Gradient = Callable[[Vectors], Vectors]
DELTA = 0.05
GROWTH = 0.5
"""gamma c: below 1 the bound falls with n though the steps grow with it."""
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**9)
EPS = (0.25, 1.0)
THRESHOLDS = (0.2, 0.7)
_BATCH, _EPOCHS, _PAPER_STEPS = 128, 30, 310_000
_GAP_HEADER = (
    "share", "queries", "n (pairs)", "T (steps)", "SOSL, training", "SOSL, unseen", "gap", "bound", "bound / gap",
)  # fmt: skip


@dataclass(frozen=True)
class Regularity:
    """A function f that is L-Lipschitz and beta-smooth.

    |f(u) - f(v)| <= L |u - v| (Definition A.1) and |Df(u) - Df(v)| <= beta |u - v| (Definition A.2).
    """

    lipschitz: float
    smoothness: float

    def times(self, factor: float) -> Regularity:
        """The regularity of ``factor`` f."""
        return Regularity(factor * self.lipschitz, factor * self.smoothness)


def compose(inner: Regularity, outer: Regularity) -> Regularity:
    """The regularity of g(f(x)), f being L1-Lipschitz and beta1-smooth, g L2-Lipschitz and beta2-smooth.

    Lemma A.1: it is L1 L2-Lipschitz. Lemma A.2, corrected: it is (L1^2 beta2 + L2 beta1)-smooth, since

        |g'(f(u)) f'(u) - g'(f(v)) f'(v)| <= |g'(f(u))| |f'(u) - f'(v)| + |g'(f(u)) - g'(f(v))| |f'(v)|
                                          <= L2 beta1 |u - v| + beta2 |f(u) - f(v)| L1,

    and |f(u) - f(v)| <= L1 |u - v|, the factor that the paper drops.

    >>> compose(Regularity(3.0, 1.0), Regularity(5.0, 7.0))
    Regularity(lipschitz=15.0, smoothness=68.0)
    """
    return Regularity(
        lipschitz=inner.lipschitz * outer.lipschitz,
        smoothness=inner.lipschitz**2 * outer.smoothness + outer.lipschitz * inner.smoothness,
    )


def gradient_bound(eps: float) -> float:
    """The paper's bound on the gradient of r_eps with respect to either vector: |grad r_eps| <= 2 / eps.

    At eps = 0, the plain cosine, there is none.
    """
    return 2 / eps if eps else math.inf


def hessian_bound(eps: float) -> float:
    """The bound on the second derivative of r_eps with respect to either vector: N / eps^2, with N = 2 for every p."""
    return HESSIAN_FACTOR / eps**2 if eps else math.inf


def similarity_regularity(eps: float) -> Regularity:
    """r_eps(f, g) as a function of both vectors together is 1/eps-Lipschitz and 2/eps^2-smooth.

    Write n = |f|, u = f / n, a = g / (|g| + eps), so that r = a.f / (n + eps). Then

        grad_f r   = (I - n/(n + eps) u u^T) a / (n + eps)
        grad_f^2 r = -(a u^T + u a^T) / (n + eps)^2 + a.u [2n u u^T / (n + eps) - (I - u u^T)] / (n + eps)^2.

    *One vector.* The matrix of the first line has norm <= 1, so |grad_f r| <= |a| / (n + eps) < 1/eps: half the
    paper's bound. In the second, let a = alpha u + beta w, w a unit vector orthogonal to u, and rho = eps / (n + eps).
    On the plane of u and w, -(n + eps)^2 grad_f^2 r is [[2 rho alpha, beta], [beta, alpha]], elsewhere alpha I. With
    rho <= 1 and alpha^2 + beta^2 < 1 its norm is below (3 alpha + sqrt(alpha^2 + 4 beta^2)) / 2 at alpha = 1, beta = 0,
    which is 2. So N(p) = 2 for every p, approached where f is short and g is long and points the same way.

    *Both vectors.* Let x = |f| / (|f| + eps), y = |g| / (|g| + eps), both in [0, 1). Then |grad_f r| <= y (1 - x) / eps
    and |grad_g r| <= x (1 - y) / eps; the sum of their squares is convex in x and in y, so at most 1 / eps^2, the
    largest value at the corners. The blocks of the joint second derivative have norms at most 2 y (1 - x)^2 / eps^2,
    2 x (1 - y)^2 / eps^2 and, off the diagonal, (1 - x)(1 - y) / eps^2; each row of blocks sums to at most
    (1 + y) / eps^2 or (1 + x) / eps^2, so to less than 2 / eps^2.

    At f = 0 the gradient is continuous and the second derivative has no value; one point does not harm the bound.
    """
    return Regularity(lipschitz=gradient_bound(eps) / 2, smoothness=hessian_bound(eps))


def sosl_slope(thresholds: Sequence[float], grade: int | None = None) -> float:
    """Proposition 1: |SOSL'(r, y)| <= max(2 |1 + theta_{y-1}|, 2 |1 - theta_y|); without a class, the largest (<= 4).

    >>> sosl_slope((0.2, 0.7)), sosl_slope((0.2, 0.7), grade=0)
    (3.4, 1.6)
    """
    loss = SmoothOrdinalSearchLoss(thresholds)
    grades = range(loss.grades) if grade is None else [grade]
    return float(max(max(2 * (1 + loss.lower[g]), 2 * (1 - loss.upper[g])) for g in grades))


def sosl_regularity(thresholds: Sequence[float] | None = None) -> Regularity:
    """SOSL / 4 as a function of r in [-1, 1]; without thresholds, the constants that hold for all (Proposition 1)."""
    slope = SOSL_SLOPE if thresholds is None else sosl_slope(thresholds)
    return Regularity(slope, SOSL_CURVATURE).times(1 / SOSL_MAXIMUM)


def encoder_regularity() -> Regularity:
    """The encoder f(W) = tanh(W^T c), c the frequencies of the text's words, over the embeddings W.

    It is 1-Lipschitz and 4/(3 sqrt 3)-smooth: |c| <= 1, since frequencies are not negative and sum to 1 (it is 1 where
    the text is one word); |tanh'| <= 1 and |tanh''| <= 4/(3 sqrt 3) = .770, each coordinate for itself. Both tables
    together have the same constants: neither text depends on the other's table.
    """
    return Regularity(lipschitz=1.0, smoothness=TANH_CURVATURE)


def model_regularity(eps: float, thresholds: Sequence[float] | None = None) -> Regularity:
    """Lemma 2, with its constants: SOSL / 4 of the average model as a function of both embedding tables.

    With s the slope of SOSL / 4 (at most 1): L = s / eps, gamma = (1/2 + 2 s) / eps^2 + .770 s / eps.
    """
    score = compose(encoder_regularity(), similarity_regularity(eps))
    return compose(score, sosl_regularity(thresholds))


def stability(n: int, steps: float, c: float, lipschitz: float, smoothness: float) -> float:
    """Theorem A.4 (Hardt et al. 2015): how much one example can change the loss after T steps of rate <= c / t.

        beta(n) <= (1 + 1/(gamma c)) / (n - 1) (2 c L^2)^{1/(gamma c + 1)} T^{gamma c/(gamma c + 1)}

    for a loss in [0, 1] that is L-Lipschitz and gamma-smooth.
    """
    if n < 2 or min(steps, c, lipschitz, smoothness) <= 0:
        raise InputError("the stability bound needs two examples or more, and T, c, L and gamma above 0")
    growth = smoothness * c
    example = (1 + 1 / growth) / (n - 1)
    return float(example * (2 * c * lipschitz**2) ** (1 / (growth + 1)) * steps ** (growth / (growth + 1)))


def generalisation_bound(
    n: int, steps: float, c: float, lipschitz: float, smoothness: float, delta: float, maximum: float = 1.0
) -> float:
    """Theorem 3: what holds, with probability 1 - delta, for the loss on unseen data less that on the training data.

        L_E - L_S <= 2 beta(n) + (4 n beta(n) + M) sqrt(ln(1/delta) / (2n)),

    beta(n) from ``stability``, M the loss's maximum. For SOSL / 4, M = 1, and SOSL's own gap is at most 4 times that.
    """
    if not 0 < delta < 1:
        raise InputError(f"delta {delta:g} is not between 0 and 1; 0.05 makes the bound hold 95 times in 100")
    beta = stability(n, steps, c, lipschitz, smoothness)
    return 2 * beta + (4 * n * beta + maximum) * math.sqrt(math.log(1 / delta) / (2 * n))


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
    """Every constant against sampled values: whether it is an upper bound, and how nearly it is reached."""
    random = np.random.default_rng(seed)
    return [*_gradients(random), *_losses(), *_hessians(random), *_models(random)]


def _gradients(random: np.random.Generator, samples: int = 2000) -> Iterator[Check]:
    """Vectors of all lengths, 0 and next to it among them."""
    for eps in CHECKED_EPS:
        one = both = 0.0
        for dimension in CHECKED_DIMENSIONS:
            queries, documents = _pairs(random, samples, dimension, lengths=(-12, 3))
            queries[: samples // 10] = 0
            documents[samples // 20 : samples // 5] = 0
            gradients = smooth_cosine_gradient(queries, documents, eps)
            one = max(one, *(_largest_norm(gradient) for gradient in gradients))
            both = max(both, _largest_norm(np.concatenate(gradients, axis=1)))
        count = samples * len(CHECKED_DIMENSIONS)
        setting = f"eps {eps:g}"
        yield Check("|grad r_eps| <= 2/eps, one vector", setting, 2 * count, gradient_bound(eps), one)
        sharper = similarity_regularity(eps).lipschitz
        yield Check("|grad r_eps| <= 1/eps, both vectors", setting, count, sharper, both)


def _losses(samples: int = 4001) -> Iterator[Check]:
    scores = np.linspace(-1, 1, samples)
    for thresholds in CHECKED_THRESHOLDS:
        loss = SmoothOrdinalSearchLoss(thresholds)
        shown = ", ".join(f"{threshold:g}" for threshold in thresholds)
        curvature = 0.0
        for grade in range(loss.grades):
            slopes = loss.slopes(scores, grade)
            curvature = max(curvature, float(np.abs(np.diff(slopes) / np.diff(scores)).max()))
            bound, largest = sosl_slope(thresholds, grade), float(np.abs(slopes).max())
            yield Check("|SOSL'| within Proposition 1", f"thresholds {shown}; y = {grade + 1}", samples, bound, largest)
        count = samples * loss.grades
        yield Check("|SOSL''| <= 2", f"thresholds {shown}", count, SOSL_CURVATURE, curvature)


def _hessians(random: np.random.Generator, samples: int = 200) -> Iterator[Check]:
    for eps in (0.05, 0.5, 1.0):
        one = both = 0.0
        for dimension in (1, 2, 8):
            queries, documents = _pairs(random, samples, dimension, lengths=(-4, 3))
            joint = np.concatenate([queries, documents], axis=1)
            hessians = _differentiate(partial(_joint_gradient, eps=eps), joint)
            one = max(one, _largest_norm(hessians[:, :dimension, :dimension]))
            both = max(both, _largest_norm(hessians))
        count = 3 * samples
        bound = hessian_bound(eps)
        yield Check("|grad^2 r_eps| <= N/eps^2, N = 2, one vector", f"eps {eps:g}", count, bound, one)
        yield Check("|grad^2 r_eps| <= 2/eps^2, both vectors", f"eps {eps:g}", count, bound, both)


def _models(random: np.random.Generator, samples: int = 200) -> Iterator[Check]:
    """The loss over embeddings: texts of one word each, where the encoder is as steep as it gets."""
    thresholds, dimension = (0.2, 0.7), 8
    for eps in (0.05, 0.5, 1.0):
        regularity = model_regularity(eps, thresholds)
        words = np.concatenate(_pairs(random, samples, dimension, lengths=(-4, 1)), axis=1)
        steepest = most_curved = 0.0
        for grade in range(3):
            gradient = partial(_model_gradient, eps=eps, loss=SmoothOrdinalSearchLoss(thresholds), grade=grade)
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


def _joint_gradient(rows: Vectors, eps: float) -> Vectors:
    """The gradient of r_eps at rows that hold a query and a document side by side."""
    queries, documents = np.split(rows, 2, axis=1)
    return np.concatenate(smooth_cosine_gradient(queries, documents, eps), axis=1, dtype=np.float64)


def _model_gradient(rows: Vectors, eps: float, loss: SmoothOrdinalSearchLoss, grade: int) -> Vectors:
    """The gradient of SOSL(r_eps(tanh a, tanh b)) / 4 at rows that hold a and b."""
    vectors = np.tanh(rows)
    queries, documents = np.split(vectors, 2, axis=1)
    slopes = loss.slopes(smooth_cosine(queries, documents, eps), grade)[:, None]
    return np.asarray(slopes / SOSL_MAXIMUM * _joint_gradient(vectors, eps) * (1 - vectors**2))


def _differentiate(gradient: Gradient, rows: Vectors) -> NDArray[np.float64]:
    """Second derivatives by central differences, in steps that are short compared with either vector."""
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


def theory(experiment: Experiment) -> Page:
    """Constants, bound, gap."""
    checks = check_constants()
    steps = {size: (max(1, _EPOCHS * size // _BATCH), _PAPER_STEPS) for size in SIZES}
    bounds = [(n, [sosl_bound(n, taken, eps, THRESHOLDS) for eps in EPS for taken in steps[n]]) for n in SIZES]
    found = {share: experiment.results(trials) for share, trials in theory_trials(experiment.setup).items()}
    points = gap_points(found)
    parts = ["# Theory", *_constants(checks), *_bounds(bounds)]
    if points:
        draw_gap(experiment.output / "theory", points)
        largest = [results for results in found.values() if results][-1]
        parts += ["## The gap, measured", training_line(largest), *_gap(points)]
        write_csv(experiment.output / "theory.csv", _GAP_HEADER, _gap_rows(points))
    values = {
        "checks": [{**each._asdict(), "holds": each.holds} for each in checks],
        "bounds": [{"pairs": size, "values": found} for size, found in bounds],
        "gap": [point.as_json() for point in points],
    }
    return Page("\n\n".join(parts), {**experiment.setup.about(), **values})


def _constants(checks: Sequence[Check]) -> list[str]:
    rows = [
        (each.claim.replace("|", "\\|"), each.setting, f"{each.samples:,}", f"{each.bound:.4g}", f"{each.largest:.4g}",
         f"{each.share:.1%}", "yes" if each.holds else "**no**")
        for each in checks
    ]  # fmt: skip
    kept = sum(each.holds for each in checks)
    return [
        "## Constants",
        f"{kept} of {len(checks)} bounds hold on all samples.",
        markdown_table(("claim", "setting", "samples", "bound", "largest found", "share", "holds"), rows),
    ]


def _bounds(bounds: Sequence[tuple[int, Sequence[float]]]) -> list[str]:
    columns = [f"eps {eps:g}, {steps}" for eps in EPS for steps in ("T = 30 n / 128", "T = 310,000")]
    rows = [(f"{size:,}", *(f"{value:.3g}" for value in values)) for size, values in bounds]
    return [
        "## The bound",
        f"Theorem 3 for SOSL at thresholds .2 and .7, with probability {1 - DELTA:g}, n training pairs and T steps "
        f"of SGD with rates c/t, gamma c = {GROWTH:g}: 30 epochs in batches of 128, or the 310,000 steps of the "
        f"paper's French run. The gradient of the smooth cosine is taken at its longest, 1/eps, where the paper has "
        f"2/eps. SOSL is never above {SOSL_MAXIMUM:g}: a bound above that is empty.",
        markdown_table(("n", *columns), rows),
    ]


class Point(NamedTuple):
    """What one share of the train queries gave; bounds at the steps it took, and at those of the largest share."""

    share: float
    queries: int
    pairs: int
    steps: int
    train: Summary
    unseen: Summary
    gap: Summary
    bound: float
    bound_same_steps: float

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        made = {name: each.as_json() if isinstance(each, Summary) else each for name, each in self._asdict().items()}
        return {name: None if each == math.inf else each for name, each in made.items()}


def sosl_bound(pairs: int, steps: int, eps: float, thresholds: Sequence[float]) -> float:
    """Theorem 3 for SOSL itself (4 times that of SOSL / 4), with c = .5 / gamma; without end for the plain cosine."""
    if eps == 0:
        return math.inf
    constants = model_regularity(eps, thresholds)
    rate = GROWTH / constants.smoothness
    return SOSL_MAXIMUM * generalisation_bound(pairs, steps, rate, constants.lipschitz, constants.smoothness, DELTA)


def gap_points(found: Mapping[float, Sequence[Result]]) -> list[Point]:
    """One point a share that has results, from the smallest."""
    known = {share: results for share, results in sorted(found.items()) if results}
    most = max((results[0].record["steps"] for results in known.values()), default=0)
    return [_point(share, results, most) for share, results in known.items()]


def _point(share: float, results: Sequence[Result], most_steps: int) -> Point:
    trial, record = results[0].trial, results[0].record
    train = [result.record["losses"]["train"] for result in results]
    unseen = [result.record["losses"][trial.split] for result in results]
    pairs, steps = record["pairs"], record["steps"]
    thresholds = [float(threshold) for threshold in trial.thresholds.split(",")]
    bounds = [sosl_bound(pairs, number, trial.options().eps, thresholds) for number in (steps, most_steps)]
    gaps = summarise([there - here for there, here in zip(unseen, train, strict=True)])
    return Point(share, record["queries"]["train"], pairs, steps, summarise(train), summarise(unseen), gaps, *bounds)


def fitted_power(pairs: Sequence[int], values: Sequence[float]) -> float:
    """The a of value ~ n^a, by least squares of the logarithms; NaN unless two values are finite and above 0."""
    known = [(n, value) for n, value in zip(pairs, values, strict=True) if 0 < value < math.inf]
    if len(known) < 2:
        return math.nan
    sizes, found = np.log(known).T
    return float(np.polyfit(sizes, found, 1)[0])


def draw_gap(path: Path, points: Sequence[Point]) -> list[Path]:
    """The gap, the bounds and 1 / sqrt(n) through the gap's first point, on logarithmic axes."""
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    pairs = [point.pairs for point in points]
    first = points[0].gap.mean
    curves = {
        "measured gap": [point.gap.mean for point in points],
        "$1/\\sqrt{n}$ from the first point": [first * math.sqrt(pairs[0] / number) for number in pairs],
        "Theorem 3, steps as taken": [point.bound for point in points],
        "Theorem 3, steps of the largest n": [point.bound_same_steps for point in points],
    }
    for number, (name, values) in enumerate(curves.items()):
        shown = [value if 0 < value < math.inf else math.nan for value in values]
        bars = [0.0 if math.isnan(point.gap.half) else point.gap.half for point in points] if number == 0 else None
        axes.errorbar(pairs, shown, yerr=bars, label=name, capsize=3, markersize=5, **line_style(number, markers=True))
    label_log_axis(axes, pairs)
    axes.set(yscale="log", xlabel="training pairs n", ylabel="SOSL, unseen less training")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, handlelength=3.5)
    return save_figure(figure, path)


def _gap_rows(points: Sequence[Point]) -> list[tuple[str, ...]]:
    return [
        (
            f"{point.share:g}", f"{point.queries:,}", f"{point.pairs:,}", f"{point.steps:,}", _fine(point.train.mean),
            _fine(point.unseen.mean), _fine(point.gap.mean, point.gap.half), f"{point.bound:.3g}", _ratio(point),
        )
        for point in points
    ]  # fmt: skip


def _gap(points: Sequence[Point]) -> list[str]:
    pairs = [point.pairs for point in points]
    measured = fitted_power(pairs, [point.gap.mean for point in points])
    bound = fitted_power(pairs, [point.bound for point in points])
    return [
        "![measured gap and bound](theory.png)",
        markdown_table(_GAP_HEADER, _gap_rows(points)),
        "The gap is the mean SOSL of the pairs of unseen queries less that of the training pairs."
        + ("" if math.isnan(measured) else f" It goes with n to the power {measured:.2f}.")
        + ("" if math.isnan(bound) else f" The bound goes with n to the power {bound:.2f}, at gamma c = {GROWTH:g}")
        + ("" if math.isnan(bound) else " (our choice: the theorem leaves c open) and T as taken, which grows with n.")
        + f" At the most data the bound is {_ratio(points[-1])} times the gap. It was proved for SGD with falling "
        "rates; the trials use Adam with a fixed one, as the paper does.",
    ]


def _ratio(point: Point) -> str:
    return f"{point.bound / point.gap.mean:,.0f}" if point.gap.mean > 0 and point.bound < math.inf else "—"


def _fine(mean: float, half: float = math.nan) -> str:
    return f"{mean:.4f}" + ("" if math.isnan(half) else f" ± {half:.4f}")
