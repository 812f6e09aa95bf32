"""The house's own files as a store."""

from dataclasses import replace

import numpy as np
import pytest
from tests.stores.conformance import StoreConformance
from tests.stores.given import DIMENSION, page, unit

from isogloss.base.errors import InputError
from isogloss.base.strings import StringTable
from isogloss.index.commit import Commit
from isogloss.index.compaction import MOST_SEGMENTS
from isogloss.index.lock import IndexBusyError, WriteLock
from isogloss.index.segments import write_array
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


def filled(path, ids, batch):
    """A store with these documents in batches; every vector stands three times or more."""
    store = EmbeddedStore(path)
    for first in range(0, len(ids), batch):
        some = ids[first : first + batch]
        store.add([page(id_) for id_ in some], np.concatenate([unit(int(id_[1:]) % DIMENSION) for id_ in some]))
    return store


def test_batches_are_found_like_one_with_ties_by_id_across_segments(tmp_path):
    ids = [f"d{number:02}" for number in np.random.default_rng(0).permutation(60)]
    one, many = filled(tmp_path / "one", ids, 60), filled(tmp_path / "many", ids, 9)
    assert len(Commit.load(many.path).segments) > 1
    for k in (1, 5, 60):
        assert many.search("fr", unit(0) + unit(1), k) == one.search("fr", unit(0) + unit(1), k)
    for store in (one, many):
        store.delete("fr", ["d00"])
        store.add([page("d08")], unit(2))
    assert many.search("fr", unit(0), 60) == one.search("fr", unit(0), 60)


def test_a_commit_does_not_go_through_all_ids(tmp_path, monkeypatch):
    read, iterate = [], StringTable.__iter__
    monkeypatch.setattr(StringTable, "__iter__", lambda table: read.append(len(table)) or iterate(table))
    ids = [f"d{number:04}" for number in np.random.default_rng(0).permutation(400)]
    assert filled(tmp_path, ids, 4).counts() == {"fr": 400}
    assert sum(read) < 10 * len(ids)  # once to be found and once for each merge; 100 commits over all would be 20,000
    assert not (tmp_path / "orders").exists()


def test_a_store_that_kept_the_order_of_its_ids_is_read_and_changed(tmp_path):
    store = filled(tmp_path, ["d3", "d1", "d2"], 2)
    commit = Commit.load(tmp_path)
    (tmp_path / "orders").mkdir()
    files = {**commit.files, "orders/fr.2.npy": write_array(tmp_path, "orders/fr.2.npy", np.asarray([2, 0, 1]))}
    languages = {"fr": replace(commit.languages["fr"], order_file="orders/fr.2.npy")}
    replace(commit, generation=3, languages=languages, files=files).save(tmp_path)
    assert EmbeddedStore(tmp_path).counts() == store.counts() == {"fr": 3}
    store.add([page("d0")], unit(1))
    assert Commit.load(tmp_path).languages["fr"].order_file == ""
    assert not list((tmp_path / "orders").iterdir())
    assert {hit.id for hit in EmbeddedStore(tmp_path).search("fr", unit(1), 2)[0].found} == {"d0", "d1"}
