"""An index in shards on the processes of a Ray cluster: each searches its own, and what they find is merged.

    best k of all = best k of the union of the best k of each shard

Scores are those of the embedded store, summed alike for every row, so that what is found is what one index would find,
to the last bit, equal scores by id. A document belongs to the shard that the hash of its language and id names.

``--store ray:DIRECTORY?shards=4&timeout=5``: the directory has to be on a file system that all nodes share.

A change is written to a log first, whole, then taken over by each shard (:mod:`isogloss.cluster.shard`): what was
acknowledged is on disk, whoever dies. Answers of one search are those of shards that have the same changes, so readers
see a batch whole or not at all; a shard that does not answer in time is named in what is ``missing``.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

import numpy as np
import ray

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_directory
from isogloss.cluster.change_log import Change, ChangeLog
from isogloss.cluster.connecting import connect
from isogloss.cluster.shard import ABOUT, LOG, Told, shard_of
from isogloss.cluster.shard_hosts import ShardHosts, shard_names
from isogloss.corpus.records import Document
from isogloss.index.lock import WriteLock
from isogloss.index.segments import check_language
from isogloss.index.vectors import VectorIndex
from isogloss.stores.batches import checked_batch, checked_queries
from isogloss.stores.store import Answer, Filters, Found, Matrix, StoreUnavailableError

_SHARDS, _SECONDS = 2, 5.0
_MOST_SHARDS, _LONGEST = 10_000, 3600.0
_ATTEMPTS = 100
_LARGE = 100_000  # bytes of queries: then they are put into the object store once, and not sent to each shard


class ShardsMissingError(StoreUnavailableError):
    """Shards that are needed do not answer."""

    def __init__(self, path: Path, missing: Sequence[str]) -> None:
        super().__init__(f"{path}: {', '.join(missing)} does not answer; it is started again by itself, try later")


class ShardedStore:
    """A store in shards; ``create`` and ``open`` make it."""

    def __init__(self, path: Path, seconds: float = _SECONDS) -> None:
        """``seconds`` is how long an answer of a shard is waited for."""
        try:
            about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
            self.shards, self.dimension = int(about["shards"]), int(about["dimension"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is no store in shards ({error}); make the index again") from error
        self.path = path
        self._log = ChangeLog(path / LOG)
        self._writing = threading.Lock()
        self._counts: dict[int, dict[str, int]] = {}
        self._connection = connect()
        try:
            self._hosts: ShardHosts | None = ShardHosts(self.shards, seconds)
            self._hosts.start()
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def create(cls, url: str, dimension: int, *, name: str) -> Self:
        """A new and empty store in a directory of its own."""
        folder, options = _parsed(url)
        shards = _number("shards", options.get("shards", str(_SHARDS)), _MOST_SHARDS)
        _number("timeout", options.get("timeout", str(_SECONDS)), _LONGEST)
        if (folder / name).exists():
            raise InputError(f"{folder / name}: is there already; choose another name")
        with atomic_directory(folder / name) as partial:
            (partial / LOG).mkdir()
            (partial / ABOUT).write_text(
                json.dumps({"format": 1, "shards": int(shards), "dimension": dimension}) + "\n"
            )
        return cls.open(url, name=name)

    @classmethod
    def open(cls, url: str, *, name: str) -> Self:
        """A store that is there."""
        folder, options = _parsed(url)
        if not (folder / name / ABOUT).is_file():
            raise InputError(f"{folder / name}: no such store; make the index again with 'isogloss index'")
        return cls(folder / name, _number("timeout", options.get("timeout", str(_SECONDS)), _LONGEST))

    def add(self, documents: Sequence[Document], vectors: Matrix) -> None:
        """Add or replace documents in one change."""
        matrix = checked_batch(documents, vectors, self.dimension)
        for language in {document.language for document in documents}:
            check_language(language)
        if not len(documents):
            return
        VectorIndex.build(matrix, np.arange(len(matrix)), "float32", "no")  # which refuses what no shard could keep
        rows = self._by_shard(len(documents), lambda row: (documents[row].language, documents[row].id))
        changes = {shard: Change([documents[row] for row in own], matrix[own]) for shard, own in rows.items()}
        with self._writing, WriteLock(self.path):
            self._make(changes)

    def delete(self, language: str, ids: Sequence[str]) -> int:
        """Take documents out in one change."""
        wanted = list(dict.fromkeys(ids))
        with self._writing, WriteLock(self.path):
            found = self._found(language, wanted)
            there = [id_ for id_, document in zip(wanted, found, strict=True) if document is not None]
            rows = self._by_shard(len(there), lambda row: (language, there[row]))
            if rows:
                changes = {
                    shard: Change(language=language, deleted=[there[row] for row in own]) for shard, own in rows.items()
                }
                self._make(changes)
        return len(there)

    def search(self, language: str, queries: Matrix, k: int, filters: Filters | None = None) -> list[Answer]:
        """The best ``k`` documents of a language for each query."""
        asked = checked_queries(queries, self.dimension)
        if not len(asked):
            return []
        sent = ray.put(asked) if asked.nbytes > _LARGE else asked
        told = self._agreed("search", language, sent, k, dict(filters or {}))
        missing = self._missing(told)
        of_shards = [told[shard].answer for shard in sorted(told)]
        return [Answer(_merged([found[row] for found in of_shards], k), missing) for row in range(len(asked))]

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        """Documents by their ids."""
        return self._found(language, ids)

    def counts(self) -> dict[str, int]:
        """How many documents there are of each language; of a shard that does not answer, how many there were last."""
        self._counts |= {shard: told.answer for shard, told in self._agreed("counts").items()}
        total: dict[str, int] = {}
        for of_shard in self._counts.values():
            for language, count in of_shard.items():
                total[language] = total.get(language, 0) + count
        return total

    def about(self) -> dict[str, Any]:
        """How many shards there are, where they are, and which do not answer."""
        told = self._agreed("counts")
        nodes = {name: self._here.nodes.get(shard, "") for shard, name in enumerate(shard_names(range(self.shards)))}
        missing = list(self._missing(told))
        return {"engine": "ray", "search": "exact", "shards": self.shards, "nodes": nodes, "missing": missing}

    def close(self) -> None:
        """Let the hosts let go of the store, and leave the cluster if it was joined for it."""
        hosts, self._hosts = self._hosts, None
        if hosts is not None:
            hosts.forget(str(self.path))
            self._connection.close()

    def drop(self) -> None:
        """Take the whole directory away."""
        self.close()
        shutil.rmtree(self.path)
        with suppress(OSError):
            self.path.parent.rmdir()  # unless other stores are there

    @property
    def _here(self) -> ShardHosts:
        if self._hosts is None:
            raise ValueError("the store is closed")
        return self._hosts

    def _make(self, changes: dict[int, Change]) -> None:
        """Write a change down; from then on it is so. Shards that are away take it over when they are back."""
        number = self._log.append(changes)
        told = self._ask(range(self.shards), number, "counts")
        self._counts |= {shard: answer.answer for shard, answer in told.items()}
        if len(told) == self.shards:
            self._log.forget(number)

    def _ask(self, shards: Sequence[int], change: int, what: str, *arguments: Any) -> dict[int, Told]:
        return self._here.ask(str(self.path), {shard: (change, what, *arguments) for shard in shards})

    def _agreed(self, what: str, *arguments: Any) -> dict[int, Told]:
        """What all shards say that answer, all with the same changes: those that are behind are asked again."""
        told = self._ask(range(self.shards), 0, what, *arguments)
        for _ in range(_ATTEMPTS):
            newest = max((answer.change for answer in told.values()), default=0)
            behind = [shard for shard, answer in told.items() if answer.change < newest]
            if not behind:
                break
            again = self._ask(behind, newest, what, *arguments)
            told = {
                shard: again.get(shard, answer)
                for shard, answer in told.items()
                if shard not in behind or shard in again
            }
        return told

    def _found(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        rows = self._by_shard(len(ids), lambda row: (language, ids[row]))
        calls = {shard: (0, "get", language, [ids[row] for row in own]) for shard, own in rows.items()}
        told = self._here.ask(str(self.path), calls)
        missing = [shard for shard in rows if shard not in told]
        if missing:
            raise ShardsMissingError(self.path, shard_names(missing))
        found: list[Document | None] = [None] * len(ids)
        for shard, own in rows.items():
            for row, document in zip(own, told[shard].answer, strict=True):
                found[row] = document
        return found

    def _by_shard(self, count: int, key: Callable[[int], tuple[str, str]]) -> dict[int, list[int]]:
        """The rows that belong to each shard that has some."""
        rows: dict[int, list[int]] = {}
        for row in range(count):
            rows.setdefault(shard_of(*key(row), self.shards), []).append(row)
        return rows

    def _missing(self, told: dict[int, Told]) -> tuple[str, ...]:
        return shard_names([shard for shard in range(self.shards) if shard not in told])


def _merged(found: Sequence[tuple[list[str], list[float]]], k: int) -> tuple[Found, ...]:
    """The best of what shards have found."""
    hits = [Found(id_, score) for ids, scores in found for id_, score in zip(ids, scores, strict=True)]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k])


def _parsed(url: str) -> tuple[Path, dict[str, str]]:
    where, _, options = url.partition(":")[2].partition("?")
    found = {name: values[-1] for name, values in parse_qs(options).items()}
    unknown = [name for name in found if name not in ("shards", "timeout")]
    if unknown or not where:
        raise InputError(f"store: {url!r} is not written like ray:DIRECTORY?shards=4&timeout=5")
    return Path(where), found


def _number(name: str, text: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= most or (name == "shards" and value != int(value)):
        raise InputError(f"store: {name}={text} is not a number from 1 to {most:g}")
    return value
