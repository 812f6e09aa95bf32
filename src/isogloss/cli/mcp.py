"""``isogloss mcp``."""

from __future__ import annotations

import argparse
import sys

from isogloss.cli.options import add_index
from isogloss.cli.output import note

EXAMPLE = """\
  isogloss mcp my-index    # the command that a client of the protocol is told to start"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)


def run(options: argparse.Namespace) -> None:
    """Serve the tools search, read and explain over standard input and output until the client leaves."""
    from isogloss.integrations.mcp import make_server
    from isogloss.search.public import Index

    with Index.open(options.index) as index:
        server = make_server(index)
        if sys.stdin.isatty():
            note("a client speaks with this over standard input and output; Ctrl-C ends it", options.quiet)
        server.run()
