"""Training the average model on one GPU at the paper's scale: the released way, torch's best dense way, and ours.

310,000 steps of 128 pairs, two vocabularies of 100,000 words, 64 numbers a word, queries of 20 and documents of 199
words, drawn evenly: the hardest case, since words of real texts repeat (see the line of Zipf's law). Needs torch with
CUDA, triton and numpy only:

    PYTHONPATH=src python benchmarks/training_gpu.py
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numpy as np
import torch
import triton
from side_by_side import best_times

from isogloss.papers.examples import Pairs
from isogloss.papers.smooth.learners.cuda import CudaAverage
from isogloss.papers.smooth.losses import make_loss
from isogloss.text.ids import TextIds

STEPS, EPOCHS, BATCH = 310_000, 30, 128
WORDS, SIZE, QUERY_LENGTH, DOCUMENT_LENGTH, TEXTS = 100_000, 64, 20, 199, 65_536
EPS, CLIP, RATE = 1.0, 5.0, 0.01
DENSE_STEPS, ROUNDS = 300, 3
LOSS = make_loss("sosl")
RELEASED = "as released: padded, dense Adam, clipping"


def main() -> None:
    random = np.random.default_rng(0)
    tables = [random.normal(0, 0.1, (WORDS, SIZE)).astype(np.float32) for _ in range(2)]
    even, zipf = random_pairs(random, even_words), random_pairs(random, zipf_words)
    order, steps = random.permutation(len(even)), -(-len(even) // BATCH)

    def ours(pairs: Pairs, clip: float) -> tuple[Callable[[], object], int]:
        learner = CudaAverage(tables[0], tables[1], pairs, LOSS.compiled(), EPS, clip)
        return lambda: learner.advance(order, BATCH, RATE), steps

    ways = {
        RELEASED: (released_way(tables, even), DENSE_STEPS),
        "EmbeddingBag, dense fused Adam, clipping": (fused_way(tables, even), DENSE_STEPS),
        "isogloss, clipping": ours(even, CLIP),
        "isogloss, clipping that is always needed": ours(even, CLIP / 5000),
        "isogloss, no clipping": ours(even, 0.0),
        "isogloss, clipping, words by Zipf's law": ours(zipf, CLIP),
    }
    for run, _ in ways.values():
        run()  # compiles
    times = best_times({name: run for name, (run, _) in ways.items()}, ROUNDS)
    bandwidth, needed = copy_bandwidth(), bytes_needed(even, order)
    versions = f"torch {torch.__version__}, triton {triton.__version__}, Python {platform.python_version()}"
    print(
        f"{torch.cuda.get_device_name()}; {versions}; {STEPS:,} steps of {BATCH}, best of {ROUNDS} interleaved rounds"
    )
    for name, (_, timed) in ways.items():
        step = times[name] / timed
        ratio = times[RELEASED] / DENSE_STEPS / step
        print(
            f"  {name:<44} {step * STEPS:7.1f} s   x {ratio:6.1f}   ({timed:,} steps timed, {step * 1e6:.1f} us each)"
        )
    print(f"a step's touched rows and moments, both ways: {needed / 1e6:.1f} MB; a copy: {bandwidth / 1e12:.2f} TB/s")
    for name in ("isogloss, clipping", "isogloss, no clipping"):
        print(f"  {name:<44} {needed / bandwidth / (times[name] / steps):7.0%} of what the bandwidth allows")
    whole_run(tables, even, random)


def whole_run(tables: list[np.ndarray], pairs: Pairs, random: np.random.Generator) -> None:
    """All steps, with putting the data on the device, compiling (kept by triton on disk) and shuffling."""
    started = time.perf_counter()
    learner = CudaAverage(tables[0], tables[1], pairs, LOSS.compiled(), EPS, CLIP)
    for _ in range(EPOCHS):
        learner.advance(random.permutation(len(pairs)), BATCH, RATE)
    learner.parameters()
    seconds = time.perf_counter() - started
    print(f"  isogloss, clipping: {EPOCHS} epochs from pairs to tables, nothing left out: {seconds:.1f} s")


def even_words(random: np.random.Generator, number: int) -> np.ndarray:
    return random.integers(0, WORDS, number).astype(np.int32)


def zipf_words(random: np.random.Generator, number: int) -> np.ndarray:
    """Word of rank k with probability in proportion to 1 / k."""
    shares = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    return np.searchsorted(shares, random.random(number) * shares[-1]).astype(np.int32)


def random_pairs(random: np.random.Generator, draw: Callable[[np.random.Generator, int], np.ndarray]) -> Pairs:
    number = STEPS // EPOCHS * BATCH + BATCH // 2
    texts = [
        TextIds(draw(random, TEXTS * length), np.arange(TEXTS + 1, dtype=np.int64) * length)
        for length in (QUERY_LENGTH, DOCUMENT_LENGTH)
    ]
    of = [random.integers(0, TEXTS, number).astype(np.int32) for _ in range(2)]
    return Pairs(*texts, *of, random.integers(0, LOSS.grades, number).astype(np.int32))


def batches(pairs: Pairs) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
    """Ids of the texts, numbers of the texts by step, and grades by step, all on the device."""
    texts = [
        torch.from_numpy(of.ids.astype(np.int64).reshape(len(of), -1)).cuda() for of in (pairs.queries, pairs.documents)
    ]
    numbers = [torch.from_numpy(of[: DENSE_STEPS * BATCH]).long().cuda() for of in (pairs.query_of, pairs.document_of)]
    grades = torch.from_numpy(pairs.grades[: DENSE_STEPS * BATCH]).long().cuda().view(-1, BATCH)
    return texts, [of.view(-1, BATCH) for of in numbers], grades


def train_densely(
    layers: list[torch.nn.Module],
    pool: Callable[[torch.nn.Module, torch.Tensor], torch.Tensor],
    optimiser: torch.optim.Optimizer,
    pairs: Pairs,
) -> Callable[[], None]:
    texts, numbers, grades = batches(pairs)
    parameters = [parameter for layer in layers for parameter in layer.parameters()]
    lower, upper = (torch.from_numpy(end).cuda() for end in LOSS.compiled()[1:3])

    def encode(side: int, step: int) -> torch.Tensor:
        return torch.tanh(pool(layers[side], texts[side][numbers[side][step]]))

    def run() -> None:
        for step in range(DENSE_STEPS):
            query, document, grade = encode(0, step), encode(1, step), grades[step]
            sizes = (query.norm(dim=1) + EPS) * (document.norm(dim=1) + EPS)
            scores = (query * document).sum(1) / sizes
            loss = torch.relu(scores - upper[grade]) ** 2 + torch.relu(lower[grade] - scores) ** 2
            optimiser.zero_grad()
            loss.mean().backward()
            torch.nn.utils.clip_grad_norm_(parameters, CLIP)
            optimiser.step()
        torch.cuda.synchronize()

    return run


def released_way(tables: list[np.ndarray], pairs: Pairs) -> Callable[[], None]:
    """The vectors of all words of the (padded) texts, their mean, Adam over both tables."""
    layers = [torch.nn.Embedding.from_pretrained(torch.from_numpy(table).cuda(), freeze=False) for table in tables]
    optimiser = torch.optim.Adam([layer.weight for layer in layers], lr=RATE)
    return train_densely(layers, lambda layer, ids: layer(ids).mean(1), optimiser, pairs)


def fused_way(tables: list[np.ndarray], pairs: Pairs) -> Callable[[], None]:
    device_tables = [torch.from_numpy(table).cuda() for table in tables]
    layers = [torch.nn.EmbeddingBag.from_pretrained(table, freeze=False, mode="mean") for table in device_tables]
    optimiser = torch.optim.Adam([layer.weight for layer in layers], lr=RATE, fused=True)
    return train_densely(layers, lambda layer, ids: layer(ids), optimiser, pairs)


def copy_bandwidth() -> float:
    """Bytes read and written a second, copying two gigabytes on the device."""
    source = torch.ones(2**29, device="cuda")
    target = torch.empty_like(source)

    def copy() -> None:
        for _ in range(10):
            target.copy_(source)
        torch.cuda.synchronize()

    copy()
    return 10 * 2 * source.numel() * 4 / best_times({"copy": copy}, ROUNDS)["copy"]


def bytes_needed(pairs: Pairs, order: np.ndarray) -> float:
    """What a step has to read and write at least: each touched row and its two moments once, and the ids."""
    rows = []
    for start in range(0, 50 * BATCH, BATCH):
        for texts, of in ((pairs.queries, pairs.query_of), (pairs.documents, pairs.document_of)):
            rows.append(len(np.unique(texts.ids.reshape(len(texts), -1)[of[order[start : start + BATCH]]])))
    ids = BATCH * (QUERY_LENGTH + DOCUMENT_LENGTH) * 4
    return sum(rows) / 50 * SIZE * 4 * 3 * 2 + ids


if __name__ == "__main__":
    main()
