"""`isogloss index --engine`, and the other commands on such an index."""

import json

import pytest
from tests.engines.inputs import few_pages
from tests.engines.kept import kept_engine, names_in

from isogloss.storage.errors import InputError


@pytest.fixture
def engine():
    with kept_engine() as engine:
        yield engine
        assert engine.open_now == 0


@pytest.fixture
def pages(here):
    few_pages(here)
    return "jsonl:few-pages.jsonl"


@pytest.fixture
def stored(run, engine, pages):
    done = run(*indexing(pages), "--language", "fr", "-o", "index", "--engine", "kept:store?password=s3cret")
    assert done.code == 0, done.err
    return done


def indexing(pages):
    return "index", pages, "--system", "aligned", "--set", "dimension=12"


def ids(run, *query):
    done = run("search", "index", *query, "--json", "-")
    assert done.code == 0, done.err
    return [hit["id"] for hit in json.loads(done.out)["hits"]]


def test_the_walk(run, here, stored):
    (name,) = names_in(here / "store")
    assert stored.err == (
        f"index: 10 documents in fr, and 10 in en to search with, in kept:{here}/store as {name}; "
        "search with: isogloss search index 'your query'\n"
    )
    first = ids(run, "bees and honey")
    assert set(first[:2]) == {"fr-honey", "fr-honeybee"}
    shown = run("search", "index", "bees and honey", "--explain")
    assert "honey →" in shown.out
    page = {"id": "new", "text": "Les abeilles et le miel.", "lang": "fr", "fields": {"kind": "new"}}
    (here / "more.jsonl").write_text(json.dumps(page) + "\n", encoding="utf-8")
    assert run("add", "index", "jsonl:more.jsonl").err == "index: 1 document added; now 11 documents in fr\n"
    assert ids(run, "honey", "--filter", "kind=new") == ["new"]
    assert run("delete", "index", "new", "nobody").err == (
        "index: 1 document deleted, 10 left\nnot in the index: 1 id\n"
    )
    assert ids(run, "bees and honey") == first
    assert run("check", "index").code == 0
    assert not any(b"s3cret" in path.read_bytes() for path in (here / "index").rglob("*") if path.is_file())


def test_what_is_refused_leaves_nothing(run, fails, engine, pages):
    translated = ("index", pages, "--system", "translation-lm", "--language", "fr", "-o", "index")
    assert "neither a vector nor a sparse vector" in fails(*translated, "--engine", "kept:store")
    assert "'milvus' is not one of" in fails(
        *indexing(pages), "--language", "fr", "-o", "index", "--engine", "milvus://x"
    )
    assert "not an address" in fails(*indexing(pages), "--language", "fr", "-o", "index", "--engine", "folder")


def test_a_failure_leaves_neither_an_index_nor_a_store(run, engine, pages, here):
    engine.additions_left = 0
    done = run(*indexing(pages), "--language", "fr", "-o", "index", "--engine", "kept:")
    assert done.code == 2
    assert done.err == "isogloss: the engine is full\n"
    assert names_in(here / "index.engine") == []
    assert not (here / "index").exists()


def test_an_existing_index_is_only_overwritten_on_request(run, stored, pages, here):
    again = (*indexing(pages), "--language", "sw", "-o", "index", "--engine", "kept:store")
    before = names_in(here / "store")
    assert run(*again).code == 2
    assert names_in(here / "store") == before
    assert run(*again, "--overwrite").code == 0
    assert len(names_in(here / "store")) == 1
    assert names_in(here / "store") != before
    assert ids(run, "honey")[0].startswith("sw-")


def test_a_folder_of_qdrant_is_a_store(run, here, pages):
    """Local mode."""
    pytest.importorskip("qdrant_client", reason="needs the extra 'qdrant'")
    made = run(*indexing(pages), "--language", "fr", "--language", "sw", "-o", "index", "--engine", "qdrant:")
    assert made.code == 0, made.err
    assert run(*indexing(pages), "--language", "fr", "--language", "sw", "-o", "files").code == 0
    wanted = json.loads(run("search", "files", "bees and honey", "--json", "-").out)["hits"]
    found = json.loads(run("search", "index", "bees and honey", "--json", "-").out)["hits"]
    assert [hit["id"] for hit in found] == [hit["id"] for hit in wanted]
    assert [hit["score"] for hit in found] == pytest.approx([hit["score"] for hit in wanted], abs=1e-5)
    assert run("delete", "index", "fr-honey").code == 0
    assert "fr-honey" not in ids(run, "bees and honey")
    assert run(*indexing(pages), "--language", "fr", "-o", "index", "--overwrite").code == 0
    assert not (here / "index.engine").exists()


def test_approximate_search_is_for_engines_that_can(run, fails, stored, pages):
    assert "this engine searches exactly" in fails("re-encode", "index", "--approximate", "yes")
    assert run("re-encode", "index", "--approximate", "no").err == "index: searched exactly\n"
    assert run("re-encode", "index", "--approximate", "auto").err == ""
    assert "--approximate is for --engine" in fails(
        *indexing(pages), "--language", "fr", "-o", "files", "--approximate", "yes"
    )
    assert run(*indexing(pages), "--language", "fr", "-o", "files").code == 0
    assert "decide by themselves" in fails("re-encode", "files", "--approximate", "yes")


def test_an_index_stays_where_only_its_approximate_search_fails(run, engine, pages, monkeypatch):
    def refuse(path, how):
        raise InputError("the server has too little memory")

    monkeypatch.setattr("isogloss.index.in_engine.approximate_in_engine", refuse)
    asked = (*indexing(pages), "--language", "fr", "--engine", "kept:store", "-o")
    done = run(*asked, "index")
    assert done.code == 0
    assert "index: searched exactly (the server has too little memory); build it later" in done.err
    wanted = run(*asked, "other", "--approximate", "yes")
    assert wanted.code == 2
    assert "too little memory" in wanted.err.splitlines()[-1]
    assert ids(run, "bees and honey")
