"""``isogloss reproduce layerwise``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_settings, count, seed, settings_for
from isogloss.cli.output import note
from isogloss.cli.reproduce_trials import output_directory, run_all, write_text
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.papers.benches import Report
    from isogloss.papers.layerwise.experiment import Experiment
    from isogloss.papers.layerwise.items import Item
    from isogloss.papers.layerwise.plan import Setup
    from isogloss.papers.layerwise.trial import Trial

_ITEMS = "table1, table2, table3, figure_distance, figure_alphas, probe"
_EXAMPLE = """\
  isogloss reproduce layerwise table1 --data wikiclir:DIR --pair zh-zh --pair en-zh -o layerwise
  isogloss reproduce layerwise --data wikiclir:DIR --pair en-zh -o layerwise --set layerwise.negatives=hard
  isogloss reproduce layerwise --data wikiclir:DIR --pair en-zh -o layerwise --plan plan.json --pack arrays
  python -m isogloss.papers.layerwise.run_plan layerwise/trials plan.json --device cuda --processes 4"""


def add_to(papers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the paper."""
    title = "Cross-language question retrieval with multi-layer representation and layer-wise adversary"
    parser = add_command(papers, "layerwise", title, _EXAMPLE)
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"{_ITEMS} (default: all)")
    parser.add_argument("--data", required=True, metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument(
        "--pair", action="append", required=True,
        help="query language and document language, like en-zh (repeatable; zh-zh has the monolingual rows of table1)",
    )  # fmt: skip
    parser.add_argument("--skip-bad", action="store_true", help="skip lines that are wrong instead of stopping")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where pages and trials go; trials there are not run again"
    )
    parser.add_argument("--overwrite", action="store_true", help="run trials again that were run on other data")
    _add_lists(parser)
    parser.add_argument("--seeds", type=count, default=3, metavar="N", help="of every system that learns (default 3)")
    parser.add_argument(
        "--alphas", metavar="LIST", help="those tried, written --alphas='-1;0;1' (default: signs and sizes a layer)"
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="SYSTEM", help="leave it out of table1 (repeatable)"
    )
    add_settings(parser)
    _add_running(parser)
    parser.set_defaults(run=run)


