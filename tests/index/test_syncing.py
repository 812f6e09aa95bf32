"""An index follows its folder: what changed is read, what is gone leaves, and the rest costs nothing."""

import json
import os
import random
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from py3langid.langid import LanguageIdentifier

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers import folder as folder_reader
from isogloss.data.readers.files.kinds import kind_of
from isogloss.data.readers.folder import Folder
from isogloss.data.readers.registry import open_source
from isogloss.data.translations import OwnTranslations
from isogloss.index import named_origins, origin_files
from isogloss.index.adding import add_source
from isogloss.index.checking import check_index, repair_index
from isogloss.index.commit import Commit
from isogloss.index.listing import list_documents
from isogloss.index.lock import WriteLock
from isogloss.index.making import make_index, re_encode
from isogloss.index.manifest import Manifest
from isogloss.index.origins import load_origins
from isogloss.index.reader import open_index
from isogloss.index.syncing import Synced, folder_of, forget_origin, sync_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage import file_states
from isogloss.storage.errors import InputError
from isogloss.systems.base import System

FRENCH = (
    "Le boulanger prépare le pain chaque matin avec de la farine et du sel.",
    "La mer est salée parce que les rivières y apportent le sel des roches.",
    "Les abeilles fabriquent le miel dans la ruche avec le nectar des fleurs.",
    "Le phare guide les bateaux pendant la nuit quand la tempête arrive.",
)
GERMAN = "Die Bienen sammeln den Nektar der Blumen und machen daraus im Stock den Honig."


@pytest.fixture
def folder(tmp_path):
    """Four files in two folders."""
    made = tmp_path / "docs"
    (made / "guide").mkdir(parents=True)
    for name, text in zip(("bread.md", "sea.txt", "guide/bees.md", "guide/light.html"), FRENCH, strict=True):
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture
def index(tmp_path, folder):
    path = tmp_path / "index"
    make_index(path, "bm25", open_source(str(folder)), ["fr"])
    return path


@pytest.fixture
def later(monkeypatch):
    """Lets time pass: files that were just written are old."""
    now = file_states.time.time_ns
    monkeypatch.setattr(origin_files.time, "time_ns", lambda: now() + 10**10)


def documents(path):
    with closing(open_index(path)) as opened:
        found = {}
        for language, of_language in opened.languages.items():
            for listed in list_documents(opened, [language]):
                found[language, listed.id] = next(of_language.stored([listed.id])).text
    return found


def generation(path):
    return Commit.load(path).generation


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_is_new_changed_and_gone_is_found(index, folder):
    write(folder / "guide" / "mill.txt", "Le moulin moud le blé du village.")
    write(folder / "bread.md", "Le pain est cuit au four.")
    (folder / "sea.txt").unlink()
    assert sync_index(index) == Synced(1, 1, 1, read=2, files=4)
    assert documents(index) == {
        ("fr", "bread.md"): "Le pain est cuit au four.",
        ("fr", "guide/bees.md"): FRENCH[2],
        ("fr", "guide/light.html"): FRENCH[3],
        ("fr", "guide/mill.txt"): "Le moulin moud le blé du village.",
    }
    hits = Searcher(open_index(index)).search("moulin")
    assert [hit.document.id for hit in hits] == ["guide/mill.txt"]
    assert check_index(index)[1] == []


@pytest.mark.parametrize("seed", range(6))
def test_after_any_changes_a_synced_index_has_what_a_new_one_has(index, folder, tmp_path, seed):
    rng = random.Random(seed)
    for round_ in range(4):
        for _ in range(rng.randrange(1, 6)):
            change(folder, rng)
        sync_index(index, force=True)
        new = tmp_path / f"new{round_}"
        make_index(new, "bm25", open_source(str(folder)), ["fr"])
        assert documents(index) == documents(new)
        record, fresh = (next(iter(load_origins(path, Commit.load(path)).values())) for path in (index, new))
        assert record.claims() == fresh.claims()
        assert {path: state.hash for path, state in record.states().items()} == {
            path: state.hash for path, state in fresh.states().items()
        }
    assert not sync_index(index).changed
    assert check_index(index)[1] == []


