"""Training the average model on the CPU: the released way, the best of torch, ours; and the bound that memory sets.

    python benchmarks/training.py [--steps 128] [--threads 2]                        pairs a second
    python benchmarks/training.py --scaling [--steps 256]                            ours on 1, 2, 4, … threads
    python benchmarks/training.py --data wikiclir:DIR --pair en-fr [--threads 1]     time to equal quality

Pairs a second: the set-up of the smooth paper's French run, two vocabularies of 100,000 words of 64 dimensions,
documents of 199 words, queries of 20, batches of 128. Ids are drawn evenly, which is the hardest case: real texts
repeat words, and touch fewer rows.

Time to equal quality: ``smooth`` with its defaults. The released way trains for one epoch; the NDCG@5 that it then has
(1,000 dev queries, sampled) is what the others train for. They are measured after each tenth of an epoch. Measuring
does not count. CPU seconds are those of all threads; where other programs run, compare these, with one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numba
import numpy as np
import torch
from side_by_side import best_times, show
from torch import nn
from torch.nn.functional import embedding_bag

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.data.source import parse_pair
from isogloss.papers.examples import Pairs
from isogloss.papers.similarity import smooth_cosine
from isogloss.papers.smooth.learners.cpu import NumbaAverage
from isogloss.papers.smooth.losses import make_loss
from isogloss.papers.smooth.model import SmoothOptions
from isogloss.papers.smooth.training_setup import DevEvaluator, make_learner, prepare
from isogloss.text.ids import TextIds

WORDS, SIZE, BATCH, QUERY, DOCUMENT = 100_000, 64, 128, 20, 199
RATE, MOST_EPOCHS = 0.01, 10
RELEASED = "as released: padded, dense Adam, clipped"
LOSS = make_loss("sosl")
Tables = list[np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=128)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--pair", default="en-fr")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    numba.set_num_threads(options.threads)
    cores = f"{os.cpu_count()} cores, {options.threads} threads, load {os.getloadavg()[0]:.1f}"
    print(f"{cores}, torch {torch.__version__}, batches of {BATCH}")
    if options.data:
        time_to_quality(options.data, options.pair)
    elif options.scaling:
        scaling(options.steps, options.threads)
    else:
        pairs_a_second(options.steps)


def ways_of(tables: Tables, pairs: Pairs) -> dict[str, Callable[[], Released | Ours]]:
    """Every way of training, made when it is called."""
    return {
        RELEASED: lambda: Released(tables, pairs, fused=False),
        "the same, fused=True": lambda: Released(tables, pairs, fused=True),
        "EmbeddingBag, dense fused Adam": lambda: Bags(tables, pairs, sparse=False),
        "EmbeddingBag sparse, SparseAdam (lazy)": lambda: Bags(tables, pairs, sparse=True),
        "isogloss": lambda: Ours(tables, pairs),
    }


def random_pairs(steps: int, draw: Callable[[int], np.ndarray]) -> Pairs:
    random = np.random.default_rng(0)
    texts = [
        TextIds(draw(steps * BATCH * length).astype(np.int32), np.arange(steps * BATCH + 1, dtype=np.int64) * length)
        for length in (QUERY, DOCUMENT)
    ]
    numbers = np.arange(steps * BATCH).astype(np.int32)
    return Pairs(texts[0], texts[1], numbers, numbers, random.integers(3, size=len(numbers)).astype(np.int32))


def random_tables() -> Tables:
    random = np.random.default_rng(0)
    return [random.normal(0, 0.1, (WORDS, SIZE)).astype(np.float32) for _ in range(2)]


def even_words(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(WORDS, size=number)


def zipf_words(number: int) -> np.ndarray:
    """Word of rank k with probability in proportion to 1 / k."""
    shares = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    return np.searchsorted(shares, np.random.default_rng(number).random(number) * shares[-1])


def pairs_a_second(steps: int) -> None:
    tables, pairs = random_tables(), random_pairs(steps, even_words)
    order = np.arange(len(pairs))
    made = {name: make() for name, make in ways_of(tables, pairs).items()}
    for way in made.values():
        way.train(order)  # compiles, and touches all memory once
    times = best_times({name: lambda way=way: way.train(order) for name, way in made.items()})
    show("training the average model", times, len(order), "pairs", RELEASED)
    _bound(
        times["isogloss"] / steps, [each.ids[: BATCH * each.offsets[1]] for each in (pairs.queries, pairs.documents)]
    )


def scaling(steps: int, most: int) -> None:
    """Ours on more and more threads."""
    threads = [number for number in (1, 2, 4, 8, 16, 32, 64) if number <= most]
    for name, draw in (("ids drawn evenly", even_words), ("ids by Zipf's law", zipf_words)):
        pairs, runs = random_pairs(steps, draw), {}
        order = np.arange(len(pairs))
        for number in threads:
            numba.set_num_threads(number)
            way = Ours(random_tables(), pairs)
            way.train(order)

            def run(way: Ours = way, number: int = number, order: np.ndarray = order) -> None:
                numba.set_num_threads(number)
                way.train(order)

            runs[f"{number} threads"] = run
        show(name, best_times(runs), len(order), "pairs", "1 threads")


def _bound(seconds: float, words: list[np.ndarray]) -> None:
    """The bytes a step cannot do without, at the speed of a copy on the same machine, now."""
    rows = sum(len(np.unique(each)) for each in words)
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


def time_to_quality(data: str, pair: str) -> None:
    options = SmoothOptions(device="cpu")
    dataset = load_dataset(open_source(data), parse_pair(pair))
    prepared = prepare(options, dataset)
    evaluate = DevEvaluator(options, dataset, prepared)
    tables = list(make_learner(options, prepared, dataset.pair).parameters().values())
    pairs, recipe = prepared.pairs, options.recipe()
    Ours(tables, pairs).train(np.arange(BATCH))  # compiles
    goal, released = 0.0, 0.0
    print(f"\ntime to the NDCG@5 of one epoch as released; {len(pairs):,} pairs, {sum(map(len, tables)):,} words")
    for name, make in ways_of(tables, pairs).items():
        way, seconds, cpu_seconds = make(), 0.0, 0.0
        for tenth in range(10 * MOST_EPOCHS):
            part = np.array_split(recipe.order(tenth // 10, len(pairs)), 10)[tenth % 10]
            started, cpu_started = time.perf_counter(), time.process_time()
            way.train(part)
            seconds += time.perf_counter() - started
            cpu_seconds += time.process_time() - cpu_started
            if not goal and tenth < 9:
                continue
            quality = evaluate(way.parameters())["NDCG@5"]
            goal, released = goal or quality, released or cpu_seconds
            if quality >= goal:
                break
        epochs = (tenth + 1) / 10
        times = f"{seconds:6.1f} s, CPU {cpu_seconds:6.1f} s   x {released / cpu_seconds:6.1f}"
        rate = f"{epochs * len(pairs) / cpu_seconds:,.0f} pairs a CPU second"
        print(f"  {name:<44} {quality:.4f} after {epochs:4.1f} epochs: {times}   ({rate})", flush=True)


class Released:
    """Padded ``nn.Embedding``, mean, dense Adam, gradient clipping: the smooth paper's released code."""

    def __init__(self, tables: Tables, pairs: Pairs, fused: bool) -> None:
        self.pairs, self.sides = pairs, [(pairs.queries, pairs.query_of), (pairs.documents, pairs.document_of)]
        self.layers = [nn.Embedding(len(table) + 1, SIZE, padding_idx=len(table)) for table in tables]
        for layer, table in zip(self.layers, tables, strict=True):
            layer.weight.data[:-1] = torch.from_numpy(table)
        self.padded = [_padded(texts, len(table)) for (texts, _), table in zip(self.sides, tables, strict=True)]
        self.weights = [layer.weight for layer in self.layers]
        self.optimiser = torch.optim.Adam(self.weights, lr=RATE, fused=fused)

    def means(self, side: int, texts: np.ndarray) -> torch.Tensor:
        words, lengths = (each[torch.from_numpy(texts).long()] for each in self.padded[side])
        return self.layers[side](words).sum(dim=1) / lengths[:, None]

    def train(self, order: np.ndarray) -> None:
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            query, document = (torch.tanh(self.means(side, of[batch])) for side, (_, of) in enumerate(self.sides))
            grades = torch.from_numpy(self.pairs.grades[batch]).long()
            LOSS.values(smooth_cosine(query, document, 1.0), grades).mean().backward()
            self.clip()
            self.optimiser.step()
            self.optimiser.zero_grad()

    def clip(self) -> None:
        nn.utils.clip_grad_norm_(self.weights, 1.0)

    def parameters(self) -> dict[str, np.ndarray]:
        query, document = (weight.detach().numpy()[:-1].copy() for weight in self.weights)
        return {"query_table": query, "document_table": document}


