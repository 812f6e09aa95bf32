"""Commits, checksums, field lists and orders of ids: the parts of an index that changes."""

import errno
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.documents import Collection, Document, id_order
from isogloss.index.commit import Commit, LanguageEntry, SegmentEntry
from isogloss.index.documents import DocumentStore, JoinedDocuments, extended_order
from isogloss.index.segments import live_rows, write_array
from isogloss.retrieval.field_lists import build_field_lists, matching_rows
from isogloss.retrieval.postings import JoinedPostings
from isogloss.storage.checksums import SMALL, FileNote, check_directory, write_checksums
from isogloss.storage.errors import DamagedFileError, InputError

COMMIT = Commit(
    "1a2b", 7,
    {"fr": LanguageEntry((SegmentEntry("fr-1", 5, 2, "deleted/fr-1.7.npy"), SegmentEntry("fr-6", 1)), "orders/fr.npy"),
     "sw": LanguageEntry()},
    {name: FileNote(9, "ff") for name in (
        "deleted/fr-1.7.npy", "orders/fr.npy", "segments/fr-1/checksums.json", "segments/fr-6/checksums.json",
        "shared/fr/checksums.json", "shared/sw/checksums.json",
    )},
)  # fmt: skip


def test_a_commit_reads_back_the_same(tmp_path):
    COMMIT.save(tmp_path)
    assert Commit.load(tmp_path) == COMMIT
    assert COMMIT.languages["fr"].live == 4
    assert [segment.name for segment in COMMIT.segments] == ["fr-1", "fr-6"]


@pytest.mark.parametrize(
    "change", [lambda text: text[:-20], lambda text: text.replace('"documents": 5', '"documents": 6'), lambda _: "[]"]
)
def test_a_commit_that_is_not_what_was_written_is_an_error_that_names_it(tmp_path, change):
    COMMIT.save(tmp_path)
    path = tmp_path / "commit.json"
    changed = change(path.read_text(encoding="utf-8"))
    path.write_text(changed, encoding="utf-8")
    assert Commit.load(tmp_path) == COMMIT  # from its copy
    (tmp_path / "commit.copy.json").write_text(changed, encoding="utf-8")
    with pytest.raises(InputError, match=r"commit\.json: is damaged .* and so is its copy"):
        Commit.load(tmp_path)


def test_the_copy_of_a_commit_is_never_older_than_the_commit(tmp_path, monkeypatch):
    COMMIT.save(tmp_path)
    written = []
    monkeypatch.setattr("isogloss.index.commit.write_bytes", lambda path, _: written.append(path.name))
    COMMIT.save(tmp_path)
    assert written == ["commit.copy.json", "commit.json"]

    def full(path, content):
        if "copy" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        path.write_bytes(content)

    monkeypatch.setattr("isogloss.index.commit.write_bytes", full)
    replace(COMMIT, generation=8).save(tmp_path)
    assert Commit.load(tmp_path).generation == 8
    assert not (tmp_path / "commit.copy.json").exists()  # that of generation 7 would lose a commit


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a.npy", "deep/b.npy"):
        (tmp_path / name).write_bytes(name.encode() * SMALL)
    return tmp_path


def test_a_whole_directory_passes_and_notes_are_the_same_twice(folder):
    note = write_checksums(folder)
    check_directory(folder, note, hashes=True)
    assert write_checksums(folder) == note


@pytest.mark.parametrize(("content", "found_by_size"), [(b"deep/b", True), (b"deep/c.npy", False)])
def test_a_changed_file_is_named(folder, content, found_by_size):
    note = write_checksums(folder)
    (folder / "deep" / "b.npy").write_bytes(content * SMALL)
    with pytest.raises(DamagedFileError, match=r"deep/b\.npy"):
        check_directory(folder, note, hashes=not found_by_size)
    if not found_by_size:
        check_directory(folder, note)


def test_a_small_file_is_compared_whenever_it_is_opened(folder):
    (folder / "small.json").write_bytes(b"12")
    note = write_checksums(folder)
    (folder / "small.json").write_bytes(b"13")
    with pytest.raises(DamagedFileError, match=r"small\.json is not what was written"):
        check_directory(folder, note)


def test_the_notes_themselves_are_checked(folder):
    note = write_checksums(folder)
    path = folder / "checksums.json"
    noted = json.loads(path.read_text(encoding="utf-8"))
    noted["a.npy"][0] += 1
    path.write_text(json.dumps(noted), encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"checksums\.json"):
        check_directory(folder, note)


