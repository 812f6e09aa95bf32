"""A pair as the trials of ``bridge`` see it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.formats import open_source
from isogloss.data.problems import Problems
from isogloss.data.source import Pair
from isogloss.papers.fingerprints import fingerprint
from isogloss.systems.bridge.learning import page_pairs
from isogloss.systems.bridge.options import BridgeOptions
from isogloss.systems.lexicons import fill_languages
from isogloss.translation.lexicon import Lexicon


@dataclass(frozen=True)
class PairData:
    """A pair of a source, and the lexicon that goes with it ('': none)."""

    dataset: Dataset
    lexicon: str

    @classmethod
    def read(cls, source: str, pair: Pair, lexicon: str = "", skip_bad: bool = False) -> PairData:
        """Read and check both; the lexicon is the one named, or that of the source."""
        dataset = load_dataset(open_source(source), pair, problems=Problems(not skip_bad))
        path = fill_languages(lexicon, *pair) or str(dataset.lexicon or "")
        if path:
            Lexicon.read(Path(path))
        return cls(dataset, path)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content of both."""
        entries = hashlib.sha256(Path(self.lexicon).read_bytes()).hexdigest() if self.lexicon else ""
        return fingerprint(self.dataset, entries)

    @cached_property
    def has_pages(self) -> bool:
        """Whether translations can be learned from pages alone."""
        return bool(page_pairs(self.dataset, BridgeOptions()))
