"""Outputs: never half written, never replaced unasked, the old one there until the new one is complete."""

import errno
import json
import signal

import pytest

DATA = ("--data", "demo", "--pair", "en-fr")
COMMANDS = {
    "index": ("index", "demo", "--system", "psq", "--language", "fr", "-o", "{}"),
    "data grade": ("data", "grade", "demo", "--query-language", "sw", "-o", "{}"),
    "data convert to beir": ("data", "convert", "demo", "--pair", "en-fr", "-o", "beir:{}"),
    "data convert to jsonl": ("data", "convert", "demo", "--pair", "en-fr", "-o", "jsonl:{}"),
    "data candidates": ("data", "candidates", "bm25", *DATA, "-o", "{}"),
    "evaluate --run": ("evaluate", "bm25", *DATA, "--run", "{}"),
    "evaluate --json": ("evaluate", "bm25", *DATA, "--json", "{}"),
    "data show --json": ("data", "show", "demo", "--pair", "en-fr", "--json", "{}"),
    "systems --json": ("systems", "--json", "{}"),
}
INTO_DIRECTORIES = ("index", "data grade", "data convert to beir")


def command(name, output):
    return [word.format(output) for word in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_an_existing_output_is_replaced_only_on_request(run, fails, here, name):
    if name in INTO_DIRECTORIES:
        assert run(*command(name, "out")).code == 0
    old = here / "out" / "diary.txt" if name in INTO_DIRECTORIES else here / "out"
    old.write_text("dear diary")
    assert "out: exists and is not empty; choose another output or add --overwrite" in fails(*command(name, "out"))
    assert run(*command(name, "out"), "--overwrite").code == 0
    assert not old.exists() or old.read_text() != "dear diary"
    assert [path.name for path in here.iterdir()] == ["out"]


def test_hits_replace_hits_only_on_request(run, fails, tiny_index):
    search = ("search", tiny_index, "Orlane", "--json", "hits.json")
    assert run(*search).code == 0
    assert "--overwrite" in fails(*search)
    assert run(*search, "--overwrite").code == 0


def test_one_existing_run_file_of_several_refuses_all(fails, here):
    (here / "out.psq.trec").write_text("mine")
    assert "out.psq.trec: exists" in fails("evaluate", "bm25", "psq", *DATA, "--run", "out.trec")


@pytest.mark.parametrize("name", ["index", "data grade", "evaluate --run", "evaluate --json"])
def test_an_empty_output_is_as_good_as_none(run, here, name):
    (here / "out").mkdir() if name in INTO_DIRECTORIES else (here / "out").touch()
    assert run(*command(name, "out")).code == 0
    assert any((here / "out").iterdir()) if name in INTO_DIRECTORIES else (here / "out").stat().st_size


@pytest.mark.parametrize("name", COMMANDS)
def test_a_parent_that_is_a_file_is_named(fails, here, name):
    (here / "letter").write_text("dear friend")
    assert "letter: is a file, a directory is needed for" in fails(*command(name, "letter/deep/out"))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in INTO_DIRECTORIES])
def test_a_directory_where_a_file_should_be_is_named(fails, here, name):
    (here / "out").mkdir()
    assert "out: is a directory, a file name is needed" in fails(*command(name, "out"))


@pytest.mark.parametrize("name", ["index", "data grade"])
def test_a_file_where_a_directory_should_be_is_named(fails, here, name):
    (here / "out").write_text("dear diary")
    assert "out: is a file, a directory is needed" in fails(*command(name, "out"), "--overwrite")


@pytest.mark.parametrize(
    "name", ["index", "data grade", "data convert to jsonl", "data candidates", "evaluate --run", "evaluate --json"]
)
def test_a_full_disk_leaves_nothing(fails_alone, name):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))"
    message = fails_alone(*command(name, "out"), script=limit)
    assert "out: could not be written" in message
    assert message.endswith("is the disk full?\n")


