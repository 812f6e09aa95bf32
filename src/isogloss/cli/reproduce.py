"""``isogloss reproduce adhoc | smooth | layerwise | bridge``."""

from __future__ import annotations

import argparse

from isogloss.cli import reproduce_adhoc, reproduce_bridge, reproduce_layerwise, reproduce_smooth
from isogloss.cli.main import add_command

_EXAMPLE = """\
  isogloss reproduce adhoc toy --data demo --pair en-fr -o toy
  isogloss reproduce smooth table1 --data demo --pair en-fr --pair en-sw -o smooth
  isogloss reproduce layerwise table1 --data wikiclir:DIR --pair en-zh -o layerwise
  isogloss reproduce bridge --data demo --pair en-fr -o bridge"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command, its papers and the house's own system."""
    parser = add_command(commands, name, summary, _EXAMPLE)
    papers = parser.add_subparsers(dest="part", metavar="adhoc|smooth|layerwise|bridge", required=True)
    reproduce_adhoc.add_to(papers)
    reproduce_smooth.add_to(papers)
    reproduce_layerwise.add_to(papers)
    reproduce_bridge.add_to(papers)