@given(deleted=st.lists(st.booleans(), min_size=1, max_size=40))
@settings(deadline=None, max_examples=20)
def test_deleted_rows_come_back(tmp_path_factory, deleted):
    folder = tmp_path_factory.mktemp("bits")
    write_array(folder, "bits.npy", np.packbits(np.asarray(deleted)))
    entry = SegmentEntry("fr-1", len(deleted), sum(deleted), "bits.npy")
    assert (~live_rows(folder, entry)).tolist() == deleted
    for wrong in {*range(len(deleted) + 1)} - {sum(deleted)}:
        with pytest.raises(ValueError, match=r"bits\.npy does not have"):
            live_rows(folder, replace(entry, deleted=wrong))


FIELDS = [
    {"kind": "manual", "year": 1999, "tags": ["a", "b"], "good": True},
    {"kind": "manual", "year": 2000, "tags": ["b", "b"], "note": "x" * 500},
    {"kind": "page", "year": 1999.5, "good": False, "deep": {"no": 1}, "nothing": None},
    {},
]


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({"kind": "manual"}, [0, 1]),
        ({"year": "1999"}, [0]),
        ({"year": "1999.5"}, [2]),
        ({"tags": "b"}, [0, 1]),
        ({"tags": "b", "good": "true"}, [0]),
        ({"good": "false"}, [2]),
        ({"kind": "man"}, []),
        ({"kind": "manual", "colour": "red"}, []),
        ({"note": "x" * 500}, []),
        ({}, [0, 1, 2, 3]),
    ],
)
def test_filters_find_the_rows_that_have_every_field(filters, rows):
    lists = build_field_lists([Document(str(row), "text", fields=fields) for row, fields in enumerate(FIELDS)])
    assert np.flatnonzero(matching_rows(JoinedPostings([lists]), filters)).tolist() == rows


def store_of(ids):
    return DocumentStore.of(Collection([Document(id_, f"text of {id_}") for id_ in ids]))


IDS = st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=8)


@given(stores=st.lists(IDS, max_size=4), added=IDS)
@settings(deadline=None)
def test_the_order_of_all_ids_is_that_of_strings(stores, added):
    taken, parts = set(), []
    for ids in [*stores, added]:
        parts.append([id_ for id_ in ids if id_ not in taken])
        taken.update(ids)
    all_ids = [id_ for ids in parts for id_ in ids]
    order = extended_order(
        id_order(all_ids[: len(all_ids) - len(parts[-1])]), list(map(store_of, parts[:-1])), store_of(parts[-1])
    )
    assert order.tolist() == id_order(all_ids).tolist()


def test_a_few_ids_are_put_into_many_without_sorting_them():
    many, few = [f"{number:03}" for number in range(0, 600, 2)], ["0005", "599", "005"]
    order = extended_order(id_order(many), [store_of(many[:100]), store_of(many[100:])], store_of(few))
    assert order.tolist() == id_order([*many, *few]).tolist()


@given(first=IDS, second=IDS, asked=IDS)
@settings(deadline=None)
def test_documents_are_found_by_id_the_last_of_them_first(first, second, asked):
    stores = [store_of(first), store_of(second)]
    joined = JoinedDocuments(stores, np.arange(len(first) + len(second)))
    for id_ in asked:
        row = joined.find(id_)
        wanted = len(first) + second.index(id_) if id_ in second else first.index(id_) if id_ in first else None
        assert row == wanted
        assert row is None or joined[row].id == joined.id_of(row) == id_
        live = np.arange(len(joined)) < len(first)  # the second ones are deleted
        assert joined.find(id_, live) == (first.index(id_) if id_ in first else None)
    assert sorted(stores[0].rows_of(set(asked)).tolist()) == sorted(first.index(id_) for id_ in asked if id_ in first)


def test_a_document_that_cannot_be_read_names_its_file(tmp_path):
    store_of(["a", "b"]).save(tmp_path)
    path = tmp_path / "arrays.bin"
    path.write_bytes(path.read_bytes().replace(b"text of b", b'ext" \xff\xff\xff\xff'))
    with pytest.raises(InputError, match=r"arrays\.bin: pages\.bytes\.npy: document 1 is damaged.*isogloss check"):
        DocumentStore.load(tmp_path)[1]


@pytest.mark.parametrize("name", ["commit.json", "commit.copy.json"])
def test_a_commit_is_not_written_through_a_link(tmp_path, name):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / name).symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=f"{name}: is a link"):
        COMMIT.save(tmp_path / "index")
    assert (tmp_path / "mine").read_text() == "mine"
