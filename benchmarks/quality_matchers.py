"""The matchers of ``quality.py``, which rank lists and learn with torch: here, or as a plan elsewhere.

    python benchmarks/quality.py DIR --data … --only layerwise,clann --plan plan.json --pack arrays
    PYTHONPATH=src python benchmarks/quality_matchers.py DIR plan.json --device cuda --processes 15

The second needs nothing but torch, numpy, the plan and the arrays, and leaves the files in DIR that ``quality.py``
would. Data, packs and training are those of the layer-wise paper's trials (``isogloss.papers.layerwise.experiments``),
over the lists of ``quality_lists``. Defaults of the systems, but no more whole epochs than ``USUAL_WORDS`` words make,
or one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from quality_lists import SampledData
from quality_trials import MEASURES, Trial

from isogloss.data.source import parse_pair
from isogloss.papers.layerwise.experiments.data import PackedData, TrialData, write_pack
from isogloss.papers.layerwise.experiments.data import Trial as ArrayTrial
from isogloss.papers.layerwise.experiments.training import train_on_arrays
from isogloss.papers.layerwise.matchers.matcher import Matcher
from isogloss.papers.layerwise.triples import Triples
from isogloss.papers.reproduction.running import DataOf, PlanRunner
from isogloss.papers.reproduction.trials import Outcome, file_name
from isogloss.storage.errors import InputError
from isogloss.systems.registry import system_type

_SLOWEST = ("match-srnn", "match-srnn-mt", "layerwise")  # a plan begins with these: no process is left alone at its end
USUAL_WORDS = 30_000_000
MOST_WORDS = {"match-srnn": 10_000_000, "match-srnn-mt": 10_000_000}
"""Words of queries and positives that a training reads, all epochs counted, and those of slower systems."""
_PROTOCOL = "sampled"
_SEED = 0


@dataclass(frozen=True)
class MatcherTrial:
    """A trial whose data are read from its source, or from a folder of packs where one is named."""

    trial: Trial
    folder: str = ""

    @property
    def name(self) -> str:
        """That of its files."""
        return self.trial.name

    def identity(self, fingerprint: str = "") -> str:
        """That of the trial; packs are no part of it."""
        return self.trial.identity(fingerprint)

    def on_arrays(self, epochs: int | None = None) -> ArrayTrial:
        """The same as a trial of the layer-wise paper's machinery."""
        more = {} if epochs is None else {"epochs": str(epochs)}
        system = self.trial.system.partition("+")[0]
        return ArrayTrial(self.trial.data, self.trial.pair, system, {**dict(self.trial.settings), **more}, _SEED)


class MatcherTrials(PlanRunner[MatcherTrial, TrialData]):
    """How they are read, run and reported; trials of one set follow each other, so one data set is kept."""

    paper = "quality"
    datasets_kept = 1

    @property
    def program(self) -> str:
        return "python benchmarks/quality_matchers.py"

    @property
    def planner(self) -> str:
        return "python benchmarks/quality.py --plan"

    def read_plan(self, text: str, where: str) -> list[MatcherTrial]:
        try:
            return [self.from_json(each) for each in json.loads(text)["trials"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{where}: is not a plan ({error}); '{self.planner}' writes one") from error

    def moved(self, trial: MatcherTrial, data: str) -> MatcherTrial:
        return replace(trial, folder=str(Path(data) / Path(trial.folder).name))

    def from_json(self, found: Mapping[str, Any]) -> MatcherTrial:
        settings: Iterable[Sequence[str]] = found["settings"]
        named = tuple((key, value) for key, value in settings)
        return MatcherTrial(Trial(found["data"], parse_pair(found["pair"]), found["system"], named), found["folder"])

    def data_key(self, trial: MatcherTrial) -> tuple[Any, ...]:
        return trial.folder, trial.trial.data, trial.trial.pair

    def open_data(self, *key: Any, skip_bad: bool) -> TrialData:
        folder, data, pair = key
        return PackedData(Path(folder), pair) if folder else SampledData(data, pair)

    def fingerprint(self, trial: MatcherTrial, data: DataOf[TrialData]) -> str:
        return ""

    def run(self, trial: MatcherTrial, data: TrialData, device: str) -> Outcome:
        triples = data.arrays(trial.on_arrays()).data.triples
        epochs = _epochs(trial, triples)
        started = time.perf_counter()
        found, values = train_on_arrays(trial.on_arrays(epochs), data, device)
        record = {
            "identity": trial.identity(), "set": trial.trial.set_name, "system": trial.trial.system,
            "settings": dict(trial.trial.settings), **found, "queries": len(values[MEASURES[_PROTOCOL]]),
            "documents": len(triples.documents), "training_seconds": time.perf_counter() - started,
            "measured": {_PROTOCOL: {name: float(each.mean()) for name, each in values.items()}},
            "date": time.strftime("%Y-%m-%d"),
        }  # fmt: skip
        return Outcome(record, {_PROTOCOL: np.asarray(values[MEASURES[_PROTOCOL]])})

    def line(self, record: dict[str, Any]) -> str:
        return (
            f"{_PROTOCOL} {MEASURES[_PROTOCOL]} {record['measured'][_PROTOCOL][MEASURES[_PROTOCOL]]:.4f}  "
            f"{record['training_seconds']:.0f} s, epoch {record['epoch']} of {len(record['history'])}, "
            f"{record['pairs']:,} pairs, {record['pairs_per_second']:,} a second"
        )


def is_matcher(system: str) -> bool:
    """Whether it learns from arrays with torch."""
    return issubclass(system_type(system.partition("+")[0]), Matcher)


def write_plan(trials: Sequence[Trial], plan: Path, pack: Path) -> None:
    """Write the trials, and what they learn from and are measured on, a folder a set."""
    ordered = sorted(trials, key=lambda trial: [*_SLOWEST, trial.system].index(trial.system))
    planned = [MatcherTrial(trial, str(pack / file_name([trial.set_name]))) for trial in ordered]
    described = [{**asdict(each.trial), "pair": "-".join(each.trial.pair), "folder": each.folder} for each in planned]
    plan.write_text(json.dumps({"trials": described}, indent=1) + "\n", encoding="utf-8")
    for data, pair in dict.fromkeys((trial.data, trial.pair) for trial in trials):
        of_the_set = [each for each in planned if (each.trial.data, each.trial.pair) == (data, pair)]
        arrays = [each.on_arrays() for each in of_the_set]
        write_pack(SampledData(data, pair), pair, arrays, Path(of_the_set[0].folder), eight_bits=True)


def _epochs(trial: MatcherTrial, triples: Triples) -> int:
    system = trial.on_arrays().make(device="cpu")
    assert isinstance(system, Matcher)
    sides = (triples.queries, triples.query_of), (triples.documents, triples.positive_of)
    words = sum(int(texts.lengths[rows].sum()) for texts, rows in sides)
    most = MOST_WORDS.get(trial.trial.system, USUAL_WORDS) // max(1, words)
    return min(system.options.epochs, max(1, most))


if __name__ == "__main__":
    sys.exit(MatcherTrials().main())
