"""Texts to vectors in two parts: a table of word vectors, and a tower that makes one vector of a text's words.

Each encoder has its own table (each language its own words), but two of them may have one tower in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isogloss.storage.errors import InputError

Layer = TypeVar("Layer", bound=nn.Module)
KINDS = ("average", "cnn", "lstm")


class Texts(NamedTuple):
    """Padded texts: ``words[i, :lengths[i]]`` are the words of text ``i``, the rest of its row is to be ignored.

    As ``pad_texts`` gives them: ``Texts(*pad_texts(ids, offsets, texts, length))``.
    """

    words: Tensor
    lengths: Tensor

    def and_then(self, others: Texts) -> Texts:
        """These texts and others that are padded alike."""
        return Texts(*(torch.cat(both) for both in zip(self, others, strict=True)))


def pad_texts(ids: Tensor, offsets: Tensor, texts: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """The words of the named texts, ``[texts, length]``, and how many of each row are its text's own.

    ``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``; none may be longer than ``length``. What follows a
    text in its row is some word or other, to be ignored.

    >>> words, lengths = pad_texts(torch.tensor([5, 6, 7]), torch.tensor([0, 1, 1, 3]), torch.tensor([2, 1, 0]), 2)
    >>> words.tolist(), lengths.tolist()
    ([[6, 7], [6, 7], [5, 6]], [2, 0, 1])
    """
    starts = offsets[texts]
    lengths = offsets[texts + 1] - starts
    if len(ids) == 0:
        return ids.new_zeros(len(texts), length), lengths
    positions = starts[:, None] + torch.arange(length, device=ids.device)
    return ids[positions.clamp_(max=len(ids) - 1)], lengths


def beyond(words: Tensor, lengths: Tensor) -> Tensor:
    """Where a row's text has ended."""
    return torch.arange(words.shape[1], device=words.device) >= lengths[:, None]


class Tower(nn.Module, ABC):
    """What comes after the word vectors."""

    outputs: int
    """The size of the vectors it gives."""

    @abstractmethod
    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """One row a text, made of the first ``lengths[i]`` words of row ``i``; zero where there are none."""


class TextEncoder(nn.Module):
    """A table and a tower; the table is trained with the tower or stays as it is."""

    def __init__(self, table: NDArray[np.floating[Any]], tower: Tower, trained: bool = True) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.tensor(table), requires_grad=trained)
        self.tower = tower

    @property
    def outputs(self) -> int:
        """The size of the vectors it gives."""
        return self.tower.outputs

    def forward(self, ids: Tensor, offsets: Tensor) -> Tensor:
        """``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``; its vector is row ``i``."""
        texts = torch.arange(len(offsets) - 1, device=offsets.device)
        longest = max(1, int(offsets.diff().max()) if len(texts) else 0)
        return self.encode(*pad_texts(ids, offsets, texts, longest))

    def encode(self, words: Tensor, lengths: Tensor) -> Tensor:
        """The same for texts that are padded already, as ``pad_texts`` gives them."""
        vectors: Tensor = self.tower(self.table, words, lengths)
        return vectors


class Dropout(nn.Module):
    """While training, each number is zero with probability ``rate``, otherwise divided by ``1 - rate``.

    ``torch.nn.Dropout`` draws from the one generator of the process; this draws from ``generator``, whose state a
    learner keeps to be able to go on later as if it had never stopped.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.generator: torch.Generator | None = None

    def forward(self, values: Tensor) -> Tensor:
        """The values, some of them dropped."""
        if not self.training or self.rate == 0:
            return values
        return values * self._kept(values).div_(1 - self.rate)

    def stay_uncompiled(self) -> None:
        """Draw outside of what ``torch.compile`` makes of a module: it has no random numbers but its own.

        As a decorator ``disable`` would load torch's compiler wherever this module is imported (1.5 s).
        """
        self._kept = torch.compiler.disable(self._kept)  # type: ignore[method-assign, no-untyped-call]

    def _kept(self, values: Tensor) -> Tensor:
        """1 where a number is kept, 0 where it is dropped."""
        return torch.empty_like(values).bernoulli_(1 - self.rate, generator=self.generator)


def start_glorot(layer: Layer) -> Layer:
    """The layer with the weights that Glorot and Bengio (2010) start with, and no bias."""
    nn.init.xavier_uniform_(layer.get_parameter("weight"))
    nn.init.zeros_(layer.get_parameter("bias"))
    return layer


def word_vectors(table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
    """The vectors of each text's words, ``[texts, length, dimension]``; zero where the text has ended."""
    return nn.functional.embedding(words, table).masked_fill(beyond(words, lengths)[:, :, None], 0)


def zero_where_empty(vectors: Tensor, lengths: Tensor) -> Tensor:
    """The vectors, those of texts without words replaced by zero."""
    return vectors.masked_fill((lengths == 0)[:, None], 0)


