"""What is known of the HNSW indexes of a store: how each was built, and the recall it has been measured to reach."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, TypeGuard

from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_layout import Layout

_FRESH = 1.0  # seconds

Note = dict[str, Any]


class Notes:
    """The notes of a store, which are part of it; threads may share them."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kept: dict[str, Note | None] = {}
        self._kept_until = 0.0

    def read(self, connection: Connection) -> dict[str, Note | None]:
        """What is noted of each language; None where there is no index."""
        statement = self._layout.statement("SELECT language, hnsw FROM {languages} ORDER BY language")
        self._kept = dict(connection.execute(statement).fetchall())
        self._kept_until = time.monotonic() + _FRESH
        return self._kept

    def write(self, connection: Connection, language: str, note: Note | None) -> None:
        """Note something of a language; None, that it has no index."""
        statement = self._layout.statement("UPDATE {languages} SET hnsw = %s WHERE language = %s")
        connection.execute(statement, (None if note is None else json.dumps(note), language))
        self._kept_until = 0.0

    def ef_search(self, connection: Connection, language: str, k: int) -> int | None:
        """How many candidates to follow for so many results; None if the language is to be searched exactly.

        Notes are read again after a second: other processes build indexes too.
        """
        known = self._kept if time.monotonic() < self._kept_until else self.read(connection)
        return ef_search_for(known.get(language), k)


def is_used(note: Note | None) -> TypeGuard[Note]:
    """Whether an index is searched: it was measured, and reaches what it should for the first few results.

    >>> is_used({"levels": [{"k": 10, "ef_search": 1000, "recall": 0.9, "reached": False}]}), is_used(None)
    (False, False)
    """
    levels = (note or {}).get("levels") or [{"reached": False}]
    return bool(levels[0]["reached"])


def ef_search_for(note: Mapping[str, Any] | None, k: int) -> int | None:
    """The same by a note.

    >>> levels = [{"k": 10, "ef_search": 64, "recall": 0.99, "reached": True}]
    >>> ef_search_for({"levels": levels}, 5), ef_search_for({"levels": levels}, 11), ef_search_for(None, 5)
    (64, None, None)
    """
    levels = [level for level in (note or {}).get("levels", ()) if level["reached"] and level["k"] >= k]
    return int(min(levels, key=lambda level: level["k"])["ef_search"]) if levels else None
