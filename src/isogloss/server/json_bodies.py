"""JSON from clients: its structure is checked before it is decoded, since two letters may become a large object."""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import from_json

from isogloss.server.errors import Refusal, place

DEPTH = 32  # of lists and objects
_TOKEN = re.compile(rb'[^"\[\]{},]*+(?:("[^"\\]*+(?:\\.[^"\\]*+)*+")|[\[\]{},])', re.DOTALL)


def decoded(body: bytes | bytearray, most: int) -> Any:
    """What a body holds; refused if it has more than ``most`` strings, brackets and commas, too many levels, or a name
    twice.

    >>> decoded(b'{"q": "salt"}', most=10)
    {'q': 'salt'}
    """
    return decoded_and_counted(body, most)[0]


def decoded_and_counted(body: bytes | bytearray, most: int) -> tuple[Any, int]:
    """The same, and how many strings, brackets and commas it has."""
    count = _check_structure(body, most)
    try:
        return from_json(body, allow_inf_nan=False, cache_strings="keys"), count
    except ValueError as error:
        raise Refusal(400, f"the body is not JSON: {error}") from error


def _check_structure(body: bytes | bytearray, most: int) -> int:
    """Walk over strings, brackets and commas, in time linear in the body, and count them.

    Python's own loop lets other threads have their turn, which a decoder does not: a hostile body is refused here,
    while the service goes on answering. What is not JSON is left to the decoder.
    """
    inside = _Position()
    position, count = 0, 0
    while match := _TOKEN.match(body, position):
        position = match.end()
        count += 1
        if count > most:
            raise Refusal(
                413, f"{inside}: the body has more than {most} strings, brackets and commas; send less at once"
            )
        if not match.lastindex:
            inside.mark(body[position - 1])
        elif inside.at_name:
            inside.name(bytes(body[match.start(1) + 1 : position - 1]))
    return count


class _Position:
    """Where in a body one is: the names or numbers that lead there."""

    def __init__(self) -> None:
        self.at_name = False
        self._path: list[bytes | int] = []
        self._names: list[set[bytes] | None] = []  # of each open object; None for a list

    def name(self, name: bytes) -> None:
        """A name in an object."""
        self._path[-1] = name
        known = self._names[-1]
        assert known is not None
        if name in known:
            raise Refusal(422, f"{self}: this name stands twice in one object")
        known.add(name)
        self.at_name = False

    def mark(self, mark: int) -> None:
        """A bracket or a comma."""
        if mark in b"{[":
            self.at_name = mark in b"{"
            self._names.append(set() if self.at_name else None)
            self._path.append(b"" if self.at_name else 0)
            if len(self._path) > DEPTH:
                raise Refusal(422, f"{self}: lists and objects are nested more than {DEPTH} times")
        elif not self._path:
            return  # not JSON
        elif mark in b"]}":
            self._path.pop()
            self._names.pop()
            self.at_name = False
        else:
            last = self._path[-1]
            self.at_name = isinstance(last, bytes)
            if isinstance(last, int):
                self._path[-1] = last + 1

    def __str__(self) -> str:
        first = (part.decode("utf-8", "replace") if isinstance(part, bytes) else part for part in self._path[:5])
        return place(first) or "body"
