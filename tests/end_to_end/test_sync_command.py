"""`isogloss sync`, `list` and `info`, and `add` of a single file: an index that stays current."""

import json
import os
import shutil
import signal

import pytest

from isogloss.index.commit import Commit
from isogloss.index.watching import is_told

TEXTS = {
    "bread.md": "# Le pain\n\nLe boulanger prépare le pain chaque matin avec de la farine.",
    "guide/sea.txt": "La mer est salée parce que les rivières y apportent le sel des roches.",
    "guide/bees.html": "<title>Les abeilles</title><p>Les abeilles fabriquent le miel dans la ruche avec le nectar.",
}


@pytest.fixture
def docs(here):
    for name, text in TEXTS.items():
        write(here / "docs" / name, text)
    return here / "docs"


@pytest.fixture
def index(docs, run):
    assert run("index", "docs", "--system", "bm25", "-o", "index").code == 0
    return docs.parent / "index"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def listed(run, *options):
    done = run("list", "index", *options)
    assert done.code == 0, done.err
    return [line.split("\t") for line in done.out.splitlines()]


def test_what_has_changed_is_counted(run, index, docs):
    assert run("sync", "index").err == "index: up to date (0 of 3 files read)\n"
    write(docs / "new.txt", "Le phare guide les bateaux pendant la nuit.")
    write(docs / "bread.md", "Le pain est cuit au four du village.")
    (docs / "guide" / "sea.txt").unlink()
    done = run("sync", "index")
    assert (done.code, done.out) == (0, "")
    assert done.err == "index: 1 added, 1 replaced, 1 deleted (2 of 3 files read)\n"
    assert run("sync", "index", "--quiet").err == ""
    write(docs / "bread.md", "Le pain est bon.")
    report = json.loads(run("sync", "index", "docs", "--json", "-").out)
    assert report == {"added": 0, "replaced": 1, "deleted": 0, "read": 1, "files": 3, "warnings": []}


def test_a_file_that_cannot_be_read_is_a_warning(run, index, docs):
    (docs / "bread.md").write_bytes(b"\x00")
    done = run("sync", "index")
    assert done.code == 0
    assert done.err.splitlines() == [
        f"warning: {docs / 'bread.md'}: is a binary file, text is needed; what the index has of it stays",
        "index: up to date (0 of 3 files read)",
    ]  # fmt: skip
    assert ["fr", "bread.md"] in [row[:2] for row in listed(run)]


def test_a_folder_that_has_gone_is_one_line_with_ways_out(run, fails, index, docs):
    shutil.rmtree(docs)
    line = fails("sync", "index")
    assert "docs: is not there, and 3 documents of index are from it; is a disk not mounted?" in line
    assert "--from NEWPATH" in line
    assert "--force" in line
    assert run("sync", "index", "--force").err == "index: 3 deleted (0 of 0 files read)\n"


def test_a_folder_that_has_moved_is_named_once(run, index, docs):
    docs.rename(docs.with_name("moved"))
    assert run("sync", "index", "--from", "moved").err == "index: up to date (0 of 3 files read)\n"
    assert run("sync", "index").code == 0
    assert next(row[3] for row in listed(run)) == str(docs.with_name("moved") / "bread.md")


def test_what_cannot_be_synced_is_one_line(fails, run, index, tiny_index_of_lines):
    assert "no such index" in fails("sync", "nowhere")
    assert "was not made of 'other'" in fails("sync", "index", "other")
    assert "'nowhere' is neither a folder, a file" in fails("sync", "index", "--from", "nowhere")
    assert "is no folder and no file whose changes can be found" in fails("sync", "index", "--from", "demo")
    assert "give --json, --force and --from to a sync without it" in fails("sync", "index", "--watch", "--force")
    assert "was not made of 'other'" in fails("sync", "index", "--forget", "other")
    assert "does not say what it was made of; name the folder or file" in fails("sync", tiny_index_of_lines)


@pytest.fixture
def tiny_index_of_lines(run, here):
    """An index of which nothing is followed."""
    assert run("index", "demo", "--system", "bm25", "--language", "fr", "-o", "demo.index").code == 0
    return "demo.index"


def test_documents_are_listed_in_the_order_of_their_ids(run, index, docs):
    assert listed(run) == [
        ["fr", "bread.md", "Le pain", str(docs / "bread.md")],
        ["fr", "guide/bees.html", "Les abeilles", str(docs / "guide" / "bees.html")],
        ["fr", "guide/sea.txt", "sea", str(docs / "guide" / "sea.txt")],
    ]
    assert [row[1] for row in listed(run, "--match", "guide/*")] == ["guide/bees.html", "guide/sea.txt"]
    assert [row[1] for row in listed(run, "--match", "*.md")] == ["bread.md"]
    assert listed(run, "--match", "nothing") == []
    assert run("list", "index").err == "index: 3 documents\n"


def test_documents_are_listed_as_json(run, index, docs, here):
    pages = json.loads(run("list", "index", "--json", "-").out)
    assert pages[0] == {
        "language": "fr", "id": "bread.md", "title": "Le pain", "path": str(docs / "bread.md"),
    }  # fmt: skip
    assert run("list", "index", "--json", "all.json", "--match", "x").code == 0
    assert json.loads((here / "all.json").read_text(encoding="utf-8")) == []


