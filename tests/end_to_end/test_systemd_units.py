"""The units of examples/systemd are right, and do what they say."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

UNITS = sorted((Path(__file__).resolve().parents[2] / "examples" / "systemd").iterdir())


@pytest.fixture
def index(here, run):
    (here / "docs").mkdir()
    (here / "docs" / "bread.txt").write_text("Le pain du matin.", encoding="utf-8")
    assert run("index", "docs", "--system", "bm25", "--language", "fr", "-o", "index").code == 0
    return here / "index"


def command_of(name, index, home):
    """The ExecStart line of a unit as systemd would run it for an index, and its environment."""
    unit = RawConfigParser()
    unit.optionxform = str
    unit.read(next(path for path in UNITS if path.name == name), encoding="utf-8")
    values = {"%f": str(index), "%h": str(home)}
    name, _, path = unit["Service"]["Environment"].partition("=")
    line = unit["Service"]["ExecStart"]
    for specifier, value in values.items():
        line, path = line.replace(specifier, value), path.replace(specifier, value)
    return shlex.split(line), {**os.environ, name: path}


@pytest.fixture
def home(tmp_path):
    """A home with isogloss where pipx installs it."""
    command = tmp_path / "home" / ".local" / "bin" / "isogloss"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m isogloss "$@"\n')
    command.chmod(0o755)
    return tmp_path / "home"


def test_the_service_syncs_its_index(index, home, here):
    (here / "docs" / "sea.txt").write_text("La mer est salée.", encoding="utf-8")
    command, environment = command_of("isogloss-sync@.service", index, home)
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, f"{index}: 1 added (1 of 2 files read)\n")


def test_the_watching_service_goes_on_until_it_is_stopped(index, home, here):
    command, environment = command_of("isogloss-watch@.service", index, home)
    with subprocess.Popen(command, env=environment, cwd="/", stderr=subprocess.PIPE, text=True) as process:
        try:
            assert "up to date" in process.stderr.readline()
            assert "watching" in process.stderr.readline()
        finally:
            process.send_signal(signal.SIGINT)  # its KillSignal
        assert process.wait(60) == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_finds_no_fault_in_the_units(tmp_path):
    copies = [tmp_path / path.name.replace("@", "@tmp-index") for path in UNITS]
    for path, copy in zip(UNITS, copies, strict=True):
        shutil.copy(path, copy)
    (tmp_path / "run").mkdir()
    done = subprocess.run(
        ["systemd-analyze", "--user", "--man=no", "verify", *copies],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
