"""The store of an index in PostgreSQL: what is broken off is swept away, what is finished never; HNSW on request."""

import logging
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.engines import postgres
from tests.engines.inputs import DIMENSION, few_pages, ids_of, page, unit

from isogloss.engines import recall
from isogloss.engines.postgres import PostgresEngine, hnsw
from isogloss.index.in_engine import approximate_in_engine
from isogloss.index.making import make_index, re_encode
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError

server, own_server, administrator, name = postgres.server, postgres.own_server, postgres.administrator, postgres.name

KILLED = """
import sys
from pathlib import Path
from isogloss.index.making import make_index
from isogloss.index.in_engine import NewEngineIndex
from tests.engines.inputs import few_pages

fill = NewEngineIndex.fill

def fill_and_wait(self, *arguments):
    fill(self, *arguments)
    print(self.note.name, flush=True)
    sys.stdin.read()

NewEngineIndex.fill = fill_and_wait
folder = Path(sys.argv[1])
make_index(folder / "index", "aligned", few_pages(folder), ["fr"], settings={"dimension": "8"}, engine=sys.argv[2])
"""


def schemas(administrator):
    return {name for (name,) in administrator.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'")}


def make(folder, url, index="index", **how):
    how = {"settings": {"dimension": "8"}, **how}
    return make_index(folder / index, "aligned", few_pages(folder), ["fr"], engine=url, **how)


@pytest.fixture
def dropped(administrator):
    """Whatever schemas a test makes are dropped after it."""
    before = schemas(administrator)
    yield
    for made in schemas(administrator) - before:
        administrator.execute(f'DROP SCHEMA "{made}" CASCADE')


@pytest.fixture
def half_made(server, tmp_path):
    """A process in the midst of making an index, and what that is called in the database."""
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path), server.url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def until_its_connections_are_gone(administrator, name):
    """A killed process is noticed by the server in its own time: its lock tells."""
    key = "hashtextextended('isogloss ' || %s, 0)"
    administrator.execute(f"SELECT pg_advisory_lock({key}), pg_advisory_unlock({key})", (name, name))


def test_what_a_killed_index_has_left_is_swept_by_the_next(server, administrator, dropped, tmp_path, half_made, caplog):
    finished = make(tmp_path, server.url, "finished").engine
    process, left = half_made
    assert left in schemas(administrator)
    make(tmp_path, server.url, "meanwhile")
    assert left in schemas(administrator), "it was being made"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until_its_connections_are_gone(administrator, left)
    with caplog.at_level(logging.WARNING, "isogloss"):
        made = make(tmp_path, server.url).engine
    assert left not in schemas(administrator)
    assert f"{left} was left by an index whose making was broken off, and has been dropped" in caplog.text
    assert {finished.name, made.name} <= schemas(administrator)
    for index in ("finished", "meanwhile", "index"):
        with closing(open_index(tmp_path / index)) as opened:
            assert opened.manifest.documents == {"fr": 10}
            assert Searcher(opened).search("honey")


def test_an_index_that_fails_is_dropped_at_once(server, administrator, dropped, tmp_path, monkeypatch):
    before = schemas(administrator)

    def fails(*_):
        raise OSError("no space")

    monkeypatch.setattr("isogloss.storage.files._exchange_or_rename", fails)
    with pytest.raises(OSError, match="no space"):
        make(tmp_path, server.url)
    assert schemas(administrator) == before


def test_a_finished_store_has_no_remark_and_one_that_is_begun_has(server, administrator, name):
    def remark():
        query = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
        return administrator.execute(query, (name,)).fetchone()[0]

    with PostgresEngine.begin(server.url, DIMENSION, name=name) as begun:
        assert remark() == "isogloss: being made"
        assert PostgresEngine.sweep(server.url) == []
        begun.add([page("a")], unit(0))
        begun.finish()
        begun.finish()
        assert remark() is None
    assert PostgresEngine.sweep(server.url) == []
    with PostgresEngine.open(server.url, name=name) as opened:
        assert opened.counts() == {"fr": 1}


def test_a_name_that_is_taken_is_refused_and_left_alone(server, administrator, name):
    with PostgresEngine.create(server.url, DIMENSION, name=name) as taken:
        taken.add([page("a")], unit(0))
        with pytest.raises(InputError, match=r"there is a schema '.*' already; choose another name"):
            PostgresEngine.begin(server.url, DIMENSION, name=name)
        assert taken.counts() == {"fr": 1}


