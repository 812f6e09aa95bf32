"""What trials of one pair have in common: its lists, and the arrays that trials which read alike learn from.

Packed, the arrays are ``PAIR.json`` (hashes), ``PAIR_READING.npz`` and ``PAIR_READING.lists.npz`` in a folder: enough
for a machine with torch and numpy alone. As a source the folder is called ``packed:FOLDER``.
"""

from __future__ import annotations

import io
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.formats import open_source
from isogloss.data.problems import Problems
from isogloss.data.source import Pair
from isogloss.papers.fingerprints import fingerprint
from isogloss.papers.layerwise.lists import CHOOSING, MEASURED, Drawing, lists_hash, with_lists
from isogloss.papers.layerwise.trial import PACKED, Trial
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file, write_bytes
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.data import RankingData, read_lists
from isogloss.text.ids import TextIds
from isogloss.training.examples import RankedLists


class Arrays(NamedTuple):
    """What is learned from, with the lists to choose by; and the lists that are measured."""

    data: RankingData
    measured: RankedLists


class TrialData(ABC):
    """A pair as trials see it."""

    def __init__(self) -> None:
        self._held: dict[str, Arrays] = {}

    @property
    @abstractmethod
    def dataset(self) -> Dataset:
        """The pair, read and checked, with its lists."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of the content, the lists among it."""

    @property
    @abstractmethod
    def lists(self) -> str:
        """A hash of the measured lists."""

    def arrays(self, trial: Trial) -> Arrays:
        """What a trial learns from, held for those that read alike."""
        key = trial.reading()
        if key not in self._held:
            self._held[key] = self._make(trial, key)
        return self._held[key]

    @abstractmethod
    def _make(self, trial: Trial, key: str) -> Arrays:
        """Read them."""


class ReadData(TrialData):
    """The pair as its source has it."""

    def __init__(self, source: str, pair: Pair, drawing: Drawing, skip_bad: bool = False) -> None:
        super().__init__()
        self._source, self._pair, self._drawing, self._skip_bad = source, pair, drawing, skip_bad

    @cached_property
    def dataset(self) -> Dataset:
        found = load_dataset(open_source(self._source), self._pair, problems=Problems(not self._skip_bad))
        return self._with_lists(found)

    def _with_lists(self, dataset: Dataset) -> Dataset:
        """With the splits ``train``, ``measured`` and ``dev``, and the lists of both."""
        return with_lists(dataset, self._drawing)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.dataset, *(sorted(self.dataset.candidates(name)) for name in (MEASURED, CHOOSING)))

    @cached_property
    def lists(self) -> str:
        return lists_hash(self.dataset)

    def _make(self, trial: Trial, key: str) -> Arrays:
        system = trial.make(self.dataset.source, "cpu")
        assert isinstance(system, Matcher)
        data = system.read(self.dataset)
        everything = replace(system.reading, dev_queries=0)
        measured = read_lists(self.dataset, MEASURED, data.words["query"], everything, system.query_texts)
        assert measured is not None
        return Arrays(data, measured)


class PackedData(TrialData):
    """The pair as a pack has it."""

    def __init__(self, folder: Path, pair: Pair) -> None:
        super().__init__()
        self._folder, self._pair = folder, pair
        path = folder / f"{'-'.join(pair)}.json"
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            self._fingerprint, self._lists = str(about["fingerprint"]), str(about["lists"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is not the pack of a pair ({error}); write it with --pack") from error

    @property
    def dataset(self) -> Dataset:
        raise InputError(f"{self._folder}: a pack has arrays, no texts; run this trial where the data are")

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def lists(self) -> str:
        return self._lists

    def _make(self, trial: Trial, key: str) -> Arrays:
        path = _path(self._folder, self._pair, key)
        return Arrays(RankingData.load(path), _load_lists(path.with_suffix(".lists.npz")))


def write_pack(
    data: TrialData, pair: Pair, trials: Iterable[Trial], folder: Path, vector_type: type[np.floating] = np.float32
) -> None:
    """Write what the trials of a pair need, once for those that read alike; nearly all of it are word vectors."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / f"{'-'.join(pair)}.json", overwrite=True) as file:
        file.write(json.dumps({"fingerprint": data.fingerprint, "lists": data.lists}) + "\n")
    for key, trial in {trial.reading(): trial for trial in trials}.items():
        path, arrays = _path(folder, pair, key), data.arrays(trial)
        vectors = {side: (rows, found.astype(vector_type)) for side, (rows, found) in arrays.data.vectors.items()}
        replace(arrays.data, vectors=vectors).save(path)
        _save_lists(path.with_suffix(".lists.npz"), arrays.measured)


class DataShelf:
    """The pairs read so far."""

    def __init__(self, skip_bad: bool = False) -> None:
        self._skip_bad = skip_bad
        self._held: dict[tuple[str, Pair, Drawing], TrialData] = {}

    def get(self, source: str, pair: Pair, drawing: Drawing) -> TrialData:
        """A pair of a source, or of a folder of packs."""
        key = source, pair, drawing
        if key not in self._held:
            packed = source.startswith(PACKED)
            self._held[key] = (
                PackedData(Path(source.removeprefix(PACKED)), pair)
                if packed
                else ReadData(source, pair, drawing, self._skip_bad)
            )
        return self._held[key]

    def of(self, trial: Trial) -> TrialData:
        """The data of a trial."""
        return self.get(trial.data, trial.pair, trial.drawing)


_LISTED = ("query_of", "document_of", "grades", "ties")


def _path(folder: Path, pair: Pair, key: str) -> Path:
    return folder / f"{'-'.join(pair)}_{key}.npz"


def _save_lists(path: Path, lists: RankedLists) -> None:
    packed = io.BytesIO()
    arrays = {name: getattr(lists, name) for name in _LISTED} | {
        "ids": lists.queries.ids, "offsets": lists.queries.offsets, "top": np.asarray(lists.top),
    }  # fmt: skip
    np.savez_compressed(packed, **arrays)
    write_bytes(path, packed.getvalue())


def _load_lists(path: Path) -> RankedLists:
    try:
        with np.load(path, allow_pickle=False) as found:
            listed = {name: found[name] for name in _LISTED}
            return RankedLists(TextIds(found["ids"], found["offsets"]), **listed, top=int(found["top"]))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: is not what --pack wrote ({error}); write it again") from error
