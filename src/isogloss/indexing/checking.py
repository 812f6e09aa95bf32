"""Whether an index is what was written: every file is read and its checksum compared."""

from __future__ import annotations

from pathlib import Path

from isogloss.base.progress import track
from isogloss.index.checksums import FILE, DamagedFileError, FileNote, check_file, noted_files
from isogloss.index.commit import Commit
from isogloss.index.manifest import Manifest


def check_index(path: Path) -> tuple[int, list[str]]:
    """How many files an index has, and what is wrong with those that are not as they were written."""
    Manifest.load(path)
    commit = Commit.load(path)
    files, problems = _all_files(path, commit)
    for file, note in track(files, "checking"):
        problem = _problem(file, note)
        if problem and problem not in problems:
            problems.append(problem)
    if problems and Commit.load(path) != commit:
        return check_index(path)  # a writer has taken files away in between
    return len(files), problems


def _all_files(path: Path, commit: Commit) -> tuple[list[tuple[Path, FileNote]], list[str]]:
    files, problems = [], []
    for name, note in commit.files.items():
        file = path / name
        files.append((file, note))
        if file.name == FILE:
            try:
                files.extend(noted_files(file.parent, note))
            except (OSError, ValueError) as error:
                problems.append(_sentence(file, error))
    return files, problems


def _problem(file: Path, note: FileNote) -> str:
    try:
        check_file(file, note, hashes=True)
    except (OSError, ValueError) as error:
        return _sentence(file, error)
    return ""


def _sentence(file: Path, error: Exception) -> str:
    if isinstance(error, DamagedFileError):
        return str(error)
    return f"{file} {'is missing' if isinstance(error, FileNotFoundError) else f'cannot be read ({error})'}"
