"""``isogloss reproduce bridge``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_settings, settings_for
from isogloss.cli.output import note
from isogloss.cli.reproduce_trials import output_directory, run_all
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.papers.bridge.experiment import Experiment
    from isogloss.papers.bridge.plan import Setup

_ITEMS = "ablation, calibration"
_EXAMPLE = """\
  isogloss reproduce bridge --data demo --pair en-fr -o bridge
  isogloss reproduce bridge ablation --data wikiclir:DIR --pair en-fr --lexicon en-fr.txt --pretrained use -o bridge"""


def add_to(papers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register what is shown of the house's own system."""
    parser = add_command(
        papers, "bridge", "the house's own system: what each ingredient gives, and its scores", _EXAMPLE
    )
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"{_ITEMS} (default: all)")
    parser.add_argument("--data", required=True, metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument(
        "--pair", action="append", required=True, help="query language and document language, like en-fr (repeatable)"
    )
    parser.add_argument("--skip-bad", action="store_true", help="skip lines that are wrong instead of stopping")
    parser.add_argument(
        "--lexicon", default="", metavar="FILE",
        help="bilingual lexicon, {pair} standing for the languages (default: the data's own, or none)",
    )  # fmt: skip
    parser.add_argument(
        "--pretrained", default="", metavar="NAME", help="also with a sentence encoder: use (extra 'pretrained')"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where pages and trials go; trials there are not run again"
    )
    parser.add_argument("--overwrite", action="store_true", help="run trials again that were run on other data")
    parser.add_argument("--split", default="dev", help="what is measured: train, dev, test or all (default dev)")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the trials that are missing, and make the pages of the items."""
    from isogloss.papers.bridge.items import chosen_items, missing_trials, run_trials
    from isogloss.papers.figures import need_drawing

    items = chosen_items(options.items)
    if any(item.is_drawn for item in items.values()):
        need_drawing()
    experiment = _experiment(options, _setup(options))
    missing = missing_trials(items.values(), experiment, options.overwrite)
    failed = run_all(run_trials(missing, experiment), len(missing), options.quiet)
    for name, item in items.items():
        page = item.page(experiment)
        page.save(experiment.output, name)
        print(page.text, end="\n\n")
    output = experiment.output
    note(f"{output}: {', '.join(sorted(path.name for path in output.iterdir()))}", options.quiet)
    if failed:
        raise InputError(f"{len(failed)} of {len(missing)} trials failed, {failed[0].name}: {failed[0].line}")


def _setup(options: argparse.Namespace) -> Setup:
    """What is asked for, all of it checked."""
    from isogloss.data.source import parse_pair
    from isogloss.papers.bridge.plan import CHOSEN_BY_ITEMS, Setup
    from isogloss.systems.registry import make_system

    said = settings_for("bridge", ["bridge"], options.settings)
    for key in CHOSEN_BY_ITEMS:
        if key in said:
            way = "the items choose it themselves" if key == "without" else f"write --{key} instead"
            raise InputError(f"--set {key}: {way}")
    pairs = tuple(dict.fromkeys(parse_pair(pair) for pair in options.pair))
    setup = Setup(options.data, pairs, options.split, options.pretrained, said)
    for pair in pairs:
        for trial in setup.whole(pair).values():
            make_system("bridge", pair, trial.settings)
    return setup


def _experiment(options: argparse.Namespace, setup: Setup) -> Experiment:
    """The data are read: what is wrong with them is found before anything is run."""
    from isogloss.evaluation.protocols import make_task
    from isogloss.papers.bridge.experiment import Experiment
    from isogloss.papers.bridge.trial import TrialStore
    from isogloss.papers.bridge.trial_data import PairData

    output = output_directory(options.output, options.overwrite)
    data = {pair: PairData.read(setup.data, pair, options.lexicon, options.skip_bad) for pair in setup.pairs}
    for each in data.values():
        make_task(each.dataset, setup.split, "full")
    return Experiment(setup, data, TrialStore(output / "trials"), output)
