"""Validation problems of data: raised at once, or collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import NamedTuple

from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location

_KEPT_PER_KIND = 20
_NAMED, _ENDINGS = 5, 12  # how many are told of skipped files of each reason, and of their endings
OTHER_KIND = "of kinds that are not read"
"""The reason for which most files of a folder are skipped."""
UNREADABLE = "unreadable"
"""The reason for which files and folders are skipped that only cannot be read now: they are not gone."""


class Problem(NamedTuple):
    """A problem: its location, kind and message, and whether the record cannot be used."""

    location: Location
    kind: str
    message: str
    fatal: bool

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


class Problems:
    """Collects problems.

    Errors make a record unusable: with ``stop_at_errors`` the first raises :class:`InputError`, otherwise the record is
    skipped and counted. Warnings are always counted only. The first few of each kind are kept in full. Files of a
    folder that are not read are skipped, whatever else: each is kept, once, with its reason.
    """

    def __init__(self, stop_at_errors: bool = True) -> None:
        self.stop_at_errors = stop_at_errors
        self.errors: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.kept: list[Problem] = []
        self.skipped: dict[Path, Problem] = {}

    def error(self, location: Location, kind: str, message: str) -> None:
        """Report a record that cannot be used."""
        problem = Problem(location, kind, message, fatal=True)
        if self.stop_at_errors:
            raise InputError(str(problem))
        self._keep(problem, self.errors)

    def warn(self, location: Location, kind: str, message: str) -> None:
        """Report a record that is odd but usable."""
        self._keep(Problem(location, kind, message, fatal=False), self.warnings)

    def skip(self, location: Location, reason: str, message: str) -> None:
        """Report a file that is not read."""
        self.skipped.setdefault(location.path, Problem(location, reason, message, fatal=False))

    def skipped_by_reason(self) -> dict[str, list[Problem]]:
        """The files that are not read: those of the most frequent reason first."""
        found: dict[str, list[Problem]] = {}
        for problem in self.skipped.values():
            found.setdefault(problem.kind, []).append(problem)
        return dict(sorted(found.items(), key=lambda each: (-len(each[1]), each[0])))

    def told_skipped(self) -> str:
        """How many files are not read, by reasons, with some of their names, in one line; empty where all are.

        Of kinds that are not read their endings are counted.
        """
        parts = []
        for reason, problems in self.skipped_by_reason().items():
            names = [problem.location.path.name for problem in problems]
            more = ", …" if len(names) > _NAMED else ""
            listed = endings_of(names) if reason == OTHER_KIND else ", ".join(names[:_NAMED]) + more
            parts.append(f"{len(problems):,} {reason} ({listed})")
        count = len(self.skipped)
        return f"{count:,} {'file' if count == 1 else 'files'} skipped: {'; '.join(parts)}" if parts else ""

    def broken_text(self, location: Location, message: str) -> None:
        """Report an error of :func:`isogloss.storage.lines.read_lines`."""
        self.error(location, "broken UTF-8", message)

    def _keep(self, problem: Problem, counts: Counter[str]) -> None:
        counts[problem.kind] += 1
        if counts[problem.kind] <= _KEPT_PER_KIND:
            self.kept.append(problem)


def endings_of(names: Iterable[str]) -> str:
    """How many files have which ending, in one line: the most frequent first.

    >>> endings_of(["a.png", "b.PNG", "c.css", "Makefile"])
    '2 .png, 1 .css, 1 without an ending'
    """
    found = Counter(PurePath(name).suffix.lower()[:20] or "without an ending" for name in names).most_common()
    listed = ", ".join(f"{count:,} {ending}" for ending, count in found[:_ENDINGS])
    return f"{listed}, …" if len(found) > _ENDINGS else listed