def change(folder, rng):
    """Write, change, move, touch or delete a file; one always stays."""
    files = sorted(path for path in folder.rglob("*.*") if path.is_file())
    file, kind = rng.choice(files), rng.choice(["new", "change", "move", "touch", "delete", "replace"])
    other = folder / rng.choice(["", "guide", "guide/deep"]) / f"{rng.randrange(20)}.{rng.choice(['md', 'txt'])}"
    if kind == "new":
        write(other, f"{rng.choice(FRENCH)} {rng.random()}")
    elif kind == "move":
        other.parent.mkdir(parents=True, exist_ok=True)
        file.rename(other)
    elif kind == "touch":
        os.utime(file)
    elif kind == "delete" and len(files) > 1:
        file.unlink()
    elif kind == "replace":
        write(folder / ".new", f"{rng.choice(FRENCH)} {rng.random()}")
        (folder / ".new").replace(file)
    else:
        write(file, f"{rng.choice(FRENCH)} {rng.random()}")


def test_what_has_not_changed_is_neither_read_nor_encoded(index, folder, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("read or encoded")

    before = documents(index)
    os.utime(folder / "sea.txt", (1, 1))
    monkeypatch.setattr(Folder, "read", refuse)
    monkeypatch.setattr(System, "index", refuse)
    assert sync_index(index) == Synced(files=4)
    assert documents(index) == before


def test_files_whose_status_is_known_are_not_opened(index, folder, later, monkeypatch):
    sync_index(index)  # now their times are recorded
    before = generation(index)

    def refuse(path):
        raise AssertionError(f"{path} was opened")

    monkeypatch.setattr(file_states, "open_regular", refuse)
    assert sync_index(index) == Synced(files=4)
    assert generation(index) == before


def test_a_file_that_was_just_written_is_hashed_again(index, folder, monkeypatch):
    """Two writings in one tick of the clock leave the same size and times: those of a new file are not trusted."""
    now = file_states.time.time_ns()
    status = file_states.Status(1, now, now, 4)
    monkeypatch.setattr(file_states.Status, "of", lambda found: status)
    for text in (FRENCH[3], FRENCH[2]):
        write(folder / "bread.md", text)
        assert sync_index(index).replaced == 1
    monkeypatch.setattr(origin_files.time, "time_ns", lambda: now + 10**10)
    sync_index(index)
    write(folder / "bread.md", FRENCH[0])
    assert sync_index(index).replaced == 0, "the status of an old file is trusted"


def test_a_file_that_changes_while_it_is_read_is_read_again(index, folder, monkeypatch):
    original = Folder.read

    def read(self, paths, problems):
        found = list(original(self, paths, problems))
        write(folder / "bread.md", "Le pain est rassis.")
        return iter(found)

    write(folder / "bread.md", "Le pain est frais.")
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "read", read)
        assert sync_index(index).replaced == 1
    write(folder / "bread.md", "Le pain est frais.")  # as it was hashed, and not as it is in the index
    write(folder / "bread.md", "Le pain est rassis.")
    sync_index(index)
    assert documents(index)["fr", "bread.md"] == "Le pain est rassis."


def test_a_changed_file_with_the_same_document_is_not_encoded(index, folder, monkeypatch):
    (folder / "bread.md").write_text(f"{FRENCH[0]}\n\n\n", encoding="utf-8")
    monkeypatch.setattr(System, "index", None)
    done = sync_index(index)
    assert (done.read, done.changed) == (1, False)


def test_a_renamed_file_has_its_new_id(index, folder):
    (folder / "bread.md").rename(folder / "pain.md")
    assert sync_index(index) == Synced(1, 0, 1, read=1, files=4)
    assert ("fr", "pain.md") in documents(index)


