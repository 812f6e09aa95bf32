"""Connections to PostgreSQL: where to, with which password, and how threads share them.

A connection string is what libpq takes (``postgresql://user@host/database`` or ``host=… dbname=…``), and what it does
not say comes from where libpq looks: ``PGHOST``, ``PGPASSWORD``, ``~/.pgpass`` and the rest. Nothing here writes a
password anywhere.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from isogloss.base.errors import InputError
from isogloss.stores.addresses import VARIABLE
from isogloss.stores.pgvector_errors import first_line
from isogloss.stores.store import StoreUnavailableError

_PATIENCE = "10"  # seconds to reach the server, unless the connection string or PGCONNECT_TIMEOUT says otherwise
_MOST = 16  # connections of one store: a server has a hundred for all

_PASSING = ("too many connections", "sorry, too many clients", "remaining connection slots", "the database system is")

Connection = psycopg.Connection[tuple[Any, ...]]


def without_password(url: str) -> str:
    """A connection string that may be shown and written down.

    >>> without_password("postgresql://ana:secret@db.example:5433/news?sslpassword=also")
    'user=ana dbname=news host=db.example port=5433'
    """
    return make_conninfo(**{name: value for name, value in _parsed(url).items() if not _is_secret(name)})


def connect(url: str) -> Connection:
    """A connection on which every statement is a transaction of its own, unless one is begun."""
    given = _parsed(url)
    if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
        given["connect_timeout"] = _PATIENCE
    given |= {"fallback_application_name": "isogloss", "client_encoding": "utf8"}
    try:
        return psycopg.connect(make_conninfo(**given), autocommit=True)
    except psycopg.OperationalError as error:
        raise _refusal(error, without_password(url) or "PostgreSQL") from error


def _parsed(url: str) -> dict[str, Any]:
    try:
        return dict(conninfo_to_dict(url or os.environ.get(VARIABLE, "")))
    except psycopg.ProgrammingError:  # it quotes what it cannot read, and the password with it
        what = "the connection string cannot be read"
        raise InputError(
            f"{what}; write postgresql://user@host/database, with % and other odd characters as %25 and the like"
        ) from None


def _is_secret(name: str) -> bool:
    return "password" in name or "secret" in name


def _refusal(error: psycopg.OperationalError, shown: str) -> InputError:
    """Why there is no connection, and what to do about it."""
    said = first_line(error)
    refused = said.partition("FATAL:")[2].strip()
    if "password" in said or "authentication failed" in said:
        way = "set PGPASSWORD or ~/.pgpass, or ask for an account"
        return InputError(f"{shown}: the server does not take this user and password; {way}")
    if refused.startswith(_PASSING):
        return StoreUnavailableError(f"{shown}: the server takes no connection now ({refused}); try again later")
    if refused:
        return InputError(f"{shown}: the server refuses ({refused}); mend the connection string")
    return StoreUnavailableError(
        f"{shown}: the server cannot be reached ({said}); is it running, and is the address right?"
    )


class Connections:
    """Connections that threads share, each used by one at a time; ``prepare`` makes a new one ready.

    One that the server has closed meanwhile, by a restart say, is noticed and replaced. A process that was forked from
    this one opens its own.
    """

    def __init__(self, url: str, prepare: Callable[[Connection], None]) -> None:
        self.shown = without_password(url) or "PostgreSQL"
        self._url, self._prepare = url, prepare
        self._idle: list[Connection] = []
        self._turn, self._free = threading.Lock(), threading.BoundedSemaphore(_MOST)
        self._process, self._is_open = os.getpid(), True

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """A connection; more threads than there may be connections wait."""
        with self._free:
            connection = self._taken() or self._made()
            try:
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def another(self) -> Iterator[Connection]:
        """One beside those that are shared, for whoever holds one of them already."""
        connection = self._made()
        try:
            yield connection
        finally:
            connection.close()

    def close(self) -> None:
        """Close those that nobody uses, and the others when they are given back."""
        with self._turn:
            self._is_open, closing = False, self._idle
            self._idle = []
        for connection in closing:
            connection.close()

    def _taken(self) -> Connection | None:
        with self._turn:
            if not self._is_open:
                raise ValueError("this store is closed")
            if self._process != os.getpid():
                self._idle, self._process = [], os.getpid()
            while self._idle:
                connection = self._idle.pop()
                if not _has_news(connection):
                    return connection
                connection.close()
        return None

    def _made(self) -> Connection:
        connection = connect(self._url)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._turn:
            if self._is_open and connection.info.transaction_status == TransactionStatus.IDLE:
                self._idle.append(connection)
                return
        connection.close()


def _has_news(connection: Connection) -> bool:
    """Whether the server has said something while nobody asked: that it goes away, as a rule."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
