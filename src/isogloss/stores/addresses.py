"""The address of a store, ``engine:where``: completed, and without the password where it is kept.

``ISOGLOSS_STORE`` in the environment takes the place of any address of the same engine, so that a password, or a server
that has moved, need not be written down anywhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from isogloss.base.errors import InputError

VARIABLE = "ISOGLOSS_STORE"
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
