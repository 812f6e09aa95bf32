"""Compiled code for impact lists (extra ``fast``): the search for the best documents, and the sorting of postings.

:mod:`isogloss.retrieval.impacts` says what is computed. Within a chunk, documents are taken 4,096 at a time, so that
their sums stay in the processor's nearest cache, and so that each window profits from the best documents of those
before it. Sums are indexed by the two bytes of a posting: damaged postings give wrong scores, but are never outside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.compiled import Best, gallop, take
from isogloss.storage.compiled import compiled

CHUNK = 1 << 16
_WINDOW = 1 << 12
_POSTINGS_A_LOOKUP = 8  # that are read as fast as one is looked up

Numbers = NDArray[np.int64]
Ids = NDArray[np.int32]


class Lists(NamedTuple):
    """The arrays of ``ImpactLists``, read-only, without ``lists``."""

    chunks: Ids
    starts: Numbers
    sizes: Ids
    tops: NDArray[np.uint8]
    documents: NDArray[np.uint16]
    levels: NDArray[np.uint8]


class Rows(NamedTuple):
    """The documents of a part: the row of the first, their number, which rows are allowed (empty: all), their order."""

    start: int
    size: int
    allowed: NDArray[np.bool_]
    id_order: Numbers


class _Chunk(NamedTuple):
    """The lists of a query in one chunk, ascending by what each adds at most; ``reach[i]`` is that of the first i.

    ``at`` is the next posting of a list, ``ends`` the one after its last, ``table`` the row of its table.
    """

    at: Numbers
    ends: Numbers
    table: Numbers
    bounds: Numbers
    reach: Numbers


class _Window(NamedTuple):
    """The sums of a chunk's documents, 0 between two windows; the documents that may be among the best."""

    sums: Ids
    candidates: Ids


@compiled
def search_part(lists: Lists, entries: Numbers, tables: Ids, rows: Rows, best: Best, count: int) -> int:
    """Insert the documents of a part into the best, of which there are ``count``; the new count.

    ``entries`` are the first entry of each dimension of the query, and the one after its last.
    """
    window = _Window(np.zeros(CHUNK, np.int32), np.zeros(_WINDOW, np.int32))
    here, number = entries[:, 0].copy(), len(entries)
    of_chunk = _Chunk(
        np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number, np.int64),
        np.zeros(number, np.int64), np.zeros(number + 1, np.int64),
    )  # fmt: skip
    while True:
        chunk = -1
        for i in range(number):
            if here[i] < entries[i, 1] and (chunk < 0 or lists.chunks[here[i]] < chunk):
                chunk = lists.chunks[here[i]]
        if chunk < 0:
            return count
        found = _take_entries(lists, entries, tables, here, chunk, of_chunk)
        last = min(CHUNK, rows.size - chunk * CHUNK)
        for low in range(0, last, _WINDOW):
            high = min(last, low + _WINDOW)
            taken = _search_window(lists, tables, of_chunk, found, low, high, _least(best, count), window)
            for document in window.candidates[:taken]:
                row = rows.start + chunk * CHUNK + document
                if len(rows.allowed) == 0 or rows.allowed[row]:
                    count = take(window.sums[document], row, rows.id_order, best, count)
            window.sums[low:high] = 0


@compiled
def _search_window(
    lists: Lists, tables: Ids, of_chunk: _Chunk, found: int, low: int, high: int, least: int, window: _Window
) -> int:
    """Find the documents of a window that may be among the best, and their sums; how many there are."""
    skipped = 0
    while skipped < found and of_chunk.reach[skipped + 1] < least:
        skipped += 1
    for i in range(skipped, found):
        _add(lists, tables, of_chunk, i, high, window.sums)
    taken = _collect(window, low, high, least - of_chunk.reach[skipped]) if skipped < found else 0
    for i in range(skipped - 1, -1, -1):
        taken = _look_up(lists, tables, of_chunk, i, low, high, least, window, taken)
    return taken


@compiled
def _least(best: Best, count: int) -> int:
    """The least score that can be among the best."""
    return int(best.scores[0]) if count == len(best.scores) else 1


@compiled
def _take_entries(lists: Lists, entries: Numbers, tables: Ids, here: Numbers, chunk: int, into: _Chunk) -> int:
    """Insert the entries of a chunk in ascending order of their bounds; how many there are."""
    found = 0
    for i in range(len(entries)):
        if here[i] >= entries[i, 1] or lists.chunks[here[i]] != chunk:
            continue
        entry, position = here[i], found
        here[i] += 1
        bound = tables[i, lists.tops[entry]]
        while position > 0 and into.bounds[position - 1] > bound:
            for array in (into.at, into.ends, into.table, into.bounds):
                array[position] = array[position - 1]
            position -= 1
        into.at[position], into.ends[position] = lists.starts[entry], lists.starts[entry] + lists.sizes[entry]
        into.table[position], into.bounds[position] = i, bound
        found += 1
    for i in range(found):
        into.reach[i + 1] = into.reach[i] + into.bounds[i]
    return found


@compiled
def _add(lists: Lists, tables: Ids, of_chunk: _Chunk, i: int, high: int, sums: Ids) -> None:
    """Add what a list gives to the documents before ``high``."""
    documents, levels = lists.documents, lists.levels
    table, at, end = tables[of_chunk.table[i]], of_chunk.at[i], of_chunk.ends[i]
    while at < end and documents[at] < high:
        sums[documents[at]] += table[levels[at]]
        at += 1
    of_chunk.at[i] = at


@compiled
def _collect(window: _Window, low: int, high: int, enough: int) -> int:
    """Find the documents whose sums are above 0 and high enough; how many there are."""
    taken, enough = 0, max(enough, 1)
    for document in range(low, high):
        window.candidates[taken] = document
        taken += window.sums[document] >= enough
    return taken


@compiled
def _look_up(
    lists: Lists, tables: Ids, of_chunk: _Chunk, i: int, low: int, high: int, least: int, window: _Window, taken: int
) -> int:
    """Add what a list gives to the candidates; how many can still be among the best."""
    documents, sums, kept = lists.documents, window.sums, 0
    at = of_chunk.at[i] = gallop(documents, of_chunk.at[i], of_chunk.ends[i], low)
    end = gallop(documents, at, of_chunk.ends[i], high)
    if 0 < end - at < _POSTINGS_A_LOOKUP * taken:
        _add(lists, tables, of_chunk, i, high, sums)
    else:
        for position in range(taken):
            document = window.candidates[position]
            at = gallop(documents, at, end, document)
            if at < end and documents[at] == document:
                sums[document] += tables[of_chunk.table[i], lists.levels[at]]
        of_chunk.at[i] = end
    enough = least - of_chunk.reach[i]
    for position in range(taken):
        document = window.candidates[position]
        window.candidates[kept] = document
        kept += sums[document] >= enough
    return kept


@compiled
def sort_run(
    dimensions: Ids, run_levels: NDArray[np.uint8], run_ends: Numbers, free: Numbers,
    documents: NDArray[np.uint16], levels: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Write the postings of a run by dimension, those of each from ``free`` on."""
    begin = 0
    for document in range(len(run_ends)):
        for posting in range(begin, run_ends[document]):
            at = free[dimensions[posting]]
            documents[at], levels[at] = document, run_levels[posting]
            free[dimensions[posting]] = at + 1
        begin = run_ends[document]
