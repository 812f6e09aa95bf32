"""Rows that catch up with the steps they missed, against torch's Adam over all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.bridge.adam import ADAM_EPSILON, BETA1, BETA2, LIMIT, catch_up, schedule, take_adam_step

RATE = 0.01


def adam_without_gradients(row, since, until):
    """Step by step, in double precision."""
    word, mean, square = row.astype(np.float64)
    for step in range(since + 1, until + 1):
        mean, square = BETA1 * mean, BETA2 * square
        word = word - RATE / (1 - BETA1**step) * mean / (np.sqrt(square / (1 - BETA2**step)) + ADAM_EPSILON)
    return np.stack([word, mean, square])


def random_row(seed, size):
    """A row of which every gradient was about so large."""
    rng = np.random.default_rng(seed)
    gradients = size * rng.normal(size=(2, 8))
    return np.stack([np.zeros(8), 0.1 * gradients[0], 1e-3 * gradients[1] ** 2 + 1e-4 * size**2]).astype(np.float32)


@given(
    st.integers(0, 2**31), st.floats(-9, 0), st.sampled_from([300, 2_000, 39_990, 200_000]), st.integers(0, 400)
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_missed_steps_are_those_of_adam(seed, size, since, missed):
    """Whether gradients are far above, about or far below Adam's epsilon."""
    row = random_row(seed, 10**size)
    expected = adam_without_gradients(row, since, since + missed)
    found = catch_up(row[None], np.array([since], np.int32), since + missed, RATE)[0]
    tolerance = 2e-4 if since < 2_000 else 2e-5
    np.testing.assert_allclose(found[0], expected[0], atol=tolerance * max(np.abs(expected[0]).max(), 1e-30))
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5, atol=1e-40)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-5, atol=1e-40)


@given(st.integers(0, 2**31), st.integers(1, 5000), st.integers(0, 60), st.integers(0, 60))
@settings(deadline=None, max_examples=60)
def test_rows_catch_up_in_parts_and_go_back(seed, since, first, second):
    row, steps = random_row(seed, 1e-3)[None], np.array([since], np.int32)
    halfway = catch_up(row, steps, since + first, RATE)
    there = catch_up(row, steps, since + first + second, RATE)
    np.testing.assert_allclose(catch_up(halfway, steps + first, since + first + second, RATE), there, rtol=1e-4)
    back = catch_up(there, steps + first + second, since, RATE)
    np.testing.assert_allclose(back[:, 1:], row[:, 1:], rtol=1e-5)
    np.testing.assert_allclose(back[:, 0], row[:, 0], atol=1e-5 * np.abs(there[:, 0]).max())


@given(st.integers(0, 2**31), st.integers(1, 80), st.floats(0.02, 0.9))
@settings(deadline=None, max_examples=30)
def test_a_table_is_that_of_torchs_adam(seed, steps, share):
    """Each step touches some rows; the others catch up only before they are touched again, and at the end."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    start, scales = rng.normal(size=(12, 4)), 10 ** rng.uniform(-6, 0, (12, 1))
    dense = torch.tensor(start, requires_grad=True)
    optimiser = torch.optim.Adam([dense], lr=RATE)
    rows = np.zeros((12, 3, 4), np.float32)
    rows[:, 0], since = start, np.zeros(12, np.int32)
    for step in range(1, steps + 1):
        touched = np.flatnonzero(rng.random(12) < share)
        gradient = np.zeros((12, 4))
        gradient[touched] = (rng.normal(size=(12, 4)) * scales)[touched]
        dense.grad = torch.tensor(gradient)
        optimiser.step()
        rows[touched] = catch_up(rows[touched], since[touched], step - 1, RATE)
        rows[touched] = take_adam_step(rows[touched], gradient[touched].astype(np.float32), RATE, step)
        since[touched] = step
    expected = dense.detach().numpy()
    found = catch_up(rows, since, steps, RATE)[:, 0]
    assert np.abs(found - expected).max() <= 1e-2 * np.abs(expected - start).max() + 1e-6
    large = scales[:, 0] > 1e-3  # gradients beside which epsilon is nothing
    assert np.abs(found - expected)[large].max(initial=0) <= 2e-4 * np.abs(expected - start).max() + 1e-6


def test_the_sums_of_the_schedule_are_those_of_its_terms():
    steps, terms = np.array([0, 1, 10, 3000]), np.arange(1, 600)
    after = steps[:, None] + terms
    first = (BETA1**terms / (1 - BETA1**after)).sum(axis=1)
    ratio = BETA1 / np.sqrt(BETA2)
    second = (ratio**terms * np.sqrt(1 - BETA2**after) / (1 - BETA1**after)).sum(axis=1)
    np.testing.assert_allclose(schedule()[steps, :2], np.stack([first, second], axis=1), rtol=1e-12)
    assert schedule().shape == (LIMIT + 1, 5)
