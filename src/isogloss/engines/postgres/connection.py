"""Connections to PostgreSQL: the address, the settings of a session, the pool that threads share, errors as sentences.

An address is a URL of libpq, ``postgresql://user@host/database``. What it leaves out comes from where libpq looks:
``PGHOST``, ``PGPASSWORD``, ``~/.pgpass`` and the rest. No password is ever part of a message.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from isogloss.engines.addresses import VARIABLE, without_password
from isogloss.engines.base import EngineUnavailableError
from isogloss.storage.errors import InputError

Connection = psycopg.Connection[tuple[Any, ...]]

_CONNECT_TIMEOUT = "10"  # seconds, unless the address or PGCONNECT_TIMEOUT says otherwise
_POOL_SIZE = 16  # connections of one engine: a server has a hundred for all
_POOL_WAIT = 5.0  # seconds without a free connection until we find out whether the server is the reason
_SUMS_KB = 65_536  # a search by postings adds up the scores of some 100,000 points
_OLDEST_PGVECTOR = (0, 8)  # since then filters and HNSW go together (iterative scans)

_LOST = "the connection was lost ({reason}); nothing of what was being written is kept, try again"
_GONE = "the schema is not there any more; somebody has dropped or renamed it"
_CONFLICT = "other writers were in the way again and again ({reason}); try again"
_SENTENCES = {
    "3F000": _GONE,
    "42P01": _GONE,
    "42501": "{reason}; ask for the rights that the guide to PostgreSQL names",
    "53100": "the disk of the server is full; nothing of what was being written is kept",
    "53200": "the server has too little memory for that ({reason})",
    "53300": "the server takes no more connections ({reason}); close some or raise max_connections",
    "22023": "the server does not take a setting ({reason})",
    "25006": "this server is read-only ({reason}); name the one that can be written to",
    "54000": "an id or a field is too long for an index of PostgreSQL ({reason}); shorten it",
    "2BP01": "something else depends on the engine's tables ({reason}); drop that first",
    "40P01": _CONFLICT,
    "40001": _CONFLICT,
    "57014": "it took longer than the {timeout:g} seconds allowed, or was cancelled; raise timeout= if it may",
}
_LOSSES = ("08", "57P")  # classes of SQLSTATE
_TEMPORARY = ("53300", "57014", *_LOSSES)  # the same may go well another time
_TEMPORARY_REFUSALS = (
    "too many connections", "sorry, too many clients", "remaining connection slots", "the database system is"
)  # fmt: skip

logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # whatever it warns of becomes one of our sentences


class Database:
    """A database at an address; ``timeout`` is what a statement may take, in seconds.

    Threads share its pool of connections. Those that a restart of the server has closed are replaced, and a forked
    process opens its own.
    """

    def __init__(self, url: str, timeout: float) -> None:
        address = url or os.environ.get(VARIABLE) or "postgresql://"
        self._conninfo, self.shown = _conninfo(address), without_password(address)
        self._timeout = timeout
        self._pool: ConnectionPool[Connection] | None = None
        self._lock, self._process, self._is_closed = threading.Lock(), os.getpid(), False

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection of the pool; more threads than there are connections wait."""
        with self.errors():
            pool = self._open_pool()
            connection = self._borrowed(pool)
            try:
                yield connection
            finally:
                pool.putconn(connection)

    @contextmanager
    def separate_connection(self, configure: bool = True) -> Iterator[Connection]:
        """A connection beside the pool, closed at the end, for whoever holds one of the pool or has no use for more."""
        with self.errors(), self.connect() as connection:
            if configure:
                self.configure(connection)
            yield connection

    def connect(self) -> Connection:
        """A new connection on which every statement is a transaction of its own, unless one is begun."""
        try:
            return psycopg.connect(self._conninfo, autocommit=True)
        except psycopg.OperationalError as error:
            raise self._refusal(error) from error

    def configure(self, connection: Connection) -> None:
        """Set a session up: where the types of pgvector are, limits of time and memory, plans that fit the values."""
        found = connection.execute(
            "SELECT extversion, nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace"
            " WHERE extname = 'vector'"
        ).fetchone()
        if found is None:
            raise InputError(f"{self.shown}: pgvector is not in this database; say CREATE EXTENSION vector there")
        version, schema = found
        if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_PGVECTOR:
            way = "install 0.8 and say ALTER EXTENSION vector UPDATE"
            raise InputError(f"{self.shown}: pgvector {version} is too old; {way}")
        if connection.info.parameter_status("server_encoding") != "UTF8":
            way = "make another, CREATE DATABASE … ENCODING 'UTF8'"
            raise InputError(f"{self.shown}: the database is not in UTF8; {way}")
        connection.execute(
            sql.SQL(
                "SET search_path TO {schema}; SET statement_timeout TO {timeout};"
                " SET plan_cache_mode TO force_custom_plan; SET jit TO off; SET hnsw.iterative_scan TO relaxed_order"
            ).format(schema=sql.Identifier(schema), timeout=sql.Literal(round(self._timeout * 1000)))
        )
        connection.execute(
            "SELECT set_config(name, %s, false) FROM pg_settings WHERE name = 'work_mem' AND setting::int < %s",
            (f"{_SUMS_KB}kB", _SUMS_KB),
        )

    def ensure_extension(self, connection: Connection) -> None:
        """Install pgvector in the database if it is not there and this user may."""
        if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
            return
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as error:
            way = "let an administrator say CREATE EXTENSION vector there"
            raise InputError(f"{self.shown}: pgvector is not in this database; {way}") from error
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
            what = "pgvector is not installed on the server (Debian: postgresql-18-pgvector); install it there"
            raise InputError(f"{self.shown}: {what}") from error

    def close(self) -> None:
        """Close the connections that nobody uses, and the others when they come back."""
        with self._lock:
            pool, self._pool, self._is_closed = self._pool, None, True
        if pool is not None and self._process == os.getpid():
            pool.close()

    def _open_pool(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._is_closed:
                raise ValueError("this engine is closed")
            if self._pool is None or self._process != os.getpid():
                self._pool, self._process = self._new_pool(), os.getpid()
            return self._pool

    def _new_pool(self) -> ConnectionPool[Connection]:
        def configure(connection: Connection) -> None:
            self.configure(connection)
            register_vector(connection)

        def check(connection: Connection) -> None:
            try:
                pool.check_connection(connection)
            except psycopg.Error:
                pool.drain()  # the server was restarted, as a rule: the others have gone too
                raise

        pool: ConnectionPool[Connection] = ConnectionPool(
            self._conninfo, kwargs={"autocommit": True}, min_size=0, max_size=_POOL_SIZE, open=True,
            configure=configure, check=check, reconnect_timeout=_POOL_WAIT,
        )  # fmt: skip
        return pool

    def _borrowed(self, pool: ConnectionPool[Connection]) -> Connection:
        for _ in range(max(1, round(self._timeout / _POOL_WAIT))):
            try:
                return pool.getconn(_POOL_WAIT)
            except PoolTimeout:
                with self.connect() as connection:  # which says why, if the server is the reason
                    self.configure(connection)
        what = f"all {_POOL_SIZE} connections of this engine are in use"
        raise EngineUnavailableError(f"{self.shown}: {what}; try again later")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what a user can mend into an ``InputError`` of one line; anything else is a bug to see."""
        try:
            yield
        except psycopg.Error as error:
            state = error.sqlstate
            if state is None:
                sentence = _LOST if isinstance(error, psycopg.OperationalError) else None
            else:
                sentence = _SENTENCES.get(state) or (_LOST if state.startswith(_LOSSES) else None)
            if sentence is None:
                raise
            kind = EngineUnavailableError if state is None or state.startswith(_TEMPORARY) else InputError
            raise kind(f"{self.shown}: {sentence.format(reason=_reason(error), timeout=self._timeout)}") from error

    def _refusal(self, error: psycopg.OperationalError) -> InputError:
        """Why there is no connection, and what to do about it."""
        reason = _reason(error)
        refused = reason.partition("FATAL:")[2].strip()
        if "password" in reason or "authentication failed" in reason:
            way = "set PGPASSWORD or ~/.pgpass, or ask for an account"
            return InputError(f"{self.shown}: the server does not take this user and password; {way}")
        if refused.startswith(_TEMPORARY_REFUSALS):
            what = f"the server takes no connection now ({refused})"
            return EngineUnavailableError(f"{self.shown}: {what}; try again later")
        if refused:
            return InputError(f"{self.shown}: the server refuses ({refused}); correct the address")
        what = f"the server cannot be reached ({reason})"
        return EngineUnavailableError(f"{self.shown}: {what}; is it running, and is the address right?")


def _conninfo(address: str) -> str:
    """The connection string of an address."""
    try:
        if not address.startswith(("postgresql://", "postgres://")):
            raise psycopg.ProgrammingError("not a URL")
        options = conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # it quotes what it cannot read, and the password with it
        what = "the address of the database cannot be read"
        way = "write postgresql://user@host/database, with % and other odd characters as %25 and the like"
        raise InputError(f"{what}; {way}") from None
    if "PGCONNECT_TIMEOUT" not in os.environ:
        options.setdefault("connect_timeout", _CONNECT_TIMEOUT)
    options |= {"fallback_application_name": "isogloss", "client_encoding": "utf8"}
    return make_conninfo("", **options)


def _reason(error: psycopg.Error) -> str:
    """The first line of what the server or its library says."""
    message = error.diag.message_primary or str(error)
    return next(iter(message.strip().splitlines()), type(error).__name__)
