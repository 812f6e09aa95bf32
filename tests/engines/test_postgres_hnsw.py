"""HNSW in PostgreSQL: measured before it is trusted, with filters too."""

import uuid

import numpy as np
import pytest
from tests.engines import postgres
from tests.engines.inputs import DIMENSION, ids_of, page, unit

from isogloss.engines.postgres import PostgresEngine, searching
from isogloss.engines.postgres.connection import Database
from isogloss.engines.recall import ef_search_for
from isogloss.storage.errors import InputError

server, administrator, name, store = postgres.server, postgres.administrator, postgres.name, postgres.store

ROWS, WIDTH = 3_000, 32


def clustered(rng, count):
    """Vectors around some centres, scaled to be shorter than 1."""
    centres = rng.standard_normal((30, WIDTH))
    vectors = centres[rng.integers(30, size=count)] + 0.4 * rng.standard_normal((count, WIDTH))
    return (vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 0.25)).astype(np.float32)


@pytest.fixture(scope="module", params=["float32", "float16"])
def indexed(server, request):
    """A store with an index, and queries."""
    rng = np.random.default_rng(1)
    matrix = clustered(rng, ROWS + 100)
    name = f"test_{uuid.uuid4().hex}"
    made = PostgresEngine.create(server.url, WIDTH, name=name, storage=request.param)
    kinds = rng.choice(["common", "some", "rare"], p=[0.85, 0.14, 0.01], size=ROWS)
    made.add([page(f"d{row:04}", kind=str(kinds[row])) for row in range(ROWS)], matrix[:ROWS])
    made.build_hnsw(memory="64MB")
    yield made, matrix[ROWS:]
    made.drop()


def recall(found, wanted):
    pairs = [(set(ids_of(one)), ids_of(other)) for one, other in zip(found, wanted, strict=True)]
    return np.mean([id_ in there for there, ids in pairs for id_ in ids])


def plan(store, administrator, query, exact):
    """The plan of a search that the server has in mind."""
    order = "+ 0" if exact else ""
    kind = store.schema.kind.type_name
    rows = administrator.execute(
        f"EXPLAIN SELECT id FROM {store.schema.name}.vectors WHERE language = 'fr'"
        f" ORDER BY (vector <#> %s::{kind}) {order} LIMIT 20",
        (str(query.tolist()),),
    )
    return " ".join(line for (line,) in rows)


def test_what_it_reaches_is_measured_and_shown(indexed):
    store, _ = indexed
    (known,) = store.about()["search"].values()
    assert known["kind"] == "hnsw" and known["m"] == 16 and known["seconds"] > 0
    assert [level["k"] for level in known["levels"]] == [10, 100]
    assert all(level["recall"] >= 0.98 and level["reached"] for level in known["levels"])
    assert all(level["ef_search"] >= min(level["k"], 100) for level in known["levels"])


@pytest.mark.parametrize("k", [1, 10, 100])
def test_it_finds_what_an_exact_search_finds_in_its_order(indexed, k):
    store, queries = indexed
    found, wanted = store.search("fr", queries, k), store.search("fr", queries, k, exact=True)
    assert recall(found, wanted) > 0.9
    scores = {hit.id: hit.score for answer in wanted for hit in answer}
    for one, other in zip(found, wanted, strict=True):
        scores = {hit.id: hit.score for hit in other}
        assert all(hit.score == scores[hit.id] for hit in one if hit.id in scores)
        assert list(one) == sorted(one, key=lambda hit: (-hit.score, hit.id))
        assert len(one) == k


def test_the_index_is_used_unless_the_search_is_exact(indexed, administrator):
    store, queries = indexed
    assert "hnsw" not in plan(store, administrator, queries[0], exact=True)
    administrator.execute("SET enable_sort TO off")
    assert "Index Scan using vectors_fr_vector_idx" in plan(store, administrator, queries[0], exact=False)
    assert "vectors_fr_vector_idx" not in plan(store, administrator, queries[0], exact=True)


@pytest.mark.parametrize("few", [0, 200])
@pytest.mark.parametrize("kind", ["common", "some", "rare", "none"])
def test_filters_go_with_it_however_few_they_let_pass(indexed, monkeypatch, kind, few):
    """With 0 the index is walked whatever the filter, with 200 the rare ones are all scored."""
    store, queries = indexed
    monkeypatch.setattr(searching, "_FEW", few)
    found = store.search("fr", queries, 10, {"kind": kind})
    wanted = store.search("fr", queries, 10, {"kind": kind}, exact=True)
    assert [len(answer) for answer in found] == [len(answer) for answer in wanted]
    if kind != "none":
        assert recall(found, wanted) > 0.9
        documents = store.get("fr", ids_of(found[0]))
        assert {document.fields["kind"] for document in documents} == {kind}


