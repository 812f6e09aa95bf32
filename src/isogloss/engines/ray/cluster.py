"""Joining a Ray cluster, or starting one on this machine, quietly; whoever has joined it leaves it at the end.

``RAY_ADDRESS`` names a cluster that runs already (Ray's own variable: ``10.0.0.1:6379``, or ``auto`` for one started on
this machine with ``ray start``). Without it a cluster of this machine's cores is started, and ends with the work.
Nothing is sent anywhere: Ray's usage statistics are turned off.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import isogloss
from isogloss.storage.errors import InputError, import_extra

NAMESPACE = "isogloss"
"""Actors of isogloss are found under this name by all that join a cluster."""
_VARIABLE = "RAY_ADDRESS"
_SECONDS = 10.0  # for somebody to answer at an address
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or Ray warns that it will one day leave CUDA_VISIBLE_DEVICES alone
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    "RAY_TQDM": "0",
}


def _join(ray: Any, wanted: str, local: Mapping[str, Any]) -> None:
    options = {"include_dashboard": False, **local} if wanted == "local" else {}
    ray._private.worker._worker_logs_enabled = False  # or it writes of dead nodes to where our results go: to stdout
    try:
        _knock(wanted)
        ray.init(
            wanted, namespace=NAMESPACE, logging_level=logging.ERROR, log_to_driver=False, **options
        )  # Ray's own remarks go to its log files; what users have to know is said by isogloss
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(_what_failed(wanted, error)) from error


@contextmanager
def connected(address: str | None = None, **local: Any) -> Iterator[str]:
    """Join the cluster at an address, or that of ``RAY_ADDRESS``, or start one here, until the end; its address.

    ``local`` are options of ``ray.init`` for a cluster that is started (``num_cpus``, ``object_store_memory``). A
    cluster that was joined before is left as it is. Processes that are started meanwhile and connect join the same.
    """
    ray, before = import_ray(), os.environ.get(_VARIABLE)
    is_own = not ray.is_initialized()
    if is_own:
        _join(ray, address or before or "local", local)
    os.environ[_VARIABLE] = ray.get_runtime_context().gcs_address
    try:
        yield os.environ[_VARIABLE]
    finally:
        if before is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = before
        if is_own:
            ray.shutdown()


def versions() -> dict[str, str]:
    """What has to be the same in every process of a cluster; Ray sees to its own and Python's."""
    return {"isogloss": isogloss.__version__}


def check_versions(told: dict[str, str]) -> None:
    """Called in a process of the cluster with the ``versions`` of whoever asks it to work."""
    for name, version in versions().items():
        if told[name] != version:
            what = f"the node {node_name()} has {name} {version}, this command {told[name]}"
            raise InputError(f"{what}; install the same version on every node")


def node_name() -> str:
    """The node of a cluster that this process runs on: its address, and the beginning of Ray's name for it."""
    ray = import_ray()
    return f"{ray.util.get_node_ip_address()} ({ray.get_runtime_context().get_node_id()[:8]})"


def cpus() -> int:
    """How many cores the cluster has."""
    return int(import_ray().cluster_resources().get("CPU", 0))


def keep_quiet() -> None:
    """Tell Ray, before it is imported, what it is not to do and say."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def import_ray() -> Any:
    """Ray, quiet; an error that names the extra if it is not there."""
    keep_quiet()
    return import_extra("ray", "ray", "working on a Ray cluster")


def _knock(address: str) -> None:
    """Raise if nobody listens at ``host:port``: Ray itself would go on trying for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS).close()


def _what_failed(address: str, error: Exception) -> str:
    reason = " ".join(str(error).split())[:300]
    if address == "local":
        return f"--on ray: no cluster could be started on this machine ({reason})"
    what = f"{_VARIABLE}: no cluster could be joined at {address!r} ({reason})"
    return f"{what}; start one with 'ray start --head', or leave the address out for one on this machine"
