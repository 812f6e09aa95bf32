"""Qdrant as a store, in its client's local mode: no server is tested."""

import numpy as np
import pytest

pytest.importorskip("qdrant_client", reason="needs the extra 'qdrant'")

from tests.engines.conformance import EngineConformance
from tests.engines.inputs import DIMENSION, page, unit

from isogloss.engines.qdrant import QdrantEngine
from isogloss.storage.errors import InputError


class LocalFolders:
    def __init__(self, path):
        self._url = f"qdrant:{path / 'qdrant'}"

    def create(self):
        return QdrantEngine.create(self._url, DIMENSION, name="pages")

    def reopen(self, store):
        store.close()
        return QdrantEngine.open(self._url, name="pages")


class TestQdrantLocally(EngineConformance):
    """Local mode only."""

    @pytest.fixture
    def opener(self, tmp_path):
        return LocalFolders(tmp_path)


def test_collections_of_one_folder_are_kept_apart_and_dropped_apart(tmp_path):
    url = f"qdrant:{tmp_path / 'qdrant'}"
    first, second = (QdrantEngine.create(url, DIMENSION, name=name) for name in ("first", "second"))
    first.add([page("a")], unit(0))
    second.add([page("b")], unit(0))
    with pytest.raises(InputError, match="already"):
        QdrantEngine.create(url, DIMENSION, name="first")
    first.drop()
    assert second.counts() == {"fr": 1}
    with pytest.raises(InputError, match="no such collection"):
        QdrantEngine.open(url, name="first")
    second.drop()
    assert not (tmp_path / "qdrant").exists()


def test_a_store_may_be_closed_twice_while_another_uses_the_folder(tmp_path):
    url = f"qdrant:{tmp_path / 'qdrant'}"
    store, other = QdrantEngine.create(url, DIMENSION, name="pages"), QdrantEngine.open(url, name="pages")
    store.close()
    store.close()
    other.add([page("a")], unit(0))
    assert other.search("fr", np.ones((1, DIMENSION), np.float32), 1)[0][0].id == "a"
    other.close()


def test_a_server_that_is_not_there_is_an_error_of_one_line():
    with pytest.raises(InputError, match="does not answer") as raised:
        QdrantEngine.open("qdrant+http://127.0.0.1:1", name="pages")
    assert "\n" not in str(raised.value)
