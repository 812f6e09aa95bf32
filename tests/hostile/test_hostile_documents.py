"""Documents, names and folders of somebody who means harm: checked on the way in, harmless on the way out."""

from __future__ import annotations

import io
import json
import math
import os
import socket
from contextlib import redirect_stderr, redirect_stdout

import pytest
from rich.text import Text

from isogloss import Index
from isogloss.cli.main import main
from isogloss.cli.output import console, print_table, write_json
from isogloss.data.dataset import load_collection
from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.index.writer import IndexWriter
from isogloss.storage.errors import InputError

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202egnp.exe\u2066"
DEEP = json.loads('{"a":' * 900 + "1" + "}" * 900)
WRONG = {
    "id": [{"id": "\udcff"}, {"id": "a\x1b[2J"}, {"id": "a\nb"}, {"id": "x" * 1_001}, {"id": ""}],
    "title": [{"title": "\ud800"}, {"title": "x" * 100_001}],
    "text": [{"text": "half \udfff"}, {"text": "x" * ((1 << 24) + 1)}],
    "url": [{"url": "\ud800"}, {"url": "x" * 10_001}],
    "links": [{"links": ("\ud800",)}, {"links": ("a",) * 10_001}],
    "fields": [
        {"fields": DEEP}, {"fields": {"a": [[[[[[[[[1]]]]]]]]]}}, {"fields": {"a": math.nan}},
        {"fields": {"a": math.inf}}, {"fields": {"a": "\ud800"}}, {"fields": {"\ud800": 1}}, {"fields": {"a": 10**400}},
        {"fields": {"a": b"x"}}, {"fields": {1: 2}}, {"fields": {"a": list(range(10_001))}}, {"fields": {"a": {1, 2}}},
    ],
    "language": [{"language": each} for each in ("xx", "../../etc", "klingon", "f", "\ud800", "fr" * 40, "français")],
}  # fmt: skip
CASES = [(field, change) for field, changes in WRONG.items() for change in changes]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "index"
    return Index.make([Document("a", "La mer est salée.", language="fr")], "fr", path=path, system="bm25")


@pytest.mark.parametrize(("field", "change"), CASES)
def test_every_writer_refuses_it_and_names_the_place(field, change, index):
    good = Document("good", "La pluie tombe.", language="fr")
    bad = Document(**{"id": "bad", "text": "La neige fond.", "language": "fr", **change})
    with IndexWriter(index.path) as writer:
        with pytest.raises(InputError, match=rf"documents\[1\]: {field}"):
            writer.add([good, bad])
        assert writer.commit() == index.about()["generation"], "nothing of the batch is added"
    with pytest.raises(InputError, match=rf"documents\[1\]: {field}"):
        index.add([good, bad])
    with pytest.raises(InputError, match=rf"documents\[1\]: {field}"):
        Index.make([good, bad], system="bm25")


@pytest.mark.parametrize("change", [change for field, change in CASES if field not in ("language", "links")][:12])
def test_lines_of_a_file_are_refused_with_their_number(change, tmp_path):
    page = {"id": "bad", "text": "La neige fond.", **change}
    path = tmp_path / "pages.jsonl"
    path.write_text('{"id": "good", "text": "La pluie."}\n' + json.dumps(page) + "\n")
    with pytest.raises(InputError, match=r"pages\.jsonl:2: "):
        load_collection(open_source(f"jsonl:{path}"), "fr")


@pytest.mark.parametrize("code", ["FR", "fr-FR", "fr_CA", "French", "french", "fra", "fre", "Fr-Latn-CA"])
def test_a_language_is_known_by_any_of_its_names(code, tmp_path):
    (tmp_path / "pages.jsonl").write_text(json.dumps({"id": "a", "text": "La mer est salée.", "lang": code}))
    made = Index.make(f"jsonl:{tmp_path / 'pages.jsonl'}", path=tmp_path / "index", system="bm25")
    assert made.languages == ["fr"]
    with IndexWriter(made.path) as writer:
        assert writer.add([Document("b", "La pluie.", language=code), Document("b", "La neige.", language="fr")]) == 1
        writer.commit()
    made.add(["Le vent."], code)
    assert made.refresh().languages == ["fr"]
    assert made.get("b").text == "La neige."
    assert len(made) == 3


def test_languages_of_documents_and_queries_are_normalised_when_they_are_named():
    made = Index.make(
        [{"id": "a", "text": "海是咸的。", "lang": "zh-CN"}], "ZH-Hans", query_language="EN", system="bm25"
    )
    assert (made.languages, made.query_languages) == (["zh"], ["en"])


