"""A trial (one training and what it is measured on) and its files in a directory.

``NAME.json`` has the trial and its results, ``NAME.npz`` the values query by query, ``NAME.error.txt`` the reason of
a failure. The JSON file is written last: where it is, the trial is complete.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import tomllib
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

import isogloss
from isogloss.data.dataset import Dataset
from isogloss.data.source import Pair, parse_pair
from isogloss.storage.arrays import save_packed
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.systems.base import FILE_OPTIONS
from isogloss.systems.lexicons import fill_languages
from isogloss.text.batches import available_cores

_LONGEST_NAME = 150


class NamedTrial(Protocol):
    """What a directory of trials needs to know of one."""

    @property
    def name(self) -> str:
        """The name of its files."""

    def identity(self, fingerprint: str) -> str:
        """A hash of all that decides on the result, the content of the data (``fingerprint``) among it."""


TrialKind = TypeVar("TrialKind", bound=NamedTrial)


class PaperTrial(ABC):
    """A trial of a paper: a frozen dataclass of plain values.

    It is named by what differs from the defaults, so that items that need the same trial share it. The device is no
    part of a trial: those of one machine serve on another.
    """

    pair: Pair
    settings: Mapping[str, Any]
    revision: ClassVar[int] = 0
    """Raised when the same settings come to mean another training: older trials are then refused."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of its files."""

    def identity(self, fingerprint: str) -> str:
        """A hash of all that decides on the result: the content of the data (``fingerprint``) and of files it reads."""
        described = {**self.as_json(), "data": fingerprint, "settings": self._settings_with_content()}
        if self.revision:
            described["revision"] = self.revision
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]

    def _settings_with_content(self) -> dict[str, Any]:
        """The settings; a file or folder that is named in them is replaced by the hash of its content."""
        found = dict(self.settings)
        for name in FILE_OPTIONS:
            path = Path(fill_languages(found[name], *self.pair)) if found.get(name) else None
            if path and path.exists():
                found[name] = content_hash(path)
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """A trial from plain values; what is wrong is an ``InputError``."""
        try:
            return cls(**{**found, "pair": parse_pair(found["pair"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise InputError(f"plan: {json.dumps(found)[:80]} is not a trial ({error})") from error

    def record(self, fingerprint: str, found: Mapping[str, Any]) -> dict[str, Any]:
        """What ``NAME.json`` has: the trial, what was found, and the version that found it."""
        about = {"name": self.name, "identity": self.identity(fingerprint), "trial": self.as_json()}
        return {**about, **found, "isogloss": isogloss.__version__}

    def as_json(self) -> dict[str, Any]:
        """The trial as plain values."""
        return {**asdict(cast(Any, self)), "pair": "-".join(self.pair), "settings": dict(self.settings)}


@dataclass(frozen=True)
class Outcome:
    """The result of running a trial: plain values, and arrays."""

    record: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Result(Generic[TrialKind]):
    """A trial that was run, read from its files."""

    trial: TrialKind
    record: dict[str, Any]
    path: Path

    @property
    def _arrays_path(self) -> Path:
        return self.path.with_name(f"{self.trial.name}.npz")

    @property
    def has_arrays(self) -> bool:
        """Whether its arrays are there; of a published record they may not be."""
        return self._arrays_path.exists()

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its arrays, read on first use."""
        try:
            with np.load(self._arrays_path, allow_pickle=False) as found:
                return dict(found)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self.path}: its .npz file cannot be read ({error}); delete both to run it again"
            ) from error

    def mean(self, measure: str, part: str) -> float:
        """A measure averaged over the queries, from a part of the record (a protocol or candidate lists)."""
        return float(self.record[part][measure])

    def values(self, measure: str, part: str = "") -> NDArray[np.float64]:
        """A measure query by query; ``part`` where the arrays have several."""
        return np.asarray(self.arrays[f"{part}.{measure}" if part else measure], dtype=np.float64)


class TrialDirectory(Generic[TrialKind]):
    """The trials that were run, as files of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def holds(self, trial: TrialKind, fingerprint: str) -> bool:
        """Whether the trial was run on these data; another trial under its name is an error."""
        path = self._path(trial, "json")
        if not path.exists() or not self._path(trial, "npz").exists():
            return False
        if _read(path).get("identity") == trial.identity(fingerprint):
            return True
        raise InputError(
            f"{path}: was run on other data or with other settings; choose another directory or --overwrite"
        )

    def read(self, trial: TrialKind) -> Result[TrialKind] | None:
        """The result of a trial, if it was run."""
        path = self._path(trial, "json")
        return Result(trial, _read(path), path) if path.exists() else None

    def is_settled(self, trial: TrialKind) -> bool:
        """Whether it was run, or failed."""
        return any(self._path(trial, kind).exists() for kind in ("json", "error.txt"))

    def write(self, trial: TrialKind, outcome: Outcome) -> None:
        """Write the files of a trial."""
        self.remove(trial)
        save_packed(self._path(trial, "npz"), outcome.arrays)
        with atomic_file(self._path(trial, "json")) as file:
            file.write(json.dumps(outcome.record, indent=1) + "\n")

    def write_error(self, trial: TrialKind, message: str) -> None:
        """Write why a trial failed."""
        with atomic_file(self._path(trial, "error.txt")) as file:
            file.write(message.rstrip() + "\n")

    def remove(self, trial: TrialKind) -> None:
        """Delete the files of a trial."""
        for kind in ("json", "npz", "error.txt"):
            self._path(trial, kind).unlink(missing_ok=True)

    def _path(self, trial: TrialKind, kind: str) -> Path:
        return self.directory / f"{trial.name}.{kind}"


def distinct(trials: Iterable[TrialKind]) -> list[TrialKind]:
    """Each trial once, in order."""
    return list({trial.name: trial for trial in trials}.values())


def file_name(parts: Iterable[str]) -> str:
    """Parts of a name in letters, digits, ``.``, ``_`` and ``-``; one that is too long is cut, with a hash at its end.

    >>> file_name(["en-fr", "alphas--1,1"])
    'en-fr_alphas--1_1'
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "_", "_".join(parts))
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 13]}_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def dataset_fingerprint(dataset: Dataset, *more: object) -> str:
    """A hash of documents, queries, judgments, splits and ``more`` plain values; not of where the data are."""
    found = hashlib.sha256()
    for part in (*_content(dataset), *more):
        found.update(json.dumps(part).encode())
    return found.hexdigest()[:32]


def content_hash(path: Path) -> str:
    """The hash of a file, or of all files below a folder with their names; not of where it is."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    named = [(each.relative_to(path).as_posix(), _hash_of(each, each.stat().st_mtime_ns)) for each in files]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]


@lru_cache
def _hash_of(path: Path, _changed: int) -> str:
    return note_of(path).hash


def device_name(device: str) -> str:
    """The machine behind ``cpu`` or ``cuda``, in words."""
    if device == "cpu":
        cores = available_cores()
        return f"{platform.machine()}, {cores} core{'' if cores == 1 else 's'}"
    import torch

    return str(torch.cuda.get_device_name())


def _content(dataset: Dataset) -> Iterator[object]:
    yield dataset.pair, dataset.judgments.top_grade
    yield from ((document.id, document.text) for document in dataset.documents)
    yield from ((query.id, query.text) for query in dataset.queries.values())
    yield from sorted(dataset.judgments)
    yield dataset.splits


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it to run the trial again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is not the record of a trial; delete it to run the trial again")
    return found


def read_published(paper: str) -> dict[str, Any]:
    """The tables that a paper reports, from ``published.toml``."""
    tables = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
    return dict(tables[paper])
