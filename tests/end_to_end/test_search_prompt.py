"""`isogloss search` without a query: a prompt where there is a terminal, an error where there is none."""

import os
import pty
import select
import sys

import pytest

from isogloss.cli.main import main


class Terminal:
    """A terminal with a command in it."""

    def __init__(self, start, *arguments):
        self.screen, there = pty.openpty()
        self.process = start(*arguments, stdin=there, stdout=there)
        os.close(there)
        self.shown = ""

    def read_until(self, text: str = "") -> str:
        """All that is shown until the text is, or until the command ends."""
        while not text or text not in self.shown:
            if not select.select([self.screen], [], [], 60)[0]:
                pytest.fail(f"the command says nothing more after {self.shown!r}")
            try:
                piece = os.read(self.screen, 65536)
            except OSError:  # how Linux says that nobody is at the other side any more
                break
            if not piece:
                break
            self.shown += piece.decode()
        shown, self.shown = self.shown, ""
        return shown

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def end(self):
        """How the command ended and what it said on standard error."""
        if self.screen is not None:
            os.close(self.screen)
            self.screen, self.err = None, self.process.communicate(timeout=60)[1].decode()
        return self.process.returncode, self.err


@pytest.fixture
def prompt(start, tiny_index):
    """A terminal in which the prompt has just appeared."""
    terminal = Terminal(start, "search", tiny_index, "-k", "1")
    try:
        assert "6 in fr. Queries in en" in terminal.read_until("search> ")
        yield terminal
    finally:
        terminal.process.kill()
        terminal.end()


@pytest.mark.parametrize("goodbye", ["\n", "\x04"], ids=["an empty line", "Ctrl-D"])
def test_the_prompt_answers_until_it_is_left(prompt, goodbye):
    for query, title in (("Brisevent bateaux", "Phare"), ("Tamarel", "Verger"), ("qzxv", "nothing found")):
        prompt.type(f"{query}\n")
        assert title in prompt.read_until("search> ")
    prompt.type(goodbye)
    prompt.read_until()
    assert prompt.end() == (0, "")


def test_an_interrupt_at_the_prompt_leaves_with_one_line(monkeypatch, capsys, tiny_index):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert main(["search", str(tiny_index)]) == 130
    assert capsys.readouterr().err == "isogloss: interrupted\n"


@pytest.mark.parametrize("stdin", ["silent", "closed", "empty"])
def test_without_a_terminal_a_missing_query_is_an_error_at_once(fails_alone, tiny_index, stdin):
    reading, writing = os.pipe()
    if stdin == "empty":
        os.close(writing)
    redirect = "<&-" if stdin == "closed" else ""
    try:
        assert "give a QUERY" in fails_alone("search", tiny_index, stdin=reading, redirect=redirect)
    finally:
        os.close(reading)
        if stdin != "empty":
            os.close(writing)
