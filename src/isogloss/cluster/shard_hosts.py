"""The processes that have the shards, as seen by whoever asks: some answer, some are away and come back.

Host N has shard N of every store. Ray starts a host again wherever there is room when it or its node dies. Until it
answers it is *away*: nobody waits for it twice, and answers name the shard that is missing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from isogloss.base.errors import InputError
from isogloss.cluster.connecting import NAMESPACE, nodes_with_cores, versions
from isogloss.cluster.shard import ShardHost, Told

START_SECONDS = 120.0
"""For hosts to start, when a store is opened."""
_log = logging.getLogger("isogloss")


class ShardHosts:
    """The hosts of the first so many shards; ``seconds`` is how long an answer is waited for."""

    def __init__(self, shards: int, seconds: float) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._hosts = [_host(number) for number in range(shards)]
        self._away: dict[int, Any] = {}
        self.nodes: dict[int, str] = {}

    def start(self) -> None:
        """Return when all hosts answer, or have been waited for long enough."""
        calls = {number: _ready(host) for number, host in enumerate(self._hosts)}
        ray.wait([*calls.values()], num_returns=len(calls), timeout=START_SECONDS)
        for number, call in calls.items():
            with self._lock:
                self._away[number] = call
            self._is_here(number)

    def ask(self, path: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Told]:
        """What the shards of a store say that were asked something, and do answer."""
        made = {number: self._call(number, path, arguments) for number, arguments in calls.items()}
        waited = {number: call for number, call in made.items() if call is not None}
        if waited:
            ray.wait([*waited.values()], num_returns=len(waited), timeout=self.seconds)
        told = {number: self._answer(number, call) for number, call in waited.items()}
        return {number: answer for number, answer in told.items() if answer is not None}

    def forget(self, path: str) -> None:
        """Let the hosts let go of a store."""
        calls = [host.forget.remote(path, number) for number, host in enumerate(self._hosts) if self._is_here(number)]
        ray.wait(calls, num_returns=len(calls), timeout=self.seconds) if calls else None

    def _call(self, number: int, path: str, arguments: tuple[Any, ...]) -> Any:
        return self._hosts[number].ask.remote(path, number, *arguments) if self._is_here(number) else None

    def _answer(self, number: int, call: Any) -> Told | None:
        try:
            told: Told = ray.get(call, timeout=0)
        except RayTaskError as error:
            if not isinstance(error.cause, OSError):
                raise (error.cause if isinstance(error.cause, InputError) else error) from error
            self._leave(number, str(error.cause))
        except GetTimeoutError:
            self._leave(number, f"no answer in {self.seconds:g} s")
        except RayActorError as error:
            self._leave(number, str(error).strip().partition("\n")[0])
        else:
            return told
        return None

    def _leave(self, number: int, reason: str) -> None:
        with self._lock:
            if number in self._away:
                return
            self._hosts[number] = _host(number)
            self._away[number] = _ready(self._hosts[number])
        _log.warning("%s does not answer (%s); it is started again", shard_name(number), reason)

    def _is_here(self, number: int) -> bool:
        """Whether a host is worth asking: it has not been away, or it has said that it is back."""
        with self._lock:
            call = self._away.get(number)
            if call is None:
                return True
            if not ray.wait([call], timeout=0)[0]:
                return False
            try:
                node = ray.get(call)
            except RayTaskError as error:
                raise (error.cause if isinstance(error.cause, InputError) else error) from error
            except RayActorError:
                self._hosts[number] = _host(number)
                self._away[number] = _ready(self._hosts[number])
                return False
            del self._away[number]
            if number in self.nodes:
                _log.warning("%s answers again, on node %s", shard_name(number), node)
            self.nodes[number] = node
            return True


def _ready(host: Any) -> Any:
    """A question that is answered when a host is there, however often it is started until then."""
    return host.ready.options(max_task_retries=-1).remote(versions())


def shard_name(number: int) -> str:
    """What a shard is called."""
    return f"shard-{number}"


def shard_names(numbers: Sequence[int]) -> tuple[str, ...]:
    """What shards are called, in order."""
    return tuple(map(shard_name, sorted(numbers)))


def _host(number: int) -> Any:
    """The host of a number, which is started where there is none."""
    options: dict[str, Any] = {
        "name": f"isogloss-{shard_name(number)}",
        "namespace": NAMESPACE,
        "get_if_exists": True,
        "max_restarts": -1,
        "scheduling_strategy": _place(number),
    }
    made = ray.remote(ShardHost).options(**options).remote()
    _kept.append(made)
    return made


def _place(number: int) -> Any:
    """Hosts go round the nodes, or to any other where a node has no room or is no more."""
    nodes = nodes_with_cores()
    return NodeAffinitySchedulingStrategy(nodes[number % len(nodes)], soft=True) if nodes else "DEFAULT"


_kept: list[Any] = []
"""Ray ends an actor when its first handle goes; here hosts live as long as this process is connected."""
