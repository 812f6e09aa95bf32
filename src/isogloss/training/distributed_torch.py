"""A team over ``torch.distributed``: gloo between processors, NCCL between GPUs.

Sums and gathered rows are the same bits in every process: gloo and NCCL add up each number once and pass it on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor

from isogloss.base.errors import InputError
from isogloss.text.batches import available_cores
from isogloss.training.distributed import PeerLost, Place, Rows, Team, Value

_PATIENCE = timedelta(hours=2)  # the others wait while the first process measures on dev; a lost one is noticed at once
_FAILED = "isogloss.failed"
Result = TypeVar("Result")
_untyped: Any = dist


class TorchTeam(Team):
    """Processes that have met at a store; ``leave`` it when done."""

    def __init__(self, store: Any, place: Place, threads: int = 0) -> None:
        self.rank, self.size = place.rank, place.size
        self.threads = threads or max(1, available_cores() // place.local_size)
        self._store, self._group = store, _untyped.PrefixStore("isogloss", store)
        self._on_gpus = _has_gpu_for_each(place)
        if self._on_gpus:
            torch.cuda.set_device(place.local_rank % torch.cuda.device_count())
        backend = "cpu:gloo,cuda:nccl" if self._on_gpus else "gloo"
        _guarded(
            lambda: dist.init_process_group(
                backend, store=self._group, rank=place.rank, world_size=place.size, timeout=_PATIENCE
            )
        )

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

    def speaks(self) -> bool:
        """Whether this is the first process in which something went wrong: the one to say so."""
        with suppress(RuntimeError):  # where the store is gone, so is whoever might have spoken
            return int(self._store.add(_FAILED, 1)) == 1
        return self.rank <= 1

    def leave(self) -> None:
        """Be gone; whoever waits for this process notices."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def _carried(self, tensor: Tensor) -> Tensor:
        """The tensor where it can travel from: gloo carries what is in the processor's memory only."""
        return tensor if self._on_gpus else tensor.cpu()


def meet(place: Place) -> TorchTeam:
    """Wait for the others where ``torchrun`` says."""
    try:
        store, _, _ = next(_untyped.rendezvous("env://", timeout=_PATIENCE))
    except RuntimeError as error:
        raise InputError(f"the {place.size} processes could not meet: {str(error).splitlines()[0]}") from error
    return TorchTeam(store, place)


def _has_gpu_for_each(place: Place) -> bool:
    return torch.cuda.is_available() and dist.is_nccl_available() and torch.cuda.device_count() >= place.local_size


def _guarded(exchange: Callable[[], Result]) -> Result:
    """What an exchange gives; that it cannot be done means that another process is gone."""
    try:
        return exchange()
    except RuntimeError as error:
        raise PeerLost("training: another process of this training is gone") from error
