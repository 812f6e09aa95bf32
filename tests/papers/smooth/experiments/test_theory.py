"""The theory of the smooth paper: its constants hold and are as sharp as said; the bound does what Theorem 3 says."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.similarity import smooth_cosine, smooth_cosine_gradient
from isogloss.papers.smooth.experiments.theory import (
    Regularity,
    check_constants,
    compose,
    encoder_regularity,
    generalisation_bound,
    gradient_bound,
    hessian_bound,
    model_regularity,
    similarity_regularity,
    sosl_regularity,
    sosl_slope,
    stability,
)
from isogloss.papers.smooth.losses import SmoothOrdinalSearchLoss
from isogloss.storage.errors import InputError

POSITIVE = st.floats(0.01, 10)


@pytest.fixture(scope="module")
def checks():
    return check_constants(seed=7)


def test_no_sampled_value_exceeds_its_bound(checks):
    assert [check for check in checks if not check.holds] == []


def test_every_claim_is_sampled_at_several_settings(checks):
    settings = {}
    for check in checks:
        settings.setdefault(check.claim, set()).add(check.setting)
        assert check.samples >= 600
    assert len(settings) == 8
    assert min(len(found) for found in settings.values()) >= 3


def test_the_bounds_we_call_sharp_are_nearly_reached(checks):
    for check in checks:
        if "2/eps, one vector" in check.claim:
            assert 0.49 < check.share <= 0.5  # the paper's is twice the truth
        elif "embeddings" not in check.claim:
            assert check.share > 0.95, check


def test_the_same_seed_finds_the_same_values(checks):
    assert check_constants(seed=7) == checks


def test_without_smoothing_there_is_no_bound():
    assert gradient_bound(0) == hessian_bound(0) == math.inf


def test_the_slope_of_sosl_by_class():
    assert sosl_slope((0.2, 0.7), grade=1) == pytest.approx(2.4)
    assert sosl_slope((-0.999999,)) == pytest.approx(4, abs=1e-5)
    assert sosl_regularity() == Regularity(1.0, 0.5)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_the_scaled_loss_is_as_smooth_as_proved(one, other):
    """SOSL / 4 with thresholds (0.2, 0.7), by the definitions A.1 and A.2."""
    loss, regularity = SmoothOrdinalSearchLoss((0.2, 0.7)), sosl_regularity((0.2, 0.7))
    for grade in range(3):
        values, slopes = (part(np.array([one, other]), grade) / 4 for part in (loss.values, loss.slopes))
        assert abs(values[0] - values[1]) <= regularity.lipschitz * abs(one - other) + 1e-12
        assert abs(slopes[0] - slopes[1]) <= regularity.smoothness * abs(one - other) + 1e-12


@given(st.integers(0, 10_000), st.floats(0.05, 2), st.floats(-6, 2), st.floats(-6, 2))
def test_the_similarity_is_as_smooth_as_proved_between_any_two_points(seed, eps, power, other_power):
    """Definitions A.1 and A.2 over both vectors at once, across the zero vector too."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((2, 2, 1, 3)) * [[[[10**power]]], [[[10**other_power]]]]
    points[1, 0] = random.choice([0, -0.5, 1]) * points[0, 0]
    (query, document), (other_query, other_document) = points
    distance = np.linalg.norm(points[0] - points[1])
    scores = smooth_cosine(query, document, eps), smooth_cosine(other_query, other_document, eps)
    gradients = [
        np.concatenate(smooth_cosine_gradient(*pair, eps))
        for pair in ((query, document), (other_query, other_document))
    ]
    regularity = similarity_regularity(eps)
    assert abs(scores[0] - scores[1]) <= regularity.lipschitz * distance + 1e-12
    assert np.linalg.norm(gradients[0] - gradients[1]) <= regularity.smoothness * distance + 1e-9


@given(POSITIVE, POSITIVE)
def test_composition_needs_the_inner_slope_squared(inner_slope, outer_curvature):
    """With f(x) = L1 x and g(y) = beta2 y^2 / 2, the curvature of g(f(x)) is L1^2 beta2, not the paper's L1 beta2."""
    composed = compose(Regularity(inner_slope, 0.0), Regularity(1.0, outer_curvature))
    assert composed.smoothness == pytest.approx(inner_slope**2 * outer_curvature)


def test_the_constants_of_the_model_are_those_of_its_docstring():
    slope = 3.4 / 4
    for eps in (0.1, 1.0):
        regularity = model_regularity(eps, (0.2, 0.7))
        assert regularity.lipschitz == pytest.approx(slope / eps)
        curvature = (0.5 + 2 * slope) / eps**2 + encoder_regularity().smoothness * slope / eps
        assert regularity.smoothness == pytest.approx(curvature)


@given(st.integers(2, 10**7), st.integers(1, 10**6), POSITIVE, POSITIVE, POSITIVE)
def test_stability_is_theorem_a4(n, steps, c, lipschitz, smoothness):
    power = 1 / (smoothness * c + 1)
    expected = (1 + 1 / (smoothness * c)) / (n - 1) * (2 * c * lipschitz**2) ** power * steps ** (1 - power)
    assert stability(n, steps, c, lipschitz, smoothness) == pytest.approx(expected)


@given(st.integers(2, 10**5), POSITIVE, POSITIVE)
def test_the_bound_shrinks_with_examples_and_grows_with_steps(n, c, smoothness):
    def bound(n, steps):
        return generalisation_bound(n, steps, c, 1.0, smoothness, delta=0.05)

    assert bound(10 * n, 100) < bound(n, 100) < bound(n, 1000)


@pytest.mark.parametrize(("growth", "falls"), [(0.8, True), (1.25, False)])
def test_steps_may_grow_like_examples_only_where_gamma_c_is_below_1(growth, falls):
    small, large = (generalisation_bound(n, n, growth, 1.0, 1.0, delta=0.05) for n in (10**8, 10**14))
    assert (large < small) == falls


def test_the_bound_in_numbers():
    beta = stability(1001, 10, 1.0, 1.0, 1.0)
    assert beta == pytest.approx(2 / 1000 * math.sqrt(2) * math.sqrt(10))
    expected = 2 * beta + (4 * 1001 * beta + 3) * math.sqrt(math.log(20) / 2002)
    assert generalisation_bound(1001, 10, 1.0, 1.0, 1.0, delta=0.05, maximum=3) == pytest.approx(expected)


@pytest.mark.parametrize("arguments", [(1, 10, 1, 1, 1), (10, 0, 1, 1, 1), (10, 10, 0, 1, 1), (10, 10, 1, 1, -1)])
def test_impossible_settings_are_refused(arguments):
    with pytest.raises(InputError, match="two examples or more"):
        stability(*arguments)


@pytest.mark.parametrize("delta", [0.0, 1.0, 2.0])
def test_delta_is_a_probability(delta):
    with pytest.raises(InputError, match="is not between 0 and 1"):
        generalisation_bound(10, 10, 1, 1, 1, delta)
