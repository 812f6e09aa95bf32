"""One shard of a store: the documents whose hash is its number, in the house's own files, and the process that has it.

Files of a store in shards, in a directory that every node of the cluster sees under the same path:

store.json           how many shards, how long the vectors are
log/                 changes that not all shards have taken over yet (change_log.py)
shard-N/documents/   the documents and vectors of shard N (stores/embedded.py)
shard-N/change       the last change that is in them

A change is taken over, then noted. A shard that dies between the two takes it over again, which changes nothing: what
was added or deleted last counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.base.errors import InputError
from isogloss.base.files import write_bytes
from isogloss.cluster.change_log import Change, ChangeLog
from isogloss.cluster.connecting import check_versions, node_name
from isogloss.index.lock import IndexBusyError, WriteLock
from isogloss.stores.embedded import EmbeddedStore
from isogloss.stores.store import Filters, Matrix

LOG, ABOUT = "log", "store.json"
_ATTEMPTS, _BUSY_SECONDS = 1_000, 0.01


def shard_of(language: str, id_: str, shards: int) -> int:
    """The shard that a document belongs to, for ever.

    >>> [shard_of("fr", id_, 4) for id_ in ("bees", "sea", "bread")]
    [0, 2, 3]
    """
    named = f"{language}\0{id_}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(named, digest_size=8).digest(), "little") % shards


class Told(NamedTuple):
    """What a shard says, and the last change that was in it then."""

    change: int
    answer: Any


class Shard:
    """A shard that is open."""

    def __init__(self, path: Path, number: int) -> None:
        if not (path / ABOUT).is_file():
            what = f"{path}: the node {node_name()} does not see this store"
            raise InputError(f"{what}; put it where all nodes of the cluster find it under the same path")
        self._number = number
        self._log = ChangeLog(path / LOG)
        self._folder = path / f"shard-{number}"
        self._noted = self._folder / "change"
        self._store = EmbeddedStore(self._folder / "documents")
        self._change = 0

    def search(self, language: str, queries: Matrix, k: int, filters: Filters | None) -> list[tuple[list[str], Any]]:
        """Ids and scores of the best for each query."""
        found = self._store.search(language, queries, k, filters)
        return [([hit.id for hit in answer.found], [hit.score for hit in answer.found]) for answer in found]

    def catch_up(self, number: int = 0) -> int:
        """Take over the changes that are in the log, up to this one at least; the last that there is."""
        for _ in range(_ATTEMPTS):
            try:
                if self._log.last() > self._change:
                    self._take_over()
                if self._change >= number:
                    return self._change
            except (FileNotFoundError, IndexBusyError):
                pass  # another process has the same shard, and is taking over the same changes
            time.sleep(_BUSY_SECONDS)
        raise OSError(f"{self._folder}: the node {node_name()} does not see change {number} in the log")

    def tell(self, change: int, what: str, arguments: tuple[Any, ...]) -> Told:
        """The answer to a question, with all changes up to one at least."""
        now = self.catch_up(change)
        asked: Callable[..., Any] = self.search if what == "search" else getattr(self._store, what)
        return Told(now, asked(*arguments))

    def close(self) -> None:
        """Let go of the files."""
        self._store.close()

    def _take_over(self) -> None:
        with WriteLock(self._folder):
            before = int(self._noted.read_text()) if self._noted.exists() else 0
            self._change = max(before, self._change)
            for number in self._log.after(self._change):
                change = self._log.read(number, self._number)
                if change is not None:
                    self._make(change)
                    write_bytes(self._noted, str(number).encode())
                self._change = number

    def _make(self, change: Change) -> None:
        if change.vectors is not None:
            self._store.add(change.documents, change.vectors)
        if change.deleted:
            self._store.delete(change.language, change.deleted)


class ShardHost:
    """A process of the cluster with one shard of each store; Ray makes an actor of it.

    A shard is opened when it is first asked, so that a host that was started again has whatever is asked of it.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], Shard] = {}

    def ready(self, told: dict[str, str]) -> str:
        """The address of its node, if all that it runs has the asker's version."""
        check_versions(told)
        return node_name()

    def ask(self, path: str, number: int, change: int, what: str, *arguments: Any) -> Told:
        """What a shard of the store at a path says."""
        if (path, number) not in self._open:
            self._open[path, number] = Shard(Path(path), number)
        return self._open[path, number].tell(change, what, arguments)

    def forget(self, path: str, number: int) -> None:
        """Let go of a shard."""
        shard = self._open.pop((path, number), None)
        if shard is not None:
            shard.close()
