"""An index whose documents and vectors are in an engine: it answers, changes and fails like one in files."""

import json
from contextlib import closing

import pytest
from tests.engines.inputs import few_pages
from tests.engines.kept import kept_engine, names_in

from isogloss.data.documents import Document
from isogloss.index.checking import check_index
from isogloss.index.making import make_index, re_encode
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError

QUERIES = [
    "how do volcanoes erupt",
    "bees and honey",
    "why is the sea salty",
    "tea",
    "xyzzy plugh",
    "le miel des abeilles",
]
SMALL = {"dimension": "12"}


@pytest.fixture
def searcher():
    with kept_engine() as searcher:
        yield searcher
        assert searcher.open_now == 0


@pytest.fixture
def made(tmp_path, searcher):
    """An index in files and one in a store, of the same documents."""

    def make(languages=("fr",), system="aligned", settings=None):
        small = SMALL if system in ("aligned", "smooth") else {}
        given, source = {**small, **(settings or {})}, few_pages(tmp_path)
        for name, store in (("files", ""), ("stored", f"kept:{tmp_path / 'kept'}")):
            make_index(tmp_path / name, system, source, list(languages), settings=given, engine=store)
        return tmp_path / "files", tmp_path / "stored"

    return make


def alike(hits, others):
    assert [(hit.rank, hit.language, hit.document.id, hit.relevance) for hit in hits] == [
        (hit.rank, hit.language, hit.document.id, hit.relevance) for hit in others
    ]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in others], abs=1e-5)
    for hit, other in zip(hits, others, strict=True):
        assert hit.document == other.document
        assert hit.passage == other.passage
        parts, other_parts = beyond_rounding(hit.explanation), beyond_rounding(other.explanation)
        assert [part[:2] for part in parts] == [part[:2] for part in other_parts]
        assert [part.score for part in parts] == pytest.approx([part.score for part in other_parts], abs=1e-5)


def beyond_rounding(explanation):
    """The lines of an explanation that are more than what a sum in another order leaves over."""
    return [part for part in explanation if abs(part.score) > 1e-5]


@pytest.mark.parametrize(
    ("languages", "system", "settings"),
    [
        (["fr"], "aligned", {}),
        (["fr", "sw"], "aligned", {}),
        (["fr"], "smooth", {"epochs": "1"}),
        (["fr"], "aligned", {"passages": "20"}),
        (["fr", "sw"], "bm25", {}),
        (["fr"], "bm25", {"passages": "20"}),
        (["fr", "sw"], "hybrid", {"lexical": "bm25", "dense_options": "dimension=12"}),
        (["fr"], "hybrid", {"lexical": "bm25", "fusion": "rrf", "passages": "20", "dense_options": "dimension=12"}),
        (["fr"], "hybrid", {"lexical": "bm25", "depth": "3", "dense_options": "dimension=12"}),
    ],
)
def test_it_answers_as_one_in_files_does(made, languages, system, settings):
    files, stored = made(languages, system, settings)
    with closing(open_index(stored)) as opened:
        here, there = Searcher(open_index(files)), Searcher(opened)
        assert opened.manifest.documents == open_index(files).manifest.documents
        for query in QUERIES:
            alike(there.search(query, 7), here.search(query, 7))
            alike(there.search(query, 3, offset=2, explain=False), here.search(query, 3, offset=2, explain=False))
            alike(there.search(query, languages=["fr"]), here.search(query, languages=["fr"]))
        for hits, others in zip(there.search_many(QUERIES, 5), here.search_many(QUERIES, 5), strict=True):
            alike(hits, others)
        assert there.get("fr-tea") == here.get("fr-tea")
        assert there.get("nobody") is None
        parts, others = (searcher.explain("honey", "fr", "fr-honey") for searcher in (there, here))
        assert [part.score for part in parts] == pytest.approx([part.score for part in others], abs=1e-5)
        with pytest.raises(InputError, match="not in this index"):
            there.explain("tea", "fr", "nobody")
        assert there.source("1") == here.source("1")
        alike(there.search("tea", filters={"nothing": "here"}), [])


