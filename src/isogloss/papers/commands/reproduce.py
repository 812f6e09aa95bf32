"""``isogloss reproduce adhoc | smooth | layerwise``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.main import Commands, add_command
from isogloss.cli.options import (
    SOURCE_HELP,
    add_data,
    add_queries,
    add_settings,
    count,
    read_dataset,
    seed,
    settings_for,
)
from isogloss.cli.output import console, note, print_table
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file, refuse_existing
from isogloss.storage.lines import find_file

if TYPE_CHECKING:
    from isogloss.data.source import Pair
    from isogloss.papers.reproduction.pages import Experiment, Item
    from isogloss.papers.reproduction.running import TrialRunner
    from isogloss.papers.smooth.experiments.plan import Grid

SUMMARY = "the tables and figures of a paper"
EXAMPLE = """\
  isogloss reproduce adhoc toy --data demo --pair en-fr -o toy
  isogloss reproduce smooth table1 --data demo --pair en-fr --pair en-sw -o smooth
  isogloss reproduce layerwise table1 --data wikiclir:DIR --pair en-zh -o layerwise"""
_ADHOC_EXAMPLE = """\
  isogloss reproduce adhoc --data wikiclir:DIR --pair en-es -o adhoc --lexicon en-es.txt --text wikiclir:MORE
  isogloss reproduce adhoc table --data platt:DIR --pair en-es -o platt --lexicon en-es.txt \\
      --query-vectors glove.6B.300d.txt --document-vectors SBW-vectors-300-min5.bin.gz
  isogloss reproduce adhoc toy --data demo --pair en-fr -o toy"""
_SMOOTH_EXAMPLE = """\
  isogloss reproduce smooth table1 table2 --data wikiclir:DIR --pair en-fr --pair en-sw -o smooth
  isogloss reproduce smooth figure4 --data wikiclir:DIR --pair en-fr -o smooth --grid 'eps=0;0.1;1' --seeds 1
  isogloss reproduce smooth table2 --data irds:wikiclir/fr --pair en-fr --queries 25000 --split test -o smooth
  isogloss reproduce smooth table2 --data wikiclir:DIR --pair en-fr -o smooth --plan plan.json --pack words
  python -m isogloss.papers smooth smooth/trials plan.json --data packed:words --device cuda --processes 4"""
_LAYERWISE_EXAMPLE = """\
  isogloss reproduce layerwise table1 --data wikiclir:DIR --pair zh-zh --pair en-zh -o layerwise
  isogloss reproduce layerwise --data wikiclir:DIR --pair en-zh -o layerwise --set layerwise.negatives=hard
  isogloss reproduce layerwise --data wikiclir:DIR --pair en-zh -o layerwise --plan plan.json --pack arrays
  python -m isogloss.papers layerwise layerwise/trials plan.json --device cuda --processes 4"""
_PAIR = "query language and document language, like"
_NOT_SET = "the items choose it themselves"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define a sub-command for each paper."""
    papers = parser.add_subparsers(dest="part", metavar="adhoc|smooth|layerwise", required=True)
    for add in (_add_adhoc, _add_smooth, _add_layerwise):
        add(papers)


def _add_adhoc(papers: Commands) -> None:
    parser = add_command(papers, "adhoc", "Cross-Lingual ad hoc Semantic Retrieval", _ADHOC_EXAMPLE, _run_adhoc)
    parser.add_argument("items", nargs="*", metavar="ITEM", help="table, figure, queries, toy (default: all)")
    add_data(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where tables and figures go; vectors there are used again"
    )
    parser.add_argument("--overwrite", action="store_true", help="write into a directory that is not empty")
    parser.add_argument(
        "--lexicon", default="", metavar="FILE", help="bilingual lexicon (default: the data's own, or induced)"
    )
    parser.add_argument(
        "--text", action="append", default=[], metavar="SOURCE", help="more text to train vectors on (repeatable)"
    )
    ready = "ready word vectors of the {} language: GloVe, word2vec, fastText, Polyglot (default: trained)"
    for side in ("query", "document"):
        parser.add_argument(f"--{side}-vectors", default="", metavar="FILE", help=ready.format(side))
    parser.add_argument("--split", default="dev", help="of the queries: train, dev, test or all (default dev)")


