"""An index in shards finds what one index finds, says what is missing, and loses nothing that was acknowledged."""

import logging
import os
import signal
import time

import numpy as np
import pytest

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document
from isogloss.stores.embedded import EmbeddedStore

pytest.importorskip("ray", reason="the extra 'ray' is not installed")

DIMENSION = 16
KILLS = int(os.environ.get("ISOGLOSS_KILLS", "0"))


def pages(first, last):
    return [Document(f"d{number}", f"page {number}", language="fr") for number in range(first, last)]


def vectors(count, seed):
    return np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)


def until(is_so, what):
    """Wait for something that is going to happen."""
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.05)


def host(name):
    import ray

    from isogloss.cluster.connecting import NAMESPACE

    return ray.get_actor(f"isogloss-{name}", NAMESPACE)


def process_of(name):
    import ray

    return ray.get(host(name).__ray_call__.remote(lambda _: os.getpid()))


def kill(name, for_ever=False):
    import ray

    if for_ever:
        ray.kill(host(name))
    else:
        os.kill(process_of(name), signal.SIGKILL)


def missing(store):
    (answer,) = store.search("fr", np.ones((1, DIMENSION), np.float32), 5)
    return answer.missing


@pytest.fixture
def new_store(cluster, tmp_path):
    from isogloss.cluster.sharded import ShardedStore

    made = []

    def make(shards, timeout=60):
        made.append(ShardedStore.create(f"ray:{tmp_path}?shards={shards}&timeout={timeout}", DIMENSION, name="store"))
        return made[-1]

    yield make
    for store in made:
        store.close()


def test_a_thousand_queries_find_what_one_index_finds(new_store, tmp_path):
    one, sharded = EmbeddedStore(tmp_path / "one"), new_store(2)
    documents, given = pages(0, 5000), vectors(5000, 0)
    given[1::7] = given[::7][: len(given[1::7])]  # equal vectors: equal scores
    for store in (one, sharded):
        store.add(documents, given)
        store.add(pages(100, 300), vectors(200, 1))
        assert store.delete("fr", [f"d{number}" for number in range(0, 5000, 50)]) == 100
    queries = vectors(1000, 2)
    queries[:200] = given[:200]
    assert sharded.search("fr", queries, 10) == one.search("fr", queries, 10)
    assert sharded.counts() == one.counts() == {"fr": 4900}
    one.close()


@pytest.mark.parametrize("for_ever", [False, True])
def test_a_killed_process_is_named_until_it_is_back_with_all_that_was_acknowledged(new_store, caplog, for_ever):
    """One that dies is started again by Ray; one that Ray has ended, as when its owner leaves, by the store."""
    store = new_store(2)
    store.add(pages(0, 100), vectors(100, 0))
    wanted = store.search("fr", vectors(20, 1), 200)
    with caplog.at_level(logging.WARNING, "isogloss"):
        kill("shard-1", for_ever)
        partial = store.search("fr", vectors(20, 1), 200)
        assert {answer.missing for answer in partial} == {("shard-1",)}
        for answer, whole in zip(partial, wanted, strict=True):
            assert set(answer.found) < set(whole.found)
        store.add(pages(100, 120), vectors(20, 2))  # it is away: the change waits for it
        assert store.about()["missing"] in ([], ["shard-1"])
        until(lambda: not missing(store), "an answer of both shards")
    assert store.counts() == {"fr": 120}
    assert store.get("fr", [page.id for page in pages(0, 120)]) == pages(0, 120)
    store.delete("fr", [page.id for page in pages(100, 120)])
    assert store.search("fr", vectors(20, 1), 200) == wanted
    assert "shard-1 does not answer" in caplog.text
    assert "shard-1 answers again, on node" in caplog.text


def test_a_process_that_hangs_is_not_waited_for_longer_than_was_said(new_store):
    store = new_store(2, timeout=0.3)
    until(lambda: not missing(store), "an answer of both shards")
    process = process_of("shard-1")
    os.kill(process, signal.SIGSTOP)
    try:
        until(lambda: missing(store) == ("shard-1",), "a partial answer")
    finally:
        os.kill(process, signal.SIGCONT)
    until(lambda: not missing(store), "an answer of both shards")


