"""A team over ``torch.distributed`` (gloo between processors, NCCL between GPUs), and steps shared by its processes.

Sums and gathered rows are the same bits in every process: gloo and NCCL add up each number once and pass it on.

    L = sum over the processes r of  (n_r / n) L_r,     L_r the mean over the n_r examples of a batch that r computes

So each process weights its own loss by n_r / n, and the gradients of all are added up. Of a table of word vectors only
the rows that the whole batch touches travel; every process knows which those are. Random numbers are drawn for the
whole batch in every process, of which each takes its own: what is dropped does not depend on the number of processes.
A process that has no example of a small batch computes the first one, with weight 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar, cast

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from isogloss.nn.encoders.towers import Dropout
from isogloss.storage.errors import InputError
from isogloss.text.batches import available_cores
from isogloss.training.distributed import PeerLost, ProcessRank, Rows, Team, Value

PATIENCE = timedelta(hours=2)
"""The others wait while the first process measures on dev; a lost one is noticed at once."""
GLOO, NCCL = "gloo", "cpu:gloo,cuda:nccl"
_FAILED, _REASON = "isogloss.failed", "isogloss.reason"
Result = TypeVar("Result")
_untyped: Any = dist


class TorchTeam(Team):
    """Processes that have met at a store; ``leave`` it when done. A process group is made where there is none."""

    def __init__(self, store: Any, process: ProcessRank, threads: int = 0) -> None:
        self.rank, self.size = process.rank, process.size
        self.threads = threads or max(1, available_cores() // process.local_size)
        self._store = store
        if not dist.is_initialized():
            group = _untyped.PrefixStore("isogloss", store)
            backend = NCCL if _has_gpu_for_each(process) else GLOO
            _guarded(
                lambda: dist.init_process_group(
                    backend, store=group, rank=process.rank, world_size=process.size, timeout=PATIENCE
                )
            )
        self._on_gpus = "nccl" in _untyped.get_backend_config()
        if self._on_gpus:
            torch.cuda.set_device(process.local_rank % torch.cuda.device_count())

    def agree(self, value: Value) -> Value:
        box: list[Value] = [value]
        _guarded(lambda: dist.broadcast_object_list(box, src=0, device=torch.device("cpu")))
        return box[0]

    def any(self, flag: bool) -> bool:
        count = torch.tensor([float(flag)])
        self.add_up(count)
        return bool(count)

    def gather(self, rows: Rows, number: int) -> Rows:
        return cast(Rows, self.gather_tensor(torch.from_numpy(rows), number).numpy())

    def gather_tensor(self, rows: Tensor, number: int) -> Tensor:
        most = -(-number // self.size)
        own = self._carried(rows)
        if len(own) < most:
            own = torch.cat([own, own.new_zeros(most - len(own), *own.shape[1:])])
        found = [torch.empty_like(own) for _ in range(self.size)]
        _guarded(lambda: dist.all_gather(found, own.contiguous()))
        counts = [(rank + 1) * number // self.size - rank * number // self.size for rank in range(self.size)]
        return torch.cat([part[:count] for part, count in zip(found, counts, strict=True)]).to(rows.device)

    def add_up(self, tensor: Tensor) -> None:
        carried = self._carried(tensor)
        _guarded(lambda: dist.all_reduce(carried))
        if carried is not tensor:
            tensor.copy_(carried)

    def fails_first(self, reason: str = "") -> bool:
        """Whether this is the first process that failed, and so the one to report it."""
        with suppress(RuntimeError):  # where the store is gone, so is the process that reported
            is_first = int(self._store.add(_FAILED, 1)) == 1
            if is_first:
                self._store.set(_REASON, reason)
            return is_first
        return self.rank <= 1

    def failure(self) -> str | None:
        """Why the first process failed; None where none did, and one is lost."""
        with suppress(RuntimeError):
            if self._store.check([_REASON]):
                return str(self._store.get(_REASON).decode())
        return None

    def leave(self) -> None:
        """Leave; processes that wait for this one notice."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def _carried(self, tensor: Tensor) -> Tensor:
        """The tensor where it can travel from: gloo carries what is in the processor's memory only."""
        return tensor if self._on_gpus else tensor.cpu()