def test_languages_with_vectors_of_different_lengths_share_a_store(tmp_path, searcher, pages, lexicons):
    """Little text gives short vectors, here of another length in each language."""
    longer = Document("it-more", "parole nuove sempre diverse tra loro molto utili qui", language="it")
    source = pages()
    documents = source.documents

    def with_more(language, problems):
        yield from documents(language, problems)
        if language == "it":
            yield next(documents(language, problems))[0], longer

    source.documents = with_more
    settings = {**lexicons, "query_vectors": str(_vectors(tmp_path))}
    store = f"kept:{tmp_path / 'kept'}"
    manifest = make_index(tmp_path / "stored", "aligned", source, ["fr", "it"], settings=settings, engine=store)
    make_index(tmp_path / "files", "aligned", source, ["fr", "it"], settings=settings)
    with closing(open_index(tmp_path / "stored")) as opened:
        widths = {
            language_index.system.encode_queries(["salt"]).shape[1] for language_index in opened.languages.values()
        }
        assert manifest.engine.dimension == max(widths)
        alike(Searcher(opened).search("honey bee"), Searcher(open_index(tmp_path / "files")).search("honey bee"))


def _vectors(folder):
    words = ["bee", "honey", "sea", "salty", "salt", "bread", "baker"]
    lines = [
        f"{word} {' '.join(str((place * 7 + number) % 5) for number in range(30))}" for place, word in enumerate(words)
    ]
    path = folder / "en.vec"
    path.write_text(f"{len(words)} 30\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_documents_are_added_replaced_and_deleted(made):
    files, stored = made(["fr", "sw"])
    new = [
        Document("new", "Le thé et le miel des abeilles.", language="fr", fields={"kind": "new"}),
        Document("fr-tea", "Plus rien.", language="fr"),
        Document("sw-new", "Chai na asali ya nyuki.", language="sw", fields={"kind": "new"}),
    ]
    for path in (files, stored):
        with IndexWriter(path) as writer:
            assert writer.add(new) == 3
            assert writer.delete(["fr-honey", "nobody", "sw-honey"]) == 2
            assert writer.delete(["fr-honey"]) == 0
            assert writer.commit() == 2
            assert writer.commit() == 2  # nothing has changed
            assert writer.index.manifest.documents == {"fr": 10, "sw": 10}
            writer.compact()
    with closing(open_index(stored)) as opened:
        assert opened.generation == 2
        for query in QUERIES:
            alike(Searcher(opened).search(query), Searcher(open_index(files)).search(query))
        kinds = Searcher(opened).search("honey tea", filters={"kind": "new"})
        assert {hit.document.id for hit in kinds} == {"new", "sw-new"}
        assert Searcher(opened).get("fr-tea").text == "Plus rien."
        assert opened.about()["segments"] == 0
        assert opened.about()["engine"]["engine"] == "kept"


def test_a_reader_sees_what_a_writer_adds_and_counts_it_when_refreshed(made):
    _, stored = made()
    with closing(open_index(stored)) as opened:
        with IndexWriter(stored) as writer:
            writer.add([Document("new", "Le thé et le miel.", language="fr")])
            writer.commit()
        assert Searcher(opened).get("new") is not None
        later = opened.refreshed()
        assert later.manifest.documents == {"fr": 11}
        assert later.engine is opened.engine
        assert later.refreshed() is later


def test_a_change_that_fails_leaves_all_as_it_was(made, searcher):
    _, stored = made()
    before = {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}
    with IndexWriter(stored) as writer:
        writer.add([Document("new", "Le thé et le miel.", language="fr")])
        writer.delete(["fr-tea"])
        searcher.additions_left = 0
        with pytest.raises(InputError, match="full"):
            writer.commit()
    with closing(open_index(stored)) as opened:
        assert opened.generation == 1
        assert opened.manifest.documents == {"fr": 10}
        assert Searcher(opened).get("fr-tea") is not None
    assert {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("system", "settings", "what"),
    [
        ("translation-lm", {}, "neither a vector nor a sparse vector"),
        ("hybrid", {"lexical": "translation-lm"}, "neither a vector nor a sparse vector"),
        ("hybrid", {"lexical": "bm25", "lexical_options": "passages=9"}, "one part cuts passages"),
        ("hybrid", {"lexical": "bm25", "passages": "7", "lexical_options": "passages=9"}, "of different lengths"),
        ("hybrid", {"lexical": "bm25", "dense": "bm25"}, "neither a vector nor a sparse vector"),
    ],
)
def test_a_system_that_makes_no_vectors_is_refused_before_anything_is_made(tmp_path, searcher, system, settings, what):
    with pytest.raises(InputError, match=what):
        make_index(
            tmp_path / "index",
            system,
            few_pages(tmp_path),
            ["fr"],
            settings=settings,
            engine=f"kept:{tmp_path / 'kept'}",
        )
    assert names_in(tmp_path) == ["few-pages.jsonl"]


def test_a_network_on_top_of_vectors_is_refused_too():
    pytest.importorskip("torch")
    from isogloss.index.engine_systems import for_engine
    from isogloss.systems.registry import make_system

    with pytest.raises(InputError, match="neither a vector"):
        for_engine(make_system("layerwise", ("en", "fr"), {"scorer": "feed-forward"}))
    for_engine(make_system("layerwise", ("en", "fr"), {"scorer": "cosine"}))


@pytest.mark.parametrize("left", [0, 1])
def test_an_index_that_fails_leaves_neither_itself_nor_a_store(tmp_path, searcher, monkeypatch, left):
    monkeypatch.setattr("isogloss.index.engine_systems.BATCH", 6)
    searcher.additions_left = left
    with pytest.raises(InputError, match="full"):
        make_index(
            tmp_path / "index",
            "aligned",
            few_pages(tmp_path),
            ["fr"],
            settings=SMALL,
            engine=f"kept:{tmp_path / 'kept'}",
        )
    assert names_in(tmp_path) == ["few-pages.jsonl", "kept"]
    assert names_in(tmp_path / "kept") == []


def test_an_index_that_cannot_take_its_place_leaves_no_store(tmp_path, searcher, monkeypatch):
    def fails(*_):
        raise OSError("no space")

    monkeypatch.setattr("isogloss.storage.files._exchange_or_rename", fails)
    with pytest.raises(OSError, match="no space"):
        make_index(
            tmp_path / "index",
            "aligned",
            few_pages(tmp_path),
            ["fr"],
            settings=SMALL,
            engine=f"kept:{tmp_path / 'kept'}",
        )
    assert names_in(tmp_path / "kept") == []
    assert not (tmp_path / "index").exists()


def test_another_index_takes_its_place_whole_or_not_at_all(tmp_path, made, searcher):
    _, stored = made()
    (old,) = names_in(tmp_path / "kept")
    searcher.additions_left = 0
    with pytest.raises(InputError, match="full"):
        make_index(
            stored,
            "aligned",
            few_pages(tmp_path),
            ["sw"],
            settings=SMALL,
            overwrite=True,
            engine=f"kept:{tmp_path / 'kept'}",
        )
    with closing(open_index(stored)) as opened:
        assert Searcher(opened).get("fr-tea") is not None
    assert names_in(tmp_path / "kept") == [old]
    searcher.additions_left = None
    make_index(
        stored,
        "aligned",
        few_pages(tmp_path),
        ["sw"],
        settings=SMALL,
        overwrite=True,
        engine=f"kept:{tmp_path / 'kept'}",
    )
    (new,) = names_in(tmp_path / "kept")
    assert new != old
    make_index(stored, "bm25", few_pages(tmp_path), ["fr"], overwrite=True)
    assert names_in(tmp_path / "kept") == []
    assert open_index(stored).engine is None


def test_a_document_that_goes_between_search_and_fetch_is_left_out(made, searcher, monkeypatch):
    _, stored = made()
    with closing(open_index(stored)) as opened:
        before = [hit.document.id for hit in Searcher(opened).search("tea", 5)]
        get = searcher.get
        monkeypatch.setattr(searcher, "get", lambda self, language, ids: [None, *get(self, language, ids)[1:]])
        hits = Searcher(opened).search("tea", 5)
        assert [hit.document.id for hit in hits] == before[1:]
        assert [hit.rank for hit in hits] == [1, 2, 3, 4]


def test_no_file_holds_the_password_but_this_process_knows_it(tmp_path, searcher):
    seen = []
    connect = searcher.open.__func__

    def watched(cls, url, *, name):
        seen.append(url)
        return connect(cls, url, name=name)

    searcher.open = classmethod(watched)
    try:
        store = f"kept:{tmp_path / 'kept'}?password=s3cret"
        manifest = make_index(tmp_path / "index", "aligned", few_pages(tmp_path), ["fr"], settings=SMALL, engine=store)
        with closing(open_index(tmp_path / "index")):
            pass
    finally:
        searcher.open = classmethod(connect)
    assert manifest.engine.url == f"kept:{tmp_path / 'kept'}"
    assert seen == [store]
    assert not any(b"s3cret" in path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file())


def test_the_environment_says_where_the_store_is_now(tmp_path, made, monkeypatch):
    _, stored = made()
    (tmp_path / "kept").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="is not there"):
        open_index(stored)
    monkeypatch.setenv("ISOGLOSS_ENGINE", f"kept:{tmp_path / 'moved'}")
    with closing(open_index(stored)) as opened:
        assert Searcher(opened).search("tea")


