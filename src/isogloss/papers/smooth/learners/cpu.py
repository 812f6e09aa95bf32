"""The average model trained on the CPU: pooling, smooth cosine, loss, gradient and Adam in one compiled pass.

numba was chosen over C++ with OpenMP because it needs no compiler at installation, and over torch, which is several
times slower here even with sparse gradients (``benchmarks/training.py``).

One thread is used or all of them, whichever is faster just now. Threads that share the work of a small batch meet
thousands of times a second: on a quiet machine two are nearly twice as fast as one; on a busy one each waits for the
other to get a core, and both together are many times slower than one.
"""

from __future__ import annotations

import time

import numba
import numpy as np
from numpy.typing import NDArray

from isogloss.papers.examples import Pairs
from isogloss.papers.smooth.learners.compiled import BLOCK, END, PARTS, WINDOW, step_through
from isogloss.papers.smooth.learners.reference import NumpyAverage
from isogloss.papers.smooth.losses import CompiledLoss
from isogloss.systems.bridge.adam import Table, catch_up, schedule

_PROBE = 4
_WINDOW_TOKENS = 4_000_000
_EVERY = 3
_WORTH_THREADS = 20  # words a pair


class ThreadChoice:
    """Plans chunks of batches and the number of threads for each, by how long earlier ones took."""

    def __init__(self, most: int) -> None:
        self._speeds: dict[int, float] = dict.fromkeys((1, most), 0.0)
        self._calls = 0

    def chunks(self, batches: int) -> list[tuple[int, int]]:
        """Threads and batches: now and then a few with each number of threads, the rest with the best so far.

        >>> choice = ThreadChoice(most=2)
        >>> choice.chunks(100)
        [(1, 4), (2, 4), (0, 92)]
        """
        probes = []
        if self._calls % _EVERY == 0 and len(self._speeds) > 1:
            for threads in self._speeds:
                probes.append((threads, min(_PROBE, batches)))
                batches -= probes[-1][1]
        rest = [(0, batches)]
        made = rest + probes if self._calls else probes + rest
        self._calls += 1
        return [chunk for chunk in made if chunk[1]]

    @property
    def best(self) -> int:
        """The number of threads that was fastest when last tried: what a chunk of 0 threads means."""
        return max(self._speeds, key=lambda threads: self._speeds[threads])

    def record(self, threads: int, batches: int, seconds: float) -> None:
        """So many batches took so long. Slower than before counts by half, so that one hiccup decides nothing."""
        speed = batches / max(seconds, 1e-9)
        self._speeds[threads] = max(speed, (self._speeds[threads] + speed) / 2)


class NumbaAverage(NumpyAverage):
    """The same learner, compiled (``compiled.py``)."""

    def __init__(
        self, query_table: Table, document_table: Table, pairs: Pairs, loss: CompiledLoss, eps: float, clip: float
    ) -> None:
        super().__init__(query_table, document_table, pairs, loss, eps, clip)
        self._coming = [np.full(len(table), END, np.int32) for table in self._tables]
        self._heads = [np.full((numba.get_num_threads(), len(table)), END, np.int32) for table in self._tables]
        self._threads = ThreadChoice(_useful_threads(pairs))
        self._steps_through(np.zeros(0, np.int64), 1, 0.0)  # compiles, or finds what was compiled before

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        losses, done = [np.zeros(0)], 0
        self._begin(rate)
        allowed = numba.get_num_threads()
        for wanted, batches in self._threads.chunks(-(-len(order) // batch_size)):
            threads = min(wanted or self._threads.best, allowed)
            numba.set_num_threads(threads)
            started = time.perf_counter()
            losses.append(self._steps_through(order[done : done + batches * batch_size], batch_size, rate))
            self._threads.record(threads, batches, time.perf_counter() - started)
            done += batches * batch_size
            if not np.isfinite(losses[-1][-1]):
                break
        numba.set_num_threads(allowed)
        return np.concatenate(losses)

    def _steps_through(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        pairs, losses = self.pairs, np.zeros(-(-len(order) // batch_size))
        batch_size = min(batch_size, max(1, len(order)))
        texts = pairs.queries, pairs.documents
        tokens = [max(1, int(each.lengths.max(initial=0)) * batch_size) for each in texts]
        window = max(1, min(WINDOW, _WINDOW_TOKENS // sum(tokens), len(losses)))
        sides, windows = [], []
        for number, (each, table) in enumerate(zip(texts, self._tables, strict=True)):
            rows = min(tokens[number], -(-len(table) // (PARTS * BLOCK)) * BLOCK)
            heads = self._heads[number][: numba.get_num_threads()]
            sides.append((each.ids, each.offsets, table, self._since[number], heads, self._coming[number]))
            lists = np.empty((window, 2, tokens[number]), np.int32)
            touched, firsts, misses = (np.empty((window, PARTS, rows), np.int32) for _ in range(3))
            spans = np.empty((window, batch_size, 2), np.int64)
            windows.append((spans, lists, touched, firsts, misses, np.zeros((window, PARTS), np.int64)))
        numbers = (pairs.query_of, pairs.document_of, pairs.grades)
        loss = (self.loss.kind, self.loss.lower, self.loss.upper, np.float32(self.loss.slope), np.float32(self.eps))
        gradients = np.empty((2, batch_size, self._tables[0].shape[2]), np.float32)
        pair_losses, pair_norms = (np.empty(batch_size, np.float32) for _ in range(2))
        clip, rate = float(self.clip), float(rate)  # whole numbers would be compiled for anew
        taken = step_through(
            order, batch_size, losses, numbers, tuple(sides), tuple(windows), loss, gradients, pair_losses, pair_norms,
            clip, rate, self._step, schedule(),
        )  # fmt: skip
        self._step += taken
        if taken < len(losses):
            self._step_back()
        return losses[: taken + 1]

    def _step_back(self) -> None:
        """Rows that made steps which are not taken after all go back to the last one that is."""
        for table, since in zip(self._tables, self._since, strict=True):
            ahead = np.flatnonzero(since > self._step)
            table[ahead] = catch_up(table[ahead], since[ahead], self._step, self._rate)
            since[ahead] = self._step


def _useful_threads(pairs: Pairs) -> int:
    """All of them, unless texts are so short that threads would wait for each other more than they work."""
    words = pairs.queries.lengths.mean() + pairs.documents.lengths.mean() if len(pairs) else 0
    return int(numba.get_num_threads()) if words >= _WORTH_THREADS else 1
