"""What the documentation site has beside the pages of ``docs/``: references made from the code, and project pages.

``mkdocs.yml`` names this file as a hook. The generated pages are never written into ``docs/``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import isogloss
from isogloss.cli.main import COMMANDS, add_module
from isogloss.systems.registry import system_types

_PROJECT_PAGES = {"CHANGELOG.md": "project/changelog.md", "CONTRIBUTING.md": "project/contributing.md"}
_DOCTEST = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_FENCE_MARKS = re.compile(r"^(\s*```\w+) [\w -]+$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    root = Path(config.config_file_path).parent
    generated = {
        "reference/commands.md": command_reference(),
        "reference/api.md": api_reference(),
        "reference/systems.md": system_reference(),
    }
    for name, page in _PROJECT_PAGES.items():
        generated[page] = (root / name).read_text(encoding="utf-8").replace("](docs/", "](../")
    for page, text in generated.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Remove the words after a fence's language (``not-run``), which are for ``run_examples.py``."""
    return _FENCE_MARKS.sub(r"\1", markdown)


class Doctests(griffe.Extension):
    """Shows the doctests of a docstring as code; without a heading above them they would be quotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put fences around every doctest."""
        if obj.docstring:
            obj.docstring.value = _DOCTEST.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)


def api_reference() -> str:
    """The page of all public names, for mkdocstrings to fill in."""
    names = [name for name in vars(isogloss)["__all__"] if not name.startswith("_")]
    entries = "\n\n".join(f"::: isogloss.{name}" for name in names)
    return (
        "# Python reference\n\n"
        "Every public name of the package `isogloss`. The guide [Use it from Python](../guides/python.md) has examples."
        f"\n\n{entries}\n"
    )


def system_reference() -> str:
    """The page of all systems and their options, made from the registry."""
    types = system_types()
    rows = [
        f"| [`{each.name}`](#{each.name}) | {_escaped(each.summary)} | {'yes' if each.learns is True else 'no'} "
        f"| {_escaped(each.paper)} |"
        for each in types
    ]
    sections = [
        f"## {each.name}\n\n{_escaped(each.summary)[:1].upper()}{_escaped(each.summary)[1:]}.\n\n"
        + "\n".join(["| option | default | meaning |", "|---|---|---|"])
        + "".join(
            f"\n| `{name}` | `{value!r}` | {_escaped(text)} |" for name, value, text in each.options_type.describe()
        )
        for each in types
    ]
    table = "\n".join(["| system | what it does | trained | paper |", "|---|---|---|---|", *rows])
    return "\n\n".join(["# Systems", "`isogloss systems NAME` prints the same.", table, *sections]) + "\n"


def command_reference() -> str:
    """The page of all commands, made from their argument parsers."""
    commands = argparse.ArgumentParser(prog="isogloss").add_subparsers()
    for name in COMMANDS.names():
        add_module(commands, name)
    sections = [section for parser in commands.choices.values() for section in _sections(parser, 2)]
    return "\n\n".join(["# Commands", "Every command also prints this text with `--help`.", *sections]) + "\n"


def _sections(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    """A heading, the usage, the arguments and the example of a command; then the same of its sub-commands."""
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    yield f"{'#' * level} {parser.prog}\n\n{_escaped(parser.description or '')}\n\n```text\n{usage}\n```"
    nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    hidden = (argparse._HelpAction, argparse._SubParsersAction)
    rows = [_row(action) for action in parser._actions if not isinstance(action, hidden)]
    if rows:
        yield "\n".join(["| argument | meaning |", "|---|---|", *rows])
    if parser.epilog:
        title, _, text = parser.epilog.partition("\n")
        yield f"{title.capitalize()}\n\n```sh\n{text}\n```"
    for action in nested:
        for child in action.choices.values():
            yield from _sections(child, level + 1)


def _row(action: argparse.Action) -> str:
    """An argument as a row of a table."""
    value = "" if action.nargs == 0 else str(action.metavar or "")
    if not value and action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not value and action.nargs != 0:
        value = action.dest.upper()
    names = ", ".join(f"`{f'{option} {value}'.strip()}`" for option in action.option_strings) or f"`{value}`"
    meaning = (action.help or "") % vars(action)
    return f"| {names.replace('|', chr(92) + '|')} | {_escaped(meaning)} |"


def _escaped(text: str) -> str:
    """Text of a help message as Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))
