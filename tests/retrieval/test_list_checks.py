"""Inverted lists whose files were changed are refused before anything is searched in them."""

import numpy as np
import pytest

from isogloss.retrieval import list_checks
from isogloss.retrieval.bm25 import BM25, FAST, BM25Search, Concept
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.storage.arrays import save_array
from isogloss.storage.containers import packed
from isogloss.storage.errors import InputError

TEXTS = ["a b", "a", "b b a", "c", "a c"]  # a: 0 1 2 4, b: 0 2, c: 3 4
ARRAYS = ("offsets", "documents", "frequencies", "lengths")


def written(folder, postings, **changed):
    """Lists in a container, some of whose arrays were changed."""
    folder.mkdir()
    with packed(folder):
        postings.terms.save(folder, "terms")
        for name in ARRAYS:
            save_array(folder / f"{name}.npy", changed.get(name, getattr(postings, name)))
    return folder


def change(array, position, value):
    array = array.copy()
    array[position] = value
    return array


OPENED = [
    ("offsets", lambda a: change(a, 1, 99), "does not ascend"),
    ("offsets", lambda a: change(a, 2, -3), "does not ascend"),
    ("offsets", lambda a: change(a, -1, 99), "does not fit"),
    ("offsets", lambda a: a[:-1], "does not fit"),
    ("offsets", lambda a: a.astype(np.int32), "not a row of"),
    ("documents", lambda a: a.astype(np.int64), "not a row of"),
    ("documents", lambda a: a[:-1], "does not fit"),
    ("frequencies", lambda a: a[:-1], "does not fit"),
    ("frequencies", lambda a: a.astype(np.float32), "not a row of"),
    ("lengths", lambda a: change(a, 0, -1), "has numbers from -1"),
    ("lengths", lambda a: a[None], "not a row of"),
]
USED = [
    ("documents", lambda a: change(a, 0, 1), "does not ascend within a list"),
    ("documents", lambda a: change(a, 1, 0), "does not ascend within a list"),
    ("documents", lambda a: change(a, 3, 5), "has numbers from 0 to 5, not 0 to 4"),
    ("documents", lambda a: change(a, 0, -1), "has numbers from -1"),
    ("frequencies", lambda a: change(a, 2, 0), "has numbers from 0"),
    ("frequencies", lambda a: change(a, 2, -7), "has numbers from -7"),
    ("lengths", lambda a: a[:-1], "has numbers from 0 to 4, not 0 to 3"),
]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("name", "changed", "why"), OPENED)
def test_changed_sizes_and_offsets_are_found_when_lists_are_opened(
    invert, tmp_path, name, changed, why, large, monkeypatch
):
    monkeypatch.setattr(list_checks, "_AT_ONCE", 0 if large else 2**20)
    postings = invert(TEXTS)
    folder = written(tmp_path / "lists", postings, **{name: changed(getattr(postings, name))})
    with pytest.raises(ValueError, match=rf"arrays\.bin: \w+\.npy .*{why}"):
        Postings.load(folder)


@pytest.mark.parametrize(("name", "changed", "why"), USED)
def test_changed_entries_of_small_lists_are_found_when_they_are_opened(invert, tmp_path, name, changed, why):
    postings = invert(TEXTS)
    folder = written(tmp_path / "lists", postings, **{name: changed(getattr(postings, name))})
    with pytest.raises(ValueError, match=why):
        Postings.load(folder)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("name", "changed", "why"), USED)
def test_changed_entries_of_large_lists_are_found_before_they_are_searched(
    invert, tmp_path, name, changed, why, compiled, monkeypatch
):
    monkeypatch.setattr(list_checks, "_AT_ONCE", 0)
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr(FAST, "_done", FAST._threshold)
    postings = invert(TEXTS)
    loaded = Postings.load(written(tmp_path / "lists", postings, **{name: changed(getattr(postings, name))}))
    if name != "lengths":
        assert loaded["b"].documents.tolist() == [0, 2]  # this one is whole
    search = BM25Search(BM25(loaded))
    for _ in range(2):
        with pytest.raises(
            InputError, match=rf"arrays\.bin: {'documents' if name == 'lengths' else name}\.npy .*{why}"
        ):
            search.best([Concept("a", (("a", 1.0),))], 2, np.arange(5))
    with pytest.raises(ValueError, match=why):
        JoinedPostings([loaded]).merged()
    with pytest.raises(ValueError, match=why):
        JoinedPostings([loaded, postings]).merged()


def test_whole_lists_are_checked_once_while_they_are_open(invert, tmp_path, monkeypatch):
    monkeypatch.setattr(list_checks, "_AT_ONCE", 0)
    folder = written(tmp_path / "lists", invert(TEXTS))
    checked = []
    check = list_checks.check_lists
    monkeypatch.setattr(list_checks, "check_lists", lambda *given: (checked.append(given[1].tolist()), check(*given)))
    first = Postings.load(folder)
    again = Postings.load(folder)
    for lists in (first, again, first):
        assert lists["a"].documents.tolist() == [0, 1, 2, 4]
    assert checked == [[0, 1, 2, 4]]
    assert again.check_all().check_all() is again
    assert len(checked) == 2
