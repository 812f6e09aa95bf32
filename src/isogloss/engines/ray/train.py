"""Training with several processes of a Ray cluster: Ray Train starts, watches and restarts them.

Each worker does the same job as a process of ``torchrun`` (``isogloss.training.distributed``). Where a worker or its
node is lost, Ray Train starts the workers again, fewer if the cluster has no more cores, and the job goes on from the
last checkpoint in the run directory. The first worker writes that directory. It is placed on the node of whoever asks,
where that node takes workers; otherwise the directory has to be on storage that all nodes share.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from isogloss.engines.ray.cluster import check_versions, connected, import_ray, versions
from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.progress import set_quiet
from isogloss.training.distributed import PeerLost, ProcessRank, Team, rank_in_environment

Result = TypeVar("Result")
Job = Callable[[Team], Result]
"""What each worker does; called again after a loss, it goes on from where it was kept. The first's result counts."""
_MOST_LOSSES = 10
_NODE = "ray.io/node-id"


def on_ray(workers: int) -> Callable[[Job[Result], bool], Result]:
    """What runs a job on so many workers of a Ray cluster: ``isogloss.train(…, launch=on_ray(4))``.

    Each worker has a core, and a GPU where asked for.
    """

    def launch(job: Job[Result], gpu: bool) -> Result:
        import_extra("torch", "train", "training with several processes")
        with connected(), TemporaryDirectory(prefix="isogloss-") as scratch:
            done = _fit(partial(_work, job, str(Path.cwd()), versions()), workers, gpu, scratch)
        if isinstance(done, Failure):
            raise (RuntimeError if "\n" in done.reason else InputError)(done.reason)
        return done  # type: ignore[no-any-return]

    return launch


class Failure(NamedTuple):
    """Why a worker failed, as a result: after an error Ray Train would start all of them again."""

    reason: str


def _fit(work: Callable[[], Any], workers: int, gpu: bool, scratch: str) -> Any:
    """What the first worker returns."""
    import ray.train as untyped
    from ray.train.torch import TorchConfig, TorchTrainer

    from isogloss.training.distributed_torch import GLOO, NCCL, PATIENCE

    train: Any = untyped
    trainer: Any = TorchTrainer(
        work,
        torch_config=TorchConfig(NCCL if gpu else GLOO, timeout_s=int(PATIENCE.total_seconds())),
        scaling_config=train.ScalingConfig(num_workers=(1, workers), use_gpu=gpu, label_selector=_places(workers, gpu)),
        run_config=train.RunConfig(storage_path=scratch, failure_config=train.FailureConfig(max_failures=_MOST_LOSSES)),
    )
    before = signal.getsignal(signal.SIGINT)
    try:
        return trainer.fit().return_value
    except SystemExit:  # how Ray Train ends on Ctrl-C
        raise KeyboardInterrupt from None
    except train.TrainingFailedError as error:
        what = " ".join(str(error).split())[:300]
        raise InputError(f"training: Ray Train gave up ({what}); look at the nodes' memory and Ray's logs") from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _places(workers: int, gpu: bool) -> list[dict[str, str]] | None:
    """The first worker on this node, if it takes workers; the others anywhere."""
    ray = import_ray()
    own = ray.get_runtime_context().get_node_id()
    resources: dict[str, float] = next((node["Resources"] for node in ray.nodes() if node["NodeID"] == own), {})
    if resources.get("GPU" if gpu else "CPU", 0) < 1:
        return None
    return [{_NODE: own}, *({} for _ in range(workers - 1))]


def _work(job: Job[Any], folder: str, told: dict[str, str]) -> Any:
    """In a worker: do the job with the others; ``folder`` is where names of files are understood from."""
    from isogloss.training.distributed_torch import meet

    set_quiet(True)
    if Path(folder).is_dir():
        os.chdir(folder)
    team = meet(rank_in_environment(os.environ) or ProcessRank(0, 1), threads=1)
    try:
        check_versions(told)
        return job(team)
    except PeerLost:
        reason = team.failure()
        if reason is None:
            raise
        return Failure(reason)
    except Exception as error:
        reason = str(error) if isinstance(error, InputError) else traceback.format_exc()
        team.fails_first(reason)
        return Failure(reason)
    finally:
        team.leave()  # the others notice
