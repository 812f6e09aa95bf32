"""What goes wrong with a server: a sentence of one line, no password in it, and nothing half written."""

import logging
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.engines import postgres
from tests.engines.inputs import DIMENSION, ids_of, page, unit

from isogloss.engines.addresses import without_password
from isogloss.engines.base import EngineUnavailableError
from isogloss.engines.postgres import PostgresEngine, connection
from isogloss.storage.errors import InputError

psycopg = postgres.psycopg
server, own_server, administrator = postgres.server, postgres.own_server, postgres.administrator
name, store = postgres.name, postgres.store

SECRET = "xyzzy-secret"


def refusal(action, kind=InputError):
    """The sentence that something is refused with; neither it nor what led to it tells the secret."""
    with pytest.raises(kind) as caught:
        action()
    whole = "".join(traceback.format_exception(caught.value))
    assert SECRET not in whole.replace(f'SECRET = "{SECRET}"', "")
    assert "\n" not in str(caught.value)
    return str(caught.value)


# connecting


@pytest.mark.parametrize(("url", "message"), [
    (f"postgresql://ana:{SECRET}@127.0.0.1:1/news", "postgresql://ana@127.0.0.1:1/news: the server cannot be reached"),
    (f"postgresql://ana:{SECRET}@/news?host=/no/such/folder", "the server cannot be reached"),
    (f"postgresql://ana:{SECRET}@no-such-host.invalid/news", "the server cannot be reached"),
    (f"postgresql://ana:{SECRET}@[/news", "the address of the database cannot be read"),
    (f"postgresql://ana:%{SECRET}@host/news", "the address of the database cannot be read"),
    (f"postgresql//ana:{SECRET}", "the address of the database cannot be read"),
    (f"postgresql://ana:{SECRET}@host/news?nothing=1", "the address of the database cannot be read"),
])  # fmt: skip
def test_a_server_that_cannot_be_reached_is_named_without_the_password(url, message):
    kind = EngineUnavailableError if "reached" in message else InputError
    assert message in refusal(lambda: PostgresEngine.open(url), kind)
    assert message in refusal(lambda: PostgresEngine.create(url, DIMENSION))


def test_a_wrong_password_is_not_told(own_server, name):
    for password in (SECRET, ""):
        assert "does not take this user and password; set PGPASSWORD" in refusal(
            lambda password=password: PostgresEngine.open(own_server.as_guest(password), name=name)
        )


