"""Making and opening indexes: several languages, the same answers from disk, and every damage told in one line."""

import json
from dataclasses import replace

import pytest

from isogloss.data.problems import Problems
from isogloss.data.readers.demo import Demo
from isogloss.index.commit import Commit
from isogloss.index.making import make_index
from isogloss.index.manifest import FORMAT
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system

QUERIES = ["why is the sea salty", "how bees make honey", "bread", "old ships and stars", "zebra"]


@pytest.fixture
def index(tmp_path, pages, lexicons):
    path = tmp_path / "index"
    make_index(path, "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    return path


@pytest.fixture
def nothing_left(tmp_path):
    """Whatever goes wrong, neither an index nor a half of one stays."""
    yield
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_an_index_of_two_languages_is_searched_as_one(index):
    opened = open_index(index)
    manifest, searcher = opened.manifest, Searcher(opened)
    assert manifest.documents == {"fr": 3, "it": 3}
    assert {hit.document.id for hit in searcher.search("salty sea")[:2]} == {"fr-sea", "it-sea"}
    assert [hit.document.id for hit in searcher.search("bees", languages=["it"])] == ["it-bees"]


def test_the_manifest_keeps_what_made_the_index(tmp_path, pages, lexicons):
    settings = {**lexicons, "k1": "0.9", "stems": "no"}
    made = make_index(tmp_path / "index", "psq", pages(), ["fr"], fields=("text",), settings=settings)
    opened = open_index(tmp_path / "index")
    manifest, searcher = opened.manifest, Searcher(opened)
    assert manifest == made
    assert (manifest.system, manifest.query_language, manifest.fields) == ("psq", "en", ("text",))
    options = searcher.languages["fr"].system.options
    assert (options.k1, options.stems, options.decay) == (0.9, False, 0.9)


@pytest.mark.parametrize("name", ["bm25", "bm25-dict", "psq"])
def test_answers_are_the_same_before_and_after_saving(tmp_path, name):
    languages = ["fr", "sw", "zh"]
    make_index(tmp_path / "index", name, Demo(), languages)
    searcher = Searcher(open_index(tmp_path / "index"))
    for language in languages:
        system = make_system(name, ("en", language), source=Demo())
        store = searcher.languages[language].store
        documents = [store[row] for row in range(len(store))]
        system.index_texts([f"{document.title} {document.text}" for document in documents])
        for query in QUERIES:
            loaded = searcher.languages[language].system
            assert loaded.scores(query).tolist() == system.scores(query).tolist()
            assert loaded.explain(query, 3, "") == system.explain(query, 3, "")


def test_probabilities_of_a_table_survive_saving_to_the_last_digit(tmp_path, pages):
    lexicon = tmp_path / "p.tsv"
    lexicon.write_text(f"sea\tmer\t{2 / 3}\nsea\tsel\t{1 / 7}\nsea\trivières\t{1e-9}\n", encoding="utf-8")
    make_index(tmp_path / "index", "psq", pages(), ["fr"], settings={"lexicon": str(lexicon)})
    loaded = open_index(tmp_path / "index").languages["fr"].system
    assert loaded.concepts("sea") == make_system("psq", ("en", "fr"), {"lexicon": str(lexicon)}).concepts("sea")


def test_the_index_needs_nothing_from_outside(index, tmp_path):
    for path in [*tmp_path.glob("*.tsv"), *tmp_path.glob("*.jsonl")]:
        path.unlink()
    moved = index.rename(tmp_path / "elsewhere")
    assert Searcher(open_index(moved)).search("honey")[0].document.title in ("Les abeilles", "Le api")


def test_pages_that_do_not_tell_their_language_go_where_they_look_to_belong(tmp_path, pages, lexicons):
    manifest = make_index(tmp_path / "index", "bm25-dict", pages(marked=False), ["fr", "it"], settings=lexicons)
    assert manifest.documents == {"fr": 3, "it": 3}
    searcher = Searcher(open_index(tmp_path / "index"))
    assert all(hit.document.id.startswith(hit.language) for query in QUERIES for hit in searcher.search(query))


def test_with_one_language_every_unmarked_page_belongs_to_it(tmp_path, pages):
    assert make_index(tmp_path / "index", "bm25", pages(marked=False), ["fr"]).documents == {"fr": 6}


def test_a_language_that_no_unmarked_page_looks_like_is_an_error(tmp_path, pages, nothing_left):
    source = pages(marked=False, languages=["fr"])
    with pytest.raises(InputError, match="no document looks like 'zh'"):
        make_index(tmp_path / "index", "bm25", source, ["fr", "zh"])
    with pytest.raises(InputError, match="qaa, qab"):
        make_index(tmp_path / "index", "bm25", source, ["qaa", "qab"])


@pytest.mark.parametrize(
    ("languages", "what"),
    [
        (["fr", "fr"], "name each language"),
        (["de"], "has no documents in 'de'"),
        (["../fr"], "'../fr' is not a language code"),
        ([""], "'' is not a language code"),
    ],
)
def test_wrong_languages_are_errors_and_leave_nothing(tmp_path, pages, languages, what, nothing_left):
    with pytest.raises(InputError, match=what):
        make_index(tmp_path / "index", "bm25", pages(), languages)


def test_a_failure_in_the_second_language_leaves_nothing(tmp_path, pages, lexicons, nothing_left):
    (tmp_path / "en-it.tsv").write_text("sea\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"en-it\.tsv:1: expected"):
        make_index(tmp_path / "index", "psq", pages(), ["fr", "it"], settings=lexicons)


def test_an_index_that_is_there_stays_unless_it_is_to_be_replaced(index, pages, lexicons):
    with pytest.raises(InputError, match="exists and is not empty"):
        make_index(index, "bm25", pages(), ["fr"])
    with pytest.raises(InputError, match="no documents in 'de'"):
        make_index(index, "bm25", pages(), ["de"], overwrite=True)
    assert open_index(index).manifest.system == "bm25-dict"
    make_index(index, "bm25", pages(), ["fr"], overwrite=True)
    assert open_index(index).manifest.system == "bm25"


def test_bad_pages_are_skipped_and_counted_if_so_wished(tmp_path, pages):
    source = pages()
    with open(source.path, "a", encoding="utf-8") as file:
        file.write('{"id": "broken"\n')
    with pytest.raises(InputError, match=r"jsonl:7: not JSON"):
        make_index(tmp_path / "index", "bm25", source, ["fr"])
    problems = Problems(stop_at_errors=False)
    assert make_index(tmp_path / "index", "bm25", source, ["fr"], problems=problems).documents == {"fr": 3}
    assert problems.errors == {"malformed line": 1}


@pytest.mark.parametrize(
    "name", ["system/en/terms.bytes.npy", "system/en/documents.npy", "system/en/lengths.npy", "pages.bytes.npy",
             "id_order.npy"],
)  # fmt: skip
def test_a_damaged_array_is_an_error_that_names_the_index_and_the_array(index, name, damage_array):
    (segment,) = index.glob("segments/it-*")
    damage_array(segment, name)
    with pytest.raises(InputError, match=rf"the index is damaged .*arrays\.bin .*the checksum of {name} differs"):
        open_index(index)
    assert list(open_index(index, skip_damaged=True).languages) == ["fr"]


@pytest.mark.parametrize("damage", ["missing", "empty", "cut off"])
@pytest.mark.parametrize("name", ["arrays.bin", "arrays.json", "checksums.json"])
def test_a_damaged_file_is_an_error_that_names_the_index(index, name, damage):
    (path,) = index.glob(f"segments/it-*/{name}")
    data = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(b"" if damage == "empty" else data[:-5])
    with pytest.raises(InputError, match="the index is damaged") as caught:
        open_index(index)
    assert str(caught.value).startswith(f"{index}: ")
    assert "\n" not in str(caught.value)


def test_a_missing_lexicon_is_found_at_opening_not_at_the_first_query(index):
    (index / "shared" / "fr" / "en" / "lexicon.tsv").unlink()
    with pytest.raises(InputError, match=r"the index is damaged .*shared/fr/en/lexicon\.tsv"):
        open_index(index)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"format": FORMAT + 1}, f"has format {FORMAT + 1}"),
        ({"system": "bm99"}, "system: 'bm99' is not one of"),
        ({"options": {"speed": 9}}, "has no option 'speed'"),
        ({"options": {"k1": None}}, "'None' is not a number"),
        ({"identity": "another"}, "commit.json does not belong to index.json"),
    ],
)
def test_a_manifest_that_does_not_fit_is_an_error(index, change, what):
    path, commit = index / "index.json", Commit.load(index)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    replace(commit, files={**commit.files, path.name: note_of(path)}).save(index)
    with pytest.raises(InputError, match=what):
        open_index(index)
