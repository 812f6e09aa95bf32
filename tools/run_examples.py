r"""Run the code blocks of a Markdown page as a reader would: block after block, in a folder that is empty at first.

- ``sh``: the block is a script for bash.
- ``console``: lines that begin with ``$`` are commands; a command continues in lines that begin with ``>``. The lines
  after a command are its expected output.
- ``python``: all blocks of a page share their names, like a session; a block with ``>>>`` is a doctest.
- ``text output``: the expected output of the ``python`` block above it.

A block with ``not-run`` after its language is skipped; the page says why.

Output is compared loosely. Each expected line must be the beginning of a printed line, in the same order. Runs of
spaces are equal, and ``…`` or ``...`` stands for anything.

``isogloss serve`` keeps running until the end of the page. Port 8000 is replaced by a free port, so that pages can run
at the same time.

Kept by hand: by their documentation, mktestdocs runs Python and bash blocks without comparing their output, and
markdown-exec renders output instead of checking it; neither keeps a service running beside the blocks.

    python tools/run_examples.py docs/quick-start.md
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

NOT_RUN = "not-run"
LANGUAGES = ("sh", "console", "python")
_DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SERVE = "isogloss serve "
_PORT = "8000"


class Block(NamedTuple):
    """A fenced code block: its language, the other words of its fence, its text and its line number."""

    language: str
    marks: tuple[str, ...]
    text: str
    line: int

    @property
    def is_code(self) -> bool:
        """Whether the language is one that can be run."""
        return self.language in LANGUAGES


class Command(NamedTuple):
    """A command for bash and its expected output."""

    text: str
    expected: list[str]


class BlockError(AssertionError):
    """A block does not do what its page says."""


def read_blocks(text: str) -> list[Block]:
    """The fenced code blocks of a page, in order."""
    blocks = []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence":
            language, *marks = token.info.split() or [""]
            blocks.append(Block(language, tuple(marks), token.content, token.map[0] + 1 if token.map else 0))
    return blocks


class Runner:
    """Runs the blocks of one page in a folder; leaving its ``with`` block stops the services that it started."""

    def __init__(self, name: str, folder: Path, environment: dict[str, str] | None = None) -> None:
        self._name, self._folder = name, folder
        self._environment = {**os.environ, **(environment or {})}
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""
        self._port = _free_port()
        self._services: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        for service in self._services:
            service.terminate()
        for service in self._services:
            service.communicate()

    def run(self, blocks: Sequence[Block]) -> int:
        """Run the blocks that are not marked ``not-run``; returns how many were code."""
        count = 0
        for block in blocks:
            if NOT_RUN in block.marks:
                continue
            try:
                self._run_block(block)
            except Exception as error:
                raise BlockError(f"{self._name}:{block.line}: {error}") from error
            count += block.is_code
        return count

    def _run_block(self, block: Block) -> None:
        if block.language == "python":
            self._printed = self._python(block.text)
        elif block.language == "text" and "output" in block.marks:
            check_output(block.text.splitlines(), self._printed)
        elif block.is_code:
            for command in commands_of(block):
                self._command(command)

    def _python(self, text: str) -> str:
        printed = io.StringIO()
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(printed):
            if ">>>" in text:
                self._doctest(text)
            else:
                exec(compile(text, self._name, "exec"), self._names)
        return printed.getvalue()

    def _doctest(self, text: str) -> None:
        report: list[str] = []
        test = doctest.DocTestParser().get_doctest(text, self._names, self._name, None, None)
        done = doctest.DocTestRunner(optionflags=_DOCTEST).run(test, out=report.append, clear_globs=False)
        if done.failed:
            raise BlockError("".join(report))
        self._names.update(test.globs)

    def _command(self, command: Command) -> None:
        text = command.text.replace(f":{_PORT}", f":{self._port}")
        expected = [line.replace(f":{_PORT}", f":{self._port}") for line in command.expected]
        if text.startswith(_SERVE):
            self._serve(text, expected)
            return
        process = self._start(text, stdin=subprocess.DEVNULL)
        printed, _ = process.communicate()
        if process.returncode != 0:
            raise BlockError(f"exit status {process.returncode}: {text}\n{printed}")
        check_output(expected, printed)

    def _serve(self, text: str, expected: list[str]) -> None:
        service = self._start(f"exec {text} --port {self._port}")
        self._services.append(service)
        assert service.stdout is not None
        address = service.stdout.readline()  # it is printed when clients may come
        if not address.startswith("http"):
            raise BlockError(f"does not serve: {text}\n{address}{service.stdout.read()}")
        check_output(expected[:1], address)

    def _start(self, text: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", text], cwd=self._folder, env=self._environment, text=True,
            encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
        )  # fmt: skip


def commands_of(block: Block) -> list[Command]:
    """The commands of a block, each with its expected output."""
    if block.language == "sh":
        return [Command(block.text, [])]
    commands: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], []))
        elif not commands:
            raise BlockError(f"a console block begins with a command, not with {line!r}")
        elif line.startswith("> ") and not commands[-1].expected:
            commands[-1] = Command(f"{commands[-1].text}\n{line[2:]}", [])
        else:
            commands[-1].expected.append(line)
    return commands


def check_output(expected: list[str], printed: str) -> None:
    """Raise if the expected lines are not, in this order, beginnings of printed lines."""
    lines = iter(printed.splitlines())
    for line in filter(str.strip, expected):
        parts = re.split(r"…|\.\.\.", _single_spaces(line))
        pattern = re.compile(".*".join(map(re.escape, parts)))
        if not any(pattern.match(_single_spaces(other)) for other in lines):
            raise BlockError(f"expected {line!r} in:\n{printed}")


def _single_spaces(line: str) -> str:
    return " ".join(line.split())


def _free_port() -> int:
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def main(paths: Sequence[str]) -> int:
    """Run the examples of the pages; returns the exit status."""
    for path in paths:
        blocks = read_blocks(Path(path).read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder, Runner(path, Path(folder)) as runner:
            try:
                sys.stdout.write(f"{path}: {runner.run(blocks)} blocks run\n")
            except BlockError as error:
                sys.stderr.write(f"{error}\n")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
