"""Addresses of stores, and the engines they name."""

import re

import pytest

from isogloss.engines.addresses import complete, engine_of, in_use, without_password
from isogloss.engines.registry import ENGINES, create_engine, new_name
from isogloss.storage.errors import InputError


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db:5432/pages", "postgresql://me@db:5432/pages"),
        ("postgresql://me:s@cr:et@db/pages", "postgresql://me@db/pages"),
        ("postgresql://me:@/pages?host=/run/pg", "postgresql://me@/pages?host=/run/pg"),
        ("postgresql://me:s?cret@db/pages?port=1", "postgresql://me@db/pages?port=1"),
        ("postgresql:///pages?password=secret", "postgresql:///pages"),
        ("postgresql:///pages?pass%77ord=secret&scram_client_key=secret", "postgresql:///pages"),
        ("postgresql:///pages?host=%2Frun&sslpassword=secret&port=1", "postgresql:///pages?host=%2Frun&port=1"),
        ("qdrant+https://:secret@example.org:6333", "qdrant+https://@example.org:6333"),
        ("postgresql://db/pages", "postgresql://db/pages"),
        ("qdrant:/data/a:b@c", "qdrant:/data/a:b@c"),
    ],
)
def test_a_password_is_never_shown(url, shown):
    assert without_password(url) == shown


def test_a_folder_is_named_so_that_it_holds_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = tmp_path / "pages.index"
    assert complete("qdrant:folder", index) == f"qdrant:{tmp_path}/folder"
    assert complete("qdrant:", index) == f"qdrant:{tmp_path}/pages.index.engine"
    for url in ("postgresql://db/pages", "qdrant+http://localhost:6333", "postgresql:///pages"):
        assert complete(url, index) == url


def test_the_environment_wins_for_the_engine_it_speaks_of(monkeypatch):
    monkeypatch.setenv("ISOGLOSS_ENGINE", "postgresql://me:secret@elsewhere/pages")
    assert in_use("postgresql://db/pages") == "postgresql://me:secret@elsewhere/pages"
    assert in_use("qdrant:folder") == "qdrant:folder"


@pytest.mark.parametrize("wrong", ["folder", "", "://x", "POSTGRES-QL:x"])
def test_what_is_no_address_is_said(wrong):
    with pytest.raises(InputError, match="not an address"):
        engine_of(wrong)


def test_an_engine_that_nobody_knows_is_an_error_that_names_those_there_are():
    with pytest.raises(InputError, match=", ".join(ENGINES.names())):
        create_engine("milvus://localhost", 8, "pages")


@pytest.mark.parametrize("name", ["index", "My Index.v2", "索引", "9lives", "a" * 200, "_", "Ünïcode", "pg", "pg.db"])
def test_names_are_plain_and_never_the_same(tmp_path, name):
    made = {new_name(tmp_path / name) for _ in range(20)}
    assert len(made) == 20
    assert all(re.fullmatch("[a-z][a-z0-9_]{0,39}", one) for one in made)
    assert not any(one.startswith("pg_") for one in made), "PostgreSQL refuses such names"
