"""Validation problems of data: raised at once, or collected."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location

_KEPT_PER_KIND = 20


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
    skipped and counted. Warnings are always counted only. The first few of each kind are kept in full.
    """

    def __init__(self, stop_at_errors: bool = True) -> None:
        self.stop_at_errors = stop_at_errors
        self.errors: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.kept: list[Problem] = []

    def error(self, location: Location, kind: str, message: str) -> None:
        """Report a record that cannot be used."""
        problem = Problem(location, kind, message, fatal=True)
        if self.stop_at_errors:
            raise InputError(str(problem))
        self._keep(problem, self.errors)

    def warn(self, location: Location, kind: str, message: str) -> None:
        """Report a record that is odd but usable."""
        self._keep(Problem(location, kind, message, fatal=False), self.warnings)

    def broken_text(self, location: Location, message: str) -> None:
        """Report an error of :func:`isogloss.storage.lines.read_lines`."""
        self.error(location, "broken UTF-8", message)

    def _keep(self, problem: Problem, counts: Counter[str]) -> None:
        counts[problem.kind] += 1
        if counts[problem.kind] <= _KEPT_PER_KIND:
            self.kept.append(problem)
