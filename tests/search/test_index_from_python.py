"""An index from Python: the same as that of the commands, made of what a program has."""

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.engines.inputs import few_pages
from tests.engines.kept import kept_engine

import isogloss
from isogloss import Document, Index, InputError
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher

TEXTS = ["Las abejas hacen miel.", "El volcán arroja lava.", "La miel es dulce."]
WORDS = {"honey": "miel", "bees": "abejas", "volcano": ["volcán", "cráter"], "lava": "lava"}


def found(index, query, **options):
    return [hit.document.id for hit in index.search(query, **options)]


@pytest.fixture
def index():
    return Index.make(TEXTS, "es", system="psq", lexicon=WORDS)


def test_every_public_name_is_there_and_typed():
    names = set(isogloss.__all__)
    assert all(getattr(isogloss, name) for name in names)
    assert names <= set(dir(isogloss))
    stub = Path(isogloss.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert all(f"as {name}\n" in stub or f"{name}:" in stub for name in names)
    with pytest.raises(AttributeError, match="no attribute 'wisdom'"):
        _ = isogloss.wisdom


def test_importing_isogloss_imports_nothing_heavy():
    script = "import isogloss, sys; print(sorted({'numpy', 'isogloss.search', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_texts_are_found_by_words_of_another_language(index):
    assert found(index, "bees and honey") == ["1", "3"]
    assert found(index, "honey", k=1, offset=1) in (["1"], ["3"])
    assert index.unknown_words("honey marmalade") == ["marmalade"]
    assert [[hit.document.id for hit in hits] for hits in index.search_many(["lava", "bees"])] == [["2"], ["1"]]


def test_an_index_without_a_path_goes_with_its_object(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    index = Index.make(TEXTS, "es", system="psq", lexicon=WORDS)
    assert index.path.is_relative_to(tmp_path)
    del index
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_index_with_a_path_stays_and_is_one_of_the_commands_indexes(tmp_path):
    path = tmp_path / "index"
    made = Index.make(TEXTS, "es", path=path, system="psq", lexicon=WORDS, passages=5)
    assert repr(made) == f"<Index {path}: 3 documents in es>"
    del made
    gc.collect()
    opened = open_index(path)
    manifest, searcher = opened.manifest, Searcher(opened)
    assert (manifest.system, manifest.options["passages"]) == ("psq", 5)
    assert [hit.document.id for hit in searcher.search("bees")] == ["1"]
    with pytest.raises(InputError, match="exists and is not empty"):
        Index.make(TEXTS, "es", path=path, system="psq", lexicon=WORDS)
    assert found(
        Index.make(["La lava quema."], "es", path=path, system="psq", lexicon=WORDS, overwrite=True), "lava"
    ) == ["1"]


def test_nothing_is_left_behind_by_what_cannot_be_made(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError, match="needs a bilingual lexicon"):
        Index.make(TEXTS, "es", system="psq")
    assert list(tmp_path.iterdir()) == []


def test_documents_and_objects_keep_their_ids_titles_and_fields():
    documents = [
        Document("a", "La miel.", title="Miel", fields={"kind": "food"}),
        {"id": "b", "text": "La miel arde.", "fields": {"kind": "fire"}},
    ]
    index = Index.make(documents, "es", system="psq", lexicon=WORDS)
    assert found(index, "honey", filters={"kind": "fire"}) == ["b"]
    assert index.get("a").title == "Miel"
    assert index.get("nobody") is None


@pytest.mark.parametrize("item", [7, {"id": "a"}, {"id": 3, "text": "miel"}, None])
def test_what_is_no_document_is_named(item):
    with pytest.raises(InputError, match=r"documents\[0\]: .* is neither a text, a Document nor an object"):
        Index.make([item], "es", lexicon=WORDS)


def test_a_source_is_taken_by_its_name():
    index = Index.make("demo", ["fr", "sw"], system="psq")
    assert index.languages == ["fr", "sw"]
    assert len(index) == 208
    assert found(index, "how bees make honey", k=1, languages=["fr"]) == ["fr-honey"]
    assert index.about()["documents"] == {"fr": 104, "sw": 104}


def test_an_explanation_is_found_by_id_alone_and_sums_to_the_score(index):
    (hit,) = index.search("bees", k=1, explain=True)
    parts = index.explain("bees", hit.document.id)
    assert [part.query_word for part in parts] == ["bees"]
    assert sum(part.score for part in parts) == pytest.approx(hit.score)
    assert parts == hit.explanation == index.explain("bees", hit.document.id, "es")
    with pytest.raises(InputError, match="'nobody' is not in this index"):
        index.explain("bees", "nobody")


def test_a_search_explains_nothing_unless_it_is_asked_to(index, monkeypatch):
    monkeypatch.setattr(type(index.searcher.languages["es"].system), "explain", None)
    (hit,) = index.search("bees")
    assert hit.explanation == ()
    assert hit.snippet == "Las abejas hacen miel."
    with pytest.raises(TypeError):
        index.search("bees", explain=True)


def test_an_index_is_a_collection_of_its_documents(index):
    index.add(["Le miel est doux."], "fr", lexicon={"honey": "miel"})
    index.delete(["2"])
    assert [(document.id, document.language) for document in index] == [("1", "es"), ("3", "es"), ("4", "fr")]
    assert len(list(index)) == len(index) == 3
    assert ("1" in index, "2" in index, "4" in index) == (True, False, True)


def test_leaving_with_closes_an_index_and_deletes_a_temporary_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with Index.make(TEXTS, "es", system="psq", lexicon=WORDS) as made:
        hits = made.search("bees")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [hit.snippet for hit in hits] == [TEXTS[0]], "what was found can still be read"
    with pytest.raises(InputError, match="was closed; open it again"):
        made.search("bees")
    assert "closed" in repr(made)
    path = tmp_path / "index"
    Index.make(TEXTS, "es", path=path, system="psq", lexicon=WORDS).close()
    with Index.open(path) as index:
        assert found(index, "bees") == ["1"]
    assert path.is_dir()


def test_documents_come_as_programs_have_them(tmp_path):
    by_id = Index.make({"a": TEXTS[0], "b": TEXTS[1]}, "es", system="psq", lexicon=WORDS)
    assert found(by_id, "bees") == ["a"]
    without_ids = Index.make([{"text": text} for text in TEXTS], "es", system="psq", lexicon=WORDS)
    assert found(without_ids, "lava") == ["2"]
    made = Index.make((text for text in TEXTS), "es", system="psq", lexicon=WORDS)
    assert len(made) == 3
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "miel.txt").write_text(TEXTS[0], encoding="utf-8")
    assert found(Index.make(tmp_path / "pages", "es", system="psq", lexicon=WORDS), "bees") == ["miel.txt"]


def test_numbers_filter_as_they_are():
    documents = [{"text": text, "fields": {"year": 2024 + number}} for number, text in enumerate(TEXTS)]
    index = Index.make(documents, "es", system="psq", lexicon=WORDS)
    assert found(index, "honey", filters={"year": 2024}) == found(index, "honey", filters={"year": "2024"}) == ["1"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda index: Index.make(None), "documents: must be a list of texts, .* got None"),
        (lambda index: Index.make([]), "documents: has no documents"),
        (lambda index: Index.make([{"id": "a", "text": "x"}] * 2, "es"), r"documents\[1\]: document id 'a' occurs"),
        (lambda index: Index.make("Las abejas hacen miel."), r"a single text goes into a list: \[text\]"),
        (lambda index: Index.make("miel " * 3_000), r"a single text goes into a list: \[text\]"),
        (lambda index: Index.make("nowhere"), "source: 'nowhere' is neither a folder"),
        (lambda index: Index.make(TEXTS, "es", lexicon={}), "lexicon: has no words"),
        (lambda index: Index.make(TEXTS, "es", lexicon={"bee": None}), "lexicon: the translations of 'bee' must be"),
        (lambda index: index.search(None), "query: must be a string, got None"),
        (lambda index: index.search_many("honey"), r"queries: a single string; give a list: \['honey'\]"),
        (lambda index: index.search_many(["honey", 5]), "query: must be a string, got 5"),
        (lambda index: index.search("honey", k=-1), "k: must be a whole number, 0 or more, got -1"),
        (lambda index: index.search("honey", k="5"), "k: must be a whole number"),
        (lambda index: index.search("honey", offset=-1), "offset: must be a whole number"),
        (lambda index: index.search("honey", filters={"year": None}), "filters: the value of 'year'"),
        (lambda index: index.get(1), "id: must be a string, got 1; the ids of texts are '1'"),
        (lambda index: 1 in index, "id: must be a string"),
        (lambda index: index.delete([1]), "id: must be a string"),
        (lambda index: index.explain("honey", 1), "id: must be a string"),
        (lambda index: index.add(7), "documents: must be a list"),
    ],
)
def test_a_wrong_argument_is_named_by_its_name_in_python(index, wrong, message):
    with pytest.raises(InputError, match=message):
        wrong(index)