def test_statistics_tell_which_filters_let_few_pass(indexed, server, monkeypatch):
    store, _ = indexed
    monkeypatch.setattr(searching, "_FEW", 200)
    with Database(server.url, 60).separate_connection() as connection:
        few = [
            searching.is_selective(connection, store.schema, searching.Scope("fr", filters))
            for filters in (None, {"kind": "common"}, {"kind": "some"}, {"kind": "rare"})
        ]
    assert few == [False, False, False, True]


def test_a_query_too_large_for_float16_is_searched_exactly(indexed):
    store, queries = indexed
    large = 1e6 * queries[:3]
    assert store.search("fr", large, 10) == store.search("fr", large, 10, exact=True)


def test_more_results_than_it_was_measured_for_are_searched_exactly(indexed):
    store, queries = indexed
    assert store.search("fr", queries, 101) == store.search("fr", queries, 101, exact=True)
    assert ef_search_for({"levels": [{"k": 10, "ef_search": 1000, "recall": 0.4, "reached": False}]}, 10) is None


def test_documents_that_come_later_are_found_and_replaced_ones_move(store):
    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((500, DIMENSION)).astype(np.float32) / 10
    store.add([page(f"d{row}") for row in range(500)], matrix)
    store.build_hnsw(["fr"])
    store.add([page("new"), page("d7")], np.concatenate([unit(0, 5), unit(1, 5)]))
    assert ids_of(store.search("fr", unit(0), 1)[0]) == ["new"]
    assert ids_of(store.search("fr", unit(1), 1)[0]) == ["d7"]
    assert store.about()["search"]["fr"]["rows"] == 500
    assert store.measure_hnsw()["fr"]["rows"] == 501
    assert store.delete("fr", ["new"]) == 1
    assert "new" not in ids_of(store.search("fr", unit(0), 10)[0])


def test_another_build_takes_the_place_of_the_first(store, administrator):
    store.add([page("a"), page("b", "it")], np.concatenate([unit(0), unit(1)]))
    assert set(store.build_hnsw()) == {"fr", "it"}
    assert store.build_hnsw(["fr"], m=8, ef_construction=32)["fr"]["m"] == 8
    query = "SELECT count(*) FROM pg_indexes WHERE schemaname = %s AND indexdef LIKE '%% hnsw %%'"
    assert administrator.execute(query, (store.schema.name,)).fetchone() == (2,)
    assert store.search("fr", unit(0), 5)[0] == [("a", 1.0)]


def test_an_index_of_nothing_can_be_built(server, name):
    with PostgresEngine.create(server.url, DIMENSION, name=name, languages=["fr"]) as made:
        made.build_hnsw()
        assert made.search("fr", unit(0), 5)[0] == []
        made.add([page("a")], unit(0))
        assert ids_of(made.search("fr", unit(0), 5)[0]) == ["a"]


@pytest.mark.parametrize("wrong", [{"memory": "a lot"}, {"m": 1}, {"ef_construction": 100_000}])
def test_settings_that_the_server_does_not_take_are_refused(store, wrong):
    store.add([page("a")], unit(0))
    with pytest.raises(InputError, match="the server does not take a setting"):
        store.build_hnsw(**wrong)
    assert store.about()["search"] == {"fr": {"kind": "exact"}}


def test_a_language_that_is_not_there_is_refused(store):
    store.add([page("a")], unit(0))
    with pytest.raises(InputError, match="language: 'xx' is not in this engine; it has fr"):
        store.build_hnsw(["xx"])


@pytest.mark.parametrize(("storage", "dimension", "way"), [
    ("float32", 2_001, "keep float16"), ("float16", 4_001, "search exactly"),
])  # fmt: skip
def test_more_components_than_it_takes_are_refused(server, name, storage, dimension, way):
    with PostgresEngine.create(server.url, dimension, name=name, storage=storage) as made:
        made.add([page("a")], np.ones((1, dimension), np.float32))
        with pytest.raises(InputError, match=f"vectors of {dimension:,} components.*{way}"):
            made.build_hnsw()
        assert ids_of(made.search("fr", np.ones((1, dimension), np.float32), 1)[0]) == ["a"]
