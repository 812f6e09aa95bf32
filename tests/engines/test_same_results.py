"""An index gives the same first ten, ties by id, whether it is in files or in an engine."""

from contextlib import closing

import pytest

from isogloss.data.problems import Problems
from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher

SYSTEMS = {
    "bm25": {},
    "bm25 by passages": {"passages": "20"},
    "bm25-dict": {},
    "psq": {},
    "psq by passages": {"passages": "20"},
    "hybrid": {"lexical": "bm25", "weight": "0.5", "dense_options": "dimension=16"},
    "hybrid by passages": {"lexical": "bm25", "weight": "0.5", "passages": "20", "dense_options": "dimension=16"},
}


@pytest.fixture(scope="module")
def queries():
    """Titles and words in the midst of the French pages, and English titles."""
    pages = {language: [page for _, page in Demo().documents(language, Problems())] for language in ("en", "fr")}
    words = [" ".join(page.text.split()[5:9]) for page in pages["fr"]]
    return [*words, *(page.title for page in pages["fr"]), *(page.title for page in pages["en"])][::6]


@pytest.fixture(params=["qdrant", "postgresql"])
def address(request, tmp_path):
    if request.param == "qdrant":
        pytest.importorskip("qdrant_edge", reason="needs the extra 'qdrant'")
        return f"qdrant:{tmp_path / 'qdrant'}"
    pytest.importorskip("psycopg_pool", reason="needs the extra 'pgvector'")
    from tests.engines import postgres

    return postgres.start(request.config).url


@pytest.mark.parametrize("how", SYSTEMS)
def test_an_index_in_an_engine_finds_what_one_in_files_does(tmp_path, address, how, queries):
    compare(tmp_path, address, how.split(" ")[0], SYSTEMS[how], queries)


def test_bridge_finds_in_an_engine_what_it_finds_in_files(tmp_path, address):
    """Queries in the language that it is made for: a rare word of the documents is raised in files alone."""
    pages = [page for _, page in Demo().documents("en", Problems())][::3]
    queries = [query for page in pages for query in (page.title, " ".join(page.text.split()[5:14]))]
    compare(tmp_path, address, "bridge", {"epochs": "1", "dimension": "8", "without": "weights"}, queries)


def compare(tmp_path, address, system, settings, queries):
    found = {}
    for name, engine in (("files", ""), ("engine", address)):
        make_index(tmp_path / name, system, Demo(), ["fr"], settings=settings, engine=engine)
        with closing(open_index(tmp_path / name)) as opened:
            hits = Searcher(opened).search_many(queries, 10)
            found[name] = [[(hit.document.id, hit.passage) for hit in each] for each in hits]
            if opened.engine is not None:
                opened.engine.drop()
    assert found["engine"] == found["files"]
    assert sum(map(bool, found["files"])) > len(queries) // 2
