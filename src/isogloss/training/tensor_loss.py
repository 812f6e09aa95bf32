"""A loss as tensors, kept where the scores are: making them anew at each step would have a GPU wait."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from isogloss.models.losses.loss import BAND, CompiledLoss, Loss


class TensorLoss:
    """The two closed forms of ``isogloss.models.losses.loss``, for torch to differentiate."""

    def __init__(self, loss: Loss | CompiledLoss, device: torch.device) -> None:
        compiled = loss.compiled() if isinstance(loss, Loss) else loss
        self.grades = len(compiled.lower)
        self._band, self._slope = compiled.kind == BAND, compiled.slope
        self._lower, self._upper = (
            torch.tensor(ends, dtype=torch.float64, device=device) for ends in (compiled.lower, compiled.upper)
        )
        self._width_terms = -torch.log(-torch.expm1(self._slope * (self._lower - self._upper)))

    def values(self, scores: Tensor, grades: Tensor) -> Tensor:
        """The loss of each score."""
        lower, upper = self._lower[grades].to(scores.dtype), self._upper[grades].to(scores.dtype)
        if self._band:
            return (scores - upper).relu().square() + (lower - scores).relu().square()
        sides = softplus(self._slope * (scores - upper)) + softplus(self._slope * (lower - scores))
        return sides + self._width_terms[grades].to(scores.dtype)
