"""Training a system into a run directory: what ``isogloss train`` does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import isogloss
from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Pair, Source, parse_pair
from isogloss.data.translations import add_parallel_text
from isogloss.encoders.pretrained_encoder import with_named_models
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.storage.errors import InputError
from isogloss.storage.files import refuse_existing
from isogloss.storage.progress import set_quiet
from isogloss.systems.grid import grid_points, search_grid
from isogloss.systems.lexicons import file_hashes
from isogloss.systems.registry import as_settings, make_system, system_type, system_types
from isogloss.systems.run_directory import RunDirectory
from isogloss.systems.trainable import TrainableSystem, TrainingHistory, save_model
from isogloss.text.batches import available_cores

_NOT_MEASURES = ("epoch", "rate", "batches", "examples_per_second")


@dataclass(frozen=True)
class TrainingRun:
    """A finished run: its directory, its results, and the trials of a grid search, if there was one, the best first.

    ``measure`` is the dev measure that the grid search chose by.
    """

    path: Path
    results: Mapping[str, Any]
    trials: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    measure: str = ""

    @property
    def measures(self) -> dict[str, dict[str, float]]:
        """The dev measures, by protocol; empty where the data have no dev split."""
        return {name: dict(self.results[name]) for name in ("sampled", "full") if name in self.results}


def train(
    system: str, data: str, pair: str, path: Path | str, *, seed: int = 0,
    grid: Mapping[str, Sequence[Any]] | None = None, skip_bad: bool = False, overwrite: bool = False,
    parallel: Sequence[str] = (), queries: int = 0, settings: Mapping[str, Any] | None = None, **options: Any,
) -> TrainingRun:  # fmt: skip
    """Train a system on the train split of some data, into a run directory with the model and its results.

    ``parallel``: sources of parallel text to train on beside the data (``messages.po``, ``moses:corpus``). ``queries``:
    so many judged queries of the data, drawn by the seed within each split (0: all). ``grid``:
    all combinations of these values are tried first, and the best on dev is trained. Other options, or
    ``settings``, are those of the system. Use the model with ``Index.make(documents, "fr", system=path)`` or
    ``evaluate(path, …)``.
    """
    refuse_existing(Path(path), overwrite)
    axes = {name: [as_settings({name: value})[name] for value in values] for name, values in (grid or {}).items()}
    config = {
        "system": system, "data": data, "pair": pair, "seed": seed, "skip_bad": skip_bad, "parallel": list(parallel),
        "queries": queries, "grid": axes,
        "options": {"seed": str(seed), **with_named_models(as_settings({**(settings or {}), **options}))},
    }  # fmt: skip
    return _run(config, Path(path), overwrite)


def resume_training(path: Path | str) -> TrainingRun:
    """Resume a run that was interrupted or killed; a finished run is returned."""
    directory = RunDirectory.open(Path(path))
    if directory.finished:
        results = json.loads((directory.path / "finished.json").read_text(encoding="utf-8"))
        return TrainingRun(directory.path, results)
    return _run(directory.config, directory.path, directory=directory)


def _run(
    config: Mapping[str, Any], path: Path, overwrite: bool = False, directory: RunDirectory | None = None
) -> TrainingRun:
    """Train as a configuration says, in a new directory or in one that was begun before."""
    source, pair = open_source(config["data"]), parse_pair(config["pair"])
    settings = {name: str(value) for name, value in config["options"].items()}
    system = _made(config, settings, source)
    if config["grid"]:
        for point in grid_points(config["grid"]):
            _made(config, {**settings, **point}, source)  # wrong options are errors now, not after hours of training
    _check_grid(config, system)
    files = _same_files(config, file_hashes(system), path)
    parallel, queries = tuple(config.get("parallel", ())), config.get("queries", 0)
    dataset = _load(source, pair, config["seed"], config["skip_bad"], parallel, queries)
    if directory is None:
        content = {
            "made_by": f"isogloss {isogloss.__version__}",
            **config,
            "options": asdict(system.options),
            "files": files,
        }
        directory = RunDirectory.create(path, content, overwrite)
    trials: list[dict[str, Any]] = []
    measure = ""
    if config["grid"]:
        measure = system.dev_measure
        directory.begin()
        trial = GridTrial(
            config["system"], config["data"], config["pair"], config["seed"], config["skip_bad"], settings, parallel,
            queries,
        )  # fmt: skip
        table = directory.path / "grid.jsonl"
        chosen, entries = search_grid(grid_points(config["grid"]), trial, measure, table, available_cores())
        trials = sorted(entries, key=lambda entry: -entry[measure])
        system = _made(config, {**settings, **chosen}, source)
    history = system.train(dataset, directory)
    return TrainingRun(path, _finish(system, dataset, directory, history), trials, measure)


@dataclass(frozen=True)
class GridTrial:
    """One training of a grid search, in a process of its own: call it with the settings to try."""

    system: str
    data: str
    pair: str
    seed: int
    skip_bad: bool
    settings: dict[str, str]
    parallel: tuple[str, ...] = ()
    queries: int = 0

    def __call__(self, point: dict[str, str]) -> dict[str, float]:
        """Train; the dev measures of the best epoch, or of the last where training does not stop early."""
        set_quiet(True)
        source, pair = open_source(self.data), parse_pair(self.pair)
        system = make_system(self.system, pair, {**self.settings, **point}, source, bare=True)
        assert isinstance(system, TrainableSystem)
        dataset = _load(source, pair, self.seed, self.skip_bad, self.parallel, self.queries)
        kept_epoch = system.train(dataset).kept_epoch
        if system.dev_measure not in kept_epoch:
            raise InputError("grid: needs a dev split with judged queries to choose by")
        return {name: value for name, value in kept_epoch.items() if name not in _NOT_MEASURES}


def _load(source: Source, pair: Pair, seed: int, skip_bad: bool, parallel: Sequence[str], queries: int) -> Dataset:
    """The data, with parallel text beside them."""
    problems = Problems(not skip_bad)
    if parallel:
        source = add_parallel_text(source, parallel, pair, problems)
    return load_dataset(source, pair, seed, problems, queries=queries)


def _check_grid(config: Mapping[str, Any], system: TrainableSystem) -> None:
    """Raise where a system that is not trained by epochs is to search a grid."""
    if config["grid"] and not system.trains_by_epochs:
        raise InputError(f"grid: {system.name} finds what it needs by itself; leave it out")


def _same_files(config: Mapping[str, Any], files: dict[str, str], path: Path) -> dict[str, str]:
    """The hashes of the files that the run reads; it is not resumed with others than it was begun with."""
    for name, recorded in config.get("files", {}).items():
        if files.get(name) != recorded:
            what = f"the file of {name} is not the one that the run was begun with"
            raise InputError(f"{path}: {what}; bring it back, or begin the run again")
    return files


def _made(config: Mapping[str, Any], settings: dict[str, str], source: Source) -> TrainableSystem:
    name = config["system"]
    if not issubclass(system_type(name), TrainableSystem):
        trained = [system.name for system in system_types() if issubclass(system, TrainableSystem)]
        raise InputError(f"train: {name} is not trained, it is ready at once; trained are {', '.join(trained)}")
    system = make_system(name, parse_pair(config["pair"]), settings, source, bare=True)
    assert isinstance(system, TrainableSystem)
    return system


def _finish(
    system: TrainableSystem, dataset: Dataset, directory: RunDirectory, history: TrainingHistory
) -> dict[str, Any]:
    """Save the model, and evaluate it on dev where there is one; over the whole collection if it is made for that."""
    results: dict[str, Any] = {
        "epochs": len(history.epochs),
        "seconds": round(sum(epoch["seconds"] for epoch in history.epochs), 1),
    }
    protocols: tuple[str, ...] = ()
    if "dev" in dataset.splits and any(query.id in dataset.judgments for query in dataset.split("dev")):
        protocols = ("sampled", "full") if system.searches else ("sampled",)
        system.index(dataset.documents, ("text",))
        for protocol in protocols:
            task = make_task(dataset, "dev", protocol)
            ranked = task.run(system)
            results[protocol] = evaluate_run(ranked, task).means()
        ranked.write(directory.path / "run.trec", overwrite=True)
    card = {"trained on": f"{dataset.source.name} {'-'.join(dataset.pair)}, train split", "epochs": len(history.epochs)}
    card |= {
        f"dev {name}, {protocol}": f"{results[protocol][name]:.4f}"
        for protocol in protocols
        for name in ("NDCG@5", "MRR_mr")
    }
    save_model(system, directory.model, card, overwrite=True)
    directory.finish(results)
    return results
