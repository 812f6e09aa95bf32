"""``isogloss reproduce smooth``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_settings, count, settings_for
from isogloss.cli.output import note
from isogloss.cli.reproduce_trials import output_directory, run_all, write_text
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.papers.smooth.items import Item
    from isogloss.papers.smooth.pages import Experiment
    from isogloss.papers.smooth.plan import Setup

_ITEMS = "table1 table2 table3 figure1 figure2 figure3 figure4 figure5 claims theory"
_CHOSEN_BY_ITEMS = ("encoder", "loss", "seed", "patience", "measure", "dev_queries")
_EXAMPLE = """\
  isogloss reproduce smooth table1 table2 --data wikiclir:DIR --pair en-fr --pair en-sw -o smooth
  isogloss reproduce smooth figure4 --data wikiclir:DIR --pair en-fr -o smooth --epochs 10
  isogloss reproduce smooth table2 --data wikiclir:DIR --pair en-fr -o smooth --plan plan.json --pack words
  python -m isogloss.papers.smooth.run_plan smooth/trials plan.json --data packed:words --device cuda --processes 4"""


def add_to(papers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the paper."""
    parser = add_command(papers, "smooth", "Cross-Lingual Document Retrieval with Smooth Learning", _EXAMPLE)
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"{_ITEMS.replace(' ', ', ')} (default: all)")
    parser.add_argument("--data", default="", metavar="SOURCE", help=f"{SOURCE_HELP}; figure1 and figure2 need none")
    parser.add_argument(
        "--pair", action="append", default=[],
        help="query language and document language, like en-fr (repeatable; figures, claims and theory take the first)",
    )  # fmt: skip
    parser.add_argument("--skip-bad", action="store_true", help="skip lines that are wrong instead of stopping")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where pages and trials go; trials there are not run again"
    )
    parser.add_argument("--overwrite", action="store_true", help="run trials again that were run on other data")
    parser.add_argument("--split", default="dev", help="what is measured: train, dev, test or all (default dev)")
    parser.add_argument("--seeds", type=count, default=3, metavar="N", help="of table2, claims and theory (default 3)")
    parser.add_argument("--epochs", type=count, metavar="N", help="(default: the paper's, 30; lstm 15)")
    add_settings(parser)
    parser.add_argument(
        "--device", default="auto", choices=("auto", "cpu", "cuda"), help="auto: what the encoder prefers"
    )
    parser.add_argument("--processes", type=count, default=1, metavar="N", help="trials at a time (default 1)")
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="write what is still to be run, for another machine, and stop ('-': to the screen)",
    )
    parser.add_argument(
        "--pack",
        metavar="FOLDER",
        help="with --plan: write the words of the pairs as well (there: --data packed:FOLDER)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the trials that are missing, and make the pages of the items."""
    from isogloss.papers.benches import Bench
    from isogloss.papers.figures import need_drawing
    from isogloss.papers.smooth.items import chosen_items, needed_trials
    from isogloss.papers.smooth.packed_words import write_pack
    from isogloss.papers.smooth.pages import Experiment
    from isogloss.papers.smooth.run_plan import SmoothTrials
    from isogloss.papers.smooth.trial import write_plan
    from isogloss.papers.smooth.trial_data import DataShelf
    from isogloss.papers.smooth.trial_store import TrialStore

    if options.pack and not options.plan:
        raise InputError("--pack: goes with --plan")
    items = chosen_items(options.items)
    setup = _setup(options, any(item.needs_data for item in items.values()))
    if any(item.is_drawn for item in items.values()) and not options.plan:
        need_drawing()
    output = output_directory(options.output, options.overwrite)
    store, shelf = TrialStore(output / "trials"), DataShelf(options.skip_bad)
    trials = SmoothTrials()
    missing = trials.missing(needed_trials(items.values(), setup), store, shelf, options.overwrite)
    if options.plan:
        write_text(options.plan, write_plan(missing))
        for pair in setup.pairs if options.pack else ():
            write_pack(shelf.get(setup.data, pair).words, Path(options.pack))
        note(f"{len(missing)} trials are still to be run", options.quiet)
        return
    for pair in setup.pairs:
        shelf.get(setup.data, pair).dataset.split(
            setup.split
        )  # what is wrong with them is found before anything is run
    bench = Bench(store.directory, options.device, options.processes, options.skip_bad)
    failed = run_all(trials.run_all(missing, bench, shelf), len(missing), options.quiet)
    _make(items, Experiment(setup, shelf, store, output))
    note(f"{output}: {', '.join(sorted(path.name for path in output.iterdir()))}", options.quiet)
    if failed:
        raise InputError(f"{len(failed)} of {len(missing)} trials failed, {failed[0].name}: {failed[0].line}")


def _setup(options: argparse.Namespace, needs_data: bool) -> Setup:
    from isogloss.data.source import parse_pair
    from isogloss.papers.smooth.plan import Setup

    if needs_data and not (options.data and options.pair):
        raise InputError("reproduce smooth: all items but figure1 and figure2 need --data and --pair")
    pairs = tuple(dict.fromkeys(parse_pair(pair) for pair in options.pair))
    return Setup(options.data, pairs, options.split, options.seeds, _settings(options))


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """What --set and --epochs say, as typed values, all of it checked."""
    from dataclasses import asdict

    from isogloss.systems.registry import parse_options
    from isogloss.systems.smooth.options import SmoothOptions

    said = settings_for("smooth", ["smooth"], options.settings)
    if options.epochs:
        said["epochs"] = str(options.epochs)
    for key in _CHOSEN_BY_ITEMS:
        if key in said:
            raise InputError(f"--set {key}: the items choose it themselves; it cannot be set")
    if "device" in said:
        raise InputError("--set device: write --device instead")
    made = parse_options("smooth", SmoothOptions, said)
    assert isinstance(made, SmoothOptions)
    made.check()
    return {key: value for key, value in asdict(made).items() if key in said}


def _make(items: dict[str, Item], experiment: Experiment) -> None:
    """Write the page of each item, and show it."""
    from isogloss.papers.smooth.items import page_of

    for name, item in items.items():
        page = page_of(item, experiment)
        page.save(experiment.output, name)
        print(page.text, end="\n\n")
