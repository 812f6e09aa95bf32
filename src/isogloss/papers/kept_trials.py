"""The files of trials: ``NAME.json`` (what was done and found), ``NAME.npz`` (query by query), ``NAME.error.txt``.

The JSON file is written last: where it is, the trial is complete.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.arrays import save_packed
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file

_LONGEST_NAME = 150


class NamedTrial(Protocol):
    """A training and what it is measured on."""

    @property
    def name(self) -> str:
        """That of its files."""

    def identity(self, fingerprint: str) -> str:
        """A hash of all that decides on the result, the content of the data (``fingerprint``) among it."""


TrialKind = TypeVar("TrialKind", bound=NamedTrial)


@dataclass(frozen=True)
class Outcome:
    """What a trial leaves: plain values, and arrays."""

    record: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class KeptTrial(Generic[TrialKind]):
    """A trial that was run, read from its files."""

    trial: TrialKind
    record: dict[str, Any]
    path: Path

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its arrays, read when they are first asked for."""
        try:
            with np.load(self.path.with_name(f"{self.trial.name}.npz"), allow_pickle=False) as found:
                return dict(found)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self.path}: its .npz file cannot be read ({error}); delete both to run it again"
            ) from error


class TrialDirectory(Generic[TrialKind]):
    """A directory of trials."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def holds(self, trial: TrialKind, fingerprint: str) -> bool:
        """Whether the trial was run on these data; another trial under its name is an error."""
        path = self._path(trial, "json")
        if not path.exists() or not self._path(trial, "npz").exists():
            return False
        found = _read(path)
        if found.get("identity") == trial.identity(fingerprint):
            return True
        raise InputError(
            f"{path}: was run on other data or with other settings; choose another directory or --overwrite"
        )

    def find(self, trial: TrialKind) -> tuple[dict[str, Any], Path] | None:
        """The record of a trial and where it is, if it was run."""
        path = self._path(trial, "json")
        return (_read(path), path) if path.exists() else None

    def write(self, trial: TrialKind, outcome: Outcome) -> None:
        """Keep what a trial leaves."""
        self.remove(trial)
        save_packed(self._path(trial, "npz"), outcome.arrays)
        with atomic_file(self._path(trial, "json")) as file:
            file.write(json.dumps(outcome.record, indent=1) + "\n")

    def write_error(self, trial: TrialKind, message: str) -> None:
        """Keep why a trial failed."""
        with atomic_file(self._path(trial, "error.txt")) as file:
            file.write(message.rstrip() + "\n")

    def remove(self, trial: TrialKind) -> None:
        """Forget a trial."""
        for kind in ("json", "npz", "error.txt"):
            self._path(trial, kind).unlink(missing_ok=True)

    def _path(self, trial: TrialKind, kind: str) -> Path:
        return self.directory / f"{trial.name}.{kind}"


def file_name(parts: Iterable[str]) -> str:
    """Parts of a name in letters, digits, ``.``, ``_`` and ``-``; one that is too long is cut, with a hash at its end.

    >>> file_name(["en-fr", "alphas--1,1"])
    'en-fr_alphas--1_1'
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "_", "_".join(parts))
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 13]}_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it to run the trial again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is not what a trial leaves; delete it to run the trial again")
    return found
