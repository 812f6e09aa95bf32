"""Training the average model on the CPU: the released way, the best of torch, ours; and the bound that memory sets.

    python benchmarks/training.py [STEPS]          30 steps a round by default

The set-up of the smooth paper's French run: two vocabularies of 100,000 words of 64 dimensions, documents of 199
words, queries of 20, batches of 128. Ids are drawn evenly, which is the hardest case: real texts repeat words, and
touch fewer rows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import numpy as np
import torch
from side_by_side import best_times, show
from torch import nn
from torch.nn.functional import embedding_bag

from isogloss.nn.losses import make_loss
from isogloss.nn.similarity import smooth_cosine
from isogloss.text.ids import TextIds
from isogloss.training.examples import Pairs
from isogloss.training.word_average.cpu import NumbaAverage

WORDS, SIZE, BATCH, QUERY, DOCUMENT = 100_000, 64, 128, 20, 199
RELEASED = "as released: padded, dense AdamW, clipped"
LOSS = make_loss("sosl")


def main(arguments: list[str]) -> None:
    steps = int(arguments[0]) if arguments else 30
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, torch {torch.__version__}, {steps} steps of {BATCH}")
    random = np.random.default_rng(0)
    queries, documents = (random.integers(WORDS, size=(steps * BATCH, length)) for length in (QUERY, DOCUMENT))
    grades = random.integers(3, size=steps * BATCH)
    ways: dict[str, Callable[[], object]] = {
        RELEASED: Released(queries, documents, grades, fused=False),
        "the same, fused=True": Released(queries, documents, grades, fused=True),
        "EmbeddingBag, dense fused Adam": Bags(queries, documents, grades, sparse=False),
        "EmbeddingBag sparse, SparseAdam": Bags(queries, documents, grades, sparse=True),
        "isogloss": Ours(queries, documents, grades),
    }
    for way in ways.values():
        way()  # compiles, and touches all memory once
    times = best_times(ways)
    show("training the average model", times, steps * BATCH, "pairs", RELEASED)
    _bound(times["isogloss"] / steps, queries[:BATCH], documents[:BATCH])


def _bound(seconds: float, queries: np.ndarray, documents: np.ndarray) -> None:
    """The bytes a step cannot do without, at the speed of a copy on the same machine, now."""
    rows = len(np.unique(queries)) + len(np.unique(documents))
    needed = rows * SIZE * 4 * 6  # each touched row and its two moments, read and written
    block = torch.empty(64 * 2**20, dtype=torch.float32)
    target = torch.empty_like(block)
    copy = best_times({"copy": lambda: target.copy_(block)})["copy"]
    speed = 2 * block.numel() * 4 / copy
    print(
        f"\na step touches {rows:,} rows: {needed / 1e6:.1f} MB at {speed / 1e9:.1f} GB/s (a copy, all cores) take "
        f"{needed / speed * 1e6:.0f} us; ours takes {seconds * 1e6:.0f} us: {needed / speed / seconds:.0%} of the "
        "bound"
    )


class Released:
    """Padded ``nn.Embedding``, mean, dense AdamW, gradient clipping: the smooth paper's released code."""

    def __init__(self, queries: np.ndarray, documents: np.ndarray, grades: np.ndarray, fused: bool) -> None:
        self.texts = [torch.from_numpy(texts) for texts in (queries, documents)]
        self.grades = torch.from_numpy(grades)
        self.tables = [nn.Embedding(WORDS, SIZE) for _ in range(2)]
        self.parameters = [parameter for table in self.tables for parameter in table.parameters()]
        self.optimiser = torch.optim.AdamW(self.parameters, lr=0.01, weight_decay=0.0, fused=fused)

    def encode(self, side: int, rows: slice) -> torch.Tensor:
        return torch.tanh(self.tables[side](self.texts[side][rows]).mean(dim=1))

    def __call__(self) -> None:
        for start in range(0, len(self.grades), BATCH):
            rows = slice(start, start + BATCH)
            scores = smooth_cosine(self.encode(0, rows), self.encode(1, rows), 1.0)
            LOSS.values(scores, self.grades[rows]).mean().backward()
            self.clip()
            self.optimiser.step()
            self.optimiser.zero_grad()

    def clip(self) -> None:
        nn.utils.clip_grad_norm_(self.parameters, 1.0)


class Bags(Released):
    """``embedding_bag`` instead of padding; dense fused Adam, or sparse gradients and SparseAdam, unclipped."""

    def __init__(self, queries: np.ndarray, documents: np.ndarray, grades: np.ndarray, sparse: bool) -> None:
        super().__init__(queries, documents, grades, fused=True)
        self.sparse = sparse
        if sparse:
            self.optimiser = torch.optim.SparseAdam(self.parameters, lr=0.01)

    def encode(self, side: int, rows: slice) -> torch.Tensor:
        means = embedding_bag(self.texts[side][rows], self.tables[side].weight, mode="mean", sparse=self.sparse)
        return torch.tanh(means)

    def clip(self) -> None:
        if not self.sparse:
            super().clip()


class Ours:
    """The compiled learner."""

    def __init__(self, queries: np.ndarray, documents: np.ndarray, grades: np.ndarray) -> None:
        random = np.random.default_rng(1)
        tables = [random.normal(size=(WORDS, SIZE)).astype(np.float32) for _ in range(2)]
        self.order = np.arange(len(grades))
        numbers = self.order.astype(np.int32)
        pairs = Pairs(_texts(queries), _texts(documents), numbers, numbers, grades.astype(np.int32))
        self.learner = NumbaAverage(tables[0], tables[1], pairs, LOSS.compiled(), 1.0, 1.0)

    def __call__(self) -> None:
        self.learner.advance(self.order, BATCH, 0.01)


def _texts(ids: np.ndarray) -> TextIds:
    return TextIds(ids.reshape(-1).astype(np.int32), np.arange(len(ids) + 1, dtype=np.int64) * ids.shape[1])


if __name__ == "__main__":
    main(sys.argv[1:])
