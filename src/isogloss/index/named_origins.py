"""Which folders and files the user has named as origins of an index.

An index says what it was made of, but a stranger may have written that: who synced such an index would read any folder
of theirs into it. So an origin is read again only if the user named it for this index: when it was made or added to on
this machine, or now (``isogloss sync --from``). What was named is remembered as the addresses of engines are
(:mod:`isogloss.engines.addresses`): a file for each in ``origins/`` of the user's state directory, never in an index.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from isogloss.storage.files import write_bytes
from isogloss.storage.user_directories import state_directory
from isogloss.storage.wording import way

_named: set[tuple[str, str]] = set()


def confirm(identity: str, source: str, for_good: bool = True) -> None:
    """The user has named a source of the index with this identity; ``for_good``: later processes know it too."""
    _named.add((identity, source))
    file = _file(identity, source)
    if not for_good or file is None or file.exists():
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_bytes(file, (json.dumps({"index": identity, "source": source}) + "\n").encode())
    except OSError as error:
        named = way("--from", "moved=")
        what = f"cannot be remembered ({error}); name it with {named} when you sync the index"
        logging.getLogger("isogloss").warning("%s: %s", source, what)


def is_named(identity: str, source: str) -> bool:
    """Whether the user has named a source of this index."""
    file = _file(identity, source)
    return (identity, source) in _named or (file is not None and file.is_file())


def forget(identity: str, source: str) -> None:
    """The index is no longer there, or has no longer this origin."""
    _named.discard((identity, source))
    file = _file(identity, source)
    with suppress(OSError):
        if file is not None:
            file.unlink(missing_ok=True)


def _file(identity: str, source: str) -> Path | None:
    state = state_directory()
    key = blake2b(json.dumps([identity, source]).encode(), digest_size=16).hexdigest()
    return None if state is None else state / "origins" / f"{key}.json"
