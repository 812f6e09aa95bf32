"""Trials of ``smooth`` that were run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.kept_trials import KeptTrial, TrialDirectory
from isogloss.papers.smooth.trial import Trial


class Result(KeptTrial[Trial]):
    """A trial that was run, read from its files."""

    def mean(self, measure: str, protocol: str = "sampled") -> float:
        """A measure, averaged over the queries."""
        return float(self.record[protocol][measure])

    def values(self, measure: str, protocol: str = "sampled") -> NDArray[np.float64]:
        """A measure, query by query."""
        return np.asarray(self.arrays[f"{protocol}.{measure}"], dtype=np.float64)

    @property
    def score_counts(self) -> NDArray[np.int32]:
        """The scores of the training pairs, counted in bins, a row a grade."""
        return self.arrays["score_counts"]


class TrialStore(TrialDirectory[Trial]):
    """A directory of trials."""

    def read(self, trial: Trial) -> Result | None:
        """What a trial left, if it was run."""
        found = self.find(trial)
        return Result(trial, *found) if found else None
