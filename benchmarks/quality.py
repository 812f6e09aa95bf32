"""Every system on every set: what it finds, and what it takes.

    python benchmarks/quality.py DIR --data wikiclir:mdn:en-fr wikiclir:bible:en-sw demo:en-zh \
        --lexicons 'dictionaries/{pair}.gz' --systems bm25,bm25-dict,psq,pretrained,bridge
    python benchmarks/quality.py DIR --data … --only bridge        run these now; the page shows all that is there
    python benchmarks/quality.py DIR --data … --only none          the page alone
    python benchmarks/quality.py DIR --data … --only layerwise,clann --plan plan.json --pack arrays
                                                                   nothing is run: see ``quality_matchers``

Dev queries, text field only, the protocols full and sampled. Each system is run alike on all sets (``quality_trials``).
What was run is kept in DIR (JSON, values query by query, TREC runs) and not run again, so a killed run goes on where it
was; a system that a language or a missing dictionary rules out leaves its cell blank, and is tried again. The page is
DIR/quality.md, with DIR/quality.json and the figure.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from itertools import chain
from pathlib import Path

from quality_matchers import MatcherTrial, MatcherTrials, is_matcher, write_plan
from quality_page import write_page
from quality_trials import SYSTEMS, QualityTrials, Trial, make_trial

from isogloss.data.source import Pair, parse_pair
from isogloss.papers.reproduction.figures import need_drawing
from isogloss.papers.reproduction.running import RunOptions, print_reports
from isogloss.papers.reproduction.trials import TrialDirectory
from isogloss.storage.errors import InputError
from isogloss.systems.registry import system_type


def main() -> None:
    options = _options()
    need_drawing()
    systems = options.systems.split(",")
    for system in systems:
        system_type(system.partition("+")[0])
    trials = [make_trial(*each, system, options.lexicons) for each in options.data for system in systems]
    only = systems if options.only is None else options.only.split(",")
    store = TrialDirectory[Trial](options.directory)
    there = [trial.name for trial in trials if store.holds(trial, "")]
    missing = [trial for trial in trials if trial.system in only and trial.name not in there]
    matchers = [trial for trial in missing if is_matcher(trial.system)]
    if options.plan:
        write_plan(matchers, options.plan, options.pack)
        return

    how, others = RunOptions(options.directory), [trial for trial in missing if not is_matcher(trial.system)]
    reports = (
        QualityTrials(options.directory).run_all(others, how),
        MatcherTrials().run_all([*map(MatcherTrial, matchers)], how),
    )
    print_reports(chain(*reports), len(missing), len(there) + len(missing))
    print(write_page(options.directory, trials, shlex.join(["python", *sys.argv])))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=Path)
    parser.add_argument("--data", nargs="+", required=True, type=_set, metavar="SOURCE:PAIR")
    parser.add_argument(
        "--lexicons", default="", metavar="PATH", help="dictionaries, {pair} standing for the languages"
    )
    parser.add_argument("--systems", default=",".join(SYSTEMS), metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--only", metavar="LIST", help="run none but these now")
    parser.add_argument("--plan", type=Path, metavar="FILE", help="write what is to be run of the matchers, and stop")
    parser.add_argument("--pack", type=Path, metavar="FOLDER", help="with --plan: where what they learn from goes")
    options = parser.parse_args()
    if bool(options.plan) != bool(options.pack):
        parser.error("--plan and --pack go together")
    return options


def _set(text: str) -> tuple[str, Pair]:
    """``wikiclir:mdn:en-fr`` to its source and its pair."""
    source, _, pair = text.rpartition(":")
    return source, parse_pair(pair)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(str(error))
