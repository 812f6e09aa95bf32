"""``isogloss``: finds the command, runs it, turns what the user can mend into one line and exit status 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import isogloss
from isogloss.base.errors import InputError
from isogloss.base.progress import set_quiet

COMMANDS = {
    "demo": "the bundled collection: evaluate on it, answer a few queries",
    "systems": "every system, its paper, its options and defaults",
    "data": "look at data, make judgments from links, convert, make candidate lists",
    "evaluate": "how well systems rank: measures, run files, significance",
    "index": "make an index of documents to search in",
    "search": "search an index",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(arguments)
    options = parser.parse_args(arguments)
    set_quiet(getattr(options, "quiet", False))
    try:
        return int(options.run(options) or 0)
    except InputError as error:
        return _fail(str(error), options.debug)
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # the reader of our output has gone: nothing to say
        return 141
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", options.debug)


def _fail(message: str, debug: bool) -> int:
    if debug:
        raise  # noqa: PLE0704 - called from the except blocks of main only
    print(f"isogloss: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="isogloss",
        description="Search documents in one language with queries in another.",
        epilog="Start with: isogloss demo",
    )
    parser.add_argument("--version", action="version", version=f"isogloss {isogloss.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, summary in COMMANDS.items():
        # Only the asked command's module is imported, so that start-up does not grow with the number of commands.
        if name == wanted:
            import_module(f"isogloss.cli.{name}").add_to(commands, name, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str, example: str
) -> argparse.ArgumentParser:
    """A parser for a command with what all have: an example in its help, --quiet and --debug."""
    parser = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n{example}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress, no remarks")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser
