"""The tables of a store in PostgreSQL: made, used with few rights, dropped; of one version."""

import numpy as np
import pytest
from tests.engines import postgres
from tests.engines.inputs import DIMENSION, ids_of, page, unit

from isogloss.engines.postgres import PostgresEngine
from isogloss.engines.postgres.schema import VERSION
from isogloss.storage.errors import InputError

psycopg = postgres.psycopg
server, own_server, administrator = postgres.server, postgres.own_server, postgres.administrator
name, store = postgres.name, postgres.store


def tables(administrator, name):
    query = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1"
    return [table for (table,) in administrator.execute(query, (name,))]


def test_a_store_is_a_schema_and_several_live_in_one_database(server, name, administrator):
    other = f"{name}_2"
    with PostgresEngine.create(server.url, DIMENSION, name=name) as first:
        first.add([page("a")], unit(0))
        with PostgresEngine.create(server.url, 3, name=other) as second:
            second.add([page("b", "it")], np.ones((1, 3), np.float32))
            assert (first.counts(), second.counts()) == ({"fr": 1}, {"it": 1})
            second.drop()
        assert first.counts() == {"fr": 1}
    found = tables(administrator, name)
    assert found == ["documents", "documents_fr", "languages", "postings", "settings", "vectors", "vectors_fr"]
    assert tables(administrator, other) == []


def test_a_name_is_taken_once_and_a_dropped_one_is_free_again(server, name):
    with PostgresEngine.create(server.url, DIMENSION, name=name) as first:
        with pytest.raises(InputError, match=f"there is a schema '{name}' with tables already; choose another name"):
            PostgresEngine.create(server.url, DIMENSION, name=name)
        first.drop()
    with pytest.raises(InputError, match=f"there is no schema '{name}' of an index in this database"):
        PostgresEngine.open(server.url, name=name)
    PostgresEngine.create(server.url, DIMENSION, name=name).close()


def test_what_others_keep_in_the_schema_is_left_alone(server, name, administrator):
    administrator.execute(f"CREATE SCHEMA {name}")  # as an administrator makes one for somebody
    with PostgresEngine.create(server.url, DIMENSION, name=name) as made:
        administrator.execute(f"CREATE TABLE {name}.mine (number integer)")
        administrator.execute(f"CREATE VIEW {name}.texts AS SELECT id, page->>'text' AS text FROM {name}.documents")
        with pytest.raises(InputError, match="something else depends on the engine's tables"):
            made.drop()
        assert made.counts() == {}
        administrator.execute(f"DROP VIEW {name}.texts")
        made.drop()
    assert tables(administrator, name) == ["mine"]


@pytest.mark.parametrize("odd", ['say "hello"', "x'; DROP SCHEMA public; --", "Größe 中", "{documents}"])
def test_names_are_quoted(server, administrator, odd):
    made = PostgresEngine.create(server.url, DIMENSION, name=odd)
    try:
        made.add([page("a", "zh-Hant")], unit(0))
        made.build_hnsw()
        with PostgresEngine.open(server.url, name=odd) as opened:
            assert ids_of(opened.search("zh-Hant", unit(0), 1)[0]) == ["a"]
    finally:
        made.drop()
    assert administrator.execute("SELECT to_regnamespace('public') IS NOT NULL").fetchone() == (True,)


@pytest.mark.parametrize(("wrong", "message"), [
    ({"name": "x" * 64}, "cannot name a schema"), ({"name": ""}, "cannot name a schema"),
    ({"name": "nul\0"}, "cannot name a schema"), ({"name": "100%s"}, "cannot name a schema"),
    ({"storage": "int8"}, "storage: 'int8' is not one of"),
    ({"dimension": 0}, "dimension: vectors of 0 components, but pgvector keeps 1 to 16,000"),
    ({"dimension": 16_001}, "dimension: vectors of 16,001 components"),
    ({"languages": ["../fr"]}, "'../fr' is not a language code"),
])  # fmt: skip
def test_what_cannot_be_made_is_refused_and_leaves_nothing(server, name, administrator, wrong, message):
    with pytest.raises(InputError, match=message):
        PostgresEngine.create(server.url, **{"dimension": DIMENSION, "name": name} | wrong)
    assert administrator.execute("SELECT to_regnamespace(%s)", (name,)).fetchone() == (None,)