def test_documents_are_listed_by_language_and_field(run, fails, here):
    pages = [
        {"id": "a", "text": "Le pain est bon.", "lang": "fr", "fields": {"kind": "old"}, "url": "https://a.example"},
        {"id": "b", "text": "Le pain est cher.", "lang": "fr", "fields": {"kind": ["new", "old"]}},
        {"id": "a", "text": "Das Brot ist gut.", "lang": "de", "title": "Brot\t\x1b[31m"},
    ]
    for name, some in (("pages.jsonl", pages[:2]), ("more.jsonl", pages[2:])):
        write(here / name, "".join(json.dumps(page) + "\n" for page in some))
    assert run("index", "pages.jsonl", "--system", "bm25", "-o", "index").code == 0
    assert run("add", "index", "more.jsonl").code == 0
    assert listed(run, "--language", "de") == [["de", "a", r"Brot \x1b[31m", str(here / "more.jsonl")]]
    assert [row[1] for row in listed(run, "--filter", "kind=old")] == ["a", "b"]
    assert [row[1] for row in listed(run, "--filter", "kind=new")] == ["b"]
    assert "'xx' is not in this index" in fails("list", "index", "--language", "xx")


def test_info_says_what_an_index_is_made_of(run, fails, index, docs):
    out = run("info", "index").out
    for part in (
        "3 documents in fr",
        "queries in:       en",
        "bm25",
        "by isogloss",
        "1 commit",
        f"folder:{docs} (3 files",
    ):
        assert part in out
    about = json.loads(run("info", "index", "--json", "-").out)
    assert about["systems"] == {"fr": {"en": "bm25"}}
    (origin,) = about["origins"]
    assert (origin["source"], origin["files"], origin["documents"]) == (f"folder:{docs}", 3, 3)
    assert origin["named_here"]
    shutil.rmtree(docs)
    assert "it is not there" in run("info", "index").out
    assert "no such index" in fails("info", "nowhere")


def test_a_single_file_is_added_with_the_id_of_its_folder(run, fails, index, docs, here):
    write(docs / "guide" / "mill.md", "Le moulin moud le blé du village.")
    assert run("add", "index", "docs/guide/mill.md").err == f"index: 'guide/mill.md' of folder:{docs} added\n"
    assert run("add", "index", "docs/guide/mill.md").err.endswith("there already\n")
    assert run("sync", "index").err == "index: up to date (0 of 4 files read)\n"
    write(here / "elsewhere.md", "Le verger donne des pommes rouges.")
    assert run("add", "index", "elsewhere.md").err == "index: 1 document added; now 5 documents in fr\n"
    assert "elsewhere.md" in [row[1] for row in listed(run)]
    (docs / "bad.txt").write_bytes(b"\x00")
    assert "a binary file, text is needed" in fails("add", "index", "docs/bad.txt")
    assert "no such file" in fails("add", "index", "file:docs/none.md")


def test_a_file_that_is_not_in_the_index_is_not_said_to_be_there(run, fails, docs):
    (docs / "bad.txt").write_bytes(b"\x00")
    assert run("index", "docs", "--system", "bm25", "--language", "fr", "-o", "index").code == 0
    assert "a binary file, text is needed" in fails("add", "index", "docs/bad.txt")
    file = next(path for path in sorted(docs.rglob("*.md")))
    id_ = file.relative_to(docs).as_posix()
    assert run("delete", "index", id_).code == 0
    assert run("add", "index", str(file)).err == f"index: {id_!r} of folder:{docs} added\n"


def test_what_is_added_once_is_not_followed(run, index, here):
    write(here / "delta.jsonl", json.dumps({"id": "x", "text": "Le verger donne des pommes.", "lang": "fr"}) + "\n")
    assert run("add", "index", "delta.jsonl", "--once").code == 0
    (here / "delta.jsonl").unlink()
    assert run("sync", "index").code == 0
    write(here / "delta.jsonl", json.dumps({"id": "y", "text": "Le verger donne des poires.", "lang": "fr"}) + "\n")
    assert run("add", "index", "delta.jsonl").code == 0
    (here / "delta.jsonl").unlink()
    assert run("sync", "index").code == 2
    assert run("sync", "index", "--forget", "delta.jsonl").code == 0
    assert run("sync", "index").code == 0
    assert {"x", "y"} <= {row[1] for row in listed(run)}


def test_documents_that_are_there_are_counted(run, index):
    what = "index: 0 documents added, 3 were there already; now 3 documents in fr\n"
    assert run("add", "index", "docs").err == what


@pytest.mark.parametrize(
    "how", [pytest.param((), marks=pytest.mark.skipif(not is_told(), reason="watchfiles")), ("--poll",)]
)
def test_changes_are_watched_until_ctrl_c(start, index, docs, how):
    with start("sync", "index", "--watch", *how) as process:
        lines = iter(process.stderr.readline, b"")
        try:
            assert next(lines) == b"index: up to date (0 of 3 files read)\n"
            assert next(lines).startswith(b"index: watching ")
            write(docs / "guide" / "mill.md", "Le moulin moud le blé du village.")
            assert next(lines) == b"index: 1 added (1 of 4 files read)\n"
            shutil.move(docs, docs.with_name("away"))
            assert b"is not there" in next(lines)
            shutil.move(docs.with_name("away"), docs)
            (docs / "bread.md").unlink()
            assert next(lines) == b"index: 1 deleted (0 of 3 files read)\n"
        finally:
            os.kill(process.pid, signal.SIGINT)
        assert [line for line in lines if b"warning" not in line] == [b"index: no longer watched\n"]
        assert process.wait(60) == 0
    assert Commit.load(index).generation > 1