def _add_smooth(papers: Commands) -> None:
    parser = add_command(
        papers, "smooth", "Cross-Lingual Document Retrieval with Smooth Learning", _SMOOTH_EXAMPLE, _run_smooth
    )
    items = "table1, table2, table3, figure1, figure2, figure3, figure4, figure5, claims, theory"
    pair = f"{_PAIR} en-fr (repeatable; figures, claims and theory take the first)"
    _add_common(parser, items, pair, data=f"{SOURCE_HELP}; figure1 and figure2 need none", required=False)
    parser.add_argument("--split", default="dev", help="what is measured: train, dev, test or all (default dev)")
    add_queries(parser)
    seeds = "of tables 2 and 3, figure4, claims and theory (default 3)"
    parser.add_argument("--seeds", type=count, default=3, metavar="N", help=seeds)
    parser.add_argument("--epochs", type=count, metavar="N", help="(default: the paper's, 30; lstm 15)")
    parser.add_argument(
        "--grid", action="append", default=[], metavar="KEY=V1;V2",
        help="what figure4 tries: eps, theta1 and theta2 (repeatable)",
    )  # fmt: skip
    add_settings(parser)
    parser.add_argument(
        "--device", default="auto", choices=("auto", "cpu", "cuda"), help="auto: what the encoder prefers"
    )
    parser.add_argument("--processes", type=count, default=1, metavar="N", help="trials at a time (default 1)")
    _add_plan(
        parser, "what is still to be run", "write the words of the pairs as well (there: --data packed:FOLDER)",
        {"all": "all", "none": "none (pages of what is there)"},
    )  # fmt: skip


def _add_layerwise(papers: Commands) -> None:
    title = "Cross-language question retrieval with multi-layer representation and layer-wise adversary"
    parser = add_command(papers, "layerwise", title, _LAYERWISE_EXAMPLE, _run_layerwise)
    items = "table1, table2, table3, figure_distance, figure_alphas, probe, settings"
    _add_common(parser, items, f"{_PAIR} en-zh (repeatable; zh-zh has the monolingual rows of table1)")
    parser.add_argument("--split", default="dev", help="whose queries are measured (default dev)")
    parser.add_argument(
        "--queries", type=count, default=500, metavar="N",
        help="queries measured, where the data have no lists: BM25's best 20 (default 500, at most half of the split)",
    )  # fmt: skip
    parser.add_argument(
        "--validation", type=seed, default=500, metavar="N",
        help="other queries of the split to choose epochs and alphas by (default 500; 0: choose on those measured)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=count, default=3, metavar="N", help="of every system that trains (default 3)")
    parser.add_argument(
        "--alphas", metavar="LIST", help="those tried, written --alphas='-1;0;1' (default: signs and sizes a layer)"
    )
    parser.add_argument(
        "--betas", metavar="LIST", help="those tried with each of the alphas, like '0.01;0.1' (default: the one set)"
    )
    parser.add_argument(
        "--translator", default="", metavar="TRANSLATOR",
        help="adds a row to table1: the paper's model trained on pairs of the documents' language with translated "
        "questions; lexicon:FILE, apertium or file:FILE ({pair} is documents to queries)",
    )  # fmt: skip
    parser.add_argument(
        "--without", action="append", default=[], metavar="SYSTEM", help="leave it out of table1 (repeatable)"
    )
    add_settings(parser)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--processes", type=count, default=1, metavar="N", help="trials at a time (default 1)")
    _add_plan(
        parser, "the trials of networks that are still to be run", "write their training data as well",
        {"all": "all", "lexical": "those without a network", "none": "none (pages of what is there)"},
    )  # fmt: skip


def _add_common(
    parser: argparse.ArgumentParser, items: str, pair: str, data: str = SOURCE_HELP, required: bool = True
) -> None:
    """What the papers whose trials are kept have in common."""
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"{items} (default: all)")
    parser.add_argument("--data", default="", required=required, metavar="SOURCE", help=data)
    parser.add_argument("--pair", action="append", default=[], required=required, help=pair)
    parser.add_argument("--skip-bad", action="store_true", help="skip lines that are wrong instead of stopping")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where pages and trials go; trials there are not run again"
    )
    parser.add_argument("--overwrite", action="store_true", help="run trials again that were run on other data")