def fields(id_):
    return {"path": id_, "kind": kind_of(Path(id_)).name}


def test_documents_that_are_there_already_cost_nothing(index, folder, monkeypatch):
    before = generation(index)
    monkeypatch.setattr(System, "index", None)
    with IndexWriter(index) as writer:
        same = [Document(id_, text, language="fr", title=id_) for (_, id_), text in documents(index).items()]
        titles = {each.id: each.title for each in list_documents(writer.index)}
        writer.add(replace(each, title=titles[each.id], fields=fields(each.id)) for each in same)
        writer.commit()
        assert (writer.changes.unchanged, writer.changes.replaced) == (4, 0)
        writer.delete(["sea.txt"])
        writer.add(replace(each, title=titles[each.id], fields=fields(each.id)) for each in same)
        writer.commit()
    assert generation(index) == before
    with IndexWriter(index) as writer:
        add_source(writer, open_source(str(folder)), ["fr"])
        assert writer.changes.unchanged == 4


@pytest.fixture
def detected(monkeypatch):
    """The texts whose language is detected."""
    return calls(monkeypatch, LanguageIdentifier, "rank", lambda self, text: text)


def calls(monkeypatch, of, name, noted):
    found, original = [], getattr(of, name)

    def noting(*arguments):
        found.append(noted(*arguments))
        return original(*arguments)

    monkeypatch.setattr(of, name, noting)
    return found


@pytest.mark.parametrize("languages", [[], ["fr"]])
def test_files_that_are_there_already_are_read_once_and_their_languages_are_known(
    tmp_path, folder, later, monkeypatch, detected, languages
):
    index = tmp_path / "index"
    write(folder / "long.md", "\n\n".join(FRENCH * 10))
    make_index(index, "bm25", open_source(str(folder)), languages)
    write(folder / "new.txt", FRENCH[0])
    detected.clear()
    read = calls(monkeypatch, folder_reader, "open_bytes", lambda path: path.name)
    hashed = calls(monkeypatch, file_states, "open_regular", lambda path: path.name)
    with IndexWriter(index) as writer:
        assert add_source(writer, open_source(str(folder)), languages) == 6
        assert (writer.changes.added, writer.changes.unchanged) == (1, 5)
    assert detected == [FRENCH[0]]
    assert hashed == ["new.txt"]
    assert sorted(read) == ["bees.md", "bread.md", "light.html", "long.md", "new.txt", "sea.txt"]
    assert not sync_index(index).changed


def test_lines_that_are_there_already_keep_their_languages(tmp_path, detected):
    pages, index = tmp_path / "pages.jsonl", tmp_path / "index"
    lines = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate((*FRENCH, GERMAN))]
    pages.write_text("\n".join(lines))
    make_index(index, "bm25", open_source(str(pages)))
    pages.write_text("\n".join([*lines, json.dumps({"id": "new", "text": "Radio"})]))
    detected.clear()
    assert sync_index(index) == Synced(1, read=1, files=1)
    assert detected == ["Radio"]
    assert ("fr", "new") in documents(index), "as most of the others are"
    detected.clear()
    with IndexWriter(index) as writer:
        assert add_source(writer, open_source(str(pages))) == 6
        assert writer.changes.unchanged == 6
    assert not detected


def test_a_short_text_is_in_the_language_of_its_folder_where_the_others_are_there_already(tmp_path, folder):
    index = tmp_path / "detected"
    write(folder / "stock" / "bienen.md", GERMAN)
    make_index(index, "bm25", open_source(str(folder)))
    write(folder / "guide" / "radio.md", "Radio")
    write(folder / "stock" / "radio.md", "Radio")
    with IndexWriter(index) as writer:
        add_source(writer, open_source(str(folder)))
        assert (writer.changes.added, writer.changes.unchanged) == (2, 5)
    assert {("fr", "guide/radio.md"), ("de", "stock/radio.md")} < documents(index).keys()


