"""A worker on Ray: waits for others, makes a team with them, does its part of a job."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import ray

from isogloss.base.errors import import_extra
from isogloss.base.progress import set_quiet
from isogloss.cluster.connecting import check_versions
from isogloss.training.distributed import Place, Team

_PATIENCE = timedelta(minutes=5)


class TrainingWorker:
    """One process; ``folder`` is where the command was given, and names of files are understood from there."""

    def __init__(self, folder: str) -> None:
        set_quiet(True)
        if not ray.get_gpu_ids():  # a GPU that Ray has not given to this worker is not to be seen
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        if Path(folder).is_dir():
            os.chdir(folder)
        self._store: Any = None

    def node(self, told: dict[str, str]) -> tuple[str, str]:
        """Which node this is, and its address."""
        check_versions(told)
        return str(ray.get_runtime_context().get_node_id()), _address()

    def open(self) -> tuple[str, int]:
        """Be the first: open the place where the others are to meet; its address and port."""
        self._store = _tools().TCPStore("0.0.0.0", 0, is_master=True, wait_for_workers=False)
        return _address(), int(self._store.port)

    def work(self, job: Callable[[Team], Any], place: Place, address: tuple[str, int]) -> Any:
        """Do the job with the others that come to the address."""
        from isogloss.training.distributed_torch import TorchTeam

        store = self._store
        if place.rank:
            store = _tools().TCPStore(*address, is_master=False, timeout=_PATIENCE)
        team = TorchTeam(store, place, threads=1)
        try:
            return job(team)
        finally:
            team.leave()


def _address() -> str:
    return str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]


def _tools() -> Any:
    import_extra("torch", "train", "training with several processes")
    import torch.distributed

    return torch.distributed