@pytest.fixture
def folder(tmp_path):
    """A folder with links, a pipe, a socket and odd names; outside of it a file and a folder."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_text("un secret")
    (inside / "plain.txt").write_text("la mer")
    (inside / "sub" / "other.txt").write_text("la pluie")
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    (inside / "folder").symlink_to(outside)
    (inside / "own.txt").symlink_to(inside / "plain.txt")
    (inside / "sub" / "loop").symlink_to(inside)
    (inside / "lost.txt").symlink_to(inside / "nowhere.txt")
    os.mkfifo(inside / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(inside / "socket.txt"))
        yield inside


def read(source):
    problems = Problems(stop_at_errors=False)
    return load_collection(open_source(source), "fr", problems), problems


def test_links_out_of_a_folder_are_not_followed_unless_asked_for(folder):
    found, problems = read(f"folder:{folder}")
    assert found.ids == ["own.txt", "plain.txt", "sub/other.txt"]
    reasons = {reason: len(skipped) for reason, skipped in problems.skipped_by_reason().items()}
    assert reasons == {"no file": 3, "link out of the folder": 2}
    assert not problems.errors
    followed, problems = read(f"folder+links:{folder}")
    assert followed.ids == ["folder/secret.txt", "link.txt", "own.txt", "plain.txt", "sub/other.txt"]
    assert [problem.kind for problem in problems.skipped.values()] == ["no file"] * 3


def test_a_folder_or_file_that_cannot_be_read_is_named(folder, monkeypatch):
    scandir, opened = os.scandir, io.open

    def refusing(path):
        if os.fspath(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found, problems = read(f"folder:{folder}")
    assert found.ids == ["own.txt", "plain.txt"]
    (skipped,) = (problem for problem in problems.skipped.values() if problem.kind == "unreadable")
    assert str(skipped).endswith("in/sub: is a folder that cannot be read (Permission denied)")
    assert not problems.errors
    monkeypatch.setattr(os, "scandir", scandir)

    def closed(path, *arguments, **options):
        if str(path).endswith("plain.txt"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *arguments, **options)

    monkeypatch.setattr("isogloss.storage.lines.open", closed, raising=False)
    found, problems = read(f"folder:{folder}")
    assert found.ids == ["own.txt", "sub/other.txt"]
    assert problems.skipped[folder / "plain.txt"].message == "cannot be read (Permission denied)"


def test_lock_files_of_office_programs_are_no_damaged_documents(folder):
    (folder / "~$letter.docx").write_bytes(b"\0" * 160)
    _, problems = read(f"folder:{folder}")
    assert folder / "~$letter.docx" not in problems.skipped


def test_names_that_are_not_utf8_or_have_control_characters_make_readable_ids(tmp_path):
    for name in (b"caf\xe9.txt", b"a\x1b[2J.txt", b"line\nbreak.txt", "naïf 50%.txt".encode(), b"50%\xff.txt"):
        with open(os.fsencode(tmp_path) + b"/" + name, "w") as file:
            file.write("La mer est salée.")
    made = Index.make(f"folder:{tmp_path}", "fr", system="bm25")
    found = {hit.document.id: hit.document.title for hit in made.search("mer")}
    assert found == {
        "50%25%FF.txt": "50%25%FF", "a%1B[2J.txt": "a%1B[2J", "caf%E9.txt": "caf%E9",
        "line%0Abreak.txt": "line%0Abreak", "naïf 50%.txt": "naïf 50%",
    }  # fmt: skip
    json.dumps(found, ensure_ascii=False).encode()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def is_clean(text):
    return not any(sign in text for sign in "\x1b\x07\x9b\r\u202e\u2066")


@pytest.fixture
def shown(monkeypatch):
    """Run something with a terminal without colours; what it shows there."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    def run(do, stream=None):
        stream = stream or Terminal()
        with redirect_stdout(stream), redirect_stderr(stream):
            do()
        return stream.getvalue()

    return run


def test_escape_sequences_never_reach_a_terminal(shown, tmp_path):
    page = {"id": "a\u202eb", "title": f"Mer {ESCAPES}", "text": f"La mer {ESCAPES} est salée.", "lang": "fr"}
    (tmp_path / "pages.jsonl").write_text(json.dumps(page))
    where = str(tmp_path / "index")

    def commands():
        assert main(["index", str(tmp_path / "pages.jsonl"), "--system", "bm25", "-o", where]) == 0
        assert main(["search", where, "mer"]) == 0
        assert main(["search", where, f"mer {ESCAPES}", "--explain"]) == 0
        assert main(["search", where, "mer", "--json", "-"]) == 0
        assert main(["search", str(tmp_path / ESCAPES), "mer"]) == 2
        assert main(["index", f"jsonl:{ESCAPES}", "-o", where + "2"]) == 2

    found = shown(commands)
    assert "\\x1b" in found
    assert "\\u202e" in found
    assert "salée" in found
    assert is_clean(found), repr(found)


def test_tables_and_json_are_clean_too(shown):
    cells = [[f"cell {ESCAPES}"], [Text(f"text {ESCAPES}")]]
    found = shown(lambda: print_table(console(), f"title {ESCAPES}", [f"column {ESCAPES}"], cells))
    found += shown(lambda: write_json("-", {"key": ESCAPES}))
    assert "\\x1b" in found
    assert is_clean(found), repr(found)


def test_json_is_the_same_value_on_a_terminal_and_in_a_pipe(shown):
    value = {"key": ESCAPES, "ü": "é"}
    pipe = Terminal()
    pipe.isatty = lambda: False
    assert json.loads(shown(lambda: write_json("-", value))) == value
    assert json.loads(shown(lambda: write_json("-", value), pipe)) == value