@pytest.mark.parametrize("languages", [[], ["fr"]])
def test_parts_in_several_languages_are_followed_when_their_file_is_added_again(tmp_path, folder, languages):
    index = tmp_path / "parts"
    write(folder / "both.md", "\n\n".join([*FRENCH * 10, *[GERMAN] * 30]))
    make_index(index, "bm25", open_source(str(folder)), languages)
    before = documents(index)
    parts = [("fr", "both.md"), ("de", "both.md#de")]
    assert [key for key in before if key[1].startswith("both")] == (parts[:1] if languages else parts)
    with IndexWriter(index) as writer:
        add_source(writer, open_source(str(folder)), languages)
        assert writer.changes.unchanged == len(before)
    assert documents(index) == before
    (folder / "both.md").unlink()
    assert sync_index(index).deleted == len(before) - 4


def test_what_was_changed_and_then_changed_back_is_unchanged(index):
    old = documents(index)["fr", "sea.txt"]
    with IndexWriter(index) as writer:
        writer.add([Document("sea.txt", "autre", "sea", "fr")])
        writer.add([Document("sea.txt", old, "sea", "fr")])
        writer.commit()
    assert documents(index)["fr", "sea.txt"] == old


@pytest.mark.parametrize("broken", [b"text \x00 binary", b"broken \xff\xfe line"])
def test_a_file_that_cannot_be_read_keeps_its_document(index, folder, broken):
    before = documents(index)
    (folder / "bread.md").write_bytes(broken)
    (folder / "new.txt").write_bytes(broken)
    done = sync_index(index)
    names = {warning.partition(": ")[0].rpartition("/")[2] for warning in done.warnings}
    assert names == {"bread.md", "new.txt"}
    assert documents(index) == before
    write(folder / "bread.md", FRENCH[1])
    write(folder / "new.txt", FRENCH[1])
    assert sync_index(index) == Synced(1, 1, 0, read=2, files=5)


def test_a_broken_byte_is_left_out(tmp_path, folder):
    index = tmp_path / "lenient"
    make_index(index, "bm25", open_source(str(folder)), ["fr"], problems=Problems(stop_at_errors=False))
    (folder / "bread.md").write_bytes(b"Le pain est bon. " * 10 + b"\xff\n")
    assert sync_index(index).replaced == 1
    assert documents(index)["fr", "bread.md"] == ("Le pain est bon. " * 10).strip()


def test_a_folder_that_cannot_be_read_keeps_its_documents(index, folder, monkeypatch):
    before, scandir = documents(index), os.scandir

    def refuse(path):
        if str(path).endswith("guide"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (folder / "sea.txt").unlink()
    done = sync_index(index)
    assert (done.deleted, len(done.warnings)) == (1, 1)
    assert documents(index).keys() == before.keys() - {("fr", "sea.txt")}


def test_a_file_that_may_not_be_opened_keeps_its_document(index, folder, monkeypatch):
    before, opened = documents(index), file_states.open_regular

    def refuse(path):
        if path.name == "sea.txt":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path)

    monkeypatch.setattr(file_states, "open_regular", refuse)
    assert sync_index(index).warnings == (
        f"{folder / 'sea.txt'}: cannot be read (Permission denied); what the index has of it stays",
    )
    assert documents(index) == before


def test_a_folder_that_has_vanished_deletes_nothing_unless_forced(index, folder):
    before = documents(index)
    shutil.rmtree(folder)
    with pytest.raises(InputError, match=r"docs: is not there, and 4 documents of .*index are from it; is a disk not"):
        sync_index(index)
    folder.mkdir()
    with pytest.raises(InputError, match=r"4 of its 4 documents in .*index would be deleted at once"):
        sync_index(index)
    assert documents(index) == before
    assert sync_index(index, force=True).deleted == 4
    assert documents(index) == {}
    assert sync_index(index) == Synced()
    folder.rmdir()
    assert sync_index(index) == Synced(), "it has nothing to lose any more"


