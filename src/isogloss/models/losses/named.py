"""Losses by the names that options use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from isogloss.base.errors import InputError
from isogloss.models.losses.loss import Loss
from isogloss.models.losses.mse import MeanSquaredError
from isogloss.models.losses.proportional_odds import ProportionalOdds
from isogloss.models.losses.sosl import SmoothOrdinalSearchLoss
from isogloss.models.losses.three_part import ThreePartSquaredHinge

_LOSSES: Mapping[str, Callable[..., Loss]] = MappingProxyType(
    {loss.name: loss for loss in (SmoothOrdinalSearchLoss, ThreePartSquaredHinge, MeanSquaredError, ProportionalOdds)}
)
LOSSES = tuple(_LOSSES)


def make_loss(name: str, thresholds: Sequence[float] = (), slope: float = 1.0) -> Loss:
    """The loss of that name; without thresholds it takes the paper's. ``slope`` is the k of ``po``, others ignore it.

    >>> make_loss("sosl", (0.0,)).grades
    2
    """
    if name not in _LOSSES:
        raise InputError(f"unknown loss '{name}'; the losses are {', '.join(LOSSES)}")
    options: dict[str, Any] = {"thresholds": tuple(thresholds)} if len(thresholds) else {}
    if name == ProportionalOdds.name:
        options["slope"] = slope
    return _LOSSES[name](**options)
