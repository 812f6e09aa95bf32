"""A trial: ``bridge`` trained on one pair, whole or without one of its ingredients, and measured on a split."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from isogloss.data.source import Pair
from isogloss.papers.kept_trials import KeptTrial, TrialDirectory, file_name

SYSTEM = "bridge"


@dataclass(frozen=True)
class Trial:
    """``settings``: options of the system, but for its lexicon; ``reliability``: whether its scores are looked at."""

    pair: Pair
    settings: Mapping[str, str] = field(default_factory=dict)
    split: str = "dev"
    reliability: bool = False

    @property
    def name(self) -> str:
        """The name of its files.

        >>> Trial(("en", "fr")).name, Trial(("en", "fr"), {"without": "lexicon"}).name
        ('en-fr_whole', 'en-fr_without-lexicon')
        """
        parts = [f"{key}-{value}" for key, value in self.settings.items()] or ["whole"]
        return file_name(["-".join(self.pair), *parts, *([] if self.split == "dev" else [self.split])])

    def identity(self, fingerprint: str) -> str:
        """A hash of all that decides on the result, the content of data and lexicon (``fingerprint``) among it."""
        described = {**self.as_json(), "data": fingerprint}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]

    def as_json(self) -> dict[str, Any]:
        """The trial as plain values."""
        named = {"pair": "-".join(self.pair), "settings": dict(self.settings)}
        return {**named, "split": self.split, "reliability": self.reliability}


Result = KeptTrial[Trial]
Results = dict[str, Result | None]
"""By what a trial is called in a table; None where it was not run to its end."""


class TrialStore(TrialDirectory[Trial]):
    """A directory of trials."""

    def read(self, trial: Trial) -> Result | None:
        """What a trial left, if it was run."""
        found = self.find(trial)
        return KeptTrial(trial, *found) if found else None