def test_half_of_many_documents_do_not_leave_unless_forced(tmp_path, folder):
    for number in range(30):
        write(folder / f"part{number % 2}" / f"{number}.txt", f"{FRENCH[0]} {number}")
    index = tmp_path / "many"
    make_index(index, "bm25", open_source(str(folder)), ["fr"])
    (folder / "part0").rename(folder / "part2")
    assert sync_index(index) == Synced(15, 0, 15, read=15, files=34), "renamed files are not lost"
    for part in ("part1", "guide"):
        shutil.rmtree(folder / part)
    with pytest.raises(InputError, match=r"17 of its 34 documents .*force=True"):
        sync_index(index)
    assert sync_index(index, force=True).deleted == 17


def test_a_folder_that_has_moved_is_named_once(index, folder, tmp_path, monkeypatch):
    moved = tmp_path / "moved"
    folder.rename(moved)
    write(moved / "bread.md", FRENCH[1])
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "read", lambda self, paths, *_: pytest.fail("all") if len(paths) > 1 else iter(()))
        with pytest.raises(InputError, match="is not there"):
            sync_index(index)
    assert sync_index(index, moved=str(moved)) == Synced(0, 1, 0, read=1, files=4)
    (moved / "sea.txt").unlink()
    assert sync_index(index).deleted == 1
    assert load_origins(index, Commit.load(index)).popitem()[1].origin.source == f"folder:{moved}"


def test_an_index_that_does_not_say_what_it_was_made_of_can_be_told(tmp_path, folder, monkeypatch):
    index, found = tmp_path / "told", open_source(str(folder))
    made = [each for _, each in found.documents("fr", Problems())]
    make_index(index, "bm25", as_documents(made), ["fr"])
    with pytest.raises(InputError, match=r"does not say what it was made of; name the folder or file"):
        sync_index(index)
    with monkeypatch.context() as patch:
        patch.setattr(System, "index", None)
        assert not sync_index(index, moved=str(folder)).changed
    (folder / "sea.txt").unlink()
    assert sync_index(index).deleted == 1


def as_documents(documents):
    from isogloss.data.in_memory import InMemorySource

    return InMemorySource(documents)


def test_a_source_that_was_not_named_on_this_machine_is_not_read(index, folder, monkeypatch):
    named_origins.forget(Manifest.load(index).identity, f"folder:{folder}")
    monkeypatch.setattr("isogloss.index.syncing.open_source", lambda source: pytest.fail(f"{source} was opened"))
    with pytest.raises(InputError, match=r"says that it was made of 'folder:.*docs', which you have not named for it"):
        sync_index(index)
    monkeypatch.undo()
    write(folder / "bread.md", FRENCH[1])
    assert sync_index(index, moved=str(folder)).replaced == 1
    write(folder / "bread.md", FRENCH[2])
    assert sync_index(index).replaced == 1, "now it is named"


def test_a_copy_of_an_index_can_be_synced_too(index, folder, tmp_path):
    shutil.copytree(index, tmp_path / "copy")
    write(folder / "bread.md", FRENCH[1])
    assert sync_index(tmp_path / "copy").replaced == 1
    assert sync_index(index).replaced == 1


