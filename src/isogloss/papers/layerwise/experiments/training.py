"""Running a trial of the layer-wise paper: train, choose the epoch by the validation lists, measure, probe layers."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.evaluation.measures import PerQuery
from isogloss.evaluation.protocols import make_task
from isogloss.papers.layerwise.experiments.data import MEASURED, Arrays, PackedData, Trial, TrialData
from isogloss.papers.layerwise.experiments.published import MEASURES
from isogloss.papers.layerwise.matchers.matcher import Matcher
from isogloss.papers.layerwise.system import Layerwise
from isogloss.papers.reproduction.running import PACKED, PlanRunner
from isogloss.papers.reproduction.trials import Outcome, device_name
from isogloss.systems.evaluate import evaluate_system
from isogloss.text.ids import TextIds, running_sum


class LayerwiseTrials(PlanRunner[Trial, TrialData]):
    """The trials of the layer-wise paper."""

    paper = "layerwise"
    trial_type = Trial

    def data_key(self, trial: Trial) -> tuple[Any, ...]:
        return trial.data, trial.pair, trial.drawing

    def open_data(self, *key: Any, skip_bad: bool) -> TrialData:
        source, pair, drawing = key
        if source.startswith(PACKED):
            return PackedData(Path(source.removeprefix(PACKED)), pair)
        return TrialData(source, pair, drawing, skip_bad)

    def run(self, trial: Trial, data: TrialData, device: str = "auto") -> Outcome:
        """Train on the train split, measure on the lists."""
        started = time.perf_counter()
        found, values = (train_on_arrays if trial.trains_on_arrays else _from_texts)(trial, data, device)
        found = {
            "lists": data.lists,
            **found,
            "queries": len(values[MEASURES[0]]),
            MEASURED: {name: float(values[name].mean()) for name in MEASURES},
            "seconds": round(time.perf_counter() - started, 3),
            "date": time.strftime("%Y-%m-%d"),
        }
        record = trial.record(data.fingerprint, found)
        return Outcome(record, {name: values[name].astype(np.float32) for name in MEASURES})

    def line(self, record: dict[str, Any]) -> str:
        values = record[MEASURED]
        measured = f"MAP {values['MAP']:.4f}  P@10 {values['P@10']:.4f}  {record['seconds']:.1f} s"
        if "history" not in record:
            return measured
        epochs = f"epoch {record['epoch']} of {len(record['history'])}"
        return f"{measured}, {epochs}, {record['pairs_per_second']:,} pairs/s"


def _from_texts(trial: Trial, data: TrialData, device: str) -> tuple[dict[str, Any], dict[str, PerQuery]]:
    system = trial.make(data.dataset.source, device)
    task = make_task(data.dataset, MEASURED, "candidates")
    result = evaluate_system(system, task, ("text",))
    return {"options": asdict(system.options), "device": device_name("cpu")}, dict(result.values)


def train_on_arrays(trial: Trial, data: TrialData, device: str) -> tuple[dict[str, Any], dict[str, PerQuery]]:
    """The record of the training, and every measure, query by query, on the measured lists."""
    import torch

    system, arrays = trial.make(None, device), data.arrays(trial)
    assert isinstance(system, Matcher)
    history = system.train_arrays(arrays.data).history
    values = system.measure_lists(arrays.measured, arrays.data.triples.documents)
    recipe = system.recipe
    best = max(history, key=lambda entry: float(entry.get(recipe.measure, 0))) if recipe.patience else history[-1]
    taken, pairs = sum(entry["seconds"] for entry in history), len(arrays.data.triples)
    device = system.options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    found = {
        "options": asdict(system.options),
        "pairs": pairs,
        "pairs_per_second": round(pairs * len(history) / max(taken, 1e-9)),
        "epoch": best["epoch"],
        "validation": {name: float(best[name]) for name in MEASURES if name in best},
        "history": history,
        "probe": _probe(system, arrays),
        "device": device_name(device),
    }
    return found, values


def _probe(system: Matcher, arrays: Arrays) -> list[float] | None:
    """Accuracy on the measured queries and their relevant documents."""
    if not isinstance(system, Layerwise):
        return None
    lists, documents = arrays.measured, arrays.data.triples.documents
    rows = np.unique(lists.document_of[lists.grades > 0])
    return system.probe(lists.queries, TextIds(documents.words_of(rows), running_sum([documents.lengths[rows]])))
