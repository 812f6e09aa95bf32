"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from isogloss.base.errors import InputError

SOURCE_HELP = "wikiclir:DIR, beir:DIR, trec:DIR, jsonl:FILE, folder:DIR, irds:NAME or demo"


def add_data(parser: argparse.ArgumentParser) -> None:
    """--data, --pair and what goes with reading a pair."""
    parser.add_argument("--data", required=True, metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument("--pair", required=True, help="query language and document language, like en-fr")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """--seed and --skip-bad."""
    parser.add_argument("--seed", type=int, default=0, help="fixes splits and samples (default 0)")
    parser.add_argument(
        "--skip-bad", action="store_true", help="skip lines that are wrong, and count them, instead of stopping"
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """--set."""
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="[NAME.]KEY=VALUE",
        help="an option of a system (see 'isogloss systems NAME'); NAME. is needed with several systems",
    )  # fmt: skip


def add_output(parser: argparse.ArgumentParser, required: bool = True, what: str = "where to write") -> None:
    """-o and --overwrite."""
    parser.add_argument("-o", "--output", required=required, metavar="PATH", help=what)
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace an existing output; the old one stays until the new one is complete",
    )


def settings_for(name: str, systems: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """What --set says of one system."""
    found = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"--set: {setting!r} is not written KEY=VALUE")
        prefix = next((system for system in systems if key.startswith(f"{system}.")), None)
        if prefix is None and len(systems) > 1:
            raise InputError(f"--set: with several systems write NAME.{key}=…, NAME being one of {', '.join(systems)}")
        if prefix in (None, name):
            found[key.removeprefix(f"{name}.")] = value
    return found
