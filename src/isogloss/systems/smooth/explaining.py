"""The shares of words in the vectors of ``smooth``: in closed form for the average, else by integration."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isogloss.nn.attribution import squashed_shares
from isogloss.systems.explanations import Doubles, read_words, sum_by_word
from isogloss.systems.smooth.model import Side, SmoothModel

if TYPE_CHECKING:
    from torch import Tensor

    from isogloss.nn.encoders.towers import Tower


def query_shares(model: SmoothModel, query: str) -> tuple[list[str], Doubles]:
    """The known words of a query, each with its share in the scaled vector."""
    words, vectors = _read(model, "query", query)
    if not words:
        return [], np.zeros((0, model.options.dimension))
    if model.options.encoder == "average":
        shares = squashed_shares(vectors)
        return sum_by_word(words, shares / _length(model, shares.sum(axis=0)))
    import torch

    from isogloss.nn.integrated_gradients import word_shares

    found = word_shares(partial(_encode, model.module("query").tower), torch.from_numpy(vectors))
    whole = (found.words.sum(dim=0) + found.rest).numpy()
    return sum_by_word(words, found.words.numpy() / _length(model, whole))


def document_products(model: SmoothModel, text: str, directions: Doubles) -> tuple[list[str], Doubles]:
    """The known words of a document, and the products of each one's share in the scaled vector with the directions."""
    words, vectors = _read(model, "document", text)
    if not words:
        return [], np.zeros((len(directions), 0))
    if model.options.encoder == "average":
        shares = squashed_shares(vectors)
        names, products = sum_by_word(words, shares @ directions.T / _length(model, shares.sum(axis=0)))
        return names, products.T
    import torch

    from isogloss.nn.integrated_gradients import shares_along

    encode, known = partial(_encode, model.module("document").tower), torch.from_numpy(vectors)
    found = shares_along(encode, known, torch.from_numpy(directions.astype(np.float32)))
    with torch.inference_mode():
        length = _length(model, encode(known[None])[0].numpy())
    names, products = sum_by_word(words, found.words.numpy() / length)
    return names, products.T


def _read(model: SmoothModel, side: Side, text: str) -> tuple[list[str], NDArray[np.float32]]:
    options = model.options
    longest = options.query_words if side == "query" else options.document_words
    words, rows = read_words(text, model.words[side], longest)
    return words, np.asarray(model.table(side)[rows], dtype=np.float32)


def _length(model: SmoothModel, vector: NDArray[np.floating]) -> float:
    """The divisor of a vector in the smooth cosine."""
    return float(np.linalg.norm(vector)) + model.options.eps or 1.0


def _encode(tower: Tower, copies: Tensor) -> Tensor:
    """One row for each copy of a text; each copy of a word is a word of its own, because a tower looks words up."""
    import torch

    number, length, dimension = copies.shape
    words = torch.arange(number * length).reshape(number, length)
    encoded: Tensor = tower.eval()(copies.reshape(-1, dimension), words, torch.full((number,), length))
    return encoded