def test_each_of_several_sources_is_synced_on_its_own(index, folder, tmp_path):
    pages = tmp_path / "pages.jsonl"
    pages.write_text("".join(json.dumps({"id": id_, "text": FRENCH[0], "lang": "fr"}) + "\n" for id_ in "abc"))
    with IndexWriter(index) as writer:
        assert add_source(writer, open_source(str(pages))) == 3
    write(folder / "bread.md", FRENCH[1])
    pages.write_text("".join(json.dumps({"id": id_, "text": FRENCH[2], "lang": "fr"}) + "\n" for id_ in "bcd"))
    assert sync_index(index, [str(folder)]) == Synced(0, 1, 0, read=1, files=4)
    assert sync_index(index) == Synced(1, 2, 1, read=1, files=5)
    assert sorted(id_ for _, id_ in documents(index)) == [
        "b", "bread.md", "c", "d", "guide/bees.md", "guide/light.html", "sea.txt",
    ]  # fmt: skip
    shutil.rmtree(folder)
    pages.write_text(json.dumps({"id": "b", "text": FRENCH[3], "lang": "fr"}) + "\n")
    with pytest.raises(InputError, match=r"docs: is not there.*its other sources are up to date"):
        sync_index(index)
    assert sorted(id_ for _, id_ in documents(index))[:2] == ["b", "bread.md"]
    assert "c" not in {id_ for _, id_ in documents(index)}
    assert forget_origin(index, str(folder)) == f"folder:{folder}"
    assert not sync_index(index).changed
    assert len(documents(index)) == 5


def test_json_lines_that_are_broken_or_cut_off_change_nothing(tmp_path):
    pages, index = tmp_path / "pages.jsonl", tmp_path / "index"
    lines = [json.dumps({"id": str(number), "text": f"{FRENCH[0]} {number}", "lang": "fr"}) for number in range(40)]
    pages.write_text("\n".join(lines))
    make_index(index, "bm25", open_source(str(pages)))
    pages.write_text("\n".join(lines)[:-20])
    with pytest.raises(InputError, match=r"pages\.jsonl:40: not JSON"):
        sync_index(index)
    pages.write_text("\n".join(lines[:3]))
    with pytest.raises(InputError, match=r"37 of its 40 documents"):
        sync_index(index)
    assert len(documents(index)) == 40
    pages.write_text("\n".join(lines[1:]))
    assert sync_index(index).deleted == 1


def test_a_document_of_two_sources_leaves_when_both_have_lost_it(index, folder, tmp_path):
    other = tmp_path / "other"
    write(other / "bread.md", FRENCH[3])
    write(other / "more.md", FRENCH[3])
    with IndexWriter(index) as writer:
        add_source(writer, open_source(str(other)), ["fr"])
    assert documents(index)["fr", "bread.md"] == FRENCH[3]
    (other / "bread.md").unlink()
    sync_index(index)
    assert documents(index)["fr", "bread.md"] == FRENCH[0], "that of the first folder again"
    (folder / "bread.md").unlink()
    assert sync_index(index).deleted == 1


def test_a_single_file_has_the_id_that_its_folder_gives_it(index, folder, monkeypatch):
    write(folder / "guide" / "mill.md", FRENCH[0])
    write(folder / "sea.txt", "autre")
    found = folder_of(index, folder / "guide" / "mill.md")
    assert (found.source, found.path) == (f"folder:{folder}", "guide/mill.md")
    assert sync_index(index, [found.source], only=found.file) == Synced(1, 0, 0, read=1, files=5)
    assert documents(index)["fr", "guide/mill.md"] == FRENCH[0]
    assert documents(index)["fr", "sea.txt"] == FRENCH[1], "no other file is looked at"
    assert sync_index(index) == Synced(0, 1, 0, read=1, files=5)
    assert folder_of(index, folder.parent / "elsewhere.md") is None
    assert folder_of(index, folder / ".hidden" / "page.md") is None


def test_a_single_file_elsewhere_is_a_source_of_its_own(index, tmp_path):
    page = tmp_path / "elsewhere.md"
    write(page, FRENCH[2])
    with IndexWriter(index) as writer:
        add_source(writer, open_source(str(page)))
    write(page, FRENCH[3])
    assert sync_index(index).replaced == 1
    page.unlink()
    with pytest.raises(InputError, match=r"elsewhere\.md: is not there"):
        sync_index(index)


