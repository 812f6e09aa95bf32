"""Trains on a Ray cluster of three nodes, one of which is killed meanwhile; run by test_ray_training.py.

    python losing_a_node.py FOLDER EPOCHS

The worker that is not the first says after its second epoch which node it is on, and waits for its end. In FOLDER stay
the run, who was killed, and at which epoch workers began.
"""

import json
import logging
import os
import sys
import threading
from pathlib import Path

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}


def prepare_worker() -> None:
    """In each worker: a checkpoint whenever it can be, and the one that is not the first waits to be killed."""
    import ray

    from isogloss.training import loop

    folder = Path(os.environ["LOSING_A_NODE"])
    begin, close_epoch, pipe = loop.Training._begin, loop.Training._close_epoch, folder / "pipe"
    loop._CHECKPOINT_SECONDS = loop._RECORD_SECONDS = 0.0

    def begin_and_tell(self):
        begin(self)
        if self._team.rank == 0:
            with open(folder / "begun", "a") as file:
                file.write(json.dumps({"rank": self._team.rank, "epoch": self._position.epoch}) + "\n")

    def close(self, *arguments):
        close_epoch(self, *arguments)
        if self._team.rank == 1 and self._position.epoch == 2 and pipe.exists():
            (folder / "address").write_text(ray.util.get_node_ip_address())
            with open(pipe, "w") as end:
                end.write(ray.get_runtime_context().get_node_id())
            threading.Event().wait()

    loop.Training._begin, loop.Training._close_epoch = begin_and_tell, close


def main(folder: Path, epochs: int) -> None:
    os.environ.update(QUIET, LOSING_A_NODE=str(folder))
    import ray
    from ray.cluster_utils import Cluster

    import isogloss
    from isogloss.engines.ray.train import on_ray

    os.mkfifo(folder / "pipe")
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    nodes = [cluster.add_node(**NODE) for _ in range(2)]
    hook = {"worker_process_setup_hook": prepare_worker}
    ray.init(cluster.address, namespace="isogloss", logging_level=logging.ERROR, log_to_driver=False, runtime_env=hook)

    def kill() -> None:
        with open(folder / "pipe") as end:
            named = end.read()
        (folder / "pipe").rename(folder / "used")
        (lost,) = [node for node in nodes if node.node_id == named]
        cluster.remove_node(lost, allow_graceful=False)
        (folder / "killed").write_text(named)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        isogloss.train(
            "smooth", "demo", "en-fr", folder / "run", launch=on_ray(2), epochs=epochs, dimension=8, batch=512
        )
        killer.join()
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
