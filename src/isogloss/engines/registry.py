"""One registry names the engines an index can be kept in: ``isogloss index … --engine ENGINE:WHERE``."""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, Self, cast, runtime_checkable
from urllib.parse import unquote

from isogloss.data.documents import Document
from isogloss.engines.base import VectorEngine
from isogloss.storage.errors import InputError, import_extra

# The address of a store, ``engine:where``: completed, and without the password where it is kept.
#
# ``ISOGLOSS_ENGINE`` in the environment takes the place of any address of the same engine, so that a password, or a
# server that has moved, need not be written down anywhere.

VARIABLE = "ISOGLOSS_ENGINE"
_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key", "api_key")
_given: dict[str, str] = {}


def engine_of(url: str) -> str:
    """The name of the engine.

    >>> [engine_of(url) for url in ("postgresql://localhost/pages", "qdrant+http://localhost:6333", "qdrant:folder")]
    ['postgresql', 'qdrant', 'qdrant']
    """
    scheme, colon, _ = url.partition(":")
    if not colon or not re.fullmatch(r"[a-z0-9+]+", scheme):
        raise InputError(f"store: {without_password(url)!r} is not an address like postgresql://HOST/DATABASE")
    return scheme.partition("+")[0]


def in_use(url: str) -> str:
    """The address to connect to: that of the environment where it speaks of the same engine."""
    given = os.environ.get(VARIABLE, "")
    return given if given and engine_of(given) == engine_of(url) else _given.get(url, url)


def remember(url: str) -> str:
    """The address without its password, which this process knows from now on where that address is in use."""
    shown = without_password(url)
    _given[shown] = url
    return shown


def complete(url: str, index: Path) -> str:
    """An address that holds wherever it is read: of a folder the whole path, by default one beside the index."""
    scheme, _, where = url.partition(":")
    if engine_of(url) == "postgresql" or where.startswith("//"):
        return url
    folder, mark, options = where.partition("?")
    path = Path(folder) if folder else index.with_name(f"{index.name}.store")
    return f"{scheme}:{path.absolute()}{mark}{options}"


def without_password(url: str) -> str:
    """What may be written down and shown.

    >>> without_password("postgresql://me:secret@db.example.org/pages?sslmode=require&password=secret")
    'postgresql://me@db.example.org/pages?sslmode=require'
    """
    where, mark, options = re.sub(r"^([^/]*//[^/:@]*):[^/]*@", r"\1@", url).partition("?")
    shown = [option for option in options.split("&") if unquote(option.partition("=")[0]) not in _SECRETS]
    return where + (mark if shown else "") + "&".join(shown)


class EngineEntry(NamedTuple):
    """Where the class of an engine is, the package that it needs, and the extra that installs that."""

    where: str
    package: str
    extra: str


ENGINES = {
    "postgresql": EngineEntry("isogloss.engines.postgres:PostgresEngine", "psycopg_pool", "pgvector"),
    "qdrant": EngineEntry("isogloss.engines.qdrant:QdrantEngine", "qdrant_client", "qdrant"),
}
"""Engines are imported when they are asked for, so that they can live in any room and need any package."""
_LONGEST_NAME = 31


class IndexEngine(VectorEngine, Protocol):
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
    def begin(cls, url: str, dimension: int, *, name: str) -> IndexEngine:
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


def create_engine(url: str, dimension: int, name: str) -> IndexEngine:
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


def finish_engine(store: IndexEngine) -> None:
    """Say that all is in it. The index that speaks of it may appear from now on, and not before."""
    if isinstance(store, Sweeping):
        store.finish()


def open_engine(url: str, name: str) -> IndexEngine:
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


def _engine(url: str) -> type[IndexEngine]:
    name = engine_of(url)
    if name not in ENGINES:
        raise InputError(f"store: {name!r} is not one of {', '.join(ENGINES)}")
    engine = ENGINES[name]
    import_extra(engine.package, engine.extra, f"an index in {name}")
    module, _, made = engine.where.partition(":")
    return cast("type[IndexEngine]", getattr(import_module(module), made))
