"""Encoders by the names that options use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from isogloss.base.errors import InputError
from isogloss.models.encoders.cnn import CnnTower
from isogloss.models.encoders.lstm import LstmTower
from isogloss.models.encoders.text_encoder import TextEncoder, Tower
from isogloss.models.encoders.torch_average import AverageTower

KINDS = ("average", "cnn", "lstm")


@dataclass(frozen=True, slots=True)
class TowerSizes:
    """The smooth paper's sizes. The average uses none of them, the CNN no hidden units, the LSTM no filters."""

    outputs: int = 64
    filters: int = 300
    window: int = 3
    hidden: int = 64
    dropout: float = 0.4

    def __post_init__(self) -> None:
        for name in ("outputs", "filters", "window", "hidden"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a number of at least 1")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout is {self.dropout}; give a share of at least 0 and below 1, such as 0.4")


def make_tower(kind: str, dimension: int, sizes: TowerSizes) -> Tower:
    """A tower over word vectors of that dimension."""
    if kind == "average":
        return AverageTower(dimension)
    if kind == "cnn":
        return CnnTower(dimension, sizes.outputs, sizes.filters, sizes.window, sizes.dropout)
    if kind == "lstm":
        return LstmTower(dimension, sizes.outputs, sizes.hidden, sizes.dropout)
    raise InputError(f"unknown encoder '{kind}'; the encoders are {', '.join(KINDS)}")


def make_encoders(
    kind: str,
    query_table: NDArray[np.floating[Any]],
    document_table: NDArray[np.floating[Any]],
    sizes: TowerSizes,
    shared: bool = False,
    trained: bool = True,
    seed: int = 0,
) -> tuple[TextEncoder, TextEncoder]:
    """Encoders of queries and of documents to learn from.

    ``shared``: with one tower for both (the paper found two better); ``trained``: the word vectors are learned too;
    ``seed`` draws the towers' first weights.
    """
    dimensions = query_table.shape[1], document_table.shape[1]
    if dimensions[0] != dimensions[1] and (shared or kind == "average"):
        raise InputError(
            f"the word vectors of queries have {dimensions[0]} dimensions and those of documents {dimensions[1]}; "
            f"{'a shared tower' if shared else 'the average'} needs the same for both"
        )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        query_tower = make_tower(kind, dimensions[0], sizes)
        document_tower = query_tower if shared else make_tower(kind, dimensions[1], sizes)
    return TextEncoder(query_table, query_tower, trained), TextEncoder(document_table, document_tower, trained)
