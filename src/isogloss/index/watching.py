"""Waiting for changes of files: told by the system where watchfiles is installed, otherwise by looking."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_QUIET = 500  # milliseconds without a change after which many changes are one
_TOGETHER = 5_000  # milliseconds after which changes that do not end are one
_TIMEOUT = 1_000  # milliseconds after which a folder that is gone is noticed
_LOOK = 30.0  # seconds: what the system did not tell is found then, and a folder that was mounted anew
POLL = 2.0
"""Seconds between two looks, where nothing tells of changes."""


def is_told() -> bool:
    """Whether the system tells of changes."""
    return find_spec("watchfiles") is not None


def changes(paths: Sequence[Path], poll: bool = False) -> Iterator[None]:
    """Yields at once, and then whenever something below the paths may have changed; never ends by itself.

    Many changes in a short time are one. ``poll``: look every two seconds, as for folders of a network, whose changes
    nobody tells.
    """
    yield
    while True:
        there = _inodes(paths)
        if there and not poll and is_told():
            yield from _told(there)
        time.sleep(POLL)
        yield


def _told(there: dict[Path, int]) -> Iterator[None]:
    """Yields at changes, and every half minute; ends where one of the folders is another one, or gone."""
    from watchfiles import watch

    seen = -_LOOK  # the first time at once: what has changed before files were watched
    try:
        for found in watch(
            *there, watch_filter=_is_seen, debounce=_TOGETHER, step=_QUIET, rust_timeout=_TIMEOUT,
            yield_on_timeout=True, raise_interrupt=True, ignore_permission_denied=True,
        ):  # fmt: skip
            if found or time.monotonic() - seen >= _LOOK:
                seen = time.monotonic()
                yield
            if _inodes(list(there)) != there:
                return
    except OSError:  # too many folders to watch, or one that is just gone
        return


def _inodes(paths: Sequence[Path]) -> dict[Path, int]:
    """Those of the paths that are there."""
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path] = path.stat().st_ino
    return found


def _is_seen(_: Any, path: str) -> bool:
    """Hidden files are never read."""
    return not Path(path).name.startswith(".")
