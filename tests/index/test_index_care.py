"""Damage is named and the rest stays usable; another format is refused; a model is not mixed with another."""

import pytest

from isogloss.data.documents import Document
from isogloss.data.readers.demo import Demo
from isogloss.index.checking import check_index, repair_index
from isogloss.index.fitting import ready_systems
from isogloss.index.making import make_index, re_encode, refuse_another_model
from isogloss.index.manifest import FORMAT
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError

QUERIES = ["why is the sea salty", "how bees make honey", "bread", "zebra"]


def page(id_, text="le phare guide les bateaux"):
    return Document(id_, text, language="fr", fields={"kind": "new"})


@pytest.fixture
def index(tmp_path, pages, lexicons):
    path = tmp_path / "index"
    make_index(path, "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    with IndexWriter(path, background=False) as writer:
        for number in range(3):
            writer.add([page(f"new{number}")])
            writer.commit()
        writer.delete(["new1", "fr-sea"])
        writer.commit()
    return path


def damage(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_a_whole_index_passes_the_check(index):
    count, problems = check_index(index)
    assert problems == []
    assert count > len(list((index / "segments").rglob("arrays.bin")))


def test_any_file_whose_content_was_changed_is_named_and_no_other(index):
    for path in sorted(index.rglob("*")):
        if path.is_file() and path.name not in ("commit.json", "write.lock", "commit.copy.json", "index.copy.json"):
            before = path.read_bytes()
            damage(path) if before else path.write_bytes(b"more")
            if path.name != "index.json":
                _, problems = check_index(index)
                assert [problem.split(" ")[0] for problem in problems] == [str(path)]
                path.unlink()
                assert check_index(index)[1] == [f"{path} is missing"]
            path.write_bytes(before)
    assert check_index(index)[1] == []


def test_a_segment_that_is_cut_off_is_named_and_the_others_can_be_searched(index):
    hurt = next(path for path in index.glob("segments/fr-*/arrays.bin") if b'"new2"' in path.read_bytes())
    hurt.write_bytes(hurt.read_bytes()[:-7])
    with pytest.raises(InputError, match=rf"damaged \({hurt} has .* bytes.*skip_damaged=True opens the rest"):
        open_index(index)
    opened = open_index(index, skip_damaged=True)
    (left_out,) = opened.damaged
    assert left_out.startswith(hurt.parent.name)
    assert opened.manifest.documents == {"fr": 3, "it": 3}
    assert Searcher(opened).get("new0").text.startswith("le phare")
    assert Searcher(opened).get("new2") is None
    assert [hit.document.id for hit in Searcher(opened).search("phare")] == ["new0"]
    assert opened.refreshed() is opened
    with pytest.raises(InputError, match="damaged"), IndexWriter(index):
        pass


@pytest.mark.parametrize("name", ["commit", "index"])
def test_a_damaged_commit_or_manifest_is_named_and_its_copy_takes_its_place(index, name, caplog):
    path, before = index / f"{name}.json", answers(Searcher(open_index(index)))
    path.write_bytes(path.read_bytes()[:-20])
    assert answers(Searcher(open_index(index))) == before
    assert f"{path} is damaged" in caplog.text
    assert any(problem.startswith(f"{path} ") for problem in check_index(index)[1])
    repair_index(index)
    assert check_index(index)[1] == []
    for each in (path, index / f"{name}.copy.json"):
        each.unlink()
    with pytest.raises(InputError, match=rf"{name}\.json"):
        open_index(index)


def test_a_manifest_that_was_changed_is_named(index):
    path = index / "index.json"
    path.write_text(path.read_text(encoding="utf-8").replace("1.2", "1.3"), encoding="utf-8")
    assert check_index(index)[1] == [f"{path} is not what was written (its checksum differs)"]


def answers(searcher):
    return {query: [(hit.document, hit.score, hit.explanation) for hit in searcher.search(query)] for query in QUERIES}


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1])
def test_an_index_of_another_format_is_refused_with_what_to_do(index, number):
    path = index / "index.json"
    path.write_text(path.read_text(encoding="utf-8").replace(f'"format": {FORMAT}', f'"format": {number}'))
    why = f"index.json: has format {number}, this isogloss reads format {FORMAT}; make the index again with"
    for use in (open_index, check_index, repair_index, lambda path: IndexWriter(path).__enter__()):
        with pytest.raises(InputError, match=f"{why} 'isogloss index'"):
            use(index)


# Another model


def test_all_documents_are_encoded_anew_and_the_index_stays_one_throughout(index, lexicons):
    opened = open_index(index)
    manifest = re_encode(index, "psq", settings=lexicons)
    assert (manifest.system, manifest.documents) == ("psq", {"fr": 4, "it": 3})
    later = opened.refreshed()
    assert (later.manifest.system, later.generation) == ("psq", opened.generation + 1)
    assert {hit.document.id for hit in Searcher(later).search("honey")} == {"fr-bees", "it-bees"}
    assert Searcher(later).get("new1") is None
    assert [hit.document.id for hit in Searcher(later).search("phare", filters={"kind": "new"})] == ["new0", "new2"]


def test_encoding_anew_keeps_the_documents_to_search_with(tmp_path):
    make_index(tmp_path / "index", "bm25", Demo(), ["fr"])
    source = Searcher(open_index(tmp_path / "index")).source("1")
    re_encode(tmp_path / "index", "psq", Demo())
    assert Searcher(open_index(tmp_path / "index")).source("1") == source
    assert check_index(tmp_path / "index")[1] == []


def test_a_system_that_learns_is_fitted_to_the_documents_of_the_index(index, lexicons):
    assert re_encode(index, "bridge", settings=lexicons).documents == {"fr": 4, "it": 3}
    assert {hit.document.id for hit in Searcher(open_index(index)).search("honey")} == {"fr-bees", "it-bees"}


def test_encoding_that_fails_leaves_the_index_as_it_was(index):
    with pytest.raises(InputError, match="lexicon"):
        re_encode(index, "psq")
    with pytest.raises(InputError, match="no query of the train split is judged"):
        re_encode(index, "smooth", settings={"epochs": "1"})
    assert open_index(index).manifest.system == "bm25-dict"


def test_the_same_model_is_let_in_and_another_is_refused(index, lexicons, tmp_path):
    opened = open_index(index)
    systems = ready_systems("bm25-dict", None, ["en"], "fr", lexicons)
    refuse_another_model(opened, "fr", "bm25-dict", lexicons, systems)
    refuse_another_model(opened, "de", "bm25", {}, ready_systems("bm25", None, ["en"], "de"))
    (tmp_path / "en-fr.tsv").write_text("sea\tmer\n", encoding="utf-8")
    others = [
        ("bm25-dict", lexicons),
        ("psq", lexicons),
        ("bm25-dict", {**lexicons, "k1": "0.9"}),
    ]
    for name, settings in others:
        systems = ready_systems(name, None, ["en"], "fr", settings)
        with pytest.raises(InputError, match=r"encoded by another model.*re-encode"):
            refuse_another_model(opened, "fr", name, settings, systems)
