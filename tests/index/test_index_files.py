"""The document store and the manifest of an index, in memory and on disk."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.documents import Collection, Document
from isogloss.index.documents import DocumentStore
from isogloss.index.manifest import FORMAT, Manifest
from isogloss.storage.errors import InputError

TEXT = st.text(max_size=12)
DOCUMENTS = st.lists(
    st.builds(
        Document, id=st.text(min_size=1, max_size=4), text=TEXT, title=TEXT, language=st.sampled_from(["", "fr"]),
        url=TEXT, links=st.lists(TEXT).map(tuple), translations=st.dictionaries(st.sampled_from(["it", "es"]), TEXT),
        fields=st.dictionaries(TEXT, st.integers() | TEXT),
    ),
    max_size=6, unique_by=lambda document: document.id,
)  # fmt: skip

MANIFEST = Manifest(
    "bm25", {"k1": 1.2, "stems": True}, ("en", "de"), ("title", "text"), {}, "isogloss test", identity="1a2b"
)  # fmt: skip


@given(documents=DOCUMENTS)
@settings(deadline=None, max_examples=40)
def test_documents_come_back_as_they_were_stored(tmp_path_factory, documents):
    folder, made = tmp_path_factory.mktemp("store"), DocumentStore.of(Collection(documents))
    made.save(folder)
    for store in (made, DocumentStore.load(folder)):
        assert [store[row] for row in range(len(store))] == documents
        assert [documents[row].id for row in store.id_order.argsort()] == sorted(d.id for d in documents)


@pytest.mark.parametrize("row", [-1, 1])
def test_a_row_that_is_not_there_is_an_index_error(row):
    with pytest.raises(IndexError):
        DocumentStore.of(Collection([Document("a", "text")]))[row]


def test_a_manifest_reads_back_the_same(tmp_path):
    MANIFEST.save(tmp_path)
    assert Manifest.load(tmp_path) == MANIFEST


def test_how_many_documents_there_are_is_not_written_into_the_manifest(tmp_path):
    replace(MANIFEST, documents={"fr": 7}).save(tmp_path)
    assert Manifest.load(tmp_path) == MANIFEST


def test_the_manifest_file_is_plain_json_for_other_programs(tmp_path):
    MANIFEST.save(tmp_path)
    assert json.loads((tmp_path / "index.json").read_text(encoding="utf-8")) == {
        "system": "bm25",
        "options": {"k1": 1.2, "stems": True},
        "query_languages": ["en", "de"],
        "fields": ["title", "text"],
        "made_by": "isogloss test",
        "format": FORMAT,
        "sources": {},
        "identity": "1a2b",
        "usual": {},
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-30],
        lambda text: "",
        lambda text: "[]",
        lambda text: "7",
        lambda text: text.replace('"system"', '"sistem"'),
        lambda text: text.replace('"format"', '"fromat"'),
        lambda text: json.dumps({**json.loads(text), "surprise": 1}),
        lambda text: json.dumps({**json.loads(text), "options": [1]}),
        lambda text: json.dumps({**json.loads(text), "documents": 3}),
        lambda text: json.dumps({**json.loads(text), "fields": None}),
        lambda text: json.dumps({**json.loads(text), "query_languages": []}),
    ],
)
def test_a_damaged_manifest_is_an_error_that_names_the_file(tmp_path, change):
    MANIFEST.save(tmp_path)
    path = tmp_path / "index.json"
    changed = change(path.read_text(encoding="utf-8"))
    path.write_text(changed, encoding="utf-8")
    assert Manifest.load(tmp_path) == replace(MANIFEST, documents={})  # from its copy
    (tmp_path / "index.copy.json").write_text(changed, encoding="utf-8")
    with pytest.raises(InputError, match="is damaged") as caught:
        Manifest.load(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_an_error_that_names_both_numbers_and_the_way_out(tmp_path, number):
    MANIFEST.save(tmp_path)
    path = tmp_path / "index.json"
    path.write_text(json.dumps({"format": number, "of": "another shape"}), encoding="utf-8")
    why = f"has format {number}, this isogloss reads format {FORMAT}; make the index again with 'isogloss index'"
    with pytest.raises(InputError, match=why):
        Manifest.load(tmp_path)


@pytest.mark.parametrize(("name", "what"), [(".", "is not an index"), ("absent", "no such index")])
def test_what_is_no_index_is_an_error_with_a_way_out(tmp_path, name, what):
    with pytest.raises(InputError, match=rf"{what}.*make one with isogloss.Index.make"):
        Manifest.load(tmp_path / name)
