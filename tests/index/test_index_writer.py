"""The writer: nothing is seen before it is committed, one writes at a time, and whatever fails leaves all as it was."""

import errno
import json
import multiprocessing
import random
import threading

import pytest

from isogloss.data.documents import Document
from isogloss.index import commit as compaction
from isogloss.index import segments
from isogloss.index import writer as commit_builder
from isogloss.index.commit import Commit
from isogloss.index.lock import WriteLock
from isogloss.index.making import make_index
from isogloss.index.manifest import FORMAT
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.bm25 import UntranslatedBM25


def page(id_, text="le phare guide les bateaux", language="fr", **fields):
    return Document(id_, text, language=language, fields=fields)


@pytest.fixture
def index(tmp_path, pages, lexicons):
    path = tmp_path / "index"
    make_index(path, "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    return path


@pytest.fixture
def plain(tmp_path, pages):
    path = tmp_path / "plain"
    make_index(path, "bm25", pages(), ["fr"])
    return path


def found(index, query="phare", **options):
    return [hit.document.id for hit in Searcher(open_index(index)).search(query, **options)]


def files(index):
    return {str(path.relative_to(index)): path.read_bytes() for path in index.rglob("*") if path.is_file()}


def test_what_is_added_or_deleted_is_seen_after_the_commit_and_not_before(plain):
    before = open_index(plain)
    with IndexWriter(plain, background=False) as writer:
        assert writer.add([page("new"), page("newer")]) == 2
        assert writer.delete(["fr-sea", "new", "nobody"]) == 2
        assert (found(plain), found(plain, "mer")) == ([], ["fr-sea"])
        assert writer.commit() == 2
        assert (found(plain), found(plain, "mer")) == (["newer"], [])
        assert writer.commit() == 2  # nothing has changed
    assert Searcher(before).search("mer")[0].document.id == "fr-sea"  # as it was when it was opened
    assert Searcher(before.refreshed()).search("mer") == []
    assert before.refreshed().generation == 2


def test_a_writer_that_leaves_without_committing_changes_nothing(plain):
    before = files(plain)
    with pytest.raises(RuntimeError), IndexWriter(plain) as writer:
        writer.add([page("new")])
        raise RuntimeError
    assert files(plain) == before


def test_a_document_is_replaced_by_its_language_and_id(index):
    with IndexWriter(index) as writer:
        writer.add([page("fr-sea", "abeille"), page("fr-sea", "mare", "it")])
        writer.commit()
    opened = open_index(index)
    assert opened.manifest.documents == {"fr": 3, "it": 4}
    assert Searcher(opened).get("fr-sea", "fr").text == "abeille"
    assert Searcher(opened).get("fr-sea", "it").text == "mare"
    assert Searcher(opened).get("fr-sea").language == "fr"


def test_what_is_deleted_in_one_language_stays_in_the_others(index):
    with IndexWriter(index) as writer:
        writer.add([page("same"), page("same", "faro", "it")])
        writer.commit()
        assert writer.delete(["same"], ["it"]) == 1
        writer.commit()
    assert Searcher(open_index(index)).get("same").language == "fr"


def test_pages_that_do_not_tell_their_language_go_where_they_look_to_belong(index):
    with IndexWriter(index) as writer:
        writer.add([page("x", "Il fornaio prepara il pane ogni mattina con la farina", ""), page("y", language="")])
        writer.commit()
    searcher = Searcher(open_index(index))
    assert searcher.get("x", "it") is not None
    assert searcher.get("y", "fr") is not None


def test_a_language_can_come_later_where_the_system_needs_nothing_for_it(plain):
    with IndexWriter(plain) as writer:
        writer.add([page("de-1", "der Leuchtturm", "de")])
        writer.commit()
    assert found(plain, "Leuchtturm", languages=["de"]) == ["de-1"]
    assert open_index(plain).manifest.documents == {"fr": 3, "de": 1}


def test_a_language_can_come_later_with_its_lexicon(index, tmp_path):
    (tmp_path / "en-de.tsv").write_text("lighthouse\tLeuchtturm\n", encoding="utf-8")
    with (
        IndexWriter(index) as writer,
        pytest.raises(InputError, match=r"cannot take documents in 'de'.*lexicon='FILE'"),
    ):
        writer.add([page("de-1", "der Leuchtturm", "de")])
        writer.commit()
    with IndexWriter(index, {"lexicon": str(tmp_path / "en-de.tsv")}) as writer:
        writer.add([page("de-1", "der Leuchtturm", "de")])
        writer.commit()
    assert found(index, "lighthouse") == ["de-1"]


def test_a_language_whose_documents_are_all_deleted_is_empty_and_can_be_filled_again(index):
    with IndexWriter(index) as writer:
        writer.delete(["it-sea", "it-bees", "it-bread"])
        writer.commit()
        assert open_index(index).manifest.documents == {"fr": 3}
        writer.add([page("it-faro", "mare", "it")])
        writer.commit()
    assert found(index, "sea", languages=["it"]) == ["it-faro"]


def test_an_index_can_be_emptied_and_filled_again(plain):
    with IndexWriter(plain) as writer:
        writer.delete(["fr-sea", "fr-bees", "fr-bread"])
        writer.commit()
        emptied = open_index(plain)
        assert (Searcher(emptied).search("mer"), Searcher(emptied).unknown_words("mer")) == ([], [])
        writer.add([page("new")])
        writer.commit()
    assert found(plain) == ["new"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda w: w.delete(["x"], ["xx"]),
        lambda w: w.add([page("")]),
        lambda w: w.add([page("x", language="../fr")]),
        lambda w: w.add([page("x", language="f" * 40)]),
    ],
)
def test_what_cannot_be_done_is_an_error(plain, wrong):
    with IndexWriter(plain) as writer, pytest.raises(InputError):
        wrong(writer)


