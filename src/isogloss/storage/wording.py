"""How an error names the way out: as an option at the command line, as an argument in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_doors = ["python"]


def way(command: str, python: str) -> str:
    """What the user can do: as a command says it, or as a program does.

    >>> way("--language LANG", "language='fr'")
    "language='fr'"
    """
    return command if _doors[-1] == "command" else python


@contextmanager
def at_the_command_line() -> Iterator[None]:
    """Errors name options of commands meanwhile, in all threads."""
    _doors.append("command")
    try:
        yield
    finally:
        _doors.pop()