def _add_plan(parser: argparse.ArgumentParser, what: str, pack: str, runs: Mapping[str, str]) -> None:
    """Which trials are run here (``runs``: the choices and what they mean), and the plan of those that are not."""
    shown = "; ".join(f"{name}: {meaning}" if name != meaning else name for name, meaning in runs.items())
    parser.add_argument("--run", dest="which", default="all", choices=tuple(runs), help=f"trials run here: {shown}")
    parser.add_argument(
        "--plan", metavar="FILE", help=f"write {what}, for another machine, and stop ('-': to the screen)"
    )
    parser.add_argument("--pack", metavar="FOLDER", help=f"with --plan: {pack}")


def _run_adhoc(options: argparse.Namespace) -> None:
    from isogloss.data.readers.registry import open_source
    from isogloss.papers.adhoc.aligned import AlignedOptions
    from isogloss.papers.adhoc.experiments import ITEMS, Experiment, known_mates, prepare_vectors
    from isogloss.papers.reproduction.figures import need_drawing
    from isogloss.papers.reproduction.run_items import list_files
    from isogloss.systems.lexicons import fill_languages
    from isogloss.translation.lexicon import Lexicon

    unknown = [item for item in options.items if item not in ITEMS]
    if unknown:
        raise InputError(f"ITEM: {unknown[0]!r} is not one of {', '.join(ITEMS)}")
    items, output = options.items or list(ITEMS), Path(options.output)
    refuse_existing(output, options.overwrite)
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file, a directory is needed")
    if "figure" in items:
        need_drawing()
    source = open_source(options.data)
    dataset = read_dataset(source, options)
    more = [open_source(text) for text in options.text]
    if {"table", "figure"} & set(items):
        known_mates(dataset)  # an error if there are none
    dataset.split(options.split)
    ready = (
        fill_languages(options.query_vectors, *dataset.pair),
        fill_languages(options.document_vectors, *dataset.pair),
    )
    for file in filter(None, ready):
        _ = Path(file) if Path(file).is_dir() else find_file(Path(file))
    if more and all(ready):
        raise InputError("--text: is text to train vectors on, and those of both languages are given; leave it out")
    lexicon = fill_languages(options.lexicon, *dataset.pair) or str(source.lexicon(dataset.pair) or "")
    if lexicon not in ("", "induced"):
        Lexicon.read(lexicon)  # an error in it is reported before vectors are trained
    query_vectors, document_vectors = prepare_vectors(dataset, output / "vectors", more, ready=ready)
    output.mkdir(parents=True, exist_ok=True)
    base = AlignedOptions(lexicon=lexicon, query_vectors=str(query_vectors), document_vectors=str(document_vectors))
    experiment = Experiment(dataset, base, output, options.split)
    for item in items:
        print_table(console(), *ITEMS[item](experiment))
    list_files(output, quiet=options.quiet)


def _run_smooth(options: argparse.Namespace) -> None:
    from isogloss.papers.reproduction.pages import chosen_items
    from isogloss.papers.reproduction.run_items import missing_trials
    from isogloss.papers.reproduction.trials import TrialDirectory
    from isogloss.papers.smooth.experiments.data import write_pack
    from isogloss.papers.smooth.experiments.pages import ITEMS
    from isogloss.papers.smooth.experiments.plan import Experiment, Setup
    from isogloss.papers.smooth.experiments.training import SmoothTrials

    items, runner = chosen_items(ITEMS, options.items), SmoothTrials()
    if any(item.needs_data for item in items.values()) and not (options.data and options.pair):
        raise InputError("reproduce smooth: all items but figure1 and figure2 need --data and --pair")
    setup = Setup(
        options.data, _pairs(options), options.split, options.seeds, _smooth_settings(options), options.queries,
        _threshold_grid(options.grid),
    )  # fmt: skip
    output = _output_directory(options, items)
    experiment = Experiment(setup, runner.cached_data(options.skip_bad), TrialDirectory(output / "trials"), output)
    _refuse_fixed(experiment, items)
    if options.plan:
        missing = missing_trials(items, runner, experiment, overwrite=options.overwrite)
        _write_plan(options.plan, missing)
        for pair in setup.pairs if options.pack else ():
            write_pack(experiment.data(setup.data, pair, setup.queries), Path(options.pack))
        note(f"{len(missing)} trials are still to be run", options.quiet)
        return
    for pair in setup.pairs:
        experiment.data(setup.data, pair, setup.queries).dataset.split(
            setup.split
        )  # errors are reported before anything is run
    _run_and_show(options, items, runner, experiment)


