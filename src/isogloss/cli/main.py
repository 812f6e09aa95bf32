"""``isogloss``: finds the command, runs it, prints errors of the input as one line, with exit status 2."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

import isogloss
from isogloss.storage.errors import InputError, too_many_files
from isogloss.storage.plugins import PluginGroup, described, missing_attribute, missing_text
from isogloss.storage.progress import set_quiet
from isogloss.storage.wording import at_the_command_line
from isogloss.text.visible import visible

_SUMMARIES = {
    "demo": "the bundled collection: evaluate on it, answer a few queries",
    "systems": "every system, its paper, its options and defaults",
    "languages": "what is at hand for each language: dictionaries, stems, encoder; what can be installed",
    "data": "inspect data, make judgments from links, convert, make candidate lists",
    "train": "train a system on graded judgments",
    "evaluate": "how well systems rank: measures, run files, significance",
    "index": "make an index of documents to search in",
    "add": "add documents to an index, or replace them",
    "delete": "delete documents from an index",
    "sync": "bring an index up to date with the folders and files that it was made of",
    "list": "list the documents of an index",
    "info": "what an index is made of, with what, how large, and when",
    "check": "compare every file of an index with its checksum; mend what can be mended",
    "re-encode": "encode the documents of an index by another model",
    "search": "search an index",
    "serve": "answer over HTTP, with a page to search in",
    "mcp": "answer assistants (Model Context Protocol): search, read, explain",
}
"""The commands of the core and what each is for, so that ``isogloss --help`` imports none of them."""


def _find_fault(name: str, module: Any) -> str:
    return missing_text(module, ("SUMMARY", "EXAMPLE")) or missing_attribute(module, ("add_arguments",))


COMMANDS = PluginGroup(
    "isogloss.commands",
    "command",
    {name: f"isogloss.cli.{name.replace('-', '_')}" for name in _SUMMARIES},
    _find_fault,
)
"""The commands by name. Each is a module with ``EXAMPLE``, ``add_arguments`` and, unless it has sub-commands, ``run``;
outside the core also with ``SUMMARY``."""
_LONGEST_ERROR = 4_000  # characters
_CHANGE_AN_INDEX = ("add", "delete", "sync", "check", "re-encode")
_ENGINE = "ISOGLOSS_ENGINE"  # of isogloss.engines.addresses, which is not needed for most commands
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command in one line, without the usage in front of it."""

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2]
        raise InputError(f"{command and f'{command}: '}{message}; see '{self.prog} --help'")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    options = argparse.Namespace(debug="--debug" in arguments)
    _mend_streams()
    try:
        try:
            options = _parse(arguments)
            set_quiet(options.quiet)
            if options.run is None:
                raise InputError(f"{options.command}: its module has neither run nor commands of its own")
            with _naming_the_engine(getattr(options, "named_engine", None)), at_the_command_line():
                return int(options.run(options) or 0)
        finally:
            sys.stdout.flush()  # now, while a full disk or a reader that has gone can still be told
    except InputError as error:
        return _fail(str(error), options.debug)
    except KeyboardInterrupt:
        return _fail("interrupted", options.debug, 130)
    except BrokenPipeError:
        _give_up_output()  # the reader of our output has gone: nothing to say
        return 141
    except OSError as error:
        _give_up_output()
        return _fail(_what_failed(error, options), options.debug)


def add_module(commands: Commands, name: str) -> None:
    """Import the module of a command and add what it defines."""
    module = COMMANDS.load(name)
    summary = _SUMMARIES.get(name) or module.SUMMARY
    parser = add_command(commands, name, summary, module.EXAMPLE, getattr(module, "run", None))
    try:
        module.add_arguments(parser)
    except Exception as error:
        if name in COMMANDS.core:
            raise
        raise InputError(f"{name}: add_arguments of {module.__name__} fails ({described(error)})") from error


def add_command(
    commands: Commands, name: str, summary: str, example: str, run: Callable[[argparse.Namespace], int | None] | None
) -> argparse.ArgumentParser:
    """Add a parser with what all commands have: an example in its help, --quiet and --debug."""
    parser = commands.add_parser(
        name,
        help=summary.replace("%", "%%"),  # which argparse formats, but not the description
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    _add_common(parser)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    # Without defaults of their own: a command's would undo an option before its name.
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="no progress, no remarks")
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser: argparse.ArgumentParser = Parser(
        prog="isogloss",
        description="Search documents in one language with queries in another.",
        epilog="example:\n  isogloss demo",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"isogloss {isogloss.__version__}")
    _add_common(parser)
    parser.set_defaults(quiet=False, debug=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, summary in _known_commands(wanted).items():
        # Only the module of the wanted command is imported, so that start-up does not grow with their number.
        if name == wanted:
            add_module(commands, name)
        else:
            commands.add_parser(name, help=summary.replace("%", "%%"))
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        command = " ".join(filter(None, (options.command, getattr(options, "part", None))))
        raise InputError(f"{command}: unknown argument {unknown[0]!r}; see 'isogloss {command} --help'")
    return options


def _known_commands(wanted: str | None) -> dict[str, str]:
    """The commands with their summaries; those outside the core only where they are asked for."""
    if wanted in _SUMMARIES:
        return _SUMMARIES
    if wanted is not None:
        return _SUMMARIES | dict.fromkeys(COMMANDS.plugin_names(), "")
    return _SUMMARIES | {name: module.SUMMARY for name, module in COMMANDS.load_plugins()}


@contextmanager
def _naming_the_engine(url: str | None) -> Iterator[None]:
    """Let --engine be known to all that the command starts: the workers of a service are processes of their own."""
    before = os.environ.get(_ENGINE)
    os.environ |= {_ENGINE: url} if url else {}
    try:
        yield
    finally:
        os.environ.pop(_ENGINE, None)
        os.environ |= {_ENGINE: before} if before is not None else {}


def _fail(message: str, debug: bool, status: int = 2) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    print(f"isogloss: {visible(' '.join(message.split())[:_LONGEST_ERROR])}", file=sys.stderr)
    return status


def _what_failed(error: OSError, options: argparse.Namespace) -> str:
    """An error of the system in words; a full disk does not name the file that was being written."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return str(too_many_files(error.errno))
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    if error.errno not in (None, errno.ENOSPC, errno.EFBIG, errno.EDQUOT):  # None is numpy's
        return error.strerror or str(error)
    named = (getattr(options, name, None) for name in ("output", "run_file", "json"))
    outputs = ", ".join("standard output" if name == "-" else name for name in named if name)
    changes = getattr(options, "command", "") in _CHANGE_AN_INDEX
    where = outputs or (options.index if changes else "standard output")
    return f"{where}: could not be written ({error.strerror or error}); is the disk full?"


def _mend_streams() -> None:
    """A closed stream becomes an empty one; letters that the terminal cannot show are shown by their numbers."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _give_up_output() -> None:
    """Drop what standard output does not take; else the interpreter would try again, and complain, at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
