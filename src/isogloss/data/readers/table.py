"""Tab-separated lines with a fixed number of fields, checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from isogloss.data.documents import Judgment
from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, read_lines


def read_table(path: Path, names: tuple[str, ...], problems: Problems) -> Iterator[tuple[Location, list[str]]]:
    """The fields of each line; the last may contain tabs. Empty lines are skipped."""
    for location, line in read_lines(path, problems.broken_text):
        if not line.strip():
            continue
        fields = line.split("\t", len(names) - 1)
        if len(fields) != len(names) or not fields[0].strip():
            wanted = ", ".join(names)
            problems.error(location, "malformed line", f"expected {wanted} separated by tabs, got {line[:60]!r}")
            continue
        yield location, fields


def read_judgments(
    path: Path, problems: Problems, allowed: frozenset[str] | None = None
) -> Iterator[tuple[Location, Judgment]]:
    """``query id, document id, grade`` lines; a grade is any integer (below 0 counts as 0) or one of ``allowed``."""
    for location, (query, document, grade) in read_table(path, ("query id", "document id", "grade"), problems):
        number = parse_grade(location, grade, problems, allowed)
        if number is not None:
            yield location, Judgment(query, document, number)


def parse_grade(
    location: Location, grade: str, problems: Problems, allowed: frozenset[str] | None = None
) -> int | None:
    """A grade, or None once the problem is reported."""
    grade = grade.strip()
    if allowed is not None and grade not in allowed:
        problems.error(location, "wrong grade", f"grade {grade[:30]!r} is not one of {', '.join(sorted(allowed))}")
        return None
    try:
        return max(0, int(grade))
    except ValueError:
        problems.error(location, "wrong grade", f"grade {grade[:30]!r} is not an integer")
        return None


def one_line(text: str) -> str:
    """A text without tabs and line breaks, fit for a table."""
    return " ".join(text.replace("\0", " ").split())


def table_id(id_: str, spaces: bool = True) -> str:
    """An id as it may be in a table; without ``spaces`` in one whose columns are separated by spaces."""
    if id_ != id_.strip() or any(sign in id_ for sign in "\t\r\n\0") or not (spaces or len(id_.split()) == 1):
        raise InputError(f"id {id_!r}: has white space, which this format cannot have; write jsonl: or rename it")
    return id_
