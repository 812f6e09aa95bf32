"""Vectors of texts that were encoded before, in a file of the user's cache: ``~/.cache/isogloss/vectors.sqlite``.

A vector is found by a hash of its model and its text; texts are not stored. The file has a limit of
``ISOGLOSS_VECTOR_CACHE`` megabytes (1,024 by default, 0: no cache): the oldest vectors make room. A cache is a
convenience: that it cannot be read or written is no error.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path

import numpy as np

from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.user_directories import cache_directory

VARIABLE = "ISOGLOSS_VECTOR_CACHE"
_FILE = "vectors.sqlite"
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)"
_USUAL = 1024
_UNUSABLE = (sqlite3.Error, OSError)
"""No table yet, a disk that is full, another process that takes long."""
_AT_ONCE = 500  # keys of a query
_PATIENCE = 5.0  # seconds to wait for another process
_KEPT = 0.9  # of the limit, when vectors make room


class VectorCache:
    """The vectors of one model; ``model`` tells it from all others."""

    def __init__(self, model: str, path: Path | None = None, megabytes: int | None = None) -> None:
        folder = cache_directory()
        self._bytes = (_megabytes() if megabytes is None else megabytes) * 2**20
        self.path = path or (folder / _FILE if folder is not None else None)
        if not self._bytes:
            self.path = None
        self._model = model

    def find(self, texts: Sequence[str]) -> dict[str, Matrix]:
        """The vectors of those of the texts that have one."""
        if self.path is None or not self.path.exists():
            return {}
        text_of = {self._key(text): text for text in texts}
        keys, found = list(text_of), dict[str, Matrix]()
        with suppress(*_UNUSABLE), closing(_opened(self.path)) as database:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                for key, vector in database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some):
                    found[text_of[key]] = np.frombuffer(vector, np.float32)
        return found

    def add(self, vectors: Mapping[str, Matrix]) -> None:
        """Keep the vectors of some texts."""
        if self.path is None:
            return
        rows = [(self._key(text), np.asarray(each, np.float32).tobytes()) for text, each in vectors.items()]
        with suppress(*_UNUSABLE), closing(_opened(self.path)) as database, database:
            database.execute(_TABLE)
            database.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)
            self._make_room(database)

    def _make_room(self, database: sqlite3.Connection) -> None:
        pages, free, size = (
            int(database.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        used = (pages - free) * size
        if used > self._bytes:
            first, last = database.execute("SELECT min(number), max(number) FROM vectors").fetchone()
            share = 1 - _KEPT * self._bytes / used
            database.execute("DELETE FROM vectors WHERE number <= ?", (first + share * (last - first),))

    def _key(self, text: str) -> bytes:
        content = f"{self._model}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=16).digest()


def _opened(path: Path) -> sqlite3.Connection:
    """The database; a file that is none is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    database = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        database.execute("PRAGMA schema_version")
    except sqlite3.OperationalError:
        pass  # another process has locked it
    except sqlite3.DatabaseError:
        database.close()
        path.unlink()
        return _opened(path)
    return database


def _megabytes() -> int:
    written = os.environ.get(VARIABLE, "")
    if written and not written.isdecimal():
        raise InputError(f"{VARIABLE}: {written!r} is not a number of megabytes; 0 turns the cache off")
    return int(written) if written else _USUAL
