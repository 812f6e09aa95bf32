"""Documents in the language of the queries are kept in an index, to search with."""

import json
from dataclasses import replace

import pytest

from isogloss.data.readers.beir import Beir
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.folder import Folder
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.index.commit import Commit
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError


@pytest.fixture
def index(tmp_path):
    make_index(tmp_path / "index", "psq", Demo(), ["fr", "sw"])
    return tmp_path / "index"


def test_they_are_kept_as_they_are_and_find_their_mates(index):
    opened = open_index(index)
    manifest, searcher = opened.manifest, Searcher(opened)
    assert manifest.sources == {"en": len(searcher.index.sources["en"])} == {"en": 104}
    document = searcher.source("en-honey")
    assert (document.title, document.language) == ("Honey", "en")
    assert {hit.document.id for hit in searcher.search(document.text, 2)} == {"fr-honey", "sw-honey"}


def test_they_can_be_left_out(tmp_path):
    manifest = make_index(tmp_path / "index", "psq", Demo(), ["fr"], source_documents=False)
    assert manifest.sources == {}
    assert open_index(tmp_path / "index").sources == {}
    assert not (tmp_path / "index" / "source").exists()


@pytest.mark.parametrize("marked", [True, False])
def test_a_source_without_any_has_none(tmp_path, pages, marked):
    assert make_index(tmp_path / "index", "bm25", pages(marked), ["fr"]).sources == {}
    assert open_index(tmp_path / "index").sources == {}


def test_pages_that_belong_to_any_language_are_not_taken_for_sources(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.txt").write_text("le moulin")
    assert make_index(tmp_path / "one", "bm25", Folder(str(tmp_path / "folder")), ["fr"]).sources == {}
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    (tmp_path / "beir" / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "le moulin"}\n')
    (tmp_path / "beir" / "queries.jsonl").write_text('{"_id": "q1", "text": "mill"}\n')
    assert make_index(tmp_path / "two", "bm25", Beir(str(tmp_path / "beir")), ["fr"]).sources == {}


def test_documents_that_are_searched_and_in_the_language_of_the_queries_are_searched_with(tmp_path, pages):
    manifest = make_index(tmp_path / "index", "bm25", pages(), ["it", "fr"], query_language="fr")
    searcher = Searcher(open_index(tmp_path / "index"))
    assert manifest.sources == {}
    assert not (tmp_path / "index" / "source").exists()
    assert searcher.source("1").id == "fr-bees"


@pytest.mark.parametrize(("lines", "kept"), [("e1\tSalt\tSalt of the sea.\ne2\n", 1), ("e1\n", 0), ("", 0)])
def test_what_is_wrong_with_them_stops_nothing(tmp_path, lines, kept):
    (tmp_path / "wiki_fr.documents").write_text("f1\tSel\tLe sel de mer.\n", encoding="utf-8")
    (tmp_path / "wiki_en.documents").write_text(lines, encoding="utf-8")
    assert make_index(tmp_path / "index", "bm25", WikiClir(str(tmp_path)), ["fr"]).sources == (
        {"en": kept} if kept else {}
    )


def test_damage_to_them_is_an_error_when_they_are_asked_for_and_not_before(index):
    (index / "source" / "en" / "arrays.bin").unlink()
    searcher = Searcher(open_index(index))
    assert searcher.search("honey")
    with pytest.raises(InputError, match="the index is damaged"):
        searcher.source("1")


def test_a_number_of_them_that_does_not_fit_is_an_error(index):
    path, commit = index / "index.json", Commit.load(index)
    path.write_text(
        json.dumps({**json.loads(path.read_text(encoding="utf-8")), "sources": {"en": 9}}), encoding="utf-8"
    )
    replace(commit, files={**commit.files, path.name: note_of(path)}).save(index)
    with pytest.raises(InputError, match="source/en holds 104 documents, not 9"):
        Searcher(open_index(index)).source("1")


def test_no_language_may_take_their_folder(tmp_path, pages):
    with pytest.raises(InputError, match="'source' is not a language code"):
        make_index(tmp_path / "index", "bm25", pages(), ["source"])
