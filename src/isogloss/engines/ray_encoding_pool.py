"""Workers that encode blocks, one a core of the cluster: work is handed out as it is done, and again when one is lost.

Each worker has two blocks at a time, one that it encodes and one that waits, and the results are taken as they come: so
the memory in use does not grow with the collection, however fast it can be read. A worker that dies, alone or with its
node, is told of in the log; its blocks go to others, and another worker is started wherever there is room.

Why not Ray Data. It was tried (``read_datasource`` of one streaming read task, ``map_batches`` over a pool of two
actors) against this loop, on 149,500 documents of 930 characters with the average model, one core: 28 s against 5 s,
and 9.5 s of the workers' processor time against 1.6 s, most of it spent on Arrow tables of text. The first vectors
came out when the last documents had been read, so that a killed job would have had nothing to go on with. And its
reader runs on some node of the cluster, where the user's files need not be.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from isogloss.engines.ray_blocks import Block
from isogloss.engines.ray_cluster import check_versions, node_name, versions
from isogloss.engines.ray_encoded import count_words, encode
from isogloss.engines.ray_shipping import ShippedSystem, unpack
from isogloss.storage.errors import InputError

_IN_HAND = 2
_LOSSES = 4  # of workers over one block: then it is the block
_PATIENCE = 300.0  # seconds without a worker
_log = logging.getLogger("isogloss")


class EncodingWorker:
    """A process of the cluster that encodes; Ray makes an actor of it."""

    def prepare(self, shipped: ShippedSystem, told: dict[str, str]) -> str:
        """Load the system; the address of the node."""
        check_versions(told)
        self._system = unpack(shipped)
        return node_name()

    def encode(self, texts: list[str]) -> dict[str, Any]:
        """The arrays of a block."""
        return encode(self._system, texts)

    def count_words(self, texts: list[str]) -> Any:
        """The counts of a block."""
        return count_words(self._system, texts)


class EncodingPool:
    """So many workers, started when there is work, with the system that they were last given. A context ends them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._shipped: ShippedSystem | None = None
        self._starting: dict[Any, Any] = {}
        self._idle: deque[Any] = deque()
        self._busy: dict[Any, tuple[Any, Block]] = {}
        self.nodes: dict[Any, str] = {}
        """The workers that are there, and where."""
        self._losses: Counter[int] = Counter()

    def __enter__(self) -> EncodingPool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in {*self._starting.values(), *self.nodes}:
            ray.kill(worker)

    def equip(self, shipped: ShippedSystem) -> None:
        """Give all workers, and those that come later, a system to encode with."""
        self._shipped = shipped
        self._idle.clear()
        self._starting = {self._prepared(worker): worker for worker in {*self._starting.values(), *self.nodes}}

    def run(self, what: str, blocks: Iterator[Block]) -> Iterator[tuple[Block, Any]]:
        """What the workers' method ``what`` gives for each block, in the order in which they are done."""
        again: deque[Block] = deque()
        while len(self._starting) + len(self.nodes) < self.workers:
            self._start()
        while True:
            while self._idle and (block := again.popleft() if again else next(blocks, None)):
                worker = self._idle.popleft()
                self._busy[getattr(worker, what).remote(block.texts)] = worker, block
            if not self._busy and self._idle and not again:
                return
            ready, _ = ray.wait([*self._starting, *self._busy], num_returns=1, timeout=_PATIENCE)
            if not ready and not self._busy:
                raise InputError(_nobody())
            for call in ready:
                if call in self._starting:
                    self._welcome(call)
                elif call in self._busy:
                    yield from self._finished(call, again)

    def _start(self) -> None:
        worker = ray.remote(EncodingWorker).options(num_cpus=1, max_restarts=0).remote()
        self._starting[self._prepared(worker)] = worker

    def _prepared(self, worker: Any) -> Any:
        return worker.prepare.remote(self._shipped, versions())

    def _welcome(self, call: Any) -> None:
        """Give work to a worker that has just started, if it has."""
        worker = self._starting.pop(call)
        try:
            self.nodes[worker] = ray.get(call)
        except RayTaskError as error:
            raise _told(error) from error
        except RayActorError as error:
            _log.warning("encoding: a worker was lost while it started (%s); another is started", _first_line(error))
            self._start()
            return
        self._idle.extend([worker] * _IN_HAND)

    def _finished(self, call: Any, again: deque[Block]) -> Iterator[tuple[Block, Any]]:
        worker, block = self._busy.pop(call)
        try:
            result = ray.get(call)
        except RayTaskError as error:
            raise _told(error) from error
        except RayActorError as error:
            self._lost(worker, error)
            self._give_back(block, again)
            return
        self._idle.append(worker)
        yield block, result

    def _lost(self, worker: Any, error: RayActorError) -> None:
        """Start another worker in place of one that died; its second block comes back with the same error."""
        if worker not in self.nodes:
            return
        node = self.nodes.pop(worker)
        self._idle = deque(each for each in self._idle if each != worker)
        _log.warning("encoding: lost a worker on node %s (%s); another is started", node, _first_line(error))
        self._start()

    def _give_back(self, block: Block, again: deque[Block]) -> None:
        self._losses[block.number] += 1
        if self._losses[block.number] == _LOSSES:
            what = f"block {block.number} has brought down {_LOSSES} workers"
            raise InputError(f"encoding: {what}; give the nodes more memory, or look into Ray's logs")
        again.append(block)
        _log.warning("encoding: block %d goes to another worker", block.number)


def _told(error: RayTaskError) -> BaseException:
    """What went wrong in a worker, as if it had gone wrong here."""
    return error.cause if isinstance(error.cause, InputError) else error


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _nobody() -> str:
    what = f"encoding: no node of the cluster has had a free core for {_PATIENCE:.0f} s"
    return f"{what}; run the same command again when there is one, it goes on where it stopped"
