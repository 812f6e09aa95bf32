"""Which segments of an index are merged, and when.

A language with more than eight segments has its smallest ones merged, as many as are needed and as are not larger than
all before them together: so a document is copied a number of times that grows with the logarithm of their number. A
segment of which a quarter is deleted is written anew without that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from isogloss.index.commit import Commit, LanguageEntry

MOST_SEGMENTS = 8
_LEFT = MOST_SEGMENTS // 2
MOST_DELETED = 0.25


class Merge(NamedTuple):
    """The segments of a language that are to become one."""

    language: str
    names: tuple[str, ...]


def choose_merge(commit: Commit) -> Merge | None:
    """What should be merged next, if anything."""
    for language, entry in commit.languages.items():
        if len(entry.segments) > MOST_SEGMENTS:
            return Merge(language, _smallest(entry))
        for segment in entry.segments:
            if segment.deleted >= max(1, MOST_DELETED * segment.documents):
                return Merge(language, (segment.name,))
    return None


def merge_all(commit: Commit) -> Iterator[Merge]:
    """Every language whose documents are not in one segment without deleted ones."""
    for language, entry in commit.languages.items():
        if len(entry.segments) > 1 or any(segment.deleted for segment in entry.segments):
            yield Merge(language, tuple(segment.name for segment in entry.segments))


def _smallest(entry: LanguageEntry) -> tuple[str, ...]:
    by_size = sorted(entry.segments, key=lambda segment: segment.live)
    count = len(by_size) - _LEFT
    while count < len(by_size) and by_size[count].live <= sum(segment.live for segment in by_size[:count]):
        count += 1
    chosen = {segment.name for segment in by_size[:count]}
    return tuple(segment.name for segment in entry.segments if segment.name in chosen)
