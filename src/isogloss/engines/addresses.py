"""Addresses of engines, and which of them an index may be opened at.

``index.json`` says where the documents of an index are, but a stranger may have written it. Whoever connects there
sends passwords and keys; whoever opens a folder may lock, change or remove it. So isogloss goes where the user said:

    the environment   ``ISOGLOSS_ENGINE`` replaces any address of the same engine (--engine of a command sets it), so
                      that a password, or a server that has moved, need not be written anywhere
    this process      ``confirm``: an index that was made here, or ``Index.open(path, engine=URL)``
    this machine      the same, by an earlier process: a file for each address and name in ``engines/`` of the user's
                      state directory, so that writers side by side lose nothing

An index stores the address without its password.
"""

from __future__ import annotations

import json
import logging
import os
import re
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from urllib.parse import unquote

from isogloss.storage.errors import InputError
from isogloss.storage.files import write_bytes
from isogloss.storage.user_directories import state_directory
from isogloss.storage.wording import way

VARIABLE = "ISOGLOSS_ENGINE"
_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key", "api_key")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_confirmed: dict[tuple[str, str], str] = {}


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
    """An address that the user has given, or that of the environment if it is of the same engine."""
    return _of_environment(url) or url


def confirm(url: str, name: str, named: str) -> None:
    """The user says that the index of this name, which is at ``url`` as its files have it, is at ``named``."""
    if engine_of(named) != engine_of(url):
        raise InputError(f"engine: {without_password(named)!r} is no address of {engine_of(url)}, where the index is")
    _confirmed[url, name] = named
    file = _file(url, name)
    if without_password(named) != url or file is None or file.exists():
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_bytes(file, (json.dumps({"engine": url, "name": name}) + "\n").encode())
    except OSError as error:
        named = f"{way('--engine', 'engine=')} or {VARIABLE}"
        what = f"cannot be remembered ({error}); name it with {named} when the index is opened"
        logging.getLogger("isogloss").warning("%s: %s", url, what)


def forget(url: str, name: str) -> None:
    """The index of this name is not there any more."""
    _confirmed.pop((url, name), None)
    file = _file(url, name)
    with suppress(OSError):
        if file is not None:
            file.unlink(missing_ok=True)


def address_of(url: str, name: str, named: str = "") -> str:
    """Where to connect to for the index of a name that is at ``url``, if the user has named that address.

    ``named`` is what the user says of this index.
    """
    if not is_name(name):
        raise InputError(
            f"index.json: {name!r} names no index in an engine; make the index again with 'isogloss index'"
        )
    given = named or _of_environment(url)
    if given and (named or without_password(given) == url):
        confirm(url, name, given)
    if given:
        return given
    file = _file(url, name)
    if (url, name) not in _confirmed and not (file is not None and file.is_file()):
        what = f"the index says that it is at {url!r}, which you have not named on this machine"
        named = way("--engine URL", "engine=URL")
        raise InputError(f"engine: {what}; if you trust that address, name it: {named}, or {VARIABLE}=URL")
    return _confirmed.get((url, name), url)


def is_name(name: str) -> bool:
    """Whether it is the name of an index in an engine: nothing that could name a folder elsewhere."""
    return _NAME.fullmatch(name) is not None


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


def _of_environment(url: str) -> str:
    """The address in the environment, if it is of the same engine."""
    named = os.environ.get(VARIABLE, "")
    return named if named and engine_of(named) == engine_of(url) else ""


def _file(url: str, name: str) -> Path | None:
    """The file that says that the user has named an address for an index of this name."""
    state, key = state_directory(), blake2b(json.dumps([url, name]).encode(), digest_size=16).hexdigest()
    return None if state is None else state / "engines" / f"{key}.json"
