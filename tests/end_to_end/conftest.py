"""Driving the commands as a user would: in this process where it can be, in one of their own where it must."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from isogloss.cli.main import main

DOCUMENTS = (
    ("f1", "Moulin", "Le moulin Orlane moud le blé du village au bord de la rivière."),
    ("f2", "Pont", "Le pont de pierre passe la rivière près du moulin Orlane."),
    ("f3", "Phare", "Le phare Brisevent guide les bateaux pendant la nuit."),
    ("f4", "Port", "Dans le port Brisevent dorment les bateaux de pêche."),
    ("f5", "Verger", "Le verger Tamarel donne des pommes rouges en automne."),
    ("f6", "Grange", "La grange garde le foin et les pommes pour l'hiver."),
)
QUERIES = (
    ("q1", "Mill", "where Orlane grinds wheat"),
    ("q2", "Lighthouse", "what guides boats near Brisevent"),
    ("q3", "Orchard", "red apples of Tamarel"),
    ("q4", "Barn", "hay for the winter"),
    ("q5", "Nothing", "a query that nobody judged"),
)
GRADES = (
    ("q1", "f1", "2"),
    ("q1", "f2", "1"),
    ("q2", "f3", "2"),
    ("q2", "f4", "1"),
    ("q3", "f5", "2"),
    ("q4", "f6", "2"),
)
LEXICON = "wheat\tblé\ngrinds\tmoud\nboats\tbateaux\napples\tpommes\nred\trouge\nhay\tfoin\nwinter\thiver\n"


class Done(NamedTuple):
    """What a command left: exit status, standard output, standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every command runs in an empty folder of its own."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run_command(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:  # --help and --version
            code = int(exit_.code or 0)
        return Done(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command in a process of its own, in the environment of a user: output is buffered, letters are UTF-8.

    ``script`` is run in the process before the command; ``redirect`` is what a shell would be told (``>&-``).
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}

    def start_process(
        *arguments: object, script: str = "", redirect: str = "", env: Mapping[str, str] | None = None, **options: Any
    ):
        module = ["-c", f"{script}\nimport sys\nfrom isogloss.cli.main import main\nsys.exit(main())"]
        command = [sys.executable, *(module if script else ["-m", "isogloss"]), *map(str, arguments)]
        if redirect:
            command = ["sh", "-c", f'exec "$@" {redirect}', "sh", *command]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        variables = {**kept, "PYTHONUTF8": "1", "TERM": "dumb", **(env or {})}
        return subprocess.Popen(command, env=variables, **{**streams, **options})

    return start_process


@pytest.fixture
def spawn(start) -> Run:
    """Run a command in a process of its own, to its end."""

    def run_process(*arguments: object, **options: Any) -> Done:
        with start(*arguments, **options) as process:
            out, err = process.communicate(timeout=120)
        return Done(process.returncode, *((text or b"").decode(errors="replace") for text in (out, err)))

    return run_process


@pytest.fixture
def fails(run: Run, here: Path) -> Callable[..., str]:
    """Run a command that must fail as promised: one line on standard error, status 2, nothing written. The line."""
    return _failing(run, here)


@pytest.fixture
def fails_alone(spawn: Run, here: Path) -> Callable[..., str]:
    """The same in a process of its own."""
    return _failing(spawn, here)


def _failing(run: Run, folder: Path) -> Callable[..., str]:
    def fail(*arguments: object, **options: Any) -> str:
        before = _tree(folder)
        code, out, err = run(*arguments, **options)
        assert (code, out) == (2, ""), err
        assert len(err.splitlines()) == 1, err
        assert err.startswith("isogloss: ")
        assert _tree(folder) == before
        return err

    return fail


def _tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder, hidden ones too, with the content of files."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def tiny(here: Path) -> Path:
    """A WikiCLIR directory, small enough to damage by hand: train q3 and q4, dev q1, q2 and the unjudged q5."""
    folder = here / "tiny"
    for name in ("splits", "candidates"):
        (folder / name).mkdir(parents=True)
    _write_rows(folder / "wiki_fr.documents", DOCUMENTS)
    _write_rows(folder / "wiki_en.queries", QUERIES)
    _write_rows(folder / "en2fr.rel", GRADES)
    _write_rows(folder / "splits" / "en.train", (("q3",), ("q4",)))
    _write_rows(folder / "splits" / "en.dev", (("q1",), ("q2",), ("q5",)))
    return folder


@pytest.fixture
def lexicon(here: Path) -> Path:
    """A lexicon for the tiny data."""
    path = here / "en-fr.tsv"
    path.write_text(LEXICON, encoding="utf-8")
    return path


@pytest.fixture
def tiny_index(tiny: Path, run: Run, here: Path) -> Path:
    """An index of the tiny documents."""
    assert run("index", f"wikiclir:{tiny}", "--system", "bm25", "--language", "fr", "-o", "index").code == 0
    return here / "index"


def _write_rows(path: Path, rows: tuple[tuple[str, ...], ...]) -> None:
    """A tab-separated file."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
