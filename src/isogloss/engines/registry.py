"""The registry of engines: ``isogloss index … --engine ENGINE:WHERE``."""

from __future__ import annotations

import logging
import re
import secrets
from pathlib import Path
from typing import Any

from isogloss.engines.addresses import engine_of, without_password
from isogloss.engines.base import IndexEngine, Sweeping
from isogloss.storage.errors import import_extra
from isogloss.storage.plugins import PluginGroup, missing_attribute


def _find_fault(name: str, engine: Any) -> str:
    methods = ("create", "open", "drop", "add", "delete", "search", "get", "counts", "about", "close")
    return missing_attribute(engine, methods)


ENGINES = PluginGroup(
    "isogloss.engines",
    "engine",
    {
        "postgresql": "isogloss.engines.postgres:PostgresEngine",
        "qdrant": "isogloss.engines.qdrant:QdrantEngine",
    },
    _find_fault,
)
"""The engines by name; an engine is imported when it is used."""
_PACKAGES = {"postgresql": ("psycopg_pool", "pgvector"), "qdrant": ("qdrant_edge", "qdrant")}
"""The package that an engine of the core needs, and the extra that installs it."""
_LONGEST_NAME = 31


def create_engine(url: str, dimension: int, name: str, sparse: bool = False) -> IndexEngine:
    """A new index in an engine, for vectors of this dimension or sparse ones; ``finish_engine`` marks it as complete.

    Leftovers of indexes whose making was killed are removed first.
    """
    engine = _engine(url)
    if not issubclass(engine, Sweeping):
        return engine.create(url, dimension, name=name, sparse=sparse)
    for left in engine.sweep(url):
        what = "was left by an index whose making was broken off, and has been dropped"
        logging.getLogger("isogloss").warning("%s: %s %s", without_password(url), left, what)
    return engine.begin(url, dimension, name=name, sparse=sparse)


def finish_engine(engine: IndexEngine) -> None:
    """Mark it as complete; the index may appear only after that."""
    if isinstance(engine, Sweeping):
        engine.finish()


def open_engine(url: str, name: str) -> IndexEngine:
    """The engine of an index at an address that the user has confirmed (:mod:`isogloss.engines.addresses`)."""
    return _engine(url).open(url, name=name)


def check_engine(url: str) -> None:
    """Raise unless there is such an engine, and it is installed."""
    _engine(url)


def new_name(index: Path) -> str:
    """A new name for an index in an engine, readable and of plain letters.

    >>> import re
    >>> bool(re.fullmatch("my_index_[0-9a-f]{8}", new_name(Path("My index"))))
    True
    """
    letters = re.sub(r"[^a-z0-9]+", "_", index.name.lower()).strip("_")[:_LONGEST_NAME].strip("_")
    usable = letters[:1].isalpha() and not letters.startswith("pg")  # PostgreSQL keeps pg_ for itself
    plain = letters if usable else f"i_{letters}".rstrip("_")[:_LONGEST_NAME]
    return f"{plain}_{secrets.token_hex(4)}"


def _engine(url: str) -> type[IndexEngine]:
    name = engine_of(url)
    if name in _PACKAGES:
        package, extra = _PACKAGES[name]
        import_extra(package, extra, f"an index in {name}")
    engine: type[IndexEngine] = ENGINES.load(name)
    return engine