def _padded(texts: TextIds, padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The words of each text, padded to the longest, and how many there are (at least 1)."""
    inside = np.arange(texts.lengths.max())[None] < texts.lengths[:, None]
    words = np.full(inside.shape, padding, np.int64)
    words[inside] = texts.ids
    return torch.from_numpy(words), torch.from_numpy(np.maximum(texts.lengths, 1).astype(np.float32))


class Bags(Released):
    """``embedding_bag`` instead of padding; dense fused Adam, or sparse gradients and SparseAdam, unclipped."""

    def __init__(self, tables: Tables, pairs: Pairs, sparse: bool) -> None:
        super().__init__(tables, pairs, fused=True)
        self.sparse = sparse
        if sparse:
            self.optimiser = torch.optim.SparseAdam(self.weights, lr=RATE)

    def means(self, side: int, texts: np.ndarray) -> torch.Tensor:
        all_texts = self.sides[side][0]
        ids = torch.from_numpy(all_texts.words_of(texts)).long()
        lengths = all_texts.lengths[texts]
        offsets = torch.from_numpy(np.cumsum(lengths) - lengths).long()
        return embedding_bag(ids, self.weights[side], offsets, mode="mean", sparse=self.sparse)

    def clip(self) -> None:
        if not self.sparse:
            super().clip()


class Ours:
    """The compiled learner."""

    def __init__(self, tables: Tables, pairs: Pairs) -> None:
        self.learner = NumbaAverage(tables[0], tables[1], pairs, LOSS.compiled(), 1.0, 1.0)
        self.parameters = self.learner.parameters

    def train(self, order: np.ndarray) -> None:
        self.learner.advance(order, BATCH, RATE)


if __name__ == "__main__":
    main()
