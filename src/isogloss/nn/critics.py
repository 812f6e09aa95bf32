"""Wasserstein critics (Arjovsky et al. 2017): a trained estimate of the distance of two sets of vectors.

    W(P, Q) = max over 1-Lipschitz D of  E_P[D(x)] - E_Q[D(y)]          (eq. 5 of the layer-wise paper)

A critic is kept near 1-Lipschitz by a penalty on its gradient (Gulrajani et al. 2017), or kept Lipschitz for some
constant by clipping its weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEAK = 0.2


class Critic(nn.Module):
    """D(x) = w . leaky(W x + b): input -> 64 -> 1. A constant more would change no difference."""

    def __init__(self, inputs: int, hidden: int = 64) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(inputs, hidden), nn.Linear(hidden, 1, bias=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """One number a row."""
        values: Tensor = self.output(nn.functional.leaky_relu(self.hidden(vectors), _LEAK))
        return values[:, 0]

    def gradients(self, vectors: Tensor) -> Tensor:
        """dD/dx of each row:  sum_h w_h leaky'(W_h x + b_h) W_h.

        Written out, so that its own derivative by the weights needs no second pass backwards.
        """
        rising = (self.hidden(vectors).detach() > 0).to(vectors.dtype)
        gradients: Tensor = ((rising + _LEAK * (1 - rising)) * self.output.weight) @ self.hidden.weight
        return gradients

    def difference(self, left: Tensor, right: Tensor) -> Tensor:
        """E[D(left)] - E[D(right)], what the critic makes as large as it can."""
        difference: Tensor = self(left).mean() - self(right).mean()
        return difference

    def distance(self, left: Tensor, right: Tensor) -> Tensor:
        """The critic's estimate of W, which is never below 0 (D = 0 is a critic too).

        A negative estimate is of a critic that lags behind; its gradient would lead the wrong way, so it is cut off.
        """
        return self.difference(left, right).clamp(min=0)

    def clip(self, bound: float) -> None:
        """Bring every weight into [-bound, bound]."""
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.clamp_(-bound, bound)


def between(left: Tensor, right: Tensor, generator: torch.Generator | None) -> Tensor:
    """A random point on the way from each row of ``left`` to some row of ``right``, which has as many or more.

    The rows of ``right`` are taken one further on, so that a query does not meet its own positive.
    """
    share = torch.empty_like(left[:, :1]).uniform_(generator=generator)
    return left + share * (right.roll(1, dims=0)[: len(left)] - left)


def gradient_penalty(gradients: Tensor) -> Tensor:
    """E[(|dD/dx| - 1)^2]."""
    lengths: Tensor = torch.linalg.vector_norm(gradients, dim=1)
    return (lengths - 1).square().mean()