def _add_lists(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", default="dev", help="whose queries are measured (default dev)")
    parser.add_argument(
        "--queries", type=count, default=500, metavar="N",
        help="queries measured, where the data have no lists: BM25's best 20 (default 500, at most half of the split)",
    )  # fmt: skip
    parser.add_argument(
        "--validation", type=seed, default=500, metavar="N",
        help="other queries of the split to choose epochs and alphas by (default 500; 0: choose on those measured)",
    )  # fmt: skip


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--processes", type=count, default=1, metavar="N", help="trials at a time (default 1)")
    parser.add_argument(
        "--run", dest="which", default="all", choices=("all", "lexical", "none"),
        help="trials that are run here: all, those without a network, or none (pages of what is there)",
    )  # fmt: skip
    parser.add_argument(
        "--plan", metavar="FILE",
        help="write what is still to be run of the networks, for another machine, and stop ('-': to the screen)",
    )  # fmt: skip
    parser.add_argument("--pack", metavar="FOLDER", help="with --plan: write what they learn from as well")


def run(options: argparse.Namespace) -> None:
    """Run the trials that are missing, and make the pages of the items."""
    from isogloss.papers.figures import need_drawing
    from isogloss.papers.layerwise.experiment import Experiment
    from isogloss.papers.layerwise.items import chosen_items
    from isogloss.papers.layerwise.trial_data import DataShelf
    from isogloss.papers.layerwise.trial_store import TrialStore

    if options.pack and not options.plan:
        raise InputError("--pack: goes with --plan")
    items, setup = chosen_items(options.items), _setup(options)
    if any(item.crosses for name, item in items.items() if name in options.items) and not setup.cross_language():
        raise InputError("reproduce layerwise: all items but table1 need a --pair of two languages")
    if any(item.is_drawn for item in items.values()) and not options.plan:
        need_drawing()
    output = output_directory(options.output, options.overwrite)
    shelf = DataShelf(options.skip_bad)
    experiment = Experiment(setup, shelf, TrialStore(output / "trials"), output)
    if options.plan:
        _plan(options, items, experiment)
        return
    for pair in setup.pairs:
        _ = shelf.get(
            setup.data, pair, setup.drawing
        ).dataset  # what is wrong with them is found before anything is run
    failed = _run_missing(options, items, experiment)
    _make(items, experiment)
    note(f"{output}: {', '.join(sorted(path.name for path in output.iterdir()))}", options.quiet)
    if failed:
        raise InputError(f"{len(failed)} trials failed, {failed[0].name}: {failed[0].line}")


def _setup(options: argparse.Namespace) -> Setup:
    from isogloss.data.source import parse_pair
    from isogloss.papers.layerwise.lists import Drawing
    from isogloss.papers.layerwise.plan import ROWS, Setup

    systems = list(dict.fromkeys(ROWS.values()))
    if unknown := [name for name in options.without if name not in systems]:
        raise InputError(f"--without: {unknown[0]!r} is not one of {', '.join(systems)}")
    pairs = tuple(dict.fromkeys(parse_pair(pair) for pair in options.pair))
    settings = {name: said for name in systems if (said := _settings(name, systems, options.settings))}
    drawing = Drawing(options.split, options.queries, options.validation)
    alphas = tuple(part.strip() for part in (options.alphas or "").split(";") if part.strip())
    setup = Setup(options.data, pairs, drawing, options.seeds, settings, alphas, tuple(options.without))
    for each in setup.grid():  # wrong alphas are found before anything is run
        setup.trials(("", ""), "layerwise", alphas=each)
    return setup


def _settings(name: str, systems: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """What --set says of a system, checked."""
    from isogloss.papers.layerwise.plan import CHOSEN_BY_ITEMS
    from isogloss.systems.registry import parse_options, system_type

    said = settings_for(name, systems, settings)
    for key in CHOSEN_BY_ITEMS:
        if key in said:
            way = f"write --{key} instead" if key in ("alphas", "device") else "the items choose it themselves"
            raise InputError(f"--set {name}.{key}: {way}")
    parse_options(name, system_type(name).options_type, said)
    return said


def _plan(options: argparse.Namespace, items: dict[str, Item], experiment: Experiment) -> None:
    """Write the trials of networks that are known to be missing."""
    from isogloss.papers.layerwise.trial import write_plan
    from isogloss.papers.layerwise.trial_data import write_pack

    setup, shelf = experiment.setup, experiment.shelf
    missing = [trial for trial in _missing(options, items, experiment) if trial.learns_from_arrays]
    for pair in setup.pairs if options.pack else ():
        data = shelf.get(setup.data, pair, setup.drawing)
        write_pack(data, pair, [trial for trial in missing if trial.pair == pair], Path(options.pack))
    write_text(options.plan, write_plan(missing, options.pack))
    note(f"{len(missing)} trials are still to be run; more may follow when the alphas are chosen", options.quiet)


def _missing(options: argparse.Namespace, items: dict[str, Item], experiment: Experiment) -> list[Trial]:
    from isogloss.papers.layerwise.items import needed_trials
    from isogloss.papers.layerwise.run_plan import LayerwiseTrials

    needed = needed_trials(items.values(), experiment.setup, experiment.store)
    return LayerwiseTrials().missing(needed, experiment.store, experiment.shelf, options.overwrite)


def _run_missing(options: argparse.Namespace, items: dict[str, Item], experiment: Experiment) -> list[Report]:
    """Run until nothing more is needed (the choice of the alphas asks for more), each trial once."""
    from isogloss.papers.benches import Bench
    from isogloss.papers.layerwise.run_plan import LayerwiseTrials

    bench = Bench(experiment.store.directory, options.device, options.processes, options.skip_bad)
    failed: list[Report] = []
    tried: set[str] = set()
    while options.which != "none":
        missing = [
            trial
            for trial in _missing(options, items, experiment)
            if trial.name not in tried and (options.which == "all" or not trial.learns_from_arrays)
        ]
        if not missing:
            break
        tried |= {trial.name for trial in missing}
        failed += run_all(LayerwiseTrials().run_all(missing, bench, experiment.shelf), len(missing), options.quiet)
    return failed


def _make(items: dict[str, Item], experiment: Experiment) -> None:
    """Write the page of each item, and show it."""
    from isogloss.papers.layerwise.items import page_of

    for name, item in items.items():
        page = page_of(item, experiment)
        page.save(experiment.output, name)
        print(page.text, end="\n\n")