def meet(process: ProcessRank, threads: int = 0) -> TorchTeam:
    """Wait for the others at the address that ``torchrun`` sets; Ray Train has made a process group already."""
    if dist.is_initialized():
        return TorchTeam(_untyped.distributed_c10d._get_default_store(), process, threads)
    try:
        store, _, _ = next(_untyped.rendezvous("env://", timeout=PATIENCE))
    except RuntimeError as error:
        raise InputError(f"the {process.size} processes could not meet: {str(error).splitlines()[0]}") from error
    return TorchTeam(store, process, threads)


def _has_gpu_for_each(process: ProcessRank) -> bool:
    return torch.cuda.is_available() and dist.is_nccl_available() and torch.cuda.device_count() >= process.local_size


def _guarded(exchange: Callable[[], Result]) -> Result:
    """The result of an exchange; one that fails means that another process is gone."""
    try:
        return exchange()
    except RuntimeError as error:
        raise PeerLost("training: another process of this training is gone") from error


class SharedSteps:
    """The share of one process in each batch. ``modules``: what may drop numbers."""

    def __init__(self, team: Team, modules: Iterable[nn.Module]) -> None:
        self._team = team
        self._dropouts = [module for module in modules if isinstance(module, Dropout)]
        self._number, self._touched = 0, dict[nn.Parameter, Tensor]()
        self.weight = 1.0

    def begin(self, number: int, touched: Mapping[nn.Parameter, NDArray[np.integer]]) -> slice:
        """A batch of ``number`` examples begins: which of them this process computes.

        ``touched``: of some parameters the only rows that have a gradient, whoever computes it; the others are all
        gradient.
        """
        rows = self._team.rows(number)
        self._number, self.weight = number, (rows.stop - rows.start) / number
        self._touched = {
            parameter: torch.from_numpy(np.unique(ids)).to(parameter.device, torch.int64)
            for parameter, ids in touched.items()
        }
        self._own = rows if self.weight else slice(0, 1)
        for dropout in self._dropouts:
            dropout.part = number, self._own
        return self._own

    def add_up(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Add up the gradients of all processes, in place; the loss of the whole batch."""
        parts = [loss.detach().reshape(1)]
        for parameter in parameters:
            assert parameter.grad is not None
            rows = self._touched.get(parameter)
            parts.append((parameter.grad if rows is None else parameter.grad[rows]).reshape(-1))
        sums = torch.cat(parts)
        self._team.add_up(sums)
        whole, *found = torch.split(sums, [len(part) for part in parts])
        for parameter, part in zip(parameters, found, strict=True):
            assert parameter.grad is not None
            rows = self._touched.get(parameter)
            if rows is None:
                parameter.grad.copy_(part.view_as(parameter.grad))
            else:
                parameter.grad.index_copy_(0, rows, part.view(len(rows), *parameter.shape[1:]))
        return whole.squeeze()

    def sum(self, value: Tensor) -> Tensor:
        """The mean over the whole batch of what is a mean over this process's share."""
        total = (self.weight * value.detach()).reshape(1)
        self._team.add_up(total)
        return total[0]

    def whole(self, rows: Tensor) -> Tensor:
        """The rows of the whole batch; each example has one row or more, all first rows standing first, and so on."""
        blocks = len(rows) // (self._own.stop - self._own.start)
        own = rows.view(blocks, -1, *rows.shape[1:]).transpose(0, 1).reshape(-1, blocks * rows.shape[1])
        found = self._team.gather_tensor(own if self.weight else own[:0], self._number)
        return found.view(self._number, blocks, -1).transpose(0, 1).reshape(blocks * self._number, rows.shape[1])
