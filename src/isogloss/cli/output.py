"""Output of commands: tables and notes for people, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file, refuse_existing
from isogloss.text.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

    from isogloss.data.problems import Problems


def console(stderr: bool = False) -> Console:
    """Where tables go. Output into a file or a pipe is not folded at 80 columns.

    What documents and names contain cannot command the terminal: see :func:`isogloss.text.visible.visible`.
    """
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    stream = sys.stderr if stderr else sys.stdout
    return SafeConsole(file=stream, highlight=False, width=None if stream.isatty() else 160)


def print_table(
    out: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Text]], left: int = 1
) -> None:
    """A plain table under its title, the first ``left`` columns aligned left, the others right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        made.add_column(escape(column), justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*(escape(cell) if isinstance(cell, str) else cell for cell in row))
    out.print(title, style="bold", markup=False)
    out.print(made)


def counted(count: int, thing: str) -> str:
    """How many there are of a thing.

    >>> counted(1, "document"), counted(2000, "document")
    ('1 document', '2,000 documents')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def counted_languages(counts: Mapping[str, int], most: int = 8) -> str:
    """How many documents there are, and of each language; of more than ``most`` languages the last ones together.

    >>> counted_languages({"fr": 80, "de": 38}), counted_languages({"fr": 1})
    ('118 documents: 80 in fr, 38 in de', '1 document in fr')
    >>> counted_languages({"fr": 80, "de": 38, "it": 2, "es": 1}, most=2)
    '121 documents: 80 in fr, 38 in de, 3 in 2 other languages'
    """
    shown = len(counts) if len(counts) <= most + 1 else most
    parts = [f"{count:,} in {language}" for language, count in counts.items()]
    if len(counts) > shown:
        rest = sum([*counts.values()][shown:])
        parts[shown:] = [f"{rest:,} in {len(counts) - shown} other languages"]
    total = counted(sum(counts.values()), "document")
    return f"{total}: {', '.join(parts)}" if len(parts) != 1 else f"{total} in {next(iter(counts))}"


def note(message: str, quiet: bool = False) -> None:
    """A remark beside the results."""
    if not quiet:
        print(visible(message), file=sys.stderr)


def note_problems(problems: Problems, quiet: bool, before: str = "", after: str = "", source: str = "") -> None:
    """A remark for each kind of validation problem: how often it was found, and the first; and one on skipped files.

    ``source`` has the skipped files.
    """
    first = {problem.kind: problem for problem in reversed(problems.kept)}
    for kind, times in (*problems.errors.items(), *problems.warnings.items()):
        note(f"{before}{times:,} x {kind}{after}{f', the first: {first[kind]}' if kind in first else ''}", quiet)
    if skipped := problems.told_skipped():
        note(f"{before}{skipped}{f'; all of them: isogloss data show {source}' if source else ''}", quiet)


def check_outputs(overwrite: bool, *targets: str | Path | None, source: str = "") -> None:
    """Refuse outputs that cannot be written, or would take the source with them, before the work is done, not after."""
    paths = [Path(target) for target in targets if target and target != "-"]
    read = Path("" if source == "demo" else source.partition(":")[2] or source)
    if len(set(paths)) != len(paths):
        raise InputError(f"{max(paths, key=paths.count)}: two outputs have this name; give each its own")
    for path in paths:
        refuse_existing(path, overwrite)
        folder = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
        if not folder.is_dir():
            raise InputError(f"{folder}: is a file, a directory is needed for {path.name}")
        if not os.access(folder, os.W_OK):
            raise InputError(f"{folder}: nothing may be written here, so {path.name} cannot be")
        for kept in (Path.cwd(), read):
            if path.is_dir() and kept.resolve().is_relative_to(path.resolve()):
                raise InputError(f"{path}: holds {kept}, which would be lost; choose another output")


def write_json(target: str, value: Any, overwrite: bool = False) -> None:
    """JSON to a file, or to standard output for ``-``."""
    ascii_only = target == "-" and not sys.stdout.encoding.lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=ascii_only, indent=2)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # half a surrogate pair: as JSON writes it
    if target == "-":
        print(visible_json(text) if sys.stdout.isatty() else text)
        return
    with atomic_file(Path(target), overwrite) as file:
        file.write(text + "\n")
