"""Where a user's own files are, by the XDG specification."""

from __future__ import annotations

import os
from pathlib import Path


def state_directory() -> Path | None:
    """The folder of what isogloss remembers for this user; None for somebody without a home."""
    return _directory("XDG_STATE_HOME", ".local/state")


def cache_directory() -> Path | None:
    """The folder of what isogloss could compute again; None for somebody without a home."""
    return _directory("XDG_CACHE_HOME", ".cache")


def _directory(variable: str, usual: str) -> Path | None:
    folder = Path(os.environ.get(variable, ""))
    if not folder.is_absolute():  # then it does not count, says the specification
        try:
            folder = Path.home() / usual
        except RuntimeError:
            return None
    return folder / "isogloss"