def test_its_files_can_be_checked(made):
    _, stored = made()
    count, problems = check_index(stored)
    assert count > 2
    assert problems == []


def test_all_its_documents_are_encoded_anew_by_another_model(made, tmp_path):
    files, stored = made(["fr", "sw"])
    for path in (files, stored):
        with IndexWriter(path) as writer:
            writer.add([Document("new", "Le thé et le miel des abeilles.", language="fr", fields={"kind": "new"})])
            writer.delete(["fr-tea"])
            writer.commit()
    (old,) = names_in(tmp_path / "kept")
    for path in (files, stored):
        re_encode(path, "aligned", few_pages(tmp_path), {"dimension": "7"})
    (new,) = names_in(tmp_path / "kept")
    assert new != old
    with closing(open_index(stored)) as opened:
        assert opened.manifest.engine.dimension == 7
        assert opened.manifest.documents == {"fr": 10, "sw": 10}
        assert opened.generation == 3
        for query in QUERIES:
            alike(Searcher(opened).search(query), Searcher(open_index(files)).search(query))


@pytest.mark.parametrize("left", [0, 1])
def test_what_fails_to_be_encoded_anew_stays_as_it_was(made, tmp_path, searcher, left):
    _, stored = made(["fr", "sw"])
    before = names_in(tmp_path / "kept")
    searcher.additions_left = left
    with pytest.raises(InputError, match="full"):
        re_encode(stored, "aligned", few_pages(tmp_path), {"dimension": "7"})
    assert names_in(tmp_path / "kept") == before
    with closing(open_index(stored)) as opened:
        assert opened.manifest.engine.dimension == 12
        assert Searcher(opened).search("tea")


def test_documents_that_an_engine_does_not_list_are_not_encoded_anew(made, tmp_path, monkeypatch):
    _, stored = made()
    monkeypatch.setattr("isogloss.index.making.Listing", tuple)  # which no engine is
    with pytest.raises(InputError, match="cannot be encoded anew"):
        re_encode(stored, "aligned", few_pages(tmp_path))
    with pytest.raises(InputError, match="neither a vector"):
        monkeypatch.undo()
        re_encode(stored, "translation-lm", few_pages(tmp_path))
    assert "engine" in json.loads((stored / "index.json").read_text())


def test_an_index_in_files_says_nothing_of_engines(made):
    files, _ = made()
    assert "engine" not in json.loads((files / "index.json").read_text())
    assert "engine" not in open_index(files).about()
