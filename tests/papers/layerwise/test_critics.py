"""Critics learn a distance, and stay Lipschitz by the penalty or by clipping."""

from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.adversary import Critic, CriticSettings, LayerwiseAdversary, between, gradient_penalty
from isogloss.papers.layerwise.matchers.scorer import Compared

SIZE, TEXTS = 4, 200


def shifted(shift, seed=0):
    """Two clouds, one moved along the first axis."""
    rng = torch.Generator().manual_seed(seed)
    left, right = torch.randn(TEXTS, SIZE, generator=rng), torch.randn(2 * TEXTS, SIZE, generator=rng)
    left[:, 0] += shift
    return left, right


@cache
def trained(shift, steps=300, **settings):
    """A critic that no test changes."""
    adversary = LayerwiseAdversary([SIZE], [1.0], 1.0, CriticSettings(steps=steps, rate=0.01, **settings))
    adversary.use(torch.device("cpu"), torch.Generator().manual_seed(0))
    pair = shifted(shift)
    adversary.prepare(Compared(torch.zeros(1), torch.zeros(1), (pair,)), torch.zeros(()))
    return adversary, pair


def distance(adversary, pair):
    with torch.no_grad():
        return float(adversary.critics[0].distance(*pair))


def test_the_written_out_gradient_is_the_derivative():
    torch.manual_seed(0)
    critic, vectors = Critic(SIZE, 7), torch.randn(9, SIZE, requires_grad=True)
    (expected,) = torch.autograd.grad(critic(vectors).sum(), vectors)
    torch.testing.assert_close(critic.gradients(vectors), expected)


def test_the_distance_of_two_gaussians_grows_with_their_shift():
    """Of two Gaussians that differ by a shift, W is the length of the shift.

    A slope s is worth s W - penalty (s - 1)^2 to the critic, so it goes a little beyond 1.
    """
    found = [distance(*trained(shift)) for shift in (0.0, 1.0, 3.0)]
    assert found[0] < 0.4
    expected = [shift * (1 + shift / (2 * CriticSettings().penalty)) for shift in (1.0, 3.0)]
    np.testing.assert_allclose(found[1:], expected, atol=0.25)


def test_a_trained_critic_tells_the_clouds_apart():
    adversary, (left, right) = trained(3.0)
    with torch.no_grad():
        middle = torch.cat([adversary.critics[0](left), adversary.critics[0](right)]).median()
        assert (adversary.critics[0](left) > middle).float().mean() > 0.9


def test_the_penalty_keeps_the_gradient_near_one():
    adversary, pair = trained(3.0)
    with torch.no_grad():
        gradients = adversary.critics[0].gradients(between(*pair, torch.Generator().manual_seed(1)))
    lengths = gradients.norm(dim=1)
    assert abs(float(lengths.mean()) - 1) < 0.15
    assert float(gradient_penalty(gradients)) < 0.1


@pytest.mark.parametrize("bound", [0.01, 0.1])
def test_clipping_keeps_weights_within_bounds_and_still_tells(bound):
    adversary, pair = trained(3.0, steps=30, clip=bound)
    for parameter in adversary.critics[0].parameters():
        assert parameter.abs().max() <= bound
    assert distance(adversary, pair) > 0


def test_points_between_lie_between():
    left, right = torch.zeros(5, 2), torch.ones(9, 2)
    points = between(left, right, torch.Generator().manual_seed(0))
    assert points.shape == (5, 2) and (points >= 0).all() and (points <= 1).all()
    assert (points[:, 0] == points[:, 1]).all()
