"""``isogloss train``."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli import options as shared
from isogloss.cli.options import SOURCE_HELP, seed, settings_for, wants_ray
from isogloss.cli.output import check_outputs, console, note, print_table, write_json
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.systems.training_runs import TrainingRun

EXAMPLE = """\
  isogloss train smooth --data demo --pair en-fr -o my-run
  isogloss train smooth --data wikiclir:DIR --pair en-sw -o run --set encoder=cnn --set epochs=10 --seed 1
  isogloss train bridge --data manuals --pair en-es -o run --parallel messages.po --parallel memory.tmx
  isogloss train bridge --data moses:corpus --pair en-es -o run
  isogloss train bridge --data moses:corpus --pair en-es -o run --on ray
  isogloss train --resume -o run
  isogloss train smooth --data demo --pair en-fr -o best --grid 'eps=0.25;0.5;1' --grid 'thresholds=0.2,0.7;0.1,0.6'
  isogloss evaluate my-run --data demo --pair en-fr"""
_SHOWN = ("NDCG@5", "MRR_mr", "P_mr@1", "MAP", "R_mr@10")
_PAPER = "paper"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    parser.add_argument("system", nargs="?", metavar="SYSTEM", help="a system that is trained ('isogloss systems')")
    parser.add_argument("--data", metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument("--pair", help="query language and document language, like en-fr")
    parser.add_argument(
        "--parallel", action="append", default=[], metavar="FILE",
        help="texts with their translations to train on too: .po, .mo, .tmx, .tsv (two columns), a folder of "
        "catalogues, or CORPUS for CORPUS.en and CORPUS.es (repeatable)",
    )  # fmt: skip
    shared.add_queries(parser)
    parser.add_argument("--seed", type=seed, default=None, help="fixes splits, start, order and negatives (default 0)")
    shared.add_skip_bad(parser, "lines that are wrong")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted or killed")
    shared.add_settings(parser)
    parser.add_argument(
        "--grid", action="append", default=[], metavar="KEY=V1;V2|paper",
        help="try all combinations of these values first, then train with the best on dev (repeatable); all trials are "
        "kept in grid.jsonl; paper: what the system's paper chose from ('isogloss systems NAME' shows it)",
    )  # fmt: skip
    shared.add_cluster(parser, "align the words of translations on")
    shared.add_json(parser, "the dev measures")
    shared.add_output(parser, what="the run: config.toml, metrics.jsonl, model/, run.trec (a directory)")


def run(options: argparse.Namespace) -> None:
    """Train a system and leave a run directory."""
    from isogloss.systems.run_directory import RunDirectory

    if options.resume:
        _check_resumed(options)
    else:
        _check_new(options)
    with _aligning(options):
        done = _trained(options)
    if done is None:
        return
    if options.json:
        write_json(options.json, done.results, options.overwrite)
    _report(done, RunDirectory.open(Path(options.output)).config, options)


def _trained(options: argparse.Namespace) -> TrainingRun | None:
    """The run; None where it was finished before."""
    from isogloss.systems.run_directory import RunDirectory
    from isogloss.systems.training_runs import resume_training, train

    if options.resume:
        if RunDirectory.open(Path(options.output)).finished:
            note(f"{options.output}: this run is finished; nothing to do", options.quiet)
            return None
        return resume_training(options.output)
    settings = settings_for(options.system, [options.system], options.settings)
    return train(
        options.system, options.data, options.pair, options.output, seed=options.seed or 0,
        grid=_axes(options.system, options.grid, settings), skip_bad=options.skip_bad, overwrite=options.overwrite,
        parallel=options.parallel, settings=settings, queries=options.queries,
    )  # fmt: skip


def _aligning(options: argparse.Namespace) -> AbstractContextManager[None]:
    """The cluster that aligns words, where one is wanted; a system that is trained by epochs aligns none."""
    from isogloss.systems.run_directory import RunDirectory

    system = RunDirectory.open(Path(options.output)).config["system"] if options.resume else options.system
    if _is_trained_by_epochs(system):
        if options.on:
            raise InputError(f"train: {system} is trained by epochs, which takes one process; leave --on ray out")
        return nullcontext()
    if not wants_ray(options.on):
        return nullcontext()
    from isogloss.engines.ray.mapping import aligning_on_ray

    return aligning_on_ray()


def _is_trained_by_epochs(system: str) -> bool:
    from isogloss.systems.registry import is_system, system_type
    from isogloss.systems.trainable import TrainableSystem

    if not is_system(system):
        return False
    kind = system_type(system)
    return issubclass(kind, TrainableSystem) and kind.trains_by_epochs


def _check_resumed(options: argparse.Namespace) -> None:
    set_ = [name for name in ("system", "data", "pair", "seed") if getattr(options, name) is not None]
    if set_ or options.settings or options.grid or options.parallel:
        named = "SYSTEM" if "system" in set_ else f"--{set_[0]}" if set_ else "--set, --grid or --parallel"
        raise InputError(f"train: {named} cannot be changed with --resume; the run's config.toml says it")


def _check_new(options: argparse.Namespace) -> None:
    for name in ("system", "data", "pair"):
        if getattr(options, name) is None:
            what = "SYSTEM" if name == "system" else f"--{name}"
            raise InputError(f"train: {what} is missing (or --resume to go on with a run); see 'isogloss train --help'")
    check_outputs(options.overwrite, options.output, options.json)


def _axes(system: str, grid: list[str], settings: dict[str, str]) -> dict[str, list[str]]:
    """The keys of --grid and their values; ``paper`` adds the values of the paper for the other keys."""
    from isogloss.systems.registry import system_type

    axes: dict[str, list[str]] = {}
    for axis in grid:
        if axis == _PAPER:
            continue
        key, equals, values = axis.partition("=")
        if not equals or not key or key in axes or key in settings:
            why = "is set already" if key in axes or key in settings else "is not written KEY=V1;V2"
            raise InputError(f"--grid: {axis!r} {why}")
        axes[key] = [value.strip() for value in values.split(";")]
    if _PAPER in grid:
        chosen_from = system_type(system).paper_grid
        if not chosen_from:
            raise InputError(f"--grid: the paper of {system} does not say what was chosen from; write KEY=V1;V2")
        axes |= {key: list(values) for key, values in chosen_from.items() if key not in axes and key not in settings}
    return axes


def _report(done: TrainingRun, config: dict[str, Any], options: argparse.Namespace) -> None:
    from isogloss.data.source import parse_pair

    results = done.results
    if done.trials:
        measured = [name for name in done.trials[0] if name not in ("settings", "seconds")]
        tried = [(*entry["settings"].values(), *(f"{entry[name]:.4f}" for name in measured)) for entry in done.trials]
        title = f"grid of {len(tried)} by dev {done.measure}"
        print_table(console(), title, (*config["grid"], *measured), tried, len(config["grid"]))
    if done.measures and options.json != "-":
        rows = [(name, *(f"{found[name]:.4f}" for found in done.measures.values())) for name in _SHOWN]
        title = f"{config['system']} on dev, {config['data']} {config['pair']}: {results['epochs']} epochs"
        print_table(console(), title, ("", *done.measures), rows)
    use = f"isogloss evaluate {done.path} --data {config['data']} --pair {config['pair']}"
    if not done.measures:  # nothing was judged
        use = f"isogloss index DOCUMENTS --system {done.path} --language {parse_pair(config['pair'])[1]} -o INDEX"
    note(f"{done.path}: trained in {results['seconds']:.0f} s; use it: {use}", options.quiet)
