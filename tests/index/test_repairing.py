"""A damaged index is mended: what can be made again is, the rest is named, and nothing is guessed."""

import errno
import re

import pytest

from isogloss.data.documents import Document
from isogloss.index.checking import Repair, check_index, repair_index
from isogloss.index.commit import Commit
from isogloss.index.lock import WriteLock
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.containers import Container
from isogloss.storage.errors import InputError, OpenFilesError
from isogloss.storage.strings import StringTable

QUERIES = ["why is the sea salty", "how bees make honey", "bread", "phare", "zebra"]


def page(id_, text="le phare guide les bateaux"):
    return Document(id_, text, language="fr", fields={"kind": "new"})


@pytest.fixture
def index(tmp_path, pages, lexicons):
    """One segment of Italian, three of French of which two have lost documents."""
    path = tmp_path / "index"
    make_index(path, "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    with IndexWriter(path, background=False) as writer:
        writer.add([page("new0"), page("new1"), page("new2", "le pain du phare")])
        writer.commit()
        writer.add([page("new3"), page("new4", "la mer")])
        writer.commit()
        writer.delete(["new1", "fr-sea"])
        writer.commit()
    return path


def damage(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def holding(index, id_):
    """The segment that a document is in."""
    return next(path for path in index.glob("segments/fr-*") if id_ in StringTable.load(path, "ids"))


def answers(path):
    searcher = Searcher(open_index(path))
    return [
        [(hit.document.id, hit.language, round(hit.score, 6)) for hit in searcher.search(query)] for query in QUERIES
    ]


def test_a_whole_index_stays_as_it_is(index):
    before = Commit.load(index)
    assert repair_index(index) == Repair()
    assert Commit.load(index) == before


def test_every_array_that_can_be_made_again_is(index, damage_array):
    """Postings, fields, ids: the texts say all of it."""
    names = Container.open(holding(index, "new0")).entries
    made_again = [name for name in names if not name.startswith("pages.")]
    assert len(made_again) > 8
    before = answers(index)
    for name in made_again:
        hurt = holding(index, "new0")
        damage_array(hurt, name)
        done = repair_index(index)
        assert done.problems == [f"{hurt / 'arrays.bin'} is not what was written (the checksum of {name} differs)"]
        assert (done.restored, done.lost, done.unnamed) == ({"fr": 2}, {}, 0)
        assert check_index(index)[1] == []
        assert answers(index) == before


def test_documents_whose_texts_are_damaged_are_named_and_can_be_added_again(index, damage_array):
    before = answers(index)
    damage_array(holding(index, "new0"), "pages.bytes.npy")
    done = repair_index(index)
    assert (done.restored, done.lost, done.unnamed) == ({}, {"fr": ["new0", "new2"]}, 0)
    assert check_index(index)[1] == []
    assert Searcher(open_index(index)).get("new0") is None
    assert Searcher(open_index(index)).get("new3") is not None
    with IndexWriter(index, background=False) as writer:
        writer.add([page("new0"), page("new2", "le pain du phare")])
        writer.commit()
    assert answers(index) == before


def test_documents_of_which_it_is_not_known_whether_they_were_deleted_do_not_come_back(index):
    segment = holding(index, "new0")
    (bitmap,) = index.glob(f"deleted/{segment.name}.*")
    damage(bitmap)
    done = repair_index(index)
    assert done.lost == {"fr": ["new0", "new1", "new2"]}
    assert all(Searcher(open_index(index)).get(id_) is None for id_ in done.lost["fr"])


def test_of_a_container_that_is_cut_off_the_arrays_before_are_used(index):
    """The documents come first in it."""
    hurt, before = holding(index, "new0") / "arrays.bin", answers(index)
    hurt.write_bytes(hurt.read_bytes()[:-50])
    done = repair_index(index)
    assert re.fullmatch(rf"{hurt} has [\d,]+ bytes, [\d,]+ were written", done.problems[0])
    assert (done.restored, done.lost, done.unnamed) == ({"fr": 2}, {}, 0)
    assert answers(index) == before


def test_a_document_that_was_replaced_is_not_lost(index, damage_array):
    with IndexWriter(index, background=False) as writer:
        writer.add([page("new0", "un autre texte")])
        writer.commit()
    old = holding(index, "new2")
    for hurt in ("pages.bytes.npy", "id_order.npy"):
        damage_array(old, hurt)
    assert repair_index(index).lost == {"fr": ["new1", "new2"]}
    assert Searcher(open_index(index)).get("new0").text == "un autre texte"


@pytest.mark.parametrize("name", ["checksums.json", "arrays.json", "arrays.bin"])
def test_documents_without_a_readable_id_are_counted(index, name):
    segment = holding(index, "new0")
    (segment / name).unlink()
    done = repair_index(index)
    assert (done.restored, done.lost, done.unnamed) == ({}, {}, 2)
    assert segment.name in done.problems[0]
    assert check_index(index)[1] == []


def test_a_damaged_order_is_worked_out_again(index):
    before = answers(index)
    (order,) = index.glob("orders/fr.*")
    damage(order)
    done = repair_index(index)
    assert (len(done.problems), done.restored, done.lost) == (1, {}, {})
    assert answers(index) == before
    assert check_index(index)[1] == []


def test_a_language_of_which_nothing_is_left_can_be_filled_again(index, damage_array):
    damage_array(next(index.glob("segments/it-*")), "pages.bytes.npy")
    done = repair_index(index)
    assert list(done.lost) == ["it"]
    assert set(open_index(index).languages) == {"fr"}
    with IndexWriter(index, background=False) as writer:
        writer.add([Document("i1", "il mare", language="it")])
        writer.commit()
    assert Searcher(open_index(index)).get("i1", "it").text == "il mare"


def test_readers_of_the_damaged_index_go_on(index, damage_array):
    opened = open_index(index)
    damage_array(holding(index, "new0"), "fields/documents.npy")
    repair_index(index)
    assert Searcher(opened.refreshed()).get("new0") is not None


def test_a_model_that_is_damaged_cannot_be_made_again(index):
    hurt = next(path for path in (index / "shared" / "fr" / "en").iterdir() if path.suffix != ".json")
    hurt.write_bytes(hurt.read_bytes() + b"x")
    with pytest.raises(InputError, match=r"damaged|cannot be mended: .*restore it from a copy"):
        repair_index(index)


def test_while_another_writes_nothing_is_mended(index):
    with WriteLock(index), pytest.raises(InputError, match="is being changed by"):
        repair_index(index)


@pytest.mark.parametrize("use", [check_index, repair_index])
def test_a_limit_of_open_files_is_no_damage(index, use, monkeypatch):
    before = Commit.load(index)

    def no_more(directory):
        raise OSError(errno.EMFILE, "Too many open files", str(directory))

    monkeypatch.setattr(Container, "open", no_more)
    with pytest.raises(OpenFilesError, match="too many open files"):
        use(index)
    assert Commit.load(index) == before