def test_what_needs_a_shard_that_is_away_says_so(new_store):
    store = new_store(2)
    store.add(pages(0, 100), vectors(100, 0))
    kill("shard-0")
    with pytest.raises(InputError, match="shard-0 does not answer"):
        store.get("fr", [page.id for page in pages(0, 100)])
    with pytest.raises(InputError, match="shard-0 does not answer"):
        store.delete("fr", [page.id for page in pages(0, 100)])
    assert store.counts() == {"fr": 100}
    until(lambda: not missing(store), "an answer of both shards")
    assert store.delete("fr", [page.id for page in pages(0, 100)]) == 100


def test_the_shards_of_a_node_that_dies_come_back_elsewhere(cluster, node, new_store, caplog):
    store = new_store(4)
    store.add(pages(0, 200), vectors(200, 0))
    wanted = store.search("fr", vectors(20, 1), 300)
    nodes = store.about()["nodes"]
    own = {name for name, where in nodes.items() if node.node_id[:8] in where}
    assert 0 < len(own) < 4
    with caplog.at_level(logging.WARNING, "isogloss"):
        cluster.remove_node(node, allow_graceful=False)
        until(lambda: missing(store), "a partial answer")
        assert set(missing(store)) <= own
        store.add(pages(200, 220), vectors(20, 2))
        until(lambda: not missing(store), "an answer of all shards")
    assert store.counts() == {"fr": 220}
    store.delete("fr", [page.id for page in pages(200, 220)])
    assert store.search("fr", vectors(20, 1), 300) == wanted
    assert all(f"{name} answers again" in caplog.text for name in own)


@pytest.mark.parametrize("options", ["shards=0", "shards=two", "shards=1.5", "shard=2", "timeout=-1"])
def test_an_address_that_cannot_be_is_an_error(tmp_path, options):
    from isogloss.cluster.sharded import ShardedStore

    with pytest.raises(InputError, match="store: "):
        ShardedStore.create(f"ray:{tmp_path}/store?{options}", DIMENSION, name="store")
    assert not [*tmp_path.iterdir()]


def test_a_name_is_taken_or_not_there(new_store, tmp_path):
    from isogloss.cluster.sharded import ShardedStore

    new_store(2)
    with pytest.raises(InputError, match="is there already"):
        ShardedStore.create(f"ray:{tmp_path}?shards=2", DIMENSION, name="store")
    with pytest.raises(InputError, match="no such store"):
        ShardedStore.open(f"ray:{tmp_path}", name="another")


@pytest.mark.skipif(not KILLS, reason="long: ISOGLOSS_KILLS=50, as in 'make soak'")
@pytest.mark.parametrize("seed", [0])
def test_nothing_acknowledged_is_lost_however_often_processes_die(new_store, seed):
    """Batches of documents come, go and are replaced while a process is killed again and again."""
    rng, store, kept = np.random.default_rng(seed), new_store(3), {}
    for number in range(KILLS):
        kill(f"shard-{rng.integers(3)}", bool(rng.integers(2)))
        for _ in range(5):
            chosen = [pages(row, row + 1)[0] for row in rng.choice(200, 20, replace=False)]
            given = rng.standard_normal((20, DIMENSION)).astype(np.float32)
            store.add(chosen, given)
            kept |= {page.id: vector for page, vector in zip(chosen, given, strict=True)}
        until(lambda: not missing(store), "an answer of all shards")
        gone = [f"d{row}" for row in rng.choice(200, 20, replace=False)]
        assert store.delete("fr", gone) == sum(kept.pop(id_, None) is not None for id_ in gone), number
        assert store.counts() == {"fr": len(kept)}
        query = rng.standard_normal(DIMENSION).astype(np.float32)
        (answer,) = store.search("fr", query[np.newaxis], 300)
        scores = {id_: float(vector.astype(np.float64) @ query.astype(np.float64)) for id_, vector in kept.items()}
        assert {hit.id for hit in answer.found} == set(kept), number
        assert [hit.score for hit in answer.found] == pytest.approx([scores[hit.id] for hit in answer.found], abs=1e-5)
