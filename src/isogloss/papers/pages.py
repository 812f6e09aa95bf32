"""What an item of ``reproduce`` leaves to read: a Markdown page, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.storage.files import atomic_file


@dataclass(frozen=True)
class Page:
    """The text of an item and its numbers."""

    text: str
    values: Mapping[str, Any]

    def save(self, directory: Path, item: str) -> None:
        """Write ``ITEM.md`` and ``ITEM.json``."""
        values = {"item": item, **self.values}
        for kind, content in (("md", self.text), ("json", json.dumps(values, indent=1))):
            with atomic_file(directory / f"{item}.{kind}") as file:
                file.write(content.rstrip() + "\n")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, the first column to the left, the others to the right.

    >>> print(markdown_table(("loss", "MAP"), [("SOSL", "0.841")]))
    | loss | MAP |
    |---|--:|
    | SOSL | 0.841 |
    """
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    rule = "|" + "|".join(lines[1]) + "|"
    return "\n".join(rule if line is lines[1] else f"| {' | '.join(line)} |" for line in lines)