class AverageTower(Tower):
    """The average model: v = tanh((1 / l) sum_i e(w_i)) over a text's l known words; only the table is trained."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.outputs = dimension

    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        return (word_vectors(table, words, lengths).sum(dim=1) / lengths.clamp(min=1)[:, None]).tanh()


class CnnTower(Tower):
    """v = V max_t tanh(W [e_t; e_t+1; e_t+2] + b) + c, the maximum of each filter over the text's word 3-grams.

    DSSM-CNN (Shen et al. 2014) as the smooth paper has it: window 3, 300 filters, maximum pooling, a full layer with 64
    outputs and nothing after it, dropout .4 on the word vectors. The tanh of the filters is that of Shen et al. and of
    the released code; the paper does not mention it. It is silent on the ends, too (a window lies within its text; a
    text shorter than the window has one, filled up with zeros; the released code also reads what pads a text), and on
    the start (Glorot's uniform, as in Huang et al. 2013).

    ``squashed``: v = tanh(V max_t tanh(...) + c), as Shen et al. have it and the smooth paper has not.

    tanh rises, so it is the same before the maximum and after it, where there are fewer numbers.
    """

    def __init__(
        self, dimension: int, outputs: int = 64, filters: int = 300, window: int = 3, dropout: float = 0.4,
        squashed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.outputs, self.window, self.squashed = outputs, window, squashed
        self.dropout = Dropout(dropout)
        self.convolution = nn.Linear(window * dimension, filters)
        self.output = nn.Linear(filters, outputs)
        for layer in (self.convolution, self.output):
            start_glorot(layer)

    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        features = self.convolution(self._windows(self.dropout(word_vectors(table, words, lengths))))
        windows = (lengths - self.window + 1).clamp(min=1)
        outside = torch.arange(features.shape[1], device=words.device) >= windows[:, None]
        strongest = features.masked_fill(outside[:, :, None], -torch.inf).max(dim=1).values
        made = self.output(strongest.tanh())
        return zero_where_empty(made.tanh() if self.squashed else made, lengths)

    def _windows(self, vectors: Tensor) -> Tensor:
        """The vectors of each window's words, one after the other."""
        missing = max(0, self.window - vectors.shape[1])
        vectors = nn.functional.pad(vectors, (0, 0, 0, missing))
        number = vectors.shape[1] - self.window + 1
        return torch.cat([vectors[:, shift : shift + number] for shift in range(self.window)], dim=-1)


class LstmTower(Tower):
    """v = tanh(V [h_1; g_1] + c), the output of a bidirectional LSTM at the text's first position.

    h_t is the state of an LSTM over e_1 .. e_l after t words, g_t that of another over e_l .. e_1 when it has come to
    word t: so h_1 has read one word, and g_1 the whole text. DSSM-LSTM (Palangi et al. 2016) as the smooth paper and
    its code have it: 64 hidden units, 64 outputs, dropout .4 on the word vectors; but g begins at the text's last word,
    in the code at what pads it. The paper's text does not mention the tanh. It is silent on the start (torch's for the
    LSTMs, Glorot's uniform for the full layer).

    ``both_last``: v = tanh(V [h_l; g_1] + c). Both directions have then read the whole text: ours, not the paper's.

    The directions are two LSTMs over texts that all begin at the left, the second over the words turned round. So what
    pads a text comes after it, and the state after its last word has not seen it. ``pack_padded_sequence`` gives the
    same states, but takes cuDNN off its fast path: forward and back, 64 texts of up to 200 words, 21.6 ms on an H200
    against 2.7 ms this way.
    """

    def __init__(
        self, dimension: int, outputs: int = 64, hidden: int = 64, dropout: float = 0.4, both_last: bool = False
    ) -> None:
        super().__init__()
        self.outputs, self.both_last = outputs, both_last
        self.dropout = Dropout(dropout)
        self.ahead = nn.LSTM(dimension, hidden, batch_first=True)
        self.back = nn.LSTM(dimension, hidden, batch_first=True)
        self.output = start_glorot(nn.Linear(2 * hidden, outputs))

    def forward(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        vectors = self.dropout(word_vectors(table, words, lengths))
        last = (lengths - 1).clamp(min=0)
        turned = (last[:, None] - torch.arange(words.shape[1], device=words.device)).clamp(min=0)
        turned_vectors = vectors.gather(1, turned[:, :, None].expand_as(vectors))
        ahead = _states_at(self.ahead(vectors)[0], last) if self.both_last else self.ahead(vectors[:, :1])[0][:, 0]
        states = torch.cat([ahead, _states_at(self.back(turned_vectors)[0], last)], dim=1)
        return zero_where_empty(self.output(states).tanh(), lengths)


def _states_at(states: Tensor, steps: Tensor) -> Tensor:
    """Of ``[texts, steps, hidden]``, the state of each text at its own step."""
    return states.gather(1, steps[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)


@dataclass(frozen=True, slots=True)
class TowerSizes:
    """The smooth paper's sizes. The average uses none of them, the CNN no hidden units, the LSTM no filters.

    ``squashed`` and ``both_last`` are variants of ours: of the CNN and of the LSTM.
    """

    outputs: int = 64
    filters: int = 300
    window: int = 3
    hidden: int = 64
    dropout: float = 0.4
    squashed: bool = False
    both_last: bool = False

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
        return CnnTower(dimension, sizes.outputs, sizes.filters, sizes.window, sizes.dropout, sizes.squashed)
    if kind == "lstm":
        return LstmTower(dimension, sizes.outputs, sizes.hidden, sizes.dropout, sizes.both_last)
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
    """Encoders of queries and of documents to train.

    ``shared``: with one tower for both (the paper found two better, we found one better); ``trained``: the word vectors
    are trained, too; ``seed`` draws the towers' first weights.
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
