"""What each part of ``bridge`` gives, and whether its scores are calibrated.

    python benchmarks/bridge_ablation.py --data demo --pair en-fr -o DIR
    python benchmarks/bridge_ablation.py ablation --data wikiclir:SET --pair en-fr --lexicon en-fr.txt -o DIR
    python benchmarks/bridge_ablation.py --data wikiclir:SET --pair en-fr --pretrained use -o DIR

The item ``ablation`` compares the whole system with the system without each of its parts, ``calibration`` compares
predicted probabilities with the share of relevant documents. Every trial trains on train queries and searches the whole
collection for the queries of another split. Trials are kept in DIR/trials and not run again, so a command that was
stopped continues where it was. The pages are DIR/ITEM.md and DIR/ITEM.json, and the figures of ``calibration``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bridge_ablation_pages import ITEMS, Experiment
from bridge_ablation_trials import SYSTEM, BridgeTrials, Setup, Trial

from isogloss.cli.options import SOURCE_HELP, add_settings, name_models, settings_for
from isogloss.data.source import parse_pair
from isogloss.evaluation.protocols import make_task
from isogloss.papers.reproduction.figures import need_drawing
from isogloss.papers.reproduction.pages import chosen_items
from isogloss.papers.reproduction.run_items import output_directory, run_and_show
from isogloss.papers.reproduction.running import RunOptions
from isogloss.papers.reproduction.trials import TrialDirectory
from isogloss.storage.errors import InputError
from isogloss.storage.progress import set_quiet
from isogloss.storage.wording import at_the_command_line
from isogloss.systems.registry import make_system

REFUSED_SETTINGS = {
    "without": "the items choose it themselves",
    "lexicon": "write --lexicon instead",
    "pretrained": "write --pretrained instead",
}
"""Options of the system that --set does not take, and what to do instead."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = _parser().parse_args(arguments)
    set_quiet(options.quiet)
    try:
        with at_the_command_line():
            _run(options)
    except (InputError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"{', '.join(ITEMS)} (default: all)")
    parser.add_argument("--data", required=True, metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument(
        "--pair", action="append", required=True, help="query language and document language, like en-fr (repeatable)"
    )
    parser.add_argument("--skip-bad", action="store_true", help="skip lines that are wrong instead of stopping")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where pages and trials go; trials there are not run again"
    )
    parser.add_argument("--overwrite", action="store_true", help="run trials again that were run on other data")
    parser.add_argument(
        "--lexicon",
        default="",
        metavar="FILE",
        help="bilingual lexicon, {pair} standing for the languages (default: the data's own, or none)",
    )
    parser.add_argument(
        "--pretrained",
        default="",
        metavar="NAME",
        help="also with a sentence encoder: use, or the folder or name of a model",
    )
    parser.add_argument("--split", default="dev", help="what is measured: train, dev, test or all (default dev)")
    add_settings(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress, no remarks")
    return parser


def _run(options: argparse.Namespace) -> None:
    """Report errors of the arguments and the data, then run the trials and write the pages."""
    items = chosen_items(ITEMS, options.items)
    setup = _setup(options)
    if any(item.is_drawn for item in items.values()):
        need_drawing()
    output = output_directory(options.output, options.overwrite)
    runner = BridgeTrials(options.data, options.lexicon)
    trials = TrialDirectory[Trial](output / "trials")
    experiment = Experiment(setup, runner.cached_data(options.skip_bad), trials, output)
    for pair in setup.pairs:
        make_task(experiment.data(pair).dataset, setup.split, "full")
    run_options = RunOptions(trials.directory, skip_bad=options.skip_bad)
    run_and_show(items, runner, experiment, run_options, overwrite=options.overwrite, quiet=options.quiet)


def _setup(options: argparse.Namespace) -> Setup:
    """What all trials have in common; a system that cannot be made is an error."""
    settings = settings_for(SYSTEM, [SYSTEM], options.settings)
    for key, instead in REFUSED_SETTINGS.items():
        if key in settings:
            raise InputError(f"--set {key}: {instead}")
    encoder = name_models({"pretrained": options.pretrained})["pretrained"]
    pairs = tuple(dict.fromkeys(parse_pair(pair) for pair in options.pair))
    setup = Setup(options.data, pairs, options.split, encoder, settings)
    for pair in pairs:
        for trial in setup.whole(pair).values():
            make_system(SYSTEM, pair, trial.settings)
    return setup


if __name__ == "__main__":
    sys.exit(main())
