"""PostgreSQL as a store, on a real server: what every store does, exactness to the last bit, streams, many at once."""

import multiprocessing
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest
from tests.engines import postgres
from tests.engines.conformance import EngineConformance
from tests.engines.inputs import DIMENSION, ids_of, page, unit

from isogloss.engines.postgres import PostgresEngine
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.storage.errors import InputError

server, administrator, name, store = postgres.server, postgres.administrator, postgres.name, postgres.store


class Schemas:
    """One after the other in a database, each under a name of its own."""

    def __init__(self, url, name):
        self._url, self._name, self._names = url, name, count()

    def create(self, dimension=DIMENSION, sparse=False):
        name = f"{self._name}_{next(self._names)}"
        return PostgresEngine.create(self._url, dimension, name=name, sparse=sparse)

    def reopen(self, store):
        store.close()
        return PostgresEngine.open(self._url, name=store.schema.name)


class TestPostgres(EngineConformance):
    @pytest.fixture
    def opener(self, server, name, administrator):
        yield Schemas(server.url, name)
        for number in range(2):
            administrator.execute(f'DROP SCHEMA IF EXISTS "{name}_{number}" CASCADE')


def exactly(ids, matrix, queries, k):
    """What the embedded exact index finds: ids and scores."""
    order = np.argsort(np.argsort(np.asarray(ids, dtype=object)))
    rankings = ExactIndex(matrix, order).search_batch(queries, k)
    return [[(ids[row], float(score)) for row, score in zip(*ranking, strict=True)] for ranking in rankings]


def near_ties(rng, count, dimension):
    """Vectors whose scores differ by less than float32 can tell, in groups; some are equal to the last bit."""
    centres = rng.standard_normal((4, dimension)).astype(np.float32)
    matrix = centres[rng.integers(4, size=count)]
    matrix = np.nextafter(matrix, rng.choice([-np.inf, np.inf], size=matrix.shape).astype(np.float32))
    matrix[: count // 4] = matrix[count // 4 : 2 * (count // 4)]
    return matrix


@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("kind", ["spread", "near ties", "long and short"])
def test_rankings_and_scores_are_those_of_the_exact_index_to_the_last_bit(server, name, kind, storage):
    rng, dimension, count = np.random.default_rng(5), 48, 400
    matrix = rng.standard_normal((count, dimension)).astype(np.float32) / 7
    if kind == "near ties":
        matrix = near_ties(rng, count, dimension)
    elif kind == "long and short":
        matrix *= (10 ** rng.uniform(-3, 3, (count, 1))).astype(np.float32)
    queries = rng.standard_normal((8, dimension)).astype(np.float32)
    queries[0] = 0
    ids = rng.permutation([f"d{number}" for number in range(count)]).tolist()
    with PostgresEngine.create(server.url, dimension, name=name, storage=storage) as made:
        made.add([page(id_) for id_ in ids], matrix)
        for k in (1, 10, 100, count):
            wanted = exactly(ids, matrix.astype(storage), queries, k)
            assert [list(answer) for answer in made.search("fr", queries, k)] == wanted
        assert made.about()["storage"] == storage


@pytest.mark.parametrize(("storage", "length"), [("float16", 70_000), ("float32", 1e30)])
def test_a_vector_that_is_too_long_is_refused(server, name, storage, length):
    with PostgresEngine.create(server.url, DIMENSION, name=name, storage=storage) as made:
        with pytest.raises(InputError, match=f"'b' has a vector that is far too long to be kept as {storage}"):
            made.add([page("a"), page("b")], np.concatenate([unit(0), unit(0, length)]))
        assert made.counts() == {}


def test_vectors_of_many_components_are_kept_beside_the_table_and_found(server, name):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((5, 3_000)).astype(np.float32)
    with PostgresEngine.create(server.url, 3_000, name=name) as made:
        made.add([page(id_) for id_ in "abcde"], matrix)
        assert [ids_of(answer)[0] for answer in made.search("fr", matrix, 1)] == list("abcde")


# streams


def batches(count, size=500, dimension=DIMENSION):
    for start in range(0, count, size):
        ids = [f"d{number}" for number in range(start, start + size)]
        yield [page(id_, text="mot " * 40) for id_ in ids], np.full((size, dimension), start + 1, np.float32)


def test_a_stream_is_loaded_whole(store):
    assert store.load(batches(5_000)) == 5_000
    assert store.counts() == {"fr": 5_000}
    assert ids_of(store.search("fr", np.ones((1, DIMENSION), np.float32), 1)[0]) == ["d4500"]


def test_a_stream_that_breaks_leaves_nothing(store):
    store.add([page("d1", text="old")], unit(0))

    def breaking():
        yield from batches(1_000)
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        store.load(breaking())
    assert store.counts() == {"fr": 1}
    assert store.get("fr", ["d1"]) == [page("d1", text="old")]


def test_the_later_of_two_documents_of_a_stream_stays(store):
    store.load([([page("a", text=text)], unit(place)) for place, text in enumerate(("first", "second"))])
    assert store.get("fr", ["a"]) == [page("a", text="second")]
    assert store.search("fr", unit(1), 1)[0] == [("a", 1.0)]


def test_a_longer_stream_takes_no_more_memory(server, name):
    peaks = []
    with PostgresEngine.create(server.url, 64, name=name) as made:
        for count in (2_000, 6_000):
            tracemalloc.start()
            made.load(batches(count, dimension=64))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


# many at once


def test_writers_of_the_same_documents_do_not_hurt_each_other(store):
    documents = [page(f"d{number:03}") for number in range(200)]
    start = threading.Barrier(4)

    def write(version):
        start.wait(30)
        order = np.random.default_rng(version).permutation(200)
        for _ in range(5):
            store.add([documents[number] for number in order], np.repeat(unit(0, version), 200, axis=0))
            store.delete("fr", [documents[number].id for number in order[:20]])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(1, 5)))
    store.add(documents, np.repeat(unit(0, 9), 200, axis=0))
    assert store.counts() == {"fr": 200}
    assert {hit.score for hit in store.search("fr", unit(0), 300)[0]} == {9.0}


def test_a_new_language_waits_for_no_stream(store):
    def stream():
        yield [page("a")], unit(0)
        store.add([page("b", "it")], unit(0))
        assert ids_of(store.search("it", unit(0), 1)[0]) == ["b"]
        yield [page("c", "sw")], unit(0)

    store.load(stream())
    assert store.counts() == {"fr": 1, "it": 1, "sw": 1}


def test_more_threads_than_connections_take_turns(store):
    store.add([page("a")], unit(0))
    with ThreadPoolExecutor(40) as threads:
        answers = list(threads.map(lambda _: store.search("fr", unit(0), 1)[0], range(200)))
    assert answers == [[("a", 1.0)]] * 200


def _search_in_child(store, answers):
    answers.put(store.search("fr", unit(0), 1)[0])
    store.close()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_opens_connections_of_its_own(store):
    store.add([page("a")], unit(0))
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_search_in_child, args=(store, answers))
    child.start()
    assert answers.get(timeout=30) == [("a", 1.0)]
    child.join(30)
    assert store.search("fr", unit(0), 1)[0] == [("a", 1.0)]