def _run_layerwise(options: argparse.Namespace) -> None:
    from isogloss.papers.layerwise.experiments.data import Drawing, write_pack
    from isogloss.papers.layerwise.experiments.pages import ITEMS
    from isogloss.papers.layerwise.experiments.plan import MODEL, ROWS, Experiment, Setup
    from isogloss.papers.layerwise.experiments.training import LayerwiseTrials
    from isogloss.papers.reproduction.pages import chosen_items
    from isogloss.papers.reproduction.run_items import missing_trials
    from isogloss.papers.reproduction.running import PACKED
    from isogloss.papers.reproduction.trials import TrialDirectory

    items, runner, systems = chosen_items(ITEMS, options.items), LayerwiseTrials(), list(dict.fromkeys(ROWS.values()))
    if unknown := [name for name in options.without if name not in systems]:
        raise InputError(f"--without: {unknown[0]!r} is not one of {', '.join(systems)}")
    settings = {name: own for name in systems if (own := _layerwise_settings(name, systems, options.settings))}
    drawing = Drawing(options.split, options.queries, options.validation)
    alphas, betas = (
        tuple(part.strip() for part in (written or "").split(";") if part.strip())
        for written in (options.alphas, options.betas)
    )
    setup = Setup(
        options.data, _pairs(options), drawing, options.seeds, settings, alphas, tuple(options.without), betas,
        options.translator,
    )  # fmt: skip
    for each in setup.grid().values():  # wrong betas and alphas are reported before anything is run
        setup.trials(("", ""), MODEL, **each)
    named = [item for name, item in items.items() if name in options.items]
    if any(item.cross_lingual for item in named) and not setup.cross_language():
        raise InputError("reproduce layerwise: all items but table1 need a --pair of two languages")
    output = _output_directory(options, items)
    experiment = Experiment(setup, runner.cached_data(options.skip_bad), TrialDirectory(output / "trials"), output)
    if options.plan:
        all_missing = missing_trials(items, runner, experiment, overwrite=options.overwrite)
        missing = [trial for trial in all_missing if trial.trains_on_arrays]
        for pair in setup.pairs if options.pack else ():
            data = experiment.data(setup.data, pair, drawing)
            write_pack(data, pair, [trial for trial in missing if trial.pair == pair], Path(options.pack))
        moved = [runner.moved(trial, f"{PACKED}{options.pack}") if options.pack else trial for trial in missing]
        _write_plan(options.plan, moved)
        note(f"{len(missing)} trials are still to be run; more may follow when the alphas are chosen", options.quiet)
        return
    for pair in setup.pairs:
        _ = experiment.data(setup.data, pair, drawing).dataset  # errors are reported before anything is run
    _run_and_show(options, items, runner, experiment)


def _pairs(options: argparse.Namespace) -> tuple[Pair, ...]:
    from isogloss.data.source import parse_pair

    return tuple(dict.fromkeys(parse_pair(pair) for pair in options.pair))


def _smooth_settings(options: argparse.Namespace) -> dict[str, Any]:
    """--set and --epochs as typed values, all of them checked."""
    from dataclasses import asdict

    from isogloss.papers.smooth.model import SmoothOptions
    from isogloss.systems.registry import parse_options

    settings = settings_for("smooth", ["smooth"], options.settings)
    if options.epochs:
        settings["epochs"] = str(options.epochs)
    chosen = ("encoder", "loss", "seed", "patience", "measure", "dev_queries")
    ways = {key: f"{_NOT_SET}; it cannot be set" for key in chosen}
    _refuse_settings(settings, {**ways, "device": "write --device instead"})
    made = parse_options("smooth", SmoothOptions, settings)
    assert isinstance(made, SmoothOptions)
    made.check()
    return {key: value for key, value in asdict(made).items() if key in settings}


