"""Running a trial of the smooth paper: train, encode, measure.

The average encoder needs numpy alone; the others, and a GPU, need torch.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.learner import Learner
from isogloss.papers.reproduction.running import PACKED, PlanRunner
from isogloss.papers.reproduction.trials import Outcome, device_name
from isogloss.papers.smooth.experiments.data import PackedData, Trial, TrialData
from isogloss.papers.smooth.experiments.measuring import measure_model
from isogloss.papers.smooth.experiments.published import MEASURES
from isogloss.papers.smooth.model import SIDES, SmoothModel, SmoothOptions
from isogloss.papers.smooth.training_setup import Prepared, make_learner
from isogloss.papers.training_loop import Training


class SmoothTrials(PlanRunner[Trial, TrialData]):
    """The trials of the smooth paper."""

    paper = "smooth"
    trial_type = Trial
    datasets_kept = 4

    def data_key(self, trial: Trial) -> tuple[Any, ...]:
        return trial.data, trial.pair, trial.queries

    def open_data(self, *key: Any, skip_bad: bool) -> TrialData:
        source, pair, queries = key
        if source.startswith(PACKED):
            return PackedData(Path(source.removeprefix(PACKED)), pair, queries)
        return TrialData(source, pair, skip_bad, queries)

    def run(self, trial: Trial, data: TrialData, device: str = "auto") -> Outcome:
        """Train on the train split, measure on the trial's own."""
        options = trial.options(chosen_device(device, trial.options().encoder))
        options.check()
        clock = [time.perf_counter()]
        prepared, ranked = data.prepared(trial), data.ranked(trial.split, trial.ranked_negatives)
        learner = _learner(trial, options, data, prepared)
        clock.append(time.perf_counter())
        trained = Training(learner, options.recipe()).run()
        clock.append(time.perf_counter())
        model = SmoothModel(options, prepared.words, trained.parameters)
        measured = measure_model(model, data.dataset, prepared, ranked, options.device)
        clock.append(time.perf_counter())
        seconds = dict(zip(("preparing", "training", "measuring"), np.diff(clock).round(3).tolist(), strict=True))
        epochs, pairs = len(trained.history), len(prepared.pairs)
        found = {
            "options": asdict(options),
            "recipe": asdict(options.recipe()),
            "learner": type(learner).__name__,
            "words": {side: len(words) for side, words in prepared.words.items()},
            "pairs": pairs,
            "steps": sum(entry["batches"] for entry in trained.history),
            "pairs_per_second": round(pairs * epochs / max(sum(entry["seconds"] for entry in trained.history), 1e-9)),
            "history": trained.history,
            "queries": {"train": len(prepared.examples.queries), trial.split: len(ranked.examples.queries)},
            "documents": len(prepared.documents),
            "losses": {"train": measured.train_loss, trial.split: measured.loss},
            **{
                protocol: {name: float(each.mean()) for name, each in values.items()}
                for protocol, values in measured.values.items()
            },
            "seconds": seconds,
            "device": device_name(options.device),
        }
        arrays: dict[str, NDArray[Any]] = {
            f"{protocol}.{name}": values[name].astype(np.float32)
            for protocol, values in measured.values.items()
            for name in MEASURES
        }
        return Outcome(trial.record(data.fingerprint, found), {**arrays, "score_counts": measured.score_counts})

    def line(self, record: dict[str, Any]) -> str:
        return (
            f"NDCG@5 {record['sampled']['NDCG@5']:.4f}  MRR_mr {record['sampled']['MRR_mr']:.4f}  "
            f"full MRR_mr {record['full']['MRR_mr']:.4f}  {sum(record['seconds'].values()):.1f} s, "
            f"{record['pairs_per_second']:,} pairs/s"
        )


def chosen_device(wanted: str, encoder: str) -> str:
    """``cpu`` or ``cuda``; ``auto`` is the choice of ``smooth``."""
    if wanted != "auto":
        return wanted
    if encoder == "average" or importlib.util.find_spec("torch") is None:
        return "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _learner(trial: Trial, options: SmoothOptions, data: TrialData, prepared: Prepared) -> Learner:
    if trial.start == "random":
        return make_learner(options, prepared, data.dataset.pair)
    with tempfile.TemporaryDirectory() as directory:
        paths = {f"{side}_vectors": str(Path(directory) / side) for side in SIDES}
        for vectors, path in zip(data.start_vectors(options.dimension, options.spread), paths.values(), strict=True):
            vectors.save(path)
        return make_learner(replace(options, **paths), prepared, data.dataset.pair)  # type: ignore[arg-type]
