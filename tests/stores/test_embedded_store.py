"""The house's own files as a store."""

import pytest
from tests.stores.conformance import StoreConformance
from tests.stores.given import DIMENSION, page, unit

from isogloss.base.errors import InputError
from isogloss.index.commit import Commit
from isogloss.index.compaction import MOST_SEGMENTS
from isogloss.index.lock import IndexBusyError, WriteLock
from isogloss.stores.embedded import EmbeddedStore


class Directories:
    def __init__(self, path):
        self._path = path

    def create(self):
        return EmbeddedStore(self._path / "store")

    def reopen(self, store):
        store.close()
        return EmbeddedStore(store.path)


class TestEmbedded(StoreConformance):
    @pytest.fixture
    def opener(self, tmp_path):
        return Directories(tmp_path)


def test_another_reader_of_the_folder_sees_each_commit(tmp_path):
    writer, reader = EmbeddedStore(tmp_path), EmbeddedStore(tmp_path)
    writer.add([page("a")], unit(0))
    assert reader.counts() == {"fr": 1}
    writer.delete("fr", ["a"])
    assert reader.get("fr", ["a"]) == [None]


def test_segments_are_merged_and_what_they_were_is_taken_away(tmp_path):
    store = EmbeddedStore(tmp_path)
    for number in range(3 * MOST_SEGMENTS):
        store.add([page(f"d{number:02}")], unit(number % DIMENSION))
    segments = Commit.load(tmp_path).segments
    assert len(segments) <= MOST_SEGMENTS
    assert sorted(path.name for path in (tmp_path / "segments").iterdir()) == sorted(one.name for one in segments)
    assert [hit.id for hit in store.search("fr", unit(0), 4)[0].found] == ["d00", "d08", "d16", "d01"]
    assert store.about()["vectors"]["fr"]["storage"] == "float32"


def test_while_somebody_writes_others_are_told(tmp_path):
    store = EmbeddedStore(tmp_path)
    with WriteLock(tmp_path), pytest.raises(IndexBusyError, match="is being changed"):
        store.add([page("a")], unit(0))
    store.add([page("a")], unit(0))


@pytest.mark.parametrize("language", ["../fr", "a/b", "x" * 100, "segments"])
def test_what_cannot_be_a_language_is_refused(tmp_path, language):
    store = EmbeddedStore(tmp_path / "store")
    with pytest.raises(InputError, match="language code"):
        store.add([page("a", language)], unit(0))
    assert store.counts() == {}
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_damage_is_an_error_of_one_line(tmp_path):
    EmbeddedStore(tmp_path).add([page("a")], unit(0))
    (vectors,) = tmp_path.rglob("vectors.npy")
    vectors.write_bytes(b"no array")
    with pytest.raises(InputError, match="damaged"):
        EmbeddedStore(tmp_path)