def test_what_is_not_an_index_is_not_written_to(tmp_path):
    with pytest.raises(InputError, match="is not an index"), IndexWriter(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


# One writer at a time


def hold(path, ready, done):
    with IndexWriter(path):
        ready.set()
        done.wait()


def test_a_second_writer_is_refused_and_told_who_the_first_is(plain):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    process = context.Process(target=hold, args=(plain, ready, done))
    process.start()
    try:
        ready.wait()
        with (
            pytest.raises(InputError, match=rf"plain: is being changed by process {process.pid} \("),
            IndexWriter(plain),
        ):
            pass
        assert found(plain, "mer") == ["fr-sea"]  # readers do not wait
    finally:
        done.set()
        process.join()
    with IndexWriter(plain):
        pass


def test_an_index_is_not_replaced_while_it_is_being_changed(plain, pages):
    with IndexWriter(plain), pytest.raises(InputError, match="is being changed by process"):
        make_index(plain, "bm25", pages(), ["fr"], overwrite=True)


def test_a_lock_on_an_index_that_was_replaced_is_taken_on_the_new_one(tmp_path, monkeypatch):
    path, other = tmp_path / "index", tmp_path / "other"
    for folder in (path, other):
        folder.mkdir()
        (folder / "write.lock").touch()
    is_current, swapped = WriteLock._is_current, []

    def swap_first(lock, handle):
        if not swapped:
            swapped.append(True)
            (other / "write.lock").replace(path / "write.lock")
        return is_current(lock, handle)

    monkeypatch.setattr(WriteLock, "_is_current", swap_first)
    with WriteLock(path), pytest.raises(InputError), WriteLock(path):
        pass


# Failures


def disk_is_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("moment", [*range(1, 20, 3), "commit.json"])
def test_a_full_disk_leaves_the_index_as_it_was_and_the_writer_may_try_again(plain, monkeypatch, moment):
    save, calls = segments.save_array, []

    def fail_once(*arguments):
        calls.append(arguments)
        return disk_is_full() if len(calls) == moment else save(*arguments)

    with IndexWriter(plain) as writer:
        before = files(plain)
        writer.add([page("new")])
        writer.delete(["fr-sea"])
        with monkeypatch.context() as patched:
            for module in ("index.segments", "index.documents", "storage.strings", "retrieval.postings"):
                patched.setattr(f"isogloss.{module}.save_array", fail_once)
            if moment == "commit.json":
                patched.setattr("isogloss.index.commit.Commit.save", disk_is_full)
            with pytest.raises(OSError, match="No space"):
                writer.commit()
        assert files(plain) == before
        assert (found(plain), found(plain, "mer")) == ([], ["fr-sea"])
        writer.commit()
    assert (found(plain), found(plain, "mer")) == (["new"], [])


def test_what_a_killed_writer_has_left_is_taken_away_by_the_next(plain):
    for name in ("segments/fr-9-dead/pages.npy", "deleted/fr-9-dead.9.npy", "orders/fr.9.npy", "shared/xx/lexicon.tsv"):
        (plain / name).parent.mkdir(exist_ok=True)
        (plain / name).write_text("half")
    (plain / ".commit.json.abc.partial").write_text("half")
    with IndexWriter(plain):
        pass
    assert not [name for name in files(plain) if "dead" in name or "9.npy" in name or "xx" in name or "partial" in name]
    assert found(plain, "mer") == ["fr-sea"]


# Compaction


def test_many_segments_are_merged_in_the_background(plain):
    with IndexWriter(plain) as writer:
        for number in range(compaction.MOST_SEGMENTS + 3):
            writer.add([page(f"new{number}", f"phare numéro{number}")])
            writer.commit()
        writer.wait()
        assert len(open_index(plain).commit.segments) <= compaction.MOST_SEGMENTS
    assert len(found(plain, k=100)) == compaction.MOST_SEGMENTS + 3
    assert len(list((plain / "segments").iterdir())) == len(open_index(plain).commit.segments)


def test_a_segment_that_lost_a_quarter_is_written_anew(plain):
    with IndexWriter(plain) as writer:
        writer.delete(["fr-sea"])
        writer.commit()
        writer.wait()
        (segment,) = open_index(plain).commit.segments
    assert (segment.documents, segment.deleted) == (2, 0)
    assert list((plain / "deleted").iterdir()) == []


def test_what_is_changed_while_segments_are_merged_stays_changed(plain, monkeypatch):
    merge, meanwhile = commit_builder.CommitBuilder.merge, []

    def slow_merge(builder, *arguments):
        merged = merge(builder, *arguments)
        if not meanwhile:
            meanwhile.append(True)
            change()
        return merged

    with IndexWriter(plain, background=False) as writer:
        writer.add([page("one"), page("two"), page("three")])
        writer.commit()
        writer.add([page("four")])
        writer.commit()

        def change():
            writer.delete(["two", "fr-sea"])
            writer.add([page("three", "le pain"), page("five")])
            writer.commit()

        monkeypatch.setattr(commit_builder.CommitBuilder, "merge", slow_merge)
        writer.compact()
        opened = open_index(plain)
        assert [segment.documents for segment in opened.commit.segments] == [7, 2]
        assert sorted(hit.document.id for hit in Searcher(opened).search("phare")) == ["five", "four", "one"]
        assert Searcher(opened).get("fr-sea") is None
        assert Searcher(opened).get("three").text == "le pain"
        assert writer.compact() > opened.generation
    assert [segment.documents for segment in open_index(plain).commit.segments] == [6]


def test_a_merge_whose_documents_are_all_deleted_meanwhile_leaves_nothing(plain, monkeypatch):
    merge = commit_builder.CommitBuilder.merge

    def slow_merge(builder, *arguments):
        merged = merge(builder, *arguments)
        writer.delete(["fr-sea", "fr-bees", "fr-bread", "new"])
        writer.commit()
        return merged

    with IndexWriter(plain, background=False) as writer:
        writer.add([page("new")])
        writer.commit()
        monkeypatch.setattr(commit_builder.CommitBuilder, "merge", slow_merge)
        writer.compact()
    assert open_index(plain).commit.segments == ()
    assert list((plain / "segments").iterdir()) == []


def test_a_merge_that_fails_is_told_and_loses_nothing(plain, monkeypatch, caplog):
    monkeypatch.setattr(commit_builder.CommitBuilder, "merge", disk_is_full)
    with IndexWriter(plain) as writer:
        writer.delete(["fr-sea"])
        writer.commit()
    assert "segments could not be merged" in caplog.text
    assert found(plain, "pain") == ["fr-bread"]


def test_a_system_that_cannot_join_parts_indexes_all_documents_again(plain, monkeypatch):
    monkeypatch.setattr(UntranslatedBM25, "joins", False)
    with IndexWriter(plain) as writer:
        writer.add([page("new"), page("fr-bread", "phare phare")])
        writer.delete(["fr-sea"])
        writer.commit()
        assert [segment.documents for segment in open_index(plain).commit.segments] == [3]
        assert found(plain) == ["fr-bread", "new"]
        writer.delete(["new"])
        writer.commit()
        writer.delete(["nobody"])
        assert writer.commit() == 3
    assert [segment.documents for segment in open_index(plain).commit.segments] == [2]


# Readers


def test_readers_answer_consistently_while_the_index_changes(plain):
    """Of each pair of documents both are always there, or neither: they are committed together."""
    stop, wrong, answers = threading.Event(), [], []

    def read():
        opened = open_index(plain)
        while not stop.is_set():
            opened = opened.refreshed()
            ids = sorted(hit.document.id for hit in Searcher(opened).search("phare", k=1000, explain=False))
            answers.append(len(ids))
            if [f"{id_[:-1]}b" for id_ in ids if id_.endswith("a")] != [id_ for id_ in ids if id_.endswith("b")]:
                wrong.append(ids)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    with IndexWriter(plain) as writer:
        for number in range(12):
            writer.add([page(f"{number:02}a"), page(f"{number:02}b")])
            if number % 3 == 2:
                writer.delete([f"{number - 1:02}a", f"{number - 1:02}b"])
            writer.commit()
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert len(found(plain, k=1000)) == 16
    assert answers


def test_refreshing_shares_what_has_not_changed(index):
    opened = open_index(index)
    assert opened.refreshed() is opened
    with IndexWriter(index) as writer:
        writer.add([page("new")])
        writer.commit()
    later = opened.refreshed()
    assert later is not opened
    assert later.languages["it"] is opened.languages["it"]
    (old,) = (segment for name, segment in opened.segments.items() if name.startswith("fr"))
    assert later.segments[old.name] is old


def test_an_index_that_was_replaced_is_seen_when_it_is_refreshed(plain, pages):
    opened = open_index(plain)
    make_index(plain, "bm25", pages(), ["it"], overwrite=True)
    assert list(opened.refreshed().manifest.documents) == ["it"]


def test_filters_find_documents_by_field_in_every_segment(plain):
    with IndexWriter(plain) as writer:
        for number in range(6):
            writer.add([page(f"p{number}", kind="odd" if number % 2 else "even", number=number)])
            writer.commit()
        writer.delete(["p3"])
        writer.commit()
    assert found(plain, filters={"kind": "odd"}) == ["p1", "p5"]
    assert found(plain, filters={"kind": "odd", "number": "5"}) == ["p5"]
    assert found(plain, filters={"kind": "none"}) == []


def test_about_says_what_there_is(index):
    with IndexWriter(index) as writer:
        writer.add([page("new")])
        writer.delete(["fr-sea"])
        writer.commit()
        writer.wait()
        writer.delete(["it-sea"])
    about = open_index(index).about()
    assert (about["documents"], about["generation"], about["format"]) == ({"fr": 3, "it": 3}, 3, FORMAT)
    assert about["segments"] == 3
    assert about["bytes"] == sum(len(content) for content in files(index).values())
    assert json.loads(json.dumps(about)) == about


def test_every_commit_names_only_what_is_there(index):
    with IndexWriter(index) as writer:
        for number in range(4):
            writer.add([page(f"n{number}")])
            writer.delete([f"n{number - 1}"])
            writer.commit()
    commit = Commit.load(index)
    assert all((index / name).is_file() for name in commit.files)
    named = {name for name in commit.files if name.startswith(("deleted", "orders"))}
    assert named == {name for name in files(index) if name.startswith(("deleted", "orders"))}
    assert {name.split("/")[1] for name in commit.files if name.startswith("origins")} == {
        path.name for path in (index / "origins").iterdir()
    }


def test_a_merge_whose_segment_is_taken_away_meanwhile_is_no_failure(plain, monkeypatch, caplog):
    merge, meanwhile = commit_builder.CommitBuilder.merge, []

    def late_merge(builder, *arguments):
        if not meanwhile:
            meanwhile.append(True)
            writer.delete(["fr-bees", "fr-bread"])
            writer.commit()
        return merge(builder, *arguments)

    monkeypatch.setattr(commit_builder.CommitBuilder, "merge", late_merge)
    with IndexWriter(plain) as writer:
        writer.add([page("new")])
        writer.delete(["fr-sea"])
        writer.commit()
    assert caplog.text == ""
    assert found(plain) == ["new"]
    assert len(list((plain / "segments").iterdir())) == 1


def test_documents_are_known_by_their_ids_however_their_segments_were_merged(plain):
    """The small segments are merged around a large one, which holds older versions of their documents."""
    chance = random.Random(18)
    ids = [f"doc{number}" for number in range(12)]
    there = set()
    with IndexWriter(plain) as writer:
        writer.add([Document(f"other{number}", "Le vent du nord.", language="fr") for number in range(200)])
        writer.add([Document(id_, "Le vent du nord.", language="fr") for id_ in ids])
        for step in range(60):
            if there and chance.random() < 0.3:
                gone = chance.choice(sorted(there))
                assert writer.delete([gone], ["fr"]) == 1
                there.discard(gone)
            else:
                few = chance.sample(ids, chance.choice((1, 1, 1, 5)))
                writer.add([Document(id_, f"Le sel numéro {step}.", language="fr") for id_ in few])
                there.update(few if step else ids)
            writer.commit()
            writer.wait()
            assert writer.index.languages["fr"].known(ids) == there
