"""``isogloss systems``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from isogloss.cli.options import add_json, add_overwrite
from isogloss.cli.output import check_outputs, console, print_table, write_json

if TYPE_CHECKING:
    from isogloss.systems.base import System

EXAMPLE = """\
  isogloss systems
  isogloss systems bm25-dict
  isogloss systems --json -"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    parser.add_argument("system", nargs="?", metavar="NAME", help="show this system's options")
    add_json(parser, "them")
    add_overwrite(parser)


def run(options: argparse.Namespace) -> None:
    """List the systems, or one with its options."""
    from isogloss.systems.registry import SYSTEMS, system_type, system_types

    check_outputs(options.overwrite, options.json)
    systems = [system_type(options.system)] if options.system else system_types()
    described = [_describe(system) for system in systems]
    if options.json:
        write_json(options.json, described[0] if options.system else described, options.overwrite)
    if options.json == "-":
        return
    from rich.markup import escape

    out = console()
    if not options.system:
        core = [system for system in described if system["name"] in SYSTEMS.core]
        others = [system for system in described if system["name"] not in SYSTEMS.core]
        for title, group in (("systems", core), ("systems of the papers, and of other packages", others)):
            rows = [(system["name"], system["summary"], system["paper"]) for system in group]
            print_table(out, title, ("name", "what it does", "paper"), rows, left=3)
        return
    system = described[0]
    title = f"[bold]{escape(system['name'])}[/bold]: {escape(system['summary'])}"
    out.print(f"{title}\n{escape(system['paper'])}")
    rows = [(option["name"], str(option["default"]), option["help"]) for option in system["options"]]
    print_table(out, "options (--set NAME=VALUE)", ("name", "default", "meaning"), rows, left=3)
    if system["paper_grid"]:
        chosen = [(name, "; ".join(values)) for name, values in system["paper_grid"].items()]
        print_table(out, "what the paper chose from (train --grid paper)", ("name", "values"), chosen, left=2)


def _describe(system: type[System]) -> dict[str, Any]:
    options = [{"name": key, "default": default, "help": text} for key, default, text in system.options_type.describe()]
    return {
        "name": system.name, "summary": system.summary, "paper": system.paper, "options": options,
        "paper_grid": {key: list(values) for key, values in system.paper_grid.items()},
    }  # fmt: skip
