"""The files of trials: ``NAME.json`` (what was done and found), ``NAME.npz`` (query by query), ``NAME.error.txt``.

The JSON file is written last: where it is, the trial is complete.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_file, write_bytes
from isogloss.papers.smooth.trial import Trial
from isogloss.papers.smooth.trial_run import Outcome


@dataclass(frozen=True)
class Result:
    """A trial that was run, read from its files."""

    trial: Trial
    record: dict[str, Any]
    path: Path

    def mean(self, measure: str, protocol: str = "sampled") -> float:
        """A measure, averaged over the queries."""
        return float(self.record[protocol][measure])

    def values(self, measure: str, protocol: str = "sampled") -> NDArray[np.float64]:
        """A measure, query by query."""
        return np.asarray(self._arrays[f"{protocol}.{measure}"], dtype=np.float64)

    @property
    def score_counts(self) -> NDArray[np.int32]:
        """The scores of the training pairs, counted in bins, a row a grade."""
        return self._arrays["score_counts"]

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        try:
            with np.load(self.path.with_name(f"{self.trial.name}.npz"), allow_pickle=False) as found:
                return dict(found)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self.path}: its .npz file cannot be read ({error}); delete both to run it again"
            ) from error


class TrialStore:
    """A directory of trials."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def holds(self, trial: Trial, fingerprint: str) -> bool:
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

    def read(self, trial: Trial) -> Result | None:
        """What a trial left, if it was run."""
        path = self._path(trial, "json")
        return Result(trial, _read(path), path) if path.exists() else None

    def write(self, trial: Trial, outcome: Outcome) -> None:
        """Keep what a trial leaves."""
        packed = io.BytesIO()
        np.savez_compressed(packed, **outcome.arrays)  # type: ignore[arg-type]
        self.remove(trial)
        write_bytes(self._path(trial, "npz"), packed.getvalue())
        with atomic_file(self._path(trial, "json")) as file:
            file.write(json.dumps(outcome.record, indent=1) + "\n")

    def write_error(self, trial: Trial, message: str) -> None:
        """Keep why a trial failed."""
        with atomic_file(self._path(trial, "error.txt")) as file:
            file.write(message.rstrip() + "\n")

    def remove(self, trial: Trial) -> None:
        """Forget a trial."""
        for kind in ("json", "npz", "error.txt"):
            self._path(trial, kind).unlink(missing_ok=True)

    def _path(self, trial: Trial, kind: str) -> Path:
        return self.directory / f"{trial.name}.{kind}"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it to run the trial again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is not what a trial leaves; delete it to run the trial again")
    return found