def test_a_data_frame_is_not_taken_for_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS})
    with pytest.raises(InputError, match=r"to_dict\('records'\)"):
        Index.make(frame)
    records = Index.make(frame.to_dict("records"), "es", system="psq", lexicon=WORDS)
    assert len(records) == 3


def test_a_query_without_words_finds_nothing(index):
    assert index.search("   ") == index.search("") == []
    assert [len(hits) for hits in index.search_many(["bees", " ", "lava"])] == [1, 0, 1]


def test_numbers_of_numpy_count_too(index):
    assert found(index, "honey", k=np.int64(1)) == found(index, "honey", k=1)


def test_one_language_may_be_named_without_a_list(index):
    assert found(index, "bees", languages="es") == ["1"]


def test_added_texts_get_numbers_that_nobody_has(index):
    index.delete(["1"])
    assert index.add(["Las abejas vuelan.", "Las abejas duermen."]) == 2
    assert sorted(found(index, "bees")) == ["4", "5"]
    assert len(index) == 4


def test_adding_replaces_by_id_and_takes_a_new_language_with_its_lexicon(index):
    assert index.add([Document("1", "Nada.")]) == 1
    assert found(index, "bees") == []
    assert index.add(["Le miel est doux."], "fr", lexicon={"honey": "miel"}) == 1
    assert index.languages == ["es", "fr"]
    assert {hit.language for hit in index.search("honey")} == {"es", "fr"}


