"""Several processes that train one model: each takes its share of every batch.

All of them read the same data and hold the same parameters; the order of the examples depends on the seed alone. Of a
batch of n examples process r of N computes those from floor(r n / N) up to floor((r + 1) n / N); the results are
combined before the step, which all of them take alike. So a step is that of one process with the whole batch, whatever
the number of processes, and a training may resume with another number. Only the first process (rank 0) writes, measures
on dev and reports.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError, import_extra

if TYPE_CHECKING:
    from torch import Tensor

Value = TypeVar("Value")
Rows = NDArray[np.float32]


class PeerLost(InputError):  # noqa: N818 - the name of an event
    """Another process of the team is gone; the steps since the last checkpoint are lost."""


class Team(ABC):
    """The processes that train together, as one of them sees it."""

    rank: int = 0
    size: int = 1
    threads: int = 0
    """How many threads a process should use, where it could use more; 0: as many as it likes."""

    def rows(self, number: int) -> slice:
        """Which of a batch's ``number`` examples this process computes; none, where there are more processes.

        >>> Alone().rows(5)
        slice(0, 5, None)
        """
        return slice(self.rank * number // self.size, (self.rank + 1) * number // self.size)

    def decide(self, compute: Callable[[], Value]) -> Value:
        """What the first process computes, for all."""
        return self.agree(compute()) if self.rank == 0 else cast("Value", self.agree(None))

    @abstractmethod
    def agree(self, value: Value) -> Value:
        """The value of the first process, for all."""

    @abstractmethod
    def any(self, flag: bool) -> bool:
        """Whether the flag of any process is set."""

    @abstractmethod
    def gather(self, rows: Rows, number: int) -> Rows:
        """The rows of a whole batch, of which each process has its own (see ``rows``)."""

    @abstractmethod
    def gather_tensor(self, rows: Tensor, number: int) -> Tensor:
        """The same for a tensor, on its device."""

    @abstractmethod
    def add_up(self, tensor: Tensor) -> None:
        """Put the sum over all processes in place of the tensor; every process gets the same bits."""


class Alone(Team):
    """One process."""

    def agree(self, value: Value) -> Value:
        return value

    def any(self, flag: bool) -> bool:
        return flag

    def gather(self, rows: Rows, number: int) -> Rows:
        return rows

    def gather_tensor(self, rows: Tensor, number: int) -> Tensor:
        return rows

    def add_up(self, tensor: Tensor) -> None:
        """It is the sum."""


@dataclass(frozen=True, slots=True)
class ProcessRank:
    """Which process this is: of how many, and of how many on this machine."""

    rank: int
    size: int
    local_rank: int = 0
    local_size: int = 1


def rank_in_environment(variables: Mapping[str, str]) -> ProcessRank | None:
    """The rank by the variables that ``torchrun`` sets in each process it starts; None where there is only one.

    >>> rank_in_environment({"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "29500"})
    ProcessRank(rank=1, size=2, local_rank=0, local_size=1)
    """
    size = _number(variables, "WORLD_SIZE", "1")
    if size <= 1:
        return None
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        if not variables.get(name):
            raise InputError(f"WORLD_SIZE is {size}, but {name} is not set; start the processes with torchrun")
    rank = _number(variables, "RANK", "0")
    if rank >= size:
        raise InputError(f"RANK is {rank}, but there are {size} processes (WORLD_SIZE), numbered from 0")
    return ProcessRank(rank, size, _number(variables, "LOCAL_RANK", "0"), _number(variables, "LOCAL_WORLD_SIZE", "1"))


def _number(variables: Mapping[str, str], name: str, default: str) -> int:
    text = variables.get(name) or default
    if not text.isdecimal():
        raise InputError(f"{name} is {text!r}, not a whole number; start the processes with torchrun")
    return int(text)


@contextmanager
def team_of_environment(variables: Mapping[str, str] | None = None) -> Iterator[Team]:
    """The team that ``torchrun`` started; alone without it.

    The first process that fails reports why; the others notice that it is gone, and end without a message.
    """
    rank = rank_in_environment(os.environ if variables is None else variables)
    if rank is None:
        yield Alone()
        return
    import_extra("torch", "train", "training with several processes")
    from isogloss.training.distributed_torch import meet

    team: Any = meet(rank)
    try:
        yield team
    except BaseException:
        if not team.fails_first():
            raise SystemExit(2) from None
        raise
    finally:
        team.leave()
