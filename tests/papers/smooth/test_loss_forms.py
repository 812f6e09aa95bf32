"""What holds for every loss: slopes are derivatives, and the compiled form is the same loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.smooth.losses import BAND, LOSSES, ODDS, make_loss

SCORES = np.linspace(-1, 1, 801)
THRESHOLDS = st.lists(st.integers(-99, 99), min_size=1, max_size=6, unique=True).map(
    lambda steps: tuple(np.sort(steps) / 100)
)


@st.composite
def losses(draw):
    name = draw(st.sampled_from(LOSSES))
    thresholds = draw(THRESHOLDS.filter(lambda found: name != "3part" or len(found) == 3))
    return make_loss(name, thresholds, draw(st.floats(0.1, 30)))


def evaluate(compiled, scores, grade):
    """BAND and ODDS as they are written down, without any care for rounding."""
    lower, upper, k = float(compiled.lower[grade]), float(compiled.upper[grade]), compiled.slope
    if compiled.kind == BAND:
        return np.maximum(scores - upper, 0) ** 2 + np.maximum(lower - scores, 0) ** 2
    assert compiled.kind == ODDS
    widths = np.log(1 - np.exp(-k * (upper - lower)))
    return np.log(1 + np.exp(-k * (upper - scores))) + np.log(1 + np.exp(k * (lower - scores))) - widths


def evaluate_slopes(compiled, scores, grade):
    lower, upper, k = float(compiled.lower[grade]), float(compiled.upper[grade]), compiled.slope
    if compiled.kind == BAND:
        return 2 * np.maximum(scores - upper, 0) - 2 * np.maximum(lower - scores, 0)
    return k * (1 / (1 + np.exp(k * (upper - scores))) - 1 / (1 + np.exp(-k * (lower - scores))))


@given(losses(), st.data())
def test_slopes_are_the_finite_differences_of_values(loss, data):
    grade = data.draw(st.integers(0, loss.grades - 1))
    step = 1e-5
    differences = (loss.values(SCORES + step, grade) - loss.values(SCORES - step, grade)) / (2 * step)
    # the curvature of a band loss jumps by 2 at its ends, which costs up to a step there
    np.testing.assert_allclose(loss.slopes(SCORES, grade), differences, atol=2 * step, rtol=1e-6)


@given(losses(), st.data())
def test_the_compiled_form_is_the_same_loss(loss, data):
    compiled = loss.compiled()
    grade = data.draw(st.integers(0, loss.grades - 1))
    assert compiled.lower.dtype == compiled.upper.dtype == np.float32
    assert len(compiled.lower) == len(compiled.upper) == loss.grades
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(evaluate(compiled, SCORES, grade), loss.values(SCORES, grade), atol=1e-5, rtol=1e-4)
        expected = loss.slopes(SCORES, grade)
        np.testing.assert_allclose(evaluate_slopes(compiled, SCORES, grade), expected, atol=1e-4, rtol=1e-4)


@given(losses())
def test_losses_are_never_negative_and_take_each_score_with_its_grade(loss):
    grades = np.arange(len(SCORES)) % loss.grades
    values = loss.values(SCORES, grades)
    assert values.shape == SCORES.shape
    assert (values >= 0).all()
    for grade in range(loss.grades):
        assert (values[grades == grade] == loss.values(SCORES, grade)[grades == grade]).all()


@pytest.mark.parametrize("name", LOSSES)
def test_single_precision_stays_single(name):
    loss = make_loss(name)
    scores = SCORES.astype(np.float32)
    grades = np.arange(len(scores)) % 3
    assert loss.values(scores, grades).dtype == np.float32
    assert loss.slopes(scores, grades).dtype == np.float32
    np.testing.assert_allclose(loss.values(scores, grades), loss.values(SCORES, grades), atol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_whole_numbers_are_scores_too(name):
    loss = make_loss(name)
    assert loss.values([0, 1], [1, 1]).tolist() == loss.values([0.0, 1.0], [1, 1]).tolist()


@pytest.mark.parametrize("slope", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("name", LOSSES)
def test_torch_finds_the_same_values_and_slopes(name, slope):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    loss = make_loss(name, slope=slope)
    grades = np.arange(len(SCORES)) % 3
    scores = torch.tensor(SCORES, requires_grad=True)
    values = loss.values(scores, torch.tensor(grades))
    values.sum().backward()
    np.testing.assert_allclose(values.detach().numpy(), loss.values(SCORES, grades), atol=1e-12)
    np.testing.assert_allclose(scores.grad.numpy(), loss.slopes(SCORES, grades), atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_torch_keeps_single_precision(name):
    torch = pytest.importorskip("torch")
    values = make_loss(name).values(torch.zeros(3), torch.arange(3))
    assert values.dtype == torch.float32
