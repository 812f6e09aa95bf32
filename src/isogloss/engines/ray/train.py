"""A job of several processes on Ray that survives the loss of any of them.

Workers are plain actors, which meet as a team over ``torch.distributed`` (``isogloss.training.distributed``): the same
team that ``torchrun`` makes. Where a worker or its node is lost, the others notice at once, since their connections to
it end; they stay, someone takes the place of the lost one, and the job is begun again: it goes on from its last
checkpoint. Where nobody can be found, fewer go on. ``ray.train``'s TorchTrainer was the alternative: it ends all
workers and starts all of them anew (each imports torch, some seconds), always as many as before, and keeps checkpoints
of its own in a storage that all nodes share, beside the run directory that is kept here anyway.

The first worker, which keeps the run directory, is placed on the node of whoever asks, where that node takes workers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from isogloss.engines.ray.cluster import check_versions, connected, versions
from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.progress import set_quiet
from isogloss.training.distributed import PeerLost, ProcessRank, Team

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

    def work(self, job: Callable[[Team], Any], place: ProcessRank, address: tuple[str, int]) -> Any:
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


Result = TypeVar("Result")
Job = Callable[[Team], Result]
"""What each worker does; called again after a loss, it goes on from where it was kept. The first's result counts."""
PLACING_SECONDS = 60.0
_GRACE_SECONDS = 15.0  # for a worker to notice that another is gone; who has not by then is taken for lost too
_MOST_LOSSES = 10
_log = logging.getLogger("isogloss")


@dataclass(frozen=True)
class _Member:
    """A worker, the node it is on and that node's address."""

    actor: Any
    node: str
    address: str


class _Lost(Exception):  # noqa: N818 - it is expected
    """Some workers are gone."""

    def __init__(self, members: Sequence[_Member]) -> None:
        super().__init__()
        self.members = members


def on_ray(workers: int) -> Callable[[Job[Result], bool], Result]:
    """What runs a job on so many workers of a Ray cluster: ``isogloss.train(…, launch=on_ray(4))``.

    Each worker has a core, and a GPU where asked for.
    """

    def launch(job: Job[Result], gpu: bool) -> Result:
        with connected(), closing(_Crew(workers, gpu)) as crew:
            for _ in range(_MOST_LOSSES):
                crew.fill_up()
                try:
                    return crew.run(job)
                except _Lost as lost:
                    crew.remove(lost.members)
        raise InputError(f"training: workers were lost {_MOST_LOSSES} times; look at the nodes' memory and Ray's logs")

    return launch


class _Crew:
    """The workers there are; the log says who goes and who comes."""

    def __init__(self, wanted: int, gpu: bool) -> None:
        self._wanted, self._needs = wanted, {"CPU": 1.0, "GPU": 1.0} if gpu else {"CPU": 1.0}
        self._here = _node_for(self._needs)
        self.members: list[_Member] = []
        self._began = False

    def fill_up(self) -> None:
        """Find workers for the places that are free; go on with those that are found in time."""
        missing = self._wanted - len(self.members)
        first_is_here = any(member.node == self._here for member in self.members[:1])
        actors = [self._start(bool(self._here) and not first_is_here and number == 0) for number in range(missing)]
        asked = {actor.node.remote(versions()): actor for actor in actors}
        placed, _ = ray.wait(list(asked), num_returns=len(asked), timeout=PLACING_SECONDS) if asked else ([], [])
        found = [_Member(asked[reference], *where) for reference in placed if (where := _answer(reference))]
        for actor in actors:
            if all(member.actor is not actor for member in found):
                ray.kill(actor)
        self.members = sorted([*self.members, *found], key=lambda member: member.node != self._here)
        self._tell()

    def _start(self, here: bool) -> Any:
        strategy = NodeAffinitySchedulingStrategy(str(self._here), soft=False) if here else "SPREAD"
        needs = {"num_cpus": self._needs["CPU"], "num_gpus": self._needs.get("GPU", 0)}
        return ray.remote(TrainingWorker).options(scheduling_strategy=strategy, **needs).remote(str(Path.cwd()))

    def _tell(self) -> None:
        if not self.members or (self._here and self.members[0].node != self._here):
            raise InputError("training: Ray has no free core on this machine for the worker that keeps the run")
        if len(self.members) < self._wanted:
            _log.warning("training: only %d of %d workers found a place", len(self.members), self._wanted)
        if self._began:
            where = ", ".join(member.address for member in self.members)
            _log.warning(
                "training: going on from the last checkpoint with %d workers (on %s)", len(self.members), where
            )
        self._began = True

    def run(self, job: Job[Result]) -> Result:
        """Have all of them do the job; what the first gives. Raises ``_Lost``, or what went wrong in one of them."""
        actors = [member.actor for member in self.members]
        address = _answer(actors[0].open.remote())
        if address is None:
            raise _Lost(self.members[:1])
        references = [
            actor.work.remote(job, ProcessRank(rank, len(actors)), address) for rank, actor in enumerate(actors)
        ]
        done, running = ray.wait(references, num_returns=1)
        while running and not _failed(done):
            done, running = ray.wait(references, num_returns=len(done) + 1)
        if running:
            ray.wait(references, num_returns=len(references), timeout=_GRACE_SECONDS)
        outcome: Result = self._outcome(references)
        return outcome

    def _outcome(self, references: Sequence[Any]) -> Any:
        results, lost, alone = [], [], False
        for member, reference in zip(self.members, references, strict=True):
            try:
                results.append(ray.get(reference, timeout=0))
            except RayTaskError as error:
                if not isinstance(error.cause, PeerLost):
                    raise _cause(error) from None
                alone = True
            except RayError:  # it died, or it does not answer
                lost.append(member)
        for member in lost:
            _log.warning("training: a worker is lost (on %s, node %s)", member.address, member.node[:8])
        if lost or alone:
            raise _Lost(lost)
        return results[0]

    def remove(self, members: Sequence[_Member]) -> None:
        """End some of them."""
        for member in members:
            ray.kill(member.actor)
        self.members = [member for member in self.members if member not in members]

    def close(self) -> None:
        """End all of them."""
        self.remove(self.members)


def _node_for(needs: dict[str, float]) -> str | None:
    """The node of this process, if workers can be there."""
    own = ray.get_runtime_context().get_node_id()
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    resources = next((node["Resources"] for node in nodes if node["NodeID"] == own), dict[str, float]())
    if all(resources.get(name, 0.0) >= amount for name, amount in needs.items()):
        return str(own)
    _log.warning("training: this machine takes no workers; the run must be in a folder that all nodes share")
    return None


def _answer(reference: Any) -> Any:
    """What a worker answers; None if it is gone already."""
    try:
        return ray.get(reference)
    except RayTaskError as error:
        raise _cause(error) from None
    except RayError:
        return None


def _failed(references: Sequence[Any]) -> bool:
    """Whether one of the finished calls did not end well."""
    for reference in references:
        try:
            ray.get(reference)
        except RayError:
            return True
    return False


def _cause(error: RayTaskError) -> BaseException:
    """What went wrong in a worker, without what Ray says around it."""
    return error.cause if isinstance(error.cause, BaseException) else InputError(str(error).splitlines()[-1])
