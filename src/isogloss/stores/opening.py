"""One registry names the engines an index can be kept in: ``isogloss index … --store ENGINE:WHERE``."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, Self, cast, runtime_checkable

from isogloss.base.errors import InputError, import_extra
from isogloss.corpus.records import Document
from isogloss.stores.addresses import engine_of, in_use, without_password
from isogloss.stores.store import VectorStore


class Engine(NamedTuple):
    """Where the class of an engine is, the package that it needs, and the extra that installs that."""

    where: str
    package: str
    extra: str


ENGINES = {
    "postgresql": Engine("isogloss.stores.postgres:PostgresStore", "psycopg_pool", "pgvector"),
    "qdrant": Engine("isogloss.stores.qdrant:QdrantStore", "qdrant_client", "qdrant"),
}
"""Engines are imported when they are asked for, so that they can live in any room and need any package."""
_LONGEST_NAME = 31


class OwnedStore(VectorStore, Protocol):
    """A store that an index was made in, under a name that is the index's own."""

    @classmethod
    def create(cls, url: str, dimension: int, *, name: str) -> Self:
        """A new and empty one; an ``InputError`` if there is one of that name."""
        ...

    @classmethod
    def open(cls, url: str, *, name: str) -> Self:
        """One that is there; an ``InputError`` if it is not."""
        ...

    def drop(self) -> None:
        """Take away everything that ``create`` made and whatever was added to it, and close."""
        ...


@runtime_checkable
class Sweeping(Protocol):
    """An engine that tells stores whose making was broken off from all others."""

    @classmethod
    def begin(cls, url: str, dimension: int, *, name: str) -> OwnedStore:
        """A new and empty store that is swept away unless ``finish`` is called."""
        ...

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """Drop what was begun by processes that are no more, and never finished; the names of it."""
        ...

    def finish(self) -> None:
        """It is whole: from now on it stays."""
        ...


@runtime_checkable
class Approximating(Protocol):
    """An engine that can search approximately."""

    def approximate(self, how: str) -> dict[str, float]:
        """Begin to (``yes``; ``auto``: where it pays) or cease to (``no``); what ``recalls`` then says."""
        ...

    def recalls(self) -> dict[str, float]:
        """The recall@10 that was measured in each language that is searched approximately."""
        ...


@runtime_checkable
class Listing(Protocol):
    """A store that gives all its documents back, so that another model can encode them."""

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language, one after the other."""
        ...


def create_store(url: str, dimension: int, name: str) -> OwnedStore:
    """A new store for vectors of so many components, which ``finish_store`` says to be whole.

    What an earlier one that was killed has left in the same place is swept away first.
    """
    engine = _engine(url)
    if not issubclass(engine, Sweeping):
        return engine.create(url, dimension, name=name)
    for left in engine.sweep(url):
        what = "was left by an index whose making was broken off, and has been dropped"
        logging.getLogger("isogloss").warning("%s: %s %s", without_password(url), left, what)
    return engine.begin(url, dimension, name=name)


def finish_store(store: OwnedStore) -> None:
    """Say that all is in it. The index that speaks of it may appear from now on, and not before."""
    if isinstance(store, Sweeping):
        store.finish()


def open_store(url: str, name: str) -> OwnedStore:
    """The store of an index, by the address that the index keeps or by what the environment says in its place."""
    used = in_use(url)
    return _engine(used).open(used, name=name)


def check_engine(url: str) -> None:
    """Raise unless there is such an engine, and it is installed."""
    _engine(url)


def new_name(index: Path) -> str:
    """A name for what an index keeps in a store: readable, plain letters, and never there before.

    >>> import re
    >>> bool(re.fullmatch("my_index_[0-9a-f]{8}", new_name(Path("My index"))))
    True
    """
    letters = re.sub(r"[^a-z0-9]+", "_", index.name.lower()).strip("_")[:_LONGEST_NAME].strip("_")
    usable = letters[:1].isalpha() and not letters.startswith("pg")  # PostgreSQL keeps pg_ for itself
    plain = letters if usable else f"i_{letters}".rstrip("_")[:_LONGEST_NAME]
    return f"{plain}_{secrets.token_hex(4)}"


def _engine(url: str) -> type[OwnedStore]:
    name = engine_of(url)
    if name not in ENGINES:
        raise InputError(f"store: {name!r} is not one of {', '.join(ENGINES)}")
    engine = ENGINES[name]
    import_extra(engine.package, engine.extra, f"an index in {name}")
    module, _, made = engine.where.partition(":")
    return cast("type[OwnedStore]", getattr(import_module(module), made))
