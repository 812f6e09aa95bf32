"""What commands print: tables and notes for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.base.files import atomic_file

if TYPE_CHECKING:
    from rich.console import Console


def console(stderr: bool = False) -> Console:
    """Where tables go. Output into a file or a pipe is not folded at 80 columns."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else 160)


def print_table(out: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A plain table under its title, the first ``left`` columns aligned left, the others right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        made.add_column(escape(column), justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*(escape(cell) for cell in row))
    out.print(title, style="bold", markup=False)
    out.print(made)


def note(message: str, quiet: bool = False) -> None:
    """A remark beside the results."""
    if not quiet:
        print(message, file=sys.stderr)


def write_json(target: str, value: Any) -> None:
    """JSON to a file, or to standard output for ``-``."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if target == "-":
        print(text)
        return
    with atomic_file(Path(target)) as file:
        file.write(text + "\n")