def test_languages_are_detected_as_when_the_index_was_made(tmp_path, folder):
    index = tmp_path / "detected"
    write(folder / "de" / "bienen.md", GERMAN)
    make_index(index, "bm25", open_source(str(folder)))
    write(folder / "de" / "radio.md", "Radio")
    write(folder / "guide" / "radio.md", "Radio")
    write(folder / "de" / "bienen.md", FRENCH[0])
    assert sync_index(index) == Synced(3, 0, 1, read=3, files=7)
    assert {key for key in documents(index) if "radio" in key[1] or "bienen" in key[1]} == {
        ("de", "de/radio.md"), ("fr", "guide/radio.md"), ("fr", "de/bienen.md"),
    }  # fmt: skip


def test_documents_in_a_language_that_the_index_cannot_take_are_left_out(tmp_path, folder, lexicons):
    index = tmp_path / "dictionary"
    make_index(index, "bm25-dict", open_source(str(folder)), settings=lexicons)
    write(folder / "bienen.md", GERMAN)
    write(folder / "bread.md", FRENCH[1])
    done = sync_index(index)
    assert (done.added, done.replaced) == (0, 1)
    assert done.warnings[0].startswith("documents in 'de' are left out, 1 of them: ")


def test_pages_that_translate_stay_out(tmp_path):
    docs, index = tmp_path / "docs", tmp_path / "index"
    english = ("The baker makes the bread every morning with flour.", "The sea is salty because rivers bring salt.")
    for number in range(2):
        write(docs / "fr" / f"{number}.md", FRENCH[number])
        write(docs / "en" / f"{number}.md", english[number])
    own = OwnTranslations([str(docs / "en")])
    make_index(index, "bm25-dict", open_source(str(docs)), translations=own, settings={"lexicon": "induced"})
    assert {language for language, _ in documents(index)} == {"fr"}
    write(docs / "en" / "0.md", english[0] + " It is good bread.")
    write(docs / "en" / "2.md", "Bees make honey in the hive from the flowers of the garden.")
    write(docs / "fr" / "2.md", FRENCH[2])
    assert sync_index(index) == Synced(1, 0, 0, read=3, files=6)
    assert {language for language, _ in documents(index)} == {"fr"}


def test_what_a_repair_has_lost_comes_back(index, folder, damage_array):
    segment = next((index / "segments").iterdir())
    before = documents(index)
    damage_array(segment, "pages.bytes.npy")
    assert sum(map(len, repair_index(index).lost.values())) == 4
    assert documents(index) == {}
    assert sync_index(index).added == 4
    assert documents(index) == before


def test_a_damaged_record_is_dropped_by_a_repair_and_read_anew(index, folder):
    (record,) = (index / "origins").iterdir()
    (record / "origin.json").write_text("{}")
    with pytest.raises(InputError, match="what it was made of is damaged"):
        sync_index(index)
    assert len(repair_index(index).problems) == 1
    assert check_index(index)[1] == []
    assert not sync_index(index, moved=str(folder)).changed


def test_encoding_anew_keeps_the_sources(index, folder):
    re_encode(index, "bm25", settings={"k1": "2"})
    write(folder / "bread.md", FRENCH[1])
    assert sync_index(index).replaced == 1


def test_a_new_index_in_its_place_forgets_what_was_named(index, folder, tmp_path):
    old = Manifest.load(index).identity
    make_index(index, "bm25", open_source(str(folder)), ["fr"], overwrite=True)
    assert not named_origins.is_named(old, f"folder:{folder}")
    assert named_origins.is_named(Manifest.load(index).identity, f"folder:{folder}")


def test_while_another_writes_times_are_not_recorded_and_changes_wait(index, folder, later):
    with WriteLock(index):
        assert sync_index(index) == Synced(files=4)
        write(folder / "bread.md", FRENCH[1])
        with pytest.raises(InputError, match="is being changed by"):
            sync_index(index)
    assert sync_index(index).replaced == 1