def holder(administrator, name):
    """The connection that holds the lock of a store."""
    key = "hashtextextended('isogloss ' || %s, 0)"
    query = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = {key} & 4294967295"
    return administrator.execute(query, (name,)).fetchone()[0]


@pytest.mark.parametrize("is_swept", [False, True])
def test_a_connection_that_died_of_old_age_is_no_loss_unless_somebody_has_swept(
    own_server, administrator, name, is_swept
):
    with PostgresEngine.begin(own_server.url, DIMENSION, name=name) as begun:
        begun.add([page("a")], unit(0))
        administrator.execute("SELECT pg_terminate_backend(%s, 10000)", (holder(administrator, name),))
        if is_swept:
            assert PostgresEngine.sweep(own_server.url) == [name]
            with pytest.raises(InputError, match="was swept away while it was made; make it again"):
                begun.finish()
        else:
            begun.finish()
            assert PostgresEngine.sweep(own_server.url) == []
            assert begun.counts() == {"fr": 1}


def test_a_user_sweeps_only_what_is_theirs(own_server, administrator, name):
    begun = PostgresEngine.begin(own_server.url, DIMENSION, name=name)
    begun.close()
    guest = own_server.as_guest(postgres.PASSWORD.replace("%", "%25"))
    assert PostgresEngine.sweep(guest) == []
    assert PostgresEngine.sweep(own_server.url) == [name]


@pytest.fixture
def filled(server, name):
    with PostgresEngine.create(server.url, DIMENSION, name=name) as made:
        vectors = np.random.default_rng(0).standard_normal((300, DIMENSION), dtype=np.float32)
        made.add([page(f"d{row}") for row in range(300)], vectors)
        made.add([page("sw", language="sw")], unit(0))
        yield made


def test_hnsw_is_built_where_it_is_asked_for_and_dropped_again(filled, monkeypatch):
    queries = np.random.default_rng(1).standard_normal((4, DIMENSION), dtype=np.float32)
    exact = [ids_of(answer) for answer in filled.search("fr", queries, 5)]
    assert filled.approximate("auto") == {}
    assert set(filled.approximate("yes")) == {"fr", "sw"}
    assert filled.about()["search"]["fr"]["kind"] == "hnsw"
    assert filled.approximate("no") == {} == filled.recalls()
    assert filled.about()["search"]["fr"] == {"kind": "exact"}
    monkeypatch.setattr(recall, "MANY", 200)
    assert set(filled.approximate("auto")) == {"fr"}
    assert filled.recalls()["fr"] > 0.98
    assert [ids_of(answer) for answer in filled.search("fr", queries, 5)] == exact


def test_a_choice_that_is_none_is_refused(filled):
    with pytest.raises(InputError, match="approximate: 'maybe' is none of auto, yes, no"):
        filled.approximate("maybe")


def test_an_index_tells_the_recall_that_was_measured(server, dropped, tmp_path):
    make(tmp_path, server.url)
    assert approximate_in_engine(tmp_path / "index", "auto") == {}
    reached = approximate_in_engine(tmp_path / "index", "yes")
    with closing(open_index(tmp_path / "index")) as opened:
        assert opened.about()["recall"] == reached != {}
        assert opened.about()["vectors"]["fr"]["kind"] == "approximate"
        assert Searcher(opened).search("bees and honey")
    assert approximate_in_engine(tmp_path / "index", "no") == {}
    with closing(open_index(tmp_path / "index")) as opened:
        assert opened.about()["recall"] == {}


def test_all_documents_are_listed_and_can_be_encoded_anew(server, administrator, dropped, tmp_path, filled):
    assert [document.id for document in filled.documents("fr")] == sorted(f"d{row}" for row in range(300))
    assert list(filled.documents("xx")) == []
    old = make(tmp_path, server.url).engine
    new = re_encode(tmp_path / "index", "aligned", few_pages(tmp_path), {"dimension": "6"}).engine
    assert (old.dimension, new.dimension) == (8, 6)
    assert old.name not in schemas(administrator)
    with closing(open_index(tmp_path / "index")) as opened:
        assert opened.manifest.documents == {"fr": 10}
        assert Searcher(opened).search("bees and honey")


def test_vectors_too_long_for_hnsw_stay_exact_unless_it_is_asked_for():
    long = hnsw.Schema("pages", 3_000)
    assert recall.chosen_languages({"fr": 10**6}, "auto", can=False) == []
    assert recall.chosen_languages({"fr": 10**6, "sw": 0}, "yes", can=False) == ["fr"]
    assert hnsw.build_memory(10, long) == "64MB"
    assert hnsw.build_memory(10**9, long) == "4096MB"
