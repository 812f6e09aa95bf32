"""Which models may be loaded: those that the user has named.

An index says which model has encoded its documents, but a stranger may have written it, and who loads a model reads
files and spends memory. So isogloss loads what the user said:

    the environment   ``ISOGLOSS_PRETRAINED`` replaces the path or name of an index, for a model that is elsewhere here
    this process      ``remember``: what the user names, with ``--set`` or in Python
    this machine      the same, by an earlier process: a file for each name in ``models/`` of the user's state directory
"""

from __future__ import annotations

import logging
import os
from hashlib import blake2b
from pathlib import Path

from isogloss.storage.errors import InputError
from isogloss.storage.files import write_bytes
from isogloss.storage.user_directories import state_directory

VARIABLE = "ISOGLOSS_PRETRAINED"
_named: set[str] = set()


def model_to_load(name: str) -> str:
    """What to load for the model of an index: its name, or what the environment has instead; raise for neither."""
    given = os.environ.get(VARIABLE, "")
    if given:
        return given
    file = _file(name)
    if name not in _named and not (file is not None and file.is_file()):
        what = f"the model {name!r} is needed, which you have not named on this machine"
        raise InputError(f"pretrained: {what}; if you trust it, name it or a copy of it: {VARIABLE}=PATH_OR_NAME")
    return name


def remember(name: str) -> None:
    """Note that the user has named a model; where that cannot be noted, it holds for this process."""
    _named.add(name)
    file = _file(name)
    if file is None or file.exists():
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_bytes(file, f"{name}\n".encode())
    except OSError as error:
        what = f"cannot be remembered ({error}); set {VARIABLE} when the index is opened"
        logging.getLogger("isogloss").warning("%s: %s", name, what)


def _file(name: str) -> Path | None:
    """The file that says that the user has named a model."""
    state, key = state_directory(), blake2b(name.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return None if state is None else state / "models" / key