def test_a_source_that_the_index_does_not_have_is_an_error(index, folder):
    with pytest.raises(InputError, match=r"was not made of 'other', but of folder:.*docs"):
        sync_index(index, ["other"])


def test_names_that_are_not_utf8_are_followed(tmp_path):
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    name = os.fsencode(docs) + b"/caf\xe9.txt"
    with open(name, "w", encoding="utf-8") as file:
        file.write(FRENCH[0])
    make_index(index, "bm25", open_source(str(docs)), ["fr"])
    with open(name, "w", encoding="utf-8") as file:
        file.write(FRENCH[1])
    assert sync_index(index).replaced == 1
    assert documents(index) == {("fr", "caf%E9.txt"): FRENCH[1]}


def test_naming_the_same_place_is_remembered_though_nothing_has_changed(index, folder, later):
    sync_index(index)
    named_origins.forget(Manifest.load(index).identity, f"folder:{folder}")
    assert sync_index(index, moved=str(folder)) == Synced(files=4)
    assert sync_index(index) == Synced(files=4)


def test_a_place_that_the_source_has_left_is_forgotten(index, folder, tmp_path):
    folder.rename(tmp_path / "moved")
    sync_index(index, moved=str(tmp_path / "moved"))
    assert not named_origins.is_named(Manifest.load(index).identity, f"folder:{folder}")


def test_an_index_that_cannot_be_written_is_up_to_date_if_nothing_has_changed(index, folder, later, monkeypatch):
    def refuse(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(WriteLock, "acquire", refuse)
    assert sync_index(index) == Synced(files=4)
    write(folder / "bread.md", FRENCH[1])
    with pytest.raises(OSError, match="Read-only"):
        sync_index(index)


def test_languages_that_are_added_one_by_one_are_followed_together(tmp_path, folder):
    index = tmp_path / "both"
    write(folder / "de" / "bienen.md", GERMAN)
    write(folder / "fr" / "pain.md", FRENCH[0])
    make_index(index, "bm25", open_source(str(folder)), ["fr"])
    with IndexWriter(index) as writer:
        add_source(writer, open_source(str(folder)), ["de"])
    write(folder / "de" / "bienen.md", GERMAN * 2)
    write(folder / "fr" / "pain.md", FRENCH[1])
    assert sync_index(index).replaced == 2
    (folder / "fr" / "pain.md").unlink()
    assert sync_index(index).deleted == 1


def test_a_file_of_lines_that_is_empty_now_is_refused_unless_forced(tmp_path):
    pages, index = tmp_path / "pages.jsonl", tmp_path / "index"
    pages.write_text(json.dumps({"id": "a", "text": FRENCH[0]}) + "\n")
    make_index(index, "bm25", open_source(str(pages)))
    pages.write_text("")
    with pytest.raises(InputError, match=r"1 of its 1 documents .*force=True"):
        sync_index(index)
    assert sync_index(index, force=True).deleted == 1


@pytest.mark.parametrize("settings", [{}, {"passages": "6"}])
def test_a_synced_index_ranks_as_a_new_one_does(tmp_path, folder, settings):
    """With passages, and for queries in two languages."""
    index, new = tmp_path / "synced", tmp_path / "fresh"
    make_index(index, "bm25", open_source(str(folder)), ["fr"], ["en", "de"], settings=settings)
    rng = random.Random(1)
    for _ in range(5):
        change(folder, rng)
        sync_index(index, force=True)
    make_index(new, "bm25", open_source(str(folder)), ["fr"], ["en", "de"], settings=settings)
    for query_language in ("en", "de"):
        for query in ("pain farine", "sel des roches", "miel", "nuit tempête bateaux"):
            searchers = [Searcher(open_index(path)).asked_in(query_language) for path in (index, new)]
            old, fresh = ([(hit.document.id, hit.score) for hit in each.search(query)] for each in searchers)
            assert old == fresh