def test_deleting_counts_what_was_there(index):
    assert index.delete(["2", "nobody"]) == 1
    assert index.delete("3") == 1
    assert found(index, "lava") == []


def test_an_index_that_is_open_sees_changes_of_others_when_it_is_refreshed(index):
    other = Index.open(index.path)
    index.add(["La miel dura."])
    index.compact()
    assert len(other) == 3
    assert len(other.refresh()) == 4
    assert found(other, "honey") == found(index, "honey")


def test_documents_in_an_engine_are_searched_and_changed_like_others(tmp_path):
    with kept_engine() as engine:
        url, source = f"kept:{tmp_path / 'kept'}?password=s3cret", few_pages(tmp_path)
        with pytest.raises(isogloss.InputError, match="path"):
            isogloss.Index.make(source, "fr", system="aligned", engine=url)
        index = isogloss.Index.make(source, "fr", path=tmp_path / "index", system="aligned", dimension=12, engine=url)
        assert len(index) == 10
        assert index.search("bees and honey")[0].document.id in ("fr-honey", "fr-honeybee")
        assert index.add(["Du miel et des abeilles."], "fr") == 1
        assert index.get("11").text == "Du miel et des abeilles."
        assert index.explain("honey", "11")
        assert index.delete(["11"]) == 1
        assert len(index) == 10
        assert engine.open_now == 1
        index.close()
        assert engine.open_now == 0


def test_an_index_follows_its_folder(tmp_path):
    folder = tmp_path / "notas"
    (folder / "campo").mkdir(parents=True)
    (folder / "pan.txt").write_text("El pan se hace con harina.", encoding="utf-8")
    index = Index.make(str(folder), "es", system="bm25")
    (folder / "campo" / "miel.txt").write_text("Las abejas hacen miel.", encoding="utf-8")
    assert index.add(str(folder / "campo" / "miel.txt"), "es") == 1
    assert [hit.document.id for hit in index.search("miel")] == ["campo/miel.txt"]
    (folder / "pan.txt").unlink()
    done = index.sync(folder)
    assert (done.added, done.replaced, done.deleted, len(index)) == (0, 0, 1, 1)
    assert not index.sync().changed
