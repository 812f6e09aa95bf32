"""``isogloss train``."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.base.errors import InputError
from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_json, add_output, add_settings, seed, settings_for
from isogloss.cli.output import check_outputs, console, note, print_table, write_json

if TYPE_CHECKING:
    from isogloss.corpus.dataset import Dataset
    from isogloss.corpus.source import Source
    from isogloss.systems.trained import TrainedSystem
    from isogloss.training.run_directory import RunDirectory

_EXAMPLE = """\
  isogloss train smooth --data demo --pair en-fr -o my-run
  isogloss train smooth --data wikiclir:DIR --pair en-sw -o run --set encoder=cnn --set epochs=10 --seed 1
  isogloss train --resume -o run
  isogloss train smooth --data demo --pair en-fr -o best --grid 'eps=0.25;0.5;1' --grid 'thresholds=0.2,0.7;0.1,0.6'
  isogloss evaluate my-run --data demo --pair en-fr"""
_SHOWN = ("NDCG@5", "MRR_mr", "P_mr@1", "MAP", "R_mr@10")
_DEPTH = 100


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command."""
    parser = add_command(commands, name, summary, _EXAMPLE)
    parser.add_argument("system", nargs="?", metavar="SYSTEM", help="a system that is trained ('isogloss systems')")
    parser.add_argument("--data", metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument("--pair", help="query language and document language, like en-fr")
    parser.add_argument("--seed", type=seed, default=None, help="fixes splits, start, order and negatives (default 0)")
    parser.add_argument("--skip-bad", action="store_true", help="skip lines that are wrong instead of stopping")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted or killed")
    add_settings(parser)
    parser.add_argument(
        "--grid", action="append", default=[], metavar="KEY=V1;V2",
        help="try all combinations of these values first, then train with the best on dev (repeatable); all trials are "
        "kept in grid.jsonl",
    )  # fmt: skip
    add_json(parser, "the dev measures")
    add_output(parser, what="the run: config.toml, metrics.jsonl, model/, run.trec (a directory)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Train a system and leave a run directory."""
    from isogloss.corpus.dataset import load_dataset
    from isogloss.corpus.problems import Problems
    from isogloss.corpus.source import parse_pair
    from isogloss.corpus.sources import open_source
    from isogloss.training.grid import grid_points

    directory, config = _begin(options)
    if directory is not None and directory.finished:
        note(f"{directory.path}: this run is finished; nothing to do", options.quiet)
        return
    source, pair = open_source(config["data"]), parse_pair(config["pair"])
    settings = {name: str(value) for name, value in config["options"].items()}
    system = _make(config["system"], pair, settings, source)
    for point in grid_points(config["grid"]):  # what is wrong with any of them is found now
        _make(config["system"], pair, {**settings, **point}, source)
    dataset = load_dataset(source, pair, config["seed"], Problems(not config["skip_bad"]))
    if directory is None:
        directory = _create(options, {**config, "options": asdict(system.options)})
    if config["grid"]:
        chosen = _search(config, directory, system.recipe.measure)
        system = _make(config["system"], pair, {**settings, **chosen}, source)
    trained = system.train(dataset, directory)
    results = _finish(system, dataset, directory, trained.history)
    if options.json:
        write_json(options.json, results, options.overwrite)
    _report(directory, results, options)


def _begin(options: argparse.Namespace) -> tuple[RunDirectory | None, dict[str, Any]]:
    """A run to resume and what it was begun with, or what a new one is to be begun with."""
    from isogloss.training.run_directory import RunDirectory

    if options.resume:
        given = [name for name in ("system", "data", "pair", "seed") if getattr(options, name) is not None]
        if given or options.settings or options.grid:
            named = "SYSTEM" if "system" in given else f"--{given[0]}" if given else "--set or --grid"
            raise InputError(f"train: {named} cannot be changed with --resume; the run's config.toml says it")
        directory = RunDirectory.open(Path(options.output))
        return directory, directory.config
    for name in ("system", "data", "pair"):
        if getattr(options, name) is None:
            what = "SYSTEM" if name == "system" else f"--{name}"
            raise InputError(f"train: {what} is missing (or --resume to go on with a run); see 'isogloss train --help'")
    check_outputs(options.overwrite, options.output, options.json)
    settings = settings_for(options.system, [options.system], options.settings)
    number = options.seed or 0
    return None, {
        "system": options.system, "data": options.data, "pair": options.pair, "seed": number,
        "skip_bad": options.skip_bad, "options": {"seed": str(number), **settings},
        "grid": _axes(options.grid, settings),
    }  # fmt: skip


def _axes(given: list[str], settings: dict[str, str]) -> dict[str, list[str]]:
    """What --grid says: each key and its values."""
    axes: dict[str, list[str]] = {}
    for axis in given:
        key, equals, values = axis.partition("=")
        if not equals or not key or key in axes or key in settings:
            why = "is set already" if key in axes or key in settings else "is not written KEY=V1;V2"
            raise InputError(f"--grid: {axis!r} {why}")
        axes[key] = [value.strip() for value in values.split(";")]
    return axes


def _search(config: dict[str, Any], directory: RunDirectory, measure: str) -> dict[str, str]:
    """The best point of the grid; the table of all is shown and kept."""
    from isogloss.systems.trial import GridTrial
    from isogloss.text.batches import available_cores
    from isogloss.training.grid import grid_points, search_grid

    settings = {name: str(value) for name, value in config["options"].items()}
    trial = GridTrial(config["system"], config["data"], config["pair"], config["seed"], config["skip_bad"], settings)
    points, table = grid_points(config["grid"]), directory.path / "grid.jsonl"
    directory.begin()
    best, entries = search_grid(points, trial, measure, table, available_cores())
    entries.sort(key=lambda entry: -entry[measure])
    measured = [name for name in entries[0] if name not in ("settings", "seconds")]
    rows = [(*entry["settings"].values(), *(f"{entry[name]:.4f}" for name in measured)) for entry in entries]
    print_table(console(), f"grid of {len(rows)} by dev {measure}", (*config["grid"], *measured), rows, len(best))
    return best


def _make(name: str, pair: tuple[str, str], settings: dict[str, str], source: Source) -> TrainedSystem:
    from isogloss.systems.registry import make_system, system_names, system_type
    from isogloss.systems.trained import TrainedSystem

    if not issubclass(system_type(name), TrainedSystem):
        trained = [other for other in system_names() if issubclass(system_type(other), TrainedSystem)]
        raise InputError(f"train: {name} is not trained, it is ready at once; trained are {', '.join(trained)}")
    system = make_system(name, pair, settings, source)
    assert isinstance(system, TrainedSystem)
    return system


def _create(options: argparse.Namespace, config: dict[str, Any]) -> RunDirectory:
    import isogloss
    from isogloss.training.run_directory import RunDirectory

    config = {"made_by": f"isogloss {isogloss.__version__}", **config}
    return RunDirectory.create(Path(options.output), config, options.overwrite)


def _finish(
    system: TrainedSystem, dataset: Dataset, directory: RunDirectory, history: list[dict[str, Any]]
) -> dict[str, Any]:
    """Keep the model; measure it on dev where there is one, a system of vectors over the whole collection too."""
    from isogloss.evaluation.protocols import make_task
    from isogloss.evaluation.report import evaluate_run
    from isogloss.systems.dense import DenseSystem
    from isogloss.systems.model_directory import save_model

    results: dict[str, Any] = {"epochs": len(history), "seconds": round(sum(entry["seconds"] for entry in history), 1)}
    if "dev" in dataset.splits and any(query.id in dataset.judgments for query in dataset.split("dev")):
        system.index(dataset.documents, ("text",))
        for protocol in ("sampled", "full") if isinstance(system, DenseSystem) else ("sampled",):
            task = make_task(dataset, "dev", protocol, depth=_DEPTH)
            ranked = task.run(system)
            results[protocol] = evaluate_run(ranked, task).means()
        ranked.write(directory.path / "run.trec", overwrite=True)
    card = {"trained on": f"{dataset.source.name} {'-'.join(dataset.pair)}, train split", "epochs": len(history)}
    card |= {f"dev {name}, {protocol}": f"{results[protocol][name]:.4f}"
             for protocol in ("sampled", "full") if protocol in results for name in ("NDCG@5", "MRR_mr")}  # fmt: skip
    save_model(system, directory.model, card, overwrite=True)
    directory.finish(results)
    return results


def _report(directory: RunDirectory, results: dict[str, Any], options: argparse.Namespace) -> None:
    config = directory.config
    protocols = [protocol for protocol in ("sampled", "full") if protocol in results]
    if protocols and options.json != "-":
        rows = [(name, *(f"{results[protocol][name]:.4f}" for protocol in protocols)) for name in _SHOWN]
        title = f"{config['system']} on dev, {config['data']} {config['pair']}: {results['epochs']} epochs"
        print_table(console(), title, ("", *protocols), rows)
    use = f"isogloss evaluate {directory.path} --data {config['data']} --pair {config['pair']}"
    note(f"{directory.path}: trained in {results['seconds']:.0f} s; use it: {use}", options.quiet)