def test_anybody_may_read_the_tables_in_sql(store, administrator):
    store.add([page("a", text="du sel", kind="guide")], unit(0, 2))
    found = administrator.execute(
        f"SELECT d.id, page->>'text', page->'fields'->>'kind', vector <#> %s::vector"
        f" FROM {store.schema.name}.documents d JOIN {store.schema.name}.vectors USING (language, id)",
        (str(unit(0)[0].tolist()),),
    ).fetchall()
    assert found == [("a", "du sel", "guide", -2.0)]


# versions


def test_a_schema_of_another_version_is_refused(store, server, administrator):
    name = store.schema.name
    assert store.about()["version"] == VERSION
    administrator.execute(f"UPDATE {name}.settings SET version = 99")
    with pytest.raises(InputError, match=rf"has version 99, this isogloss reads {VERSION}; make the index again"):
        PostgresEngine.open(server.url, name=name)
    administrator.execute(f"ALTER TABLE {name}.settings DROP COLUMN version")
    with pytest.raises(InputError, match=r"has an unknown version, this isogloss reads .*; make the index again"):
        PostgresEngine.open(server.url, name=name)


# rights


@pytest.fixture
def guest(own_server, administrator):
    """The connection string of a user without any rights, who gets none in the end."""
    yield own_server.as_guest(postgres.PASSWORD.replace("%", "%25"))
    administrator.execute(f"DROP OWNED BY {postgres.GUEST}")


def grant(administrator, name, rights):
    administrator.execute(f"GRANT USAGE ON SCHEMA {name} TO {postgres.GUEST}")
    for right in rights:
        administrator.execute(f"GRANT {right} TO {postgres.GUEST}")


def test_without_rights_a_store_is_neither_made_nor_read(guest, store, name):
    with pytest.raises(InputError, match=r"permission denied for schema .* ask for the rights"):
        PostgresEngine.open(guest, name=store.schema.name)
    with pytest.raises(InputError, match=r"permission denied for database .* ask for the rights"):
        PostgresEngine.create(guest, DIMENSION, name=f"{name}_2")


def test_a_reader_searches_languages_that_came_later_too_and_changes_nothing(guest, store, administrator):
    name = store.schema.name
    grant(administrator, name, [f"SELECT ON {name}.{table}" for table in
                                ("settings", "languages", "documents", "vectors")])  # fmt: skip
    store.add([page("a"), page("b", "it")], np.concatenate([unit(0), unit(1)]))
    store.build_hnsw(["fr"])
    with PostgresEngine.open(guest, name=name) as reader:
        assert reader.counts() == {"fr": 1, "it": 1}
        assert reader.search("it", unit(1), 1)[0] == [("b", 1.0)]
        assert reader.search("fr", unit(0), 1)[0] == [("a", 1.0)]
        assert reader.about()["documents"] == {"fr": 1, "it": 1}
        for change in (
            lambda: reader.add([page("c")], unit(0)),
            lambda: reader.delete("fr", ["a"]),
            reader.drop,
        ):
            with pytest.raises(InputError, match="ask for the rights"):
                change()
    assert store.counts() == {"fr": 1, "it": 1}


def test_a_writer_adds_in_the_languages_there_is_room_for(guest, server, name, administrator):
    with PostgresEngine.create(server.url, DIMENSION, name=name, languages=["fr"]) as owner:
        reads = [f"SELECT ON ALL TABLES IN SCHEMA {name}"]
        writes = [
            f"INSERT, UPDATE, DELETE ON {name}.documents, {name}.vectors, {name}.postings",
            f"USAGE ON SEQUENCE {name}.numbers",
            f"UPDATE ON {name}.settings",
        ]
        grant(administrator, name, reads + writes)
        with PostgresEngine.open(guest, name=name) as writer:
            writer.add([page("a")], unit(0, 3))
            writer.load([([page("b")], unit(0, 2))])
            assert writer.delete("fr", ["b"]) == 1
            with pytest.raises(InputError, match="ask for the rights"):
                writer.add([page("c", "it"), page("d")], np.concatenate([unit(0), unit(1)]))
        assert owner.counts() == {"fr": 1}
