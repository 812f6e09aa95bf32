"""Running a trial: learn, index, search, measure; and, where its scores are looked at, what they are of which grade."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import isogloss
from isogloss.evaluation.protocols import Task, make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.papers.bridge.trial import SYSTEM, Trial
from isogloss.papers.bridge.trial_data import PairData
from isogloss.papers.devices import device_name
from isogloss.papers.kept_trials import Outcome
from isogloss.storage.progress import track
from isogloss.systems.bridge.model import BridgeModel
from isogloss.systems.bridge.system import Bridge
from isogloss.systems.bridge.weights import Calibration, context_of
from isogloss.systems.registry import make_system

MEASURE = "MRR_mr"
DEPTH = 100
_MEASURES = (MEASURE, "R_mr@10", "NDCG@5", "MAP")
Arrays = dict[str, NDArray[Any]]


def run_trial(trial: Trial, data: PairData) -> Outcome:
    """Learn from the train split, rank the whole collection for the queries of another."""
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
    calibration, size = _kept(system)
    record = {
        "name": trial.name,
        "identity": trial.identity(data.fingerprint),
        "trial": trial.as_json(),
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
        "isogloss": isogloss.__version__,
    }
    found = _scores(system, task) if trial.reliability else {}
    return Outcome(record, {MEASURE: values[MEASURE], **found})


def line(found: dict[str, Any]) -> str:
    """What came of a trial."""
    return f"{MEASURE} {found['measures'][MEASURE]:.4f}  {sum(found['seconds'].values()):.1f} s"


def _kept(system: Bridge) -> tuple[Calibration | None, int]:
    """The calibration of the model as it would be kept, and the bytes of its files."""
    with tempfile.TemporaryDirectory() as folder:
        system.save_model(Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*"))
        return BridgeModel.load(Path(folder)).calibration, size


def _scores(system: Bridge, task: Task) -> Arrays:
    """Scores and grades of the documents found for every query, one list after the other (``counts`` long).

    ``first_there`` and ``first_gone`` are the scores of the first hits of every query, in the whole collection and in
    what is left of these without the documents of any relevance for it; minus infinity where nothing is found.
    """
    documents = task.dataset.documents
    scores, grades, gone = [], [], []
    calibration, _ = _kept(system)
    for query in track(task.queries, "looking at scores"):
        grade_of = {documents.row_of[id_]: grade for id_, grade in task.judgments[query.id].items()}
        found = system.search(query.text, DEPTH)
        scores.append(found.scores)
        grades.append(np.asarray([grade_of.get(row, 0) for row in found.rows.tolist()], np.int8))
        gone.append(_first_of_rest(found.scores[grades[-1] == 0], system.context(query.text), calibration))
    return {
        "scores": np.concatenate(scores).astype(np.float32), "grades": np.concatenate(grades),
        "counts": np.asarray([len(each) for each in scores]),
        "first_there": np.asarray([_first(each) for each in scores]), "first_gone": np.asarray(gone),
    }  # fmt: skip


def _first_of_rest(shown: NDArray[np.floating], context: float, calibration: Calibration | None) -> float:
    """The first score as it would be shown, had the others of the query's documents never been there."""
    if not len(shown) or calibration is None:
        return float(shown[0]) if len(shown) else -np.inf
    scores = calibration.unshown(shown.astype(np.float64), context)
    return float(calibration.shown(scores, context_of(scores)).max())


def _first(scores: NDArray[np.floating]) -> float:
    return float(scores[0]) if len(scores) else -np.inf