def _threshold_grid(written: Sequence[str]) -> Grid:
    """--grid of figure4: numbers in order, each once; the thresholds between -1 and 1."""
    from dataclasses import fields

    from isogloss.papers.smooth.experiments.plan import Grid

    axes: dict[str, tuple[float, ...]] = {}
    known = [each.name for each in fields(Grid)]
    for each in written:
        key, _, values = each.partition("=")
        try:
            numbers = tuple(sorted({float(value) for value in values.split(";")}))
        except ValueError:
            numbers = ()
        if key not in known or not numbers:
            raise InputError(f"--grid: {each!r} is not written like eps=0;0.5;1, with one of {', '.join(known)}")
        least, most = (0.0, 100.0) if key == "eps" else (-1.0, 1.0)
        if numbers[0] < least or numbers[-1] > most or (key != "eps" and {least, most} & set(numbers)):
            raise InputError(f"--grid: {each!r} has a value that is not between {least:g} and {most:g}")
        axes[key] = numbers
    grid = Grid(**axes)
    if not grid.thresholds():
        raise InputError("--grid: no theta1 is below a theta2")
    return grid


def _refuse_fixed(experiment: Experiment[Any, Any, Any], items: Mapping[str, Item]) -> None:
    """An option that was set and that an item chooses itself would be shown as used, and was not."""
    from isogloss.papers.smooth.experiments.plan import fixed_by

    with_trials = {name: item for name, item in items.items() if item.needs_data}
    fixed = {name: fixed_by(experiment.setup, item.trials(experiment)) for name, item in with_trials.items()}
    for name, keys in fixed.items():
        for key in sorted(keys):
            free = [other for other, others in fixed.items() if key not in others and other != "table1"]
            way = f"; name the items that take it: {', '.join(free)}" if free else "; leave it out"
            raise InputError(f"--set {key}: {name} chooses it itself{way}")


def _layerwise_settings(name: str, systems: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """--set for one system, checked."""
    from isogloss.papers.layerwise.experiments.plan import CHOSEN_BY_ITEMS
    from isogloss.systems.registry import parse_options, system_type

    own = settings_for(name, systems, settings)
    options = {key: f"write --{key} instead" if key in ("alphas", "device") else _NOT_SET for key in CHOSEN_BY_ITEMS}
    _refuse_settings(own, options, f"{name}.")
    parse_options(name, system_type(name).options_type, own)
    return own


def _refuse_settings(settings: Mapping[str, str], ways: Mapping[str, str], prefix: str = "") -> None:
    for key, way in ways.items():
        if key in settings:
            raise InputError(f"--set {prefix}{key}: {way}")


def _output_directory(options: argparse.Namespace, items: Mapping[str, Item]) -> Path:
    """The directory of pages and trials; what else has to be right beforehand is checked as well."""
    from isogloss.papers.reproduction.figures import need_drawing
    from isogloss.papers.reproduction.run_items import output_directory

    if options.pack and not options.plan:
        raise InputError("--pack: goes with --plan")
    if any(item.is_drawn for item in items.values()) and not options.plan:
        need_drawing()
    return output_directory(options.output, options.overwrite)


def _run_and_show(
    options: argparse.Namespace, items: Mapping[str, Item], runner: TrialRunner[Any, Any],
    experiment: Experiment[Any, Any, Any],
) -> None:  # fmt: skip
    """Run the missing trials that --run chooses, write the pages and print them."""
    from isogloss.papers.reproduction.run_items import run_and_show, show_pages
    from isogloss.papers.reproduction.running import RunOptions

    if options.which == "none":
        show_pages(items, experiment, quiet=options.quiet)
        return
    is_run_here = _has_no_network if options.which == "lexical" else None
    run_options = RunOptions(experiment.trials.directory, options.device, options.processes, options.skip_bad)
    run_and_show(
        items,
        runner,
        experiment,
        run_options,
        overwrite=options.overwrite,
        quiet=options.quiet,
        is_run_here=is_run_here,
    )


def _has_no_network(trial: Any) -> bool:
    return not trial.trains_on_arrays


def _write_plan(target: str, trials: Sequence[Any]) -> None:
    """Write a plan to a file, or to the screen (``-``)."""
    from isogloss.papers.reproduction.running import plan_text

    with nullcontext(sys.stdout) if target == "-" else atomic_file(target) as file:
        file.write(plan_text(trials))
