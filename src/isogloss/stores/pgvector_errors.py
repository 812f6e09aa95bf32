"""What PostgreSQL refuses, as sentences that a user can act on. No password is ever part of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from isogloss.base.errors import InputError
from isogloss.stores.store import StoreUnavailableError

_LOST = "the connection was lost ({said}); nothing of what was being written is kept, try again"
_GONE = "the store is not there any more; somebody has dropped or renamed it"
_SENTENCES = {
    "3F000": _GONE,
    "42P01": _GONE,
    "42501": "{said}; ask for the rights that the guide to PostgreSQL names",
    "53100": "the disk of the server is full; nothing of what was being written is kept",
    "53200": "the server has too little memory for that ({said})",
    "53300": "the server takes no more connections ({said}); close some or raise max_connections",
    "22023": "the server does not take a setting ({said})",
    "25006": "this server only reads ({said}); name the one that can be written to",
    "54000": "an id or a field is too long for an index of PostgreSQL ({said}); shorten it",
    "2BP01": "something else hangs on the store's tables ({said}); drop that first",
    "40P01": "other writers were in the way again and again ({said}); try again",
    "40001": "other writers were in the way again and again ({said}); try again",
    "57014": "it took longer than the {timeout:g} seconds allowed, or was cancelled; raise timeout= if it may",
}
_CLASSES_OF_LOSS = ("08", "57P")
_PASSING = ("53300", "57014", *_CLASSES_OF_LOSS)  # the same may go well another time


@contextmanager
def sentences(where: str, timeout: float) -> Iterator[None]:
    """Turn what a user can mend into an ``InputError`` of one line; anything else stays what it is: a bug to see."""
    try:
        yield
    except psycopg.Error as error:
        sentence = _sentence_of(error)
        if sentence is None:
            raise
        passing = error.sqlstate is None or error.sqlstate.startswith(_PASSING)
        kind = StoreUnavailableError if passing else InputError
        raise kind(f"{where}: {sentence.format(said=first_line(error), timeout=timeout)}") from error


def first_line(error: psycopg.Error) -> str:
    """The first line of what the server or its library says."""
    said = error.diag.message_primary or str(error)
    return next(iter(said.strip().splitlines()), type(error).__name__)


def _sentence_of(error: psycopg.Error) -> str | None:
    state = error.sqlstate
    if state is None:
        return _LOST if isinstance(error, psycopg.OperationalError) else None
    return _SENTENCES.get(state) or (_LOST if state.startswith(_CLASSES_OF_LOSS) else None)