def test_a_password_may_come_from_the_environment(own_server, store, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", postgres.PASSWORD)
    assert "permission denied" in refusal(lambda: PostgresEngine.open(own_server.as_guest(""), name=store.schema.name))


def test_the_whole_connection_string_may_come_from_the_environment(server, name, monkeypatch):
    monkeypatch.setenv("ISOGLOSS_ENGINE", server.url)
    PostgresEngine.create("", DIMENSION, name=name).close()
    with PostgresEngine.open("", name=name) as opened:
        assert opened.counts() == {}


def test_a_database_or_user_that_is_not_there_is_named(own_server):
    assert 'the server refuses (database "nowhere" does not exist)' in refusal(
        lambda: PostgresEngine.open(own_server.url.replace("/postgres?", "/nowhere?"))
    )
    assert 'the server refuses (role "nobody" does not exist)' in refusal(
        lambda: PostgresEngine.open(own_server.url.replace("postgres:@", "nobody@"))
    )


def test_a_server_that_takes_no_more_connections_says_so(own_server, administrator):
    administrator.execute(f"ALTER ROLE {postgres.GUEST} CONNECTION LIMIT 0")
    guest = own_server.as_guest(postgres.PASSWORD.replace("%", "%25"))
    try:
        assert 'too many connections for role "isogloss_guest"' in refusal(
            lambda: PostgresEngine.open(guest), EngineUnavailableError
        )
    finally:
        administrator.execute(f"ALTER ROLE {postgres.GUEST} CONNECTION LIMIT -1")


def test_passwords_are_neither_shown_nor_logged(own_server, name, administrator, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    url = own_server.as_guest(postgres.PASSWORD.replace("%", "%25"))
    administrator.execute(f"CREATE SCHEMA {name} AUTHORIZATION {postgres.GUEST}")
    with PostgresEngine.create(url, DIMENSION, name=name) as made:
        made.add([page("a")], unit(0))
        shown = repr(made.about()) + repr(made) + repr(vars(made.schema))
    told = shown + caplog.text + "".join(capfd.readouterr())
    assert postgres.PASSWORD not in told and "sesame" not in told
    assert without_password(url) in told
    administrator.execute(f"DROP OWNED BY {postgres.GUEST}")


def test_a_server_without_pgvector_says_how_to_get_it(own_server, administrator, name):
    administrator.execute("CREATE DATABASE bare TEMPLATE template0 ENCODING 'UTF8'")
    bare = own_server.url.replace("/postgres?", "/bare?")
    try:
        with pytest.raises(InputError, match="pgvector is not in this database; say CREATE EXTENSION vector"):
            PostgresEngine.open(bare)
        guest = own_server.as_guest(postgres.PASSWORD.replace("%", "%25")).replace("/postgres?", "/bare?")
        with pytest.raises(InputError, match="let an administrator say CREATE EXTENSION vector"):
            PostgresEngine.create(guest, DIMENSION, name=name)
        if int(administrator.info.server_version) >= 180000:
            hidden = f"{bare}&options=-cextension_control_path%3D/no/such/folder"
            with pytest.raises(InputError, match="pgvector is not installed on the server"):
                PostgresEngine.create(hidden, DIMENSION, name=name)
        with PostgresEngine.create(bare, DIMENSION, name=name) as made:
            made.add([page("a")], unit(0))
    finally:
        administrator.execute("DROP DATABASE bare WITH (FORCE)")


def test_the_types_of_pgvector_may_live_in_any_schema(own_server, administrator, name):
    administrator.execute("CREATE DATABASE elsewhere TEMPLATE template0 ENCODING 'UTF8'")
    url = own_server.url.replace("/postgres?", "/elsewhere?")
    try:
        with psycopg.connect(url) as connection:
            connection.execute('CREATE SCHEMA "my extensions"; CREATE EXTENSION vector SCHEMA "my extensions"')
        with PostgresEngine.create(url, DIMENSION, name=name) as made:
            made.add([page("a")], unit(0))
            made.build_hnsw()
            assert ids_of(made.search("fr", unit(0), 1)[0]) == ["a"]
    finally:
        administrator.execute("DROP DATABASE elsewhere WITH (FORCE)")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused(own_server, administrator, name, encoding):
    administrator.execute(f"CREATE DATABASE old TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
    try:
        with pytest.raises(InputError, match="the database is not in UTF8"):
            PostgresEngine.create(own_server.url.replace("/postgres?", "/old?"), DIMENSION, name=name)
    finally:
        administrator.execute("DROP DATABASE old WITH (FORCE)")


# while it works


def test_a_statement_that_takes_too_long_is_stopped(server, store, administrator):
    store.add([page("a")], unit(0))
    with PostgresEngine.open(server.url, name=store.schema.name, timeout=0.2) as hasty:
        with psycopg.connect(server.url) as holder:
            holder.execute(f"LOCK TABLE {store.schema.name}.documents IN ACCESS EXCLUSIVE MODE")
            for action in (hasty.counts, lambda: hasty.add([page("b")], unit(0))):
                with pytest.raises(EngineUnavailableError, match=r"took longer than the 0\.2 seconds allowed"):
                    action()
        assert hasty.counts() == {"fr": 1}


def backends(administrator, name):
    """The connections that are in the middle of a change to a store."""
    query = (
        "SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_class c ON c.oid = relation"
        " WHERE c.relnamespace = to_regnamespace(%s) AND mode = 'RowExclusiveLock'"
    )
    return [pid for (pid,) in administrator.execute(query, (name,))]


@pytest.mark.parametrize("after", [1, 3])
def test_a_backend_killed_in_the_middle_of_a_batch_leaves_nothing(store, administrator, after):
    store.add([page("d0", text="old")], unit(0))

    def batches():
        for number in range(6):
            documents = [page(f"d{row}") for row in range(number * 100, number * 100 + 100)]
            yield documents, np.ones((100, DIMENSION), np.float32)
            if number == after:
                (pid,) = backends(administrator, store.schema.name)
                assert administrator.execute("SELECT pg_terminate_backend(%s)", (pid,)).fetchone() == (True,)

    with pytest.raises(
        EngineUnavailableError, match=r"the connection was lost .* nothing of what was being written is kept"
    ):
        store.load(batches())
    assert store.counts() == {"fr": 1}
    assert store.get("fr", ["d0", "d1"]) == [page("d0", text="old"), None]
    store.add([page("d1")], unit(1))
    assert store.counts() == {"fr": 2}


def test_a_backend_killed_while_it_waits_with_a_batch_leaves_nothing(store, server, administrator):
    store.add([page("a", text="old")], unit(0))
    errors = []

    def add():
        try:
            store.add([page("a", text="new"), page("b")], np.concatenate([unit(1), unit(2)]))
        except InputError as error:
            errors.append(str(error))

    with psycopg.connect(server.url) as holder:
        holder.execute(f"SELECT FROM {store.schema.name}.documents WHERE id = 'a' FOR UPDATE")
        writer = threading.Thread(target=add)
        writer.start()
        waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND %s = ANY(pg_blocking_pids(pid))"
        found, begun = None, time.monotonic()
        while found is None and time.monotonic() < begun + 30:
            found = administrator.execute(waiting, (holder.info.backend_pid,)).fetchone()
        administrator.execute("SELECT pg_terminate_backend(%s)", found)
        writer.join(30)
    assert len(errors) == 1 and "the connection was lost" in errors[0]
    assert store.counts() == {"fr": 1}
    assert store.get("fr", ["a"]) == [page("a", text="old")]


def test_a_restart_keeps_everything_and_open_stores_go_on(own_server, name):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((300, DIMENSION)).astype(np.float32)
    with PostgresEngine.create(own_server.url, DIMENSION, name=name) as made:
        made.add([page(f"d{row}", kind="odd" if row % 2 else "even") for row in range(300)], matrix)
        made.build_hnsw()
        before = [made.search("fr", matrix[:5], 10, {"kind": "odd"}, exact=True), made.counts(), made.get("fr", ["d7"])]
        own_server.restart()
        assert [
            made.search("fr", matrix[:5], 10, {"kind": "odd"}, exact=True),
            made.counts(),
            made.get("fr", ["d7"]),
        ] == before
        own_server.restart()
        made.add([page("later")], unit(0, 9))
        assert ids_of(made.search("fr", unit(0), 1)[0]) == ["later"]


def test_a_server_that_stops_is_told_of_and_missed_by_no_open_store_once_it_is_back(own_server, store, monkeypatch):
    """Several connections have gone with it."""
    monkeypatch.setattr(connection, "_POOL_WAIT", 0.2)
    store.add([page("a")], unit(0))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: store.counts(), range(64)))
    with own_server.stopped():
        assert "the server cannot be reached" in refusal(store.counts, EngineUnavailableError)
        assert "the server cannot be reached" in refusal(store.counts, EngineUnavailableError)
    assert [store.counts() for _ in range(20)] == [{"fr": 1}] * 20


def test_a_store_that_was_dropped_elsewhere_says_so(store, server):
    store.add([page("a")], unit(0))
    PostgresEngine.open(server.url, name=store.schema.name).drop()
    for action in (store.counts, lambda: store.search("fr", unit(0), 1), lambda: store.add([page("b")], unit(0))):
        with pytest.raises(InputError, match="the schema is not there any more"):
            action()


def test_a_closed_store_is_not_used_again(store):
    store.add([page("a")], unit(0))
    store.close()
    store.close()
    with pytest.raises(ValueError, match="this engine is closed"):
        store.counts()


# documents that cannot be kept


@pytest.mark.parametrize(("document", "message"), [
    (page("x" * 3_000), "has an id of 3,000 bytes; the most is 2,000"),
    (page("half \ud800"), "has a character in its id that PostgreSQL cannot keep"),
    (page("a", odd="half \ud800"), "has a character in a field that PostgreSQL cannot filter by"),
    (page("a", odd=float("nan")), "has a field that is not a finite number"),
    (page("a", **{"n" * 60_000 + str(hash("n")): "x"}), "too long for an index"),
])  # fmt: skip
def test_documents_that_cannot_be_kept_are_named_and_their_batch_leaves_nothing(store, document, message):
    rng = np.random.default_rng(0)
    if "index" in message:  # what cannot be compressed below the size of a page
        document = page("a", **{"".join(map(chr, rng.integers(0x4E00, 0x9FFF, 4_000))): "x"})
    with pytest.raises(InputError, match=message):
        store.add([page("fine"), document], np.concatenate([unit(0), unit(1)]))
    assert store.counts() == {}
    assert store.get("fr", ["half \ud800", "nul\0", "x" * 3_000]) == [None, None, None]
    assert store.delete("fr", ["half \ud800", "nul\0"]) == 0


def test_halves_of_characters_in_texts_come_back(store):
    store.add([page("a", text="half \ud800 of it")], unit(0))
    assert store.get("fr", ["a"]) == [page("a", text="half \ud800 of it")]