def test_a_disk_that_fills_after_the_first_output_leaves_none(fails, monkeypatch):
    def fill(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("isogloss.cli.evaluate.write_json", fill)
    message = fails("evaluate", "bm25", "psq", *DATA, "--run", "out.trec", "--json", "out.json")
    assert (
        message == "isogloss: out.trec, out.json: could not be written (No space left on device); is the disk full?\n"
    )


def test_a_disk_that_is_too_full_for_an_addition_names_the_index(spawn, tiny_index, here):
    (here / "more.jsonl").write_text(json.dumps({"id": "x", "text": "Le miel est doux.", "lang": "fr"}))
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))"
    done = spawn("add", tiny_index, "more.jsonl", script=limit)
    assert done.code == 2
    assert f"isogloss: {tiny_index}: could not be written" in done.err


def test_a_full_disk_keeps_the_old_index(spawn, run, tiny_index):
    before = run("search", tiny_index, "Orlane").out
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))"
    assert spawn(*command("index", tiny_index), "--overwrite", script=limit).code == 2
    assert run("search", tiny_index, "Orlane").out == before


@pytest.mark.parametrize(
    ("system", "moment"),
    [
        ("bm25", "isogloss.systems.bm25.UntranslatedBM25.save_part"),
        ("bm25", "isogloss.index.manifest.Manifest.save"),
        ("aligned", "isogloss.systems.dense.DenseSystem.save_part"),
        ("aligned", "isogloss.index.manifest.Manifest.save"),
    ],
)
def test_an_index_that_is_killed_while_it_is_replaced_still_answers(spawn, run, tiny_index, system, moment):
    before = run("search", tiny_index, "Orlane").out
    module, owner, method = moment.rsplit(".", 2)
    script = f"""
import os, signal, {module}
def die(self, directory, keep=None):
    (directory / "half").write_text("written")
    os.kill(os.getpid(), signal.SIGKILL)
{module}.{owner}.{method} = die
"""
    replace = ("index", "demo", "--system", system, "--language", "fr", "-o", tiny_index, "--overwrite")
    replace += ("--set", "dimension=20") if system == "aligned" else ()
    assert spawn(*replace, script=script).code == -signal.SIGKILL
    assert run("search", tiny_index, "Orlane").out == before
    assert run(*replace).code == 0
    assert "fr-honey" in run("search", tiny_index, "honey" if system == "aligned" else "miel").out


def test_an_index_that_fails_while_it_is_replaced_still_answers(fails, tiny, tiny_index):
    (tiny / "wiki_fr.documents").write_text("broken\n")
    replace = ("--system", "bm25", "--language", "fr", "-o", tiny_index, "--overwrite")
    assert "wiki_fr.documents:1" in fails("index", f"wikiclir:{tiny}", *replace)


@pytest.mark.parametrize("output", [".", "..", "docs", "docs/.."])
@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "folder:docs", "--system", "bm25", "--language", "fr", "-o", "{}"),
        ("index", "docs", "-o", "{}"),
        ("data", "grade", "docs/pages.jsonl", "-o", "{}"),
        ("data", "convert", "jsonl:docs/pages.jsonl", "--pair", "en-fr", "-o", "trec:{}"),
    ],
    ids=["index", "a path alone", "grade", "convert"],
)
def test_no_output_replaces_the_folder_the_user_is_in_or_the_data_it_is_made_of(fails, here, arguments, output):
    (here / "docs").mkdir()
    (here / "docs" / "pages.jsonl").write_text("{}")
    assert "which would be lost" in fails(*(word.format(output) for word in arguments), "--overwrite")


@pytest.mark.parametrize("name", INTO_DIRECTORIES)
def test_a_folder_of_something_else_is_never_overwritten(fails, here, name):
    (here / "out").mkdir()
    (here / "out" / "diary.txt").write_text("dear diary")
    assert "out: holds something else" in fails(*command(name, "out"), "--overwrite")
    assert [path.name for path in (here / "out").iterdir()] == ["diary.txt"]


def test_outputs_go_into_folders_that_are_made_for_them(run, here):
    assert run("evaluate", "bm25", *DATA, "--run", "a/b/out.trec", "--json", "c/out.json").code == 0
    assert (here / "a" / "b" / "out.trec").stat().st_size
    assert json.loads((here / "c" / "out.json").read_text())["pair"] == "en-fr"
