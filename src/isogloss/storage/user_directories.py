"""Where a user's own files are, by the XDG specification."""

from __future__ import annotations

import os
from pathlib import Path


def state_directory() -> Path | None:
    """The folder of what isogloss remembers for this user; None for somebody without a home."""
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # then it does not count, says the specification
        try:
            state = Path.home() / ".local" / "state"
        except RuntimeError:
            return None
    return state / "isogloss"
