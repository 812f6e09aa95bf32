"""Trials of the layer-wise paper that were run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.kept_trials import KeptTrial, TrialDirectory
from isogloss.papers.layerwise.lists import MEASURED
from isogloss.papers.layerwise.trial import Trial


class Result(KeptTrial[Trial]):
    """A trial that was run, read from its files."""

    def mean(self, measure: str, lists: str = MEASURED) -> float:
        """A measure, averaged over the queries of the measured lists, or of those to choose by (``validation``)."""
        return float(self.record[lists][measure])

    def values(self, measure: str) -> NDArray[np.float64]:
        """A measure, query by query."""
        return np.asarray(self.arrays[measure], dtype=np.float64)


class TrialStore(TrialDirectory[Trial]):
    """A directory of trials."""

    def read(self, trial: Trial) -> Result | None:
        """What a trial left, if it was run."""
        found = self.find(trial)
        return Result(trial, *found) if found else None

    def is_settled(self, trial: Trial) -> bool:
        """Whether it was run, or failed."""
        return any(self._path(trial, kind).exists() for kind in ("json", "error.txt"))
