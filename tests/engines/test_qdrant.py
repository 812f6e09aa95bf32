"""Qdrant as an engine: its own engine in this process, its client's local mode in memory, and a server if one is named.

``ISOGLOSS_TEST_QDRANT`` names one, like qdrant+http://localhost:6333; collections of tests begin with ``test_``.
"""

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("qdrant_client", reason="needs the extra 'qdrant'")
pytest.importorskip("qdrant_edge", reason="needs the extra 'qdrant'")

from qdrant_client import QdrantClient
from tests.engines.conformance import EngineConformance
from tests.engines.inputs import DIMENSION, ids_of, page, unit

from isogloss.engines import recall
from isogloss.engines.qdrant import QdrantEngine
from isogloss.engines.qdrant.client import ClientPoints
from isogloss.engines.qdrant.edge import EdgePoints
from isogloss.storage.errors import InputError

VARIABLE = "ISOGLOSS_TEST_QDRANT"


class AtAnAddress:
    """In a folder, or on a server."""

    def __init__(self, url):
        self._url, self._names = url, {}

    def create(self, dimension=DIMENSION, sparse=False):
        name = f"test_{uuid.uuid4().hex}"
        made = QdrantEngine.create(self._url, dimension, name=name, sparse=sparse)
        self._names[made] = name
        return made

    def reopen(self, store):
        store.close()
        return QdrantEngine.open(self._url, name=self._names[store])

    def drop(self):
        for name in self._names.values():
            QdrantEngine.open(self._url, name=name).drop()


class InMemory:
    """The client's local mode, which is not Qdrant's own code; it keeps nothing."""

    def create(self, dimension=DIMENSION, sparse=False):
        points = ClientPoints.created(QdrantClient(":memory:"), "pages", dimension, sparse, "in memory")
        return QdrantEngine.begun(points, dimension, sparse)

    def reopen(self, store):
        return QdrantEngine(store._points)


@pytest.fixture(autouse=True)
def not_flushed(monkeypatch):
    """Nothing is forced onto the disk: no test takes the power away."""
    monkeypatch.setattr(EdgePoints, "flush", lambda self: None)


@pytest.fixture
def folder(tmp_path):
    """A folder in memory, where the system has such: an index begins with a log of 32 MB."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path) as folder:
        yield Path(folder) / "qdrant"


class TestInThisProcess(EngineConformance):
    @pytest.fixture
    def opener(self, folder):
        return AtAnAddress(f"qdrant:{folder}")


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect", "ignore:Local mode performs exact")
class TestTheClientInMemory(EngineConformance):
    @pytest.fixture
    def opener(self):
        return InMemory()


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no server")
class TestAServer(EngineConformance):
    @pytest.fixture
    def opener(self):
        opener = AtAnAddress(os.environ.get(VARIABLE))
        yield opener
        opener.drop()


def test_indexes_of_one_folder_are_kept_apart_and_dropped_apart(folder):
    url = f"qdrant:{folder}"
    first, second = (QdrantEngine.create(url, DIMENSION, name=name) for name in ("first", "second"))
    first.add([page("a")], unit(0))
    second.add([page("b")], unit(0))
    with pytest.raises(InputError, match="already"):
        QdrantEngine.create(url, DIMENSION, name="first")
    first.drop()
    assert second.counts() == {"fr": 1}
    with pytest.raises(InputError, match="no such index"):
        QdrantEngine.open(url, name="first")
    second.drop()
    assert not folder.exists()


def test_a_store_may_be_closed_twice_while_another_uses_the_folder(folder):
    url = f"qdrant:{folder}"
    store, other = QdrantEngine.create(url, DIMENSION, name="pages"), QdrantEngine.open(url, name="pages")
    store.close()
    store.close()
    other.add([page("a")], unit(0))
    assert ids_of(other.search("fr", unit(0), 1)[0]) == ["a"]
    other.close()


def test_a_folder_is_one_process_s_own(folder):
    url = f"qdrant:{folder}"
    store = QdrantEngine.create(url, DIMENSION, name="pages")
    code = f"from isogloss.engines.qdrant import QdrantEngine; QdrantEngine.open({url!r}, name='pages')"
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert "another process uses it" in told.stderr
    store.close()


def test_what_a_killed_process_has_begun_is_swept(folder):
    url = f"qdrant:{folder}"
    code = (
        "import os, signal; from isogloss.engines.qdrant import QdrantEngine;"
        f"QdrantEngine.begin({url!r}, 8, name='left'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    QdrantEngine.create(url, DIMENSION, name="finished").close()
    making = QdrantEngine.begin(url, DIMENSION, name="making")
    assert QdrantEngine.sweep(url) == ["left"]
    making.finish()
    making.close()
    assert QdrantEngine.sweep(url) == []
    assert sorted(path.name for path in folder.iterdir()) == ["finished", "making"]


def test_a_damaged_folder_is_an_error_of_one_line(folder):
    url = f"qdrant:{folder}"
    QdrantEngine.create(url, DIMENSION, name="pages").close()
    (folder / "pages" / "edge_config.json").write_text("{")
    with pytest.raises(InputError, match="Qdrant cannot read it") as raised:
        QdrantEngine.open(url, name="pages")
    assert "\n" not in str(raised.value)


def test_many_vectors_are_searched_through_a_graph_whose_recall_is_measured(folder, monkeypatch):
    store = QdrantEngine.create(f"qdrant:{folder}", DIMENSION, name="pages")
    vectors = np.random.default_rng(0).standard_normal((600, DIMENSION), dtype=np.float32)
    store.add([page(f"d{row}") for row in range(600)], vectors)
    exact = [ids_of(answer) for answer in store.search("fr", vectors[:5], 5)]
    assert store.approximate("auto") == {}
    monkeypatch.setattr(recall, "MANY", 200)
    reached = store.approximate("auto")
    assert reached["fr"] > 0.98
    assert store.about()["search"] == {"fr": "hnsw"}
    assert [ids_of(answer) for answer in store.search("fr", vectors[:5], 5)] == exact
    store.close()
    store = QdrantEngine.open(f"qdrant:{folder}", name="pages")
    assert store.recalls() == reached
    assert store.approximate("no") == {}
    assert [ids_of(answer) for answer in store.search("fr", vectors[:5], 5)] == exact
    store.close()


def test_a_server_that_is_not_there_is_an_error_of_one_line():
    with pytest.raises(InputError, match="does not answer") as raised:
        QdrantEngine.open("qdrant+http://127.0.0.1:1", name="pages")
    assert "\n" not in str(raised.value)
