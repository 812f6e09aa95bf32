"""Another commit beside the working tree: checked out, installed into a folder of its own, run in this environment.

The packages that isogloss needs are those of the environment that runs this; only isogloss and isogloss-starter are of
the other commit, with their entry points.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Checkout:
    """The files of a commit, and the environment in which Python imports isogloss of that commit."""

    name: str
    folder: Path
    environment: dict[str, str]

    def script(self, path: str) -> Path:
        """A script of this commit, or that of the working tree where the commit has none."""
        script = self.folder / path
        return script if script.exists() else ROOT / path

    def python(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run Python and give what it wrote to standard output; end the program where it fails."""
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{self.name}: {' '.join(command)}: exit status {done.returncode}")
        return done


@contextmanager
def working_tree() -> Iterator[Checkout]:
    """The files as they are, committed or not, installed until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="isogloss-") as site:
        yield Checkout("working tree", ROOT, _installed(ROOT, Path(site)))


@contextmanager
def checked_out(commit: str) -> Iterator[Checkout]:
    """The files of a commit, installed until the end of the block."""
    archived = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if archived.returncode:
        raise SystemExit(f"{commit}: is not a commit of this repository")
    with tempfile.TemporaryDirectory(prefix="isogloss-") as scratch:
        folder = Path(scratch, "files")
        with tarfile.open(fileobj=BytesIO(archived.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Checkout(commit, folder, _installed(folder, Path(scratch, "site")))


def _installed(folder: Path, site: Path) -> dict[str, str]:
    """The environment after the packages of a folder are installed into another."""
    packages = [folder, folder / "packages" / "starter"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--upgrade"]
    subprocess.run([*pip, "--target", site, *packages], check=True)
    return {**os.environ, "PYTHONPATH": str(site)}
