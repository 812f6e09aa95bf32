"""Training with several processes on one machine: how fast, and how much travels between them.

    python benchmarks/training_distributed.py [STEPS [PROCESSES ...]]          30 steps; 1 and 2 processes by default
    python benchmarks/training_distributed.py 100 1 2 4 --encoder cnn          of the CNN only

The set-up of ``training.py``: two vocabularies of 100,000 words of 64 dimensions, documents of 199 words, queries of
20, batches of 128, ids drawn evenly. Every process has one thread. CPU time is what a step costs each process, whoever
else uses the machine: with enough cores it bounds the time of a step from below.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from isogloss.nn.encoders.towers import TowerSizes, make_encoders
from isogloss.nn.losses import make_loss
from isogloss.text.ids import TextIds
from isogloss.training.distributed import ProcessRank
from isogloss.training.distributed_torch import TorchTeam
from isogloss.training.examples import Pairs
from isogloss.training.torch_pairs import TorchPairs

WORDS, SIZE, BATCH, QUERY, DOCUMENT = 100_000, 64, 128, 20, 199
WARM_UP, EXCHANGES, ROUNDS = 3, 5, 5
LOSS = make_loss("sosl")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", nargs="?", type=int, default=30)
    parser.add_argument("processes", nargs="*", type=int)
    parser.add_argument("--encoder", choices=("average", "cnn", "lstm"), action="append")
    options = parser.parse_args()
    fast = importlib.util.find_spec("numba") is not None
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, torch {torch.__version__}, batches of {BATCH}")
    _show_volume(steps=10)
    for encoder in options.encoder or (["average"] if fast else []) + ["cnn"]:
        _show_speed(encoder, options.steps, options.processes or [1, 2])
    _show_exchanges()


def _show_volume(steps: int) -> None:
    """What each of two processes would send a step, in the three ways."""
    pairs = _pairs(steps)
    rows = []
    for step in range(steps):
        own = np.arange(step * BATCH, step * BATCH + BATCH // 2)
        rows.append(sum(len(np.unique(ids)) for ids in (pairs.queries.words_of(own), pairs.documents.words_of(own))))
    print("\nthe average model, two processes: what each of them sends a step")
    for way, size in zip(WAYS, _bytes(int(np.mean(rows))), strict=True):
        print(f"  {way:<46} {size:>12,} bytes")


WAYS = ("both tables of gradients, dense", "the rows its share touches, and their numbers", "two vectors a pair (ours)")


def _bytes(rows: int) -> tuple[int, int, int]:
    return 2 * WORDS * SIZE * 4, rows * (SIZE * 4 + 4), BATCH // 2 * (2 * SIZE + 2) * 4


def _show_exchanges() -> None:
    """How long the exchanges alone take between two processes."""
    rows = BATCH // 2 * (QUERY + DOCUMENT)
    times = _processes(2, _exchange, rows)[0]
    print("\nthe exchange of a step between two processes over gloo, the best of several")
    for way, seconds in zip(WAYS, times, strict=True):
        print(f"  {way:<46} {1000 * seconds:>9.2f} ms")


def _exchange(team: TorchTeam, rows: int) -> list[float]:
    dense = torch.zeros(_bytes(0)[0] // 4)
    touched, said = torch.zeros(rows, SIZE + 1), torch.zeros(BATCH // 2, 2 * SIZE + 2)
    ways: list[Callable[[], object]] = [
        lambda: dist.all_reduce(dense),
        lambda: dist.all_gather([torch.empty_like(touched) for _ in range(team.size)], touched),
        lambda: team.gather_tensor(said, BATCH),
    ]
    return [min(_timed(way) for _ in range(EXCHANGES)) for way in ways]


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _show_speed(encoder: str, steps: int, sizes: list[int]) -> None:
    print(f"\n{encoder}, {steps} steps, one thread a process, the best of {ROUNDS} rounds")
    print(f"  {'processes':>9} {'steps/s':>9} {'ratio':>6} {'CPU ms a step, each':>20}")
    first = 0.0
    for size in sizes:
        wall, cpu = (min(times) for times in zip(*_processes(size, _learn, encoder, steps)[0], strict=True))
        first = first or wall
        print(f"  {size:>9} {steps / wall:>9.1f} {first / wall:>6.2f} {1000 * cpu / steps:>20.2f}")


def _learn(team: TorchTeam, encoder: str, steps: int) -> list[tuple[float, float]]:
    """Wall and CPU seconds of each round."""
    torch.set_num_threads(1)
    learner, order = _learner(encoder, _pairs(steps)), np.arange(steps * BATCH)
    if team.size > 1:
        learner.join(team)
    learner.advance(order[: WARM_UP * BATCH], BATCH, 0.01)
    found = []
    for _ in range(ROUNDS):
        team.any(False)  # all begin together
        wall, cpu = time.perf_counter(), time.process_time()
        learner.advance(order, BATCH, 0.01)
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    return found


def _learner(encoder: str, pairs: Pairs) -> Any:
    random = np.random.default_rng(1)
    tables = [random.normal(size=(WORDS, SIZE)).astype(np.float32) for _ in range(2)]
    if encoder != "average":
        return TorchPairs(*make_encoders(encoder, *tables, TowerSizes()), pairs, LOSS, 1.0, 1.0)
    import numba

    from isogloss.training.word_average.cpu import NumbaAverage

    numba.set_num_threads(1)
    return NumbaAverage(*tables, pairs, LOSS.compiled(), 1.0, 1.0)


def _pairs(steps: int) -> Pairs:
    random = np.random.default_rng(0)
    sides = [_texts(random.integers(WORDS, size=(steps * BATCH, length))) for length in (QUERY, DOCUMENT)]
    numbers = np.arange(steps * BATCH, dtype=np.int32)
    return Pairs(*sides, numbers, numbers, random.integers(3, size=steps * BATCH).astype(np.int32))


def _texts(ids: np.ndarray) -> TextIds:
    return TextIds(ids.reshape(-1).astype(np.int32), np.arange(len(ids) + 1, dtype=np.int64) * ids.shape[1])


def _processes(size: int, act: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What each of some processes, a team, gives."""
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    context = multiprocessing.get_context("spawn")
    answers: Any = context.Queue()
    started = [
        context.Process(
            target=_process, args=(answers, store.port, ProcessRank(rank, size, rank, size), act, arguments)
        )
        for rank in range(size)
    ]
    for process in started:
        process.start()
    found = dict(answers.get() for _ in started)
    for process in started:
        process.join()
    return [found[rank] for rank in range(size)]


def _process(answers: Any, port: int, place: ProcessRank, act: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    team = TorchTeam(dist.TCPStore("127.0.0.1", port, is_master=False), place, threads=1)
    answers.put((place.rank, act(team, *arguments)))
    team.leave()


if __name__ == "__main__":
    main()
