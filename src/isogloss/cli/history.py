"""What was typed at a prompt, kept for the next time: in a file of the user's own, and for the arrow keys."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_file

_LINES = 1000


class History:
    """The last thousand lines. Each is written as soon as it is typed, so that sessions side by side lose nothing.

    A history is a convenience: where it cannot be read or written, nothing is said.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> History:
        lines = self._trim()
        with contextlib.suppress(ImportError):  # not every Python has it
            import readline

            for line in lines:
                readline.add_history(line)
        return self

    def __exit__(self, *_: object) -> None:
        self._trim()

    def add(self, line: str) -> None:
        """Keep a line (the arrow keys know it already)."""
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(mode=0o600)  # what somebody looks for is nobody else's business
            with open(self.path, "a", encoding="utf-8", errors="replace") as file:
                file.write(f"{line}\n")

    def _trim(self) -> list[str]:
        """The lines that are kept; the file is shortened to them."""
        lines: list[str] = []
        with contextlib.suppress(OSError, InputError):
            lines = self.path.read_text("utf-8", "replace").split("\n")[:-1]
            if len(lines) > _LINES:
                lines = lines[-_LINES:]
                with atomic_file(self.path) as file:
                    file.writelines(f"{line}\n" for line in lines)
        return lines


def history_file() -> Path:
    """Where the history is: where ISOGLOSS_HISTORY says (empty: nowhere), or in the user's state directory."""
    named = os.environ.get("ISOGLOSS_HISTORY")
    if named is not None:
        return Path(named or os.devnull)
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # then it does not count, says the XDG specification
        try:
            state = Path.home() / ".local" / "state"
        except RuntimeError:  # somebody without a home
            return Path(os.devnull)
    return state / "isogloss" / "history"
