"""Changes come about in all shards or in none, whoever dies between their steps. No cluster is needed for that."""

import numpy as np
import pytest

from isogloss.base.errors import InputError
from isogloss.cluster.change_log import Change, ChangeLog
from isogloss.cluster.shard import ABOUT, LOG, Shard, shard_of
from isogloss.corpus.records import Document
from isogloss.stores.embedded import EmbeddedStore


def page(id_, text="", **fields):
    return Document(id_, text, language="fr", fields=fields)


def adding(*documents):
    return Change(documents, np.ones((len(documents), 2), np.float32))


@pytest.fixture
def path(tmp_path):
    (tmp_path / LOG).mkdir()
    (tmp_path / ABOUT).write_text("{}")
    return tmp_path


@pytest.fixture
def log(path):
    return ChangeLog(path / LOG)


def test_a_change_is_read_as_it_was_written_by_the_shard_it_is_for(log):
    change = Change([page("a", "é\ud800", kind=[1, None])], np.asarray([[0.5, -1]], np.float32))
    assert log.append({1: change, 2: Change(language="fr", deleted=["b", "c"])}) == 1
    read = log.read(1, 1)
    assert (read.documents, read.vectors.tolist()) == (list(change.documents), [[0.5, -1]])
    assert log.read(1, 2) == Change([], None, "fr", ["b", "c"])
    assert log.read(1, 0) is None


def test_numbers_go_on_when_what_all_have_is_forgotten(log):
    assert [log.append({0: adding(page("a"))}) for _ in range(3)] == [1, 2, 3]
    assert log.after(1) == [2, 3]
    log.forget(3)
    assert log.after(0) == [3]
    assert log.append({0: adding(page("a"))}) == 4


def test_what_cannot_be_written_is_no_change(log, path):
    with pytest.raises(TypeError):
        log.append({0: adding(page("a", odd=object()))})
    assert log.last() == 0
    assert not [*(path / LOG).iterdir()]


def test_a_shard_takes_over_what_it_has_missed_when_it_is_opened(log, path):
    log.append({0: adding(page("a"), page("b"))})
    log.append({1: adding(page("c"))})
    log.append({0: Change(language="fr", deleted=["a"])})
    assert Shard(path, 0).tell(0, "counts", ()) == (3, {"fr": 1})
    assert Shard(path, 1).tell(3, "counts", ()) == (3, {"fr": 1})


def test_a_shard_that_died_before_it_had_noted_a_change_takes_it_over_again(log, path):
    log.append({0: adding(page("a", "first"), page("b"))})
    log.append({0: adding(page("a", "second"))})
    log.append({0: Change(language="fr", deleted=["b"])})
    Shard(path, 0).catch_up()
    (path / "shard-0" / "change").write_text("1")
    again = Shard(path, 0)
    assert again.tell(0, "get", ("fr", ["a", "b"])) == (3, [page("a", "second"), None])


def test_two_processes_may_have_the_same_shard(log, path):
    here, there = Shard(path, 0), Shard(path, 0)
    log.append({0: adding(page("a"))})
    assert here.tell(0, "counts", ()) == (1, {"fr": 1})
    log.append({0: adding(page("b"))})
    log.forget(2)
    assert there.tell(0, "counts", ()) == (2, {"fr": 2})
    assert here.tell(2, "counts", ()) == (2, {"fr": 2})


def test_a_shard_opened_when_all_is_done_has_the_last_number(log, path):
    for _ in range(3):
        log.forget(log.append({0: adding(page("a"))}))
    Shard(path, 0).catch_up()
    assert Shard(path, 0).catch_up() == Shard(path, 1).catch_up() == 3


def test_every_shard_has_its_share(path):
    shards = [shard_of(language, f"d{number}", 8) for language in ("fr", "it") for number in range(4000)]
    assert np.bincount(shards).min() > 900
    assert shard_of("fr", "\ud800", 8) == shard_of("fr", "\ud800", 8)


def test_a_directory_that_a_node_does_not_see_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("isogloss.cluster.shard.node_name", lambda: "10.0.0.7")
    with pytest.raises(InputError, match=r"the node 10\.0\.0\.7 does not see this store"):
        Shard(tmp_path / "nowhere", 0)


def test_the_files_of_a_shard_are_a_store_of_their_own(log, path):
    log.append({0: adding(page("a"))})
    Shard(path, 0).catch_up()
    assert EmbeddedStore(path / "shard-0" / "documents").counts() == {"fr": 1}
