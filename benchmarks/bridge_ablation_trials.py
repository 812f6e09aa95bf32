"""Trials of ``bridge``: trained on one pair, whole or without one of its parts, and measured on a split."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Pair
from isogloss.evaluation.protocols import Task, make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.papers.reproduction import pages
from isogloss.papers.reproduction.running import TrialRunner
from isogloss.papers.reproduction.trials import Outcome, PaperTrial, dataset_fingerprint, device_name, file_name
from isogloss.retrieval.ranking import Rows
from isogloss.storage.progress import track
from isogloss.systems.bridge.model import BridgeModel, BridgeOptions
from isogloss.systems.bridge.system import Bridge
from isogloss.systems.bridge.training import page_pairs
from isogloss.systems.bridge.weights import Calibration
from isogloss.systems.lexicons import fill_languages
from isogloss.systems.registry import make_system
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.starter import load_starter, starter_file

SYSTEM = "bridge"
MEASURE = "MRR_mr"
DEPTH = 100
_MEASURES = (MEASURE, "R_mr@10", "NDCG@5", "MAP")
WHOLE = "the whole system"
ABLATIONS = {
    "without=lexicon": "no dictionary",
    "without=starter": "no starter table",
    "without=pages": "no translated pages: trained on the dictionary and the starter table alone",
    "without=unknown": "rare words are left out, not mapped to one unknown word",
    "without=document": "passages only, no features of the whole document",
    "without=reverse": "no reverse log-likelihood: only that of the query given the document",
    "without=length": "no length features",
    "without=vectors": "no word vectors",
    "without=bm25": "no BM25 over structured queries",
    "without=compounds": "compounds are not taken apart, in languages that write them as one word",
    "without=characters": "words only, where documents are written without spaces",
    "without=weights": "default weights, not those fitted on train queries",
    "passages=0": "whole documents, no passages",
    "stems=no": "word forms, no stems",
}
"""A setting, and what the system is without."""


@dataclass(frozen=True)
class Trial(PaperTrial):
    """``settings``: options of the system, but for its lexicon; ``reliability``: whether its scores are kept too."""

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


Trials = dict[str, Trial]
"""By what they are called in a table."""


@dataclass(frozen=True)
class PairData:
    """A pair of a source, and the lexicon that goes with it ('': none); a starter table may be installed."""

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
        """A hash of the content of all three."""
        tables = (starter_file(language) for language in self.dataset.pair)
        files = [Path(self.lexicon) if self.lexicon else None, *tables]
        hashes = [hashlib.sha256(path.read_bytes()).hexdigest() if path else "" for path in files]
        return dataset_fingerprint(self.dataset, hashes, [query.title for query in self.dataset.queries.values()])

    @cached_property
    def has_pages(self) -> bool:
        """Whether there are translated pages to train on."""
        return bool(page_pairs(self.dataset, BridgeOptions()))

    @cached_property
    def has_starter(self) -> bool:
        """Whether there is a starter table for the pair."""
        return load_starter(*self.dataset.pair) is not None


@dataclass(frozen=True)
class Setup(pages.Setup):
    """What all trials of a command have in common; ``pretrained``: an encoder to try as one more part."""

    data: str
    pairs: tuple[Pair, ...]
    split: str = "dev"
    pretrained: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def about(self) -> dict[str, Any]:
        return {"data": self.data, "split": self.split, "pretrained": self.pretrained, "set": dict(self.settings)}

    def whole(self, pair: Pair) -> Trials:
        """The whole system, and with the encoder where one is named."""
        made = {WHOLE: self._trial(pair, {}, reliability=True)}
        if self.pretrained:
            encoder = {"pretrained": self.pretrained}
            made[f"pretrained={self.pretrained}"] = self._trial(pair, encoder, reliability=True)
        return made

    def ablations(self, pair: Pair, data: PairData) -> Trials:
        """The whole system, then without each part that the data have and that something can replace."""
        lexicon, starter, pages_ = bool(data.lexicon), data.has_starter, data.has_pages
        can_go = {
            "without=lexicon": lexicon and (starter or pages_), "without=starter": starter and (lexicon or pages_),
            "without=pages": pages_ and (lexicon or starter),
        }  # fmt: skip
        left = [each for each in ABLATIONS if can_go.get(each, True)]
        whole = self.whole(pair)
        without = {each: self._trial(pair, dict([each.split("=")])) for each in left}
        return {WHOLE: whole.pop(WHOLE), **without, **whole}

    def _trial(self, pair: Pair, settings: Mapping[str, str], reliability: bool = False) -> Trial:
        return Trial(pair, {**self.settings, **settings}, self.split, reliability)


@dataclass(frozen=True)
class BridgeTrials(TrialRunner[Trial, PairData]):
    """The trials of ``bridge`` on the pairs of a source."""

    source: str
    lexicon: str = ""

    def data_key(self, trial: Trial) -> tuple[Any, ...]:
        return (trial.pair,)

    def open_data(self, *key: Any, skip_bad: bool) -> PairData:
        return PairData.read(self.source, key[0], self.lexicon, skip_bad)

    def run(self, trial: Trial, data: PairData, device: str) -> Outcome:
        """Train on the train split, rank the whole collection for the queries of another."""
        task = make_task(data.dataset, trial.split, "full")
        system = make_system(SYSTEM, trial.pair, {**trial.settings, "lexicon": data.lexicon})
        assert isinstance(system, Bridge)
        clock = [time.perf_counter()]
        system.fit(data.dataset)
        clock.append(time.perf_counter())
        system.index(data.dataset.documents, ("text",))
        clock.append(time.perf_counter())
        run = task.run(system)
        clock.append(time.perf_counter())
        values = evaluate_run(run, task).values
        calibration, size = _saved(system)
        record = {
            "options": asdict(system.options),
            "about": system.about(),
            "queries": len(task.queries),
            "documents": len(data.dataset.documents),
            "top_grade": task.judgments.top_grade,
            "measures": {name: float(values[name].mean()) for name in _MEASURES},
            "seconds": dict(zip(("training", "indexing", "searching"), np.diff(clock).round(3).tolist(), strict=True)),
            "model_bytes": size,
            "calibration": calibration._asdict() if calibration else None,
            "device": device_name("cpu"),
        }
        found = _scores(system, task) if trial.reliability else {}
        return Outcome(trial.record(data.fingerprint, record), {MEASURE: values[MEASURE], **found})

    def line(self, record: dict[str, Any]) -> str:
        return f"{MEASURE} {record['measures'][MEASURE]:.4f}  {sum(record['seconds'].values()):.1f} s"


def _saved(system: Bridge) -> tuple[Calibration | None, int]:
    """The calibration of the model as it is saved, and the bytes of its files."""
    with tempfile.TemporaryDirectory() as folder:
        system.save_model(Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*"))
        return BridgeModel.load(Path(folder)).calibration, size


def _scores(system: Bridge, task: Task) -> dict[str, NDArray[Any]]:
    """Scores and grades of the documents found for every query, one list after the other (``counts`` long).

    And the first hits of query texts (``text_...``) and, where there are any, of titles (``title_...``).
    """
    documents = task.dataset.documents
    scores, grades = [], []
    firsts: dict[str, list[_FirstHits]] = {"text": [], "title": []}
    for query in track(task.queries, "scoring"):
        grade_of = {documents.row_of[id_]: grade for id_, grade in task.judgments[query.id].items()}
        for field_, asked in (("text", query.text), ("title", query.title)):
            if field_ == "title" and not asked.strip():
                continue
            found = system.search(asked, DEPTH)
            known = np.asarray([grade_of.get(row, 0) for row in found.rows.tolist()], np.int8)
            right = len(known) > 0 and bool(known[0] == task.judgments.top_grade)
            gone = _first_score(system, asked, found.rows[known == 0])
            firsts[field_].append(_FirstHits(float(found.scores[0]) if len(known) else -np.inf, gone, right))
            if field_ == "text":
                scores.append(found.scores)
                grades.append(known)
    columns = {
        f"{field_}_{name}": np.asarray(column)
        for field_, hits in firsts.items()
        for name, column in zip(_FirstHits._fields, zip(*hits, strict=True), strict=False)
    }
    return {
        "scores": np.concatenate(scores).astype(np.float32), "grades": np.concatenate(grades),
        "counts": np.asarray([len(each) for each in scores]), **columns,
    }  # fmt: skip


class _FirstHits(NamedTuple):
    """Log odds of the first hit, and of that which is first without the documents of any relevance for the query.

    Minus infinity where nothing is found; ``right``: whether the first hit is relevant.
    """

    there: float
    gone: float
    right: bool


def _first_score(system: Bridge, query: str, rows: Rows) -> float:
    """The log odds of the first hit, if these were all documents found."""
    assert system.model is not None
    weights = system.model.weights.of(system.retriever.query_features(query).statistics.length)
    scores = system.retriever.features(query, rows).values @ weights
    log_odds = system.model.calibrated(scores, system.retriever.context(query, scores))
    return float(log_odds.max(initial=-np.inf))
