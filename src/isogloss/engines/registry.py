"""The registry of engines, ``isogloss index … --engine ENGINE:WHERE``, and the addresses of engines.

``ISOGLOSS_ENGINE`` in the environment replaces any address of the same engine, so that a password, or a server that has
moved, need not be written anywhere. An index stores the address without its password.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
from importlib import import_module
from pathlib import Path
from typing import cast
from urllib.parse import unquote

from isogloss.engines.base import IndexEngine, Sweeping
from isogloss.storage.errors import InputError, import_extra

VARIABLE = "ISOGLOSS_ENGINE"
_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key", "api_key")
_with_password: dict[str, str] = {}


def engine_of(url: str) -> str:
    """The name of the engine.

    >>> [engine_of(url) for url in ("postgresql://localhost/pages", "qdrant+http://localhost:6333", "qdrant:folder")]
    ['postgresql', 'qdrant', 'qdrant']
    """
    scheme, colon, _ = url.partition(":")
    if not colon or not re.fullmatch(r"[a-z0-9+]+", scheme):
        raise InputError(f"engine: {without_password(url)!r} is not an address like postgresql://HOST/DATABASE")
    return scheme.partition("+")[0]


def in_use(url: str) -> str:
    """The address to connect to: that of the environment if it is of the same engine."""
    named = os.environ.get(VARIABLE, "")
    return named if named and engine_of(named) == engine_of(url) else _with_password.get(url, url)


def remember(url: str) -> str:
    """The address without its password; this process remembers the whole address."""
    shown = without_password(url)
    _with_password[shown] = url
    return shown


def complete(url: str, index: Path) -> str:
    """An address that is valid in any working directory: of a folder the whole path, by default beside the index."""
    scheme, _, where = url.partition(":")
    if engine_of(url) == "postgresql" or where.startswith("//"):
        return url
    folder, mark, options = where.partition("?")
    path = Path(folder) if folder else index.with_name(f"{index.name}.engine")
    return f"{scheme}:{path.absolute()}{mark}{options}"


def without_password(url: str) -> str:
    """The address without passwords, which may be written and shown.

    >>> without_password("postgresql://me:secret@db.example.org/pages?sslmode=require&password=secret")
    'postgresql://me@db.example.org/pages?sslmode=require'
    """
    where, mark, options = re.sub(r"^([^/]*//[^/:@]*):[^/]*@", r"\1@", url).partition("?")
    shown = [option for option in options.split("&") if unquote(option.partition("=")[0]) not in _SECRETS]
    return where + (mark if shown else "") + "&".join(shown)


ENGINES = {
    "postgresql": ("isogloss.engines.postgres", "PostgresEngine", "psycopg_pool", "pgvector"),
    "qdrant": ("isogloss.engines.qdrant", "QdrantEngine", "qdrant_edge", "qdrant"),
}
"""The module and class of an engine, imported when it is used, the package that it needs, the extra that has it."""
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
    """The engine of an index, by the address in the index or in the environment."""
    used = in_use(url)
    return _engine(used).open(used, name=name)


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
    if name not in ENGINES:
        raise InputError(f"engine: {name!r} is not one of {', '.join(ENGINES)}")
    module, class_name, package, extra = ENGINES[name]
    import_extra(package, extra, f"an index in {name}")
    return cast("type[IndexEngine]", getattr(import_module(module), class_name))
