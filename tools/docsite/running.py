r"""The code of a page, run as a reader would: block after block, in a folder that is empty at first.

- ``sh``: the block is a script for bash.
- ``console``: lines that begin with ``$`` are commands, each may go on in lines that begin with ``>``; what follows a
  command is what it has to print.
- ``python``: the block goes on where the last one ended, like a session; ``>>>`` makes it a doctest.
- ``text output``: what the ``python`` block above it has to print.

A block with the mark ``not-run`` beside its language is left out; why should stand next to it in the page.

Output is compared loosely: the lines of the page have to be found in what was printed, in their order, each as the
beginning of a line; a run of spaces is like any other, and ``…`` or ``...`` stands for anything.

``isogloss serve`` goes on beside the commands that follow, until the end of the page; port 8000 of the page stands for
a free one, so that pages can be run at the same time.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from docsite.pages import Block, Page

NOT_RUN = "not-run"
LANGUAGES = ("sh", "console", "python")
_DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SERVE = "isogloss serve "
_PORT = "8000"
_LONGEST = 120.0  # seconds that a command may take


class Command(NamedTuple):
    """A command for bash and the lines it has to print."""

    text: str
    expected: list[str]


class BlockError(AssertionError):
    """A block of a page does not do what the page says."""


class Reader:
    """Somebody who works through a page; used in a ``with``, whose end stops what was started."""

    def __init__(self, page: Page, folder: Path, environment: dict[str, str] | None = None) -> None:
        self._page, self._folder = page, folder
        self._environment = {**os.environ, **(environment or {})}
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""
        self._port = _free_port()
        self._services: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for service in self._services:
            service.terminate()
        for service in self._services:
            service.communicate(timeout=_LONGEST)

    def run(self) -> int:
        """Run all blocks of the page that are to be run; how many there were."""
        count = 0
        for block in self._page.blocks:
            if NOT_RUN in block.marks:
                continue
            try:
                count += self._do(block)
            except Exception as error:
                raise BlockError(f"{self._page.path}:{block.line}: {error}") from error
        return count

    def _do(self, block: Block) -> bool:
        if block.language == "python":
            self._printed = self._python(block.text)
        elif block.language == "text" and "output" in block.marks:
            check_output(block.text.splitlines(), self._printed)
        elif block.language in LANGUAGES:
            for command in commands_of(block):
                self._command(command)
        return block.language in LANGUAGES

    def _python(self, text: str) -> str:
        printed = io.StringIO()
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(printed):
            if ">>>" in text:
                self._doctest(text)
            else:
                exec(compile(text, self._page.path, "exec"), self._names)
        return printed.getvalue()

    def _doctest(self, text: str) -> None:
        report: list[str] = []
        test = doctest.DocTestParser().get_doctest(text, self._names, self._page.path, None, None)
        done = doctest.DocTestRunner(optionflags=_DOCTEST).run(test, out=report.append, clear_globs=False)
        if done.failed:
            raise BlockError("".join(report))
        self._names.update(test.globs)

    def _command(self, command: Command) -> None:
        said = command.text.replace(f":{_PORT}", f":{self._port}")
        expected = [line.replace(f":{_PORT}", f":{self._port}") for line in command.expected]
        if said.startswith(_SERVE):
            self._serve(said, expected)
            return
        done = self._start(said, stdin=subprocess.DEVNULL)
        printed, _ = done.communicate(timeout=_LONGEST)
        if done.returncode != 0:
            raise BlockError(f"ended with status {done.returncode}: {said}\n{printed}")
        check_output(expected, printed)

    def _serve(self, said: str, expected: list[str]) -> None:
        service = self._start(f"exec {said} --port {self._port}")
        self._services.append(service)
        assert service.stdout is not None
        address = service.stdout.readline()  # it is printed when clients may come
        if not address.startswith("http"):
            raise BlockError(f"does not serve: {said}\n{address}{service.stdout.read()}")
        check_output(expected[:1], address)

    def _start(self, said: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", said], cwd=self._folder, env=self._environment, text=True,
            encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
        )  # fmt: skip


def commands_of(block: Block) -> list[Command]:
    """The commands of a block, each with what it has to print."""
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
    """Complain if the expected lines are not, in their order, beginnings of lines that were printed."""
    lines = iter(printed.splitlines())
    for line in filter(str.strip, expected):
        pattern = _pattern(line)
        if not any(pattern.match(_spaced(other)) for other in lines):
            raise BlockError(f"expected {line!r} in:\n{printed}")


def _pattern(line: str) -> re.Pattern[str]:
    pieces = re.split(r"…|\.\.\.", _spaced(line))
    return re.compile(".*".join(map(re.escape, pieces)))


def _spaced(line: str) -> str:
    return " ".join(line.split())


def _free_port() -> int:
    with contextlib.closing(socket.socket()) as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port


def runnable(pages: Sequence[Page]) -> list[Page]:
    """The pages that have something to run."""
    return [page for page in pages if any(b.language in LANGUAGES and NOT_RUN not in b.marks for b in page.blocks)]


def left_out(pages: Sequence[Page]) -> list[tuple[Page, Block]]:
    """The blocks that are not run though their language is one that could be."""
    return [(page, b) for page in pages for b in page.blocks if b.language in LANGUAGES and NOT_RUN in b.marks]
