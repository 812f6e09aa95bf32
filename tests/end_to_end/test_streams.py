"""Standard output and error: readers that leave, disks that are full, letters a terminal does not have."""

import json
import os

import pytest


@pytest.mark.parametrize("command", [("--help",), ("systems", "--json", "-"), ("systems",)])
def test_a_reader_that_has_gone_is_no_error(spawn, command):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = spawn(*command, stdout=writing)
    finally:
        os.close(writing)
    assert done.err == ""
    assert done.code != 0


@pytest.mark.parametrize("command", [("--help",), ("systems", "--json", "-"), ("systems",)])
def test_an_output_that_takes_nothing_is_one_line(fails_alone, command):
    with open("/dev/full", "wb") as full:
        assert "standard output: could not be written" in fails_alone(*command, stdout=full)


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_an_empty_one(spawn, redirect):
    done = spawn("systems", redirect=redirect)
    assert (done.code, done.err) == (0, "")
    assert ("Pirkola" in done.out) == (redirect == "2>&-")


def test_an_interrupt_is_one_line_and_status_130(run, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("isogloss.systems.registry.system_types", interrupt)
    assert run("systems") == (130, "", "isogloss: interrupted\n")


@pytest.mark.parametrize("arguments", [("systems", "oracle", "--debug"), ("--debug", "data", "show", "demo", "--flat")])
def test_debug_shows_the_traceback_and_keeps_the_status(run, arguments):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("Traceback (most recent call last):")
    assert err.splitlines()[-1].startswith("isogloss: ")


def test_a_bug_is_not_dressed_up_as_the_user_s_mistake(run, monkeypatch):
    def break_down():
        raise ZeroDivisionError

    monkeypatch.setattr("isogloss.systems.registry.system_types", break_down)
    with pytest.raises(ZeroDivisionError):
        run("systems")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_letters_the_terminal_does_not_have_are_no_error(run, spawn, here, encoding):
    page = {"id": "p1", "lang": "fr", "title": "Œuf 🥚 蛋", "text": "Un œuf – 蛋 – et un café 🥚."}
    (here / "pages.jsonl").write_text(json.dumps(page) + "\n")
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    assert run("index", "jsonl:pages.jsonl", "--system", "bm25", "--language", "fr", "-o", "é").code == 0
    done = spawn("search", "é", "蛋", "--explain", env=env)
    assert (done.code, done.err) == (0, "")
    done = spawn("search", "é", "蛋", "--json", "-", env=env)
    assert json.loads(done.out)["hits"][0]["title"] == page["title"]


def test_a_query_that_is_not_utf_8_is_no_error(spawn, tiny_index):
    done = spawn("search", tiny_index, os.fsdecode(b"Orlane \xff"), "--json", "-")
    assert (done.code, done.err) == (0, "")
    assert {hit["id"] for hit in json.loads(done.out)["hits"]} == {"f1", "f2"}


def test_the_command_runs_as_a_module(spawn, run):
    assert spawn("systems", "--json", "-") == run("systems", "--json", "-")
