"""Compiled code of ``bridge`` (extra ``fast``): the expansion of documents, and the match statistics of some of them.

Both read documents token by token, through windows over their words: the passages. What they compute is said in
:mod:`isogloss.systems.bridge.expansion` and :mod:`isogloss.systems.bridge.matching`. Numbers that come from files are
compared with the sizes of the arrays that they point into.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled_arithmetic

_BITS, _LOWEST = 19, (0x3F800000 >> 19) - 255  # as in expansion.py

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
Ids = NDArray[np.int32]
Levels = NDArray[np.uint8]


class Scratch(NamedTuple):
    """For each dimension a sum in a passage and a level in a document, 0 between two uses; and which are not 0."""

    sums: Doubles
    highest: Levels
    in_passage: Ids
    in_document: Ids


@compiled_arithmetic
def expand_documents(
    ids: Ids, offsets: Numbers, known: Ids, passage: int, by_term: tuple[Numbers, Ids, Floats],
    listed: NDArray[np.bool_], base: int, scratch: Scratch, times: Numbers,
    dimensions: Ids, levels: Levels, ends: Numbers,
) -> int:  # fmt: skip
    """Write the postings of documents as long as there is room for all dimensions; how many documents were done."""
    starts, words, probabilities = by_term
    sums, highest, in_passage, in_document = scratch
    written = 0
    for document in range(len(offsets) - 1):
        if written + len(sums) > len(levels) and document > 0:
            return document
        begin, end = offsets[document], offsets[document + 1]
        found = 0
        for window in range(_windows(end - begin, passage)):
            first, last = _window(begin, end, passage, window)
            touched = 0
            for position in range(first, last):
                term = ids[position]
                times[term] += 1
                for pair in range(starts[known[term]], starts[known[term] + 1]):
                    word = words[pair]
                    if sums[word] == 0:
                        in_passage[touched] = word
                        touched += 1
                    sums[word] += probabilities[pair]
                if listed[term]:
                    if sums[base + term] == 0:
                        in_passage[touched] = base + term
                        touched += 1
                    sums[base + term] += 1
            for number in range(touched):
                dimension = in_passage[number]
                level = _level(sums[dimension] / (last - first))
                sums[dimension] = 0
                if highest[dimension] == 0:
                    in_document[found] = dimension
                    found += 1
                highest[dimension] = max(highest[dimension], level)
        for number in range(found):
            dimensions[written], levels[written] = in_document[number], highest[in_document[number]]
            highest[in_document[number]] = 0
            written += 1
        ends[document] = written
    return len(offsets) - 1


@compiled_arithmetic
def _windows(length: int, words: int) -> int:
    """The number of passages of a document."""
    return 1 if words == 0 or length <= words else -(-(length - words) // max(1, words // 2)) + 1


@compiled_arithmetic
def _window(begin: int, end: int, words: int, number: int) -> tuple[int, int]:
    """The first word of a passage, and the one after its last."""
    if words == 0 or end - begin <= words:
        return begin, end
    first = min(begin + number * max(1, words // 2), end - words)
    return first, first + words


@compiled_arithmetic
def _level(value: float) -> np.uint8:
    bits = np.float32(value).view(np.int32)
    return np.uint8(min(255, max(1, ((bits + (1 << _BITS) - 1) >> _BITS) - _LOWEST)))


class Table(NamedTuple):
    """The translation probabilities of a query: those of column c are ``starts[c]:starts[c + 1]``.

    ``columns`` has the column of each word of the translation model, ``verbatim`` the rows of terms that have one of
    their own, ``verbatim_columns`` these. Column 0 is that of what matches nothing.
    """

    columns: Ids
    verbatim: Ids
    verbatim_columns: Ids
    starts: Numbers
    words: Ids
    forward: Doubles
    both: Doubles
    reverse: Doubles
    odds: Doubles
    each: Doubles


class Matches(NamedTuple):
    """Where the statistics of documents are written: one row a document, one column a word of the query.

    The first three are of the best passage, the others of the whole document; ``lengths`` has a column of each.
    """

    forward: Doubles
    passage_frequencies: Doubles
    passage_reverse: Doubles
    counts: Doubles
    frequencies: Doubles
    reverse: Doubles
    lengths: Doubles
    best: Numbers


@compiled_arithmetic
def match_documents(
    ids: Ids, offsets: Numbers, known: Ids, passage: int, rows: Numbers, table: Table, out: Matches
) -> None:
    """The statistics of some documents and a query."""
    size = len(table.odds)
    counts, frequencies, reverse, gains = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    for number in range(len(rows)):
        begin, end = offsets[rows[number]], offsets[rows[number] + 1]
        highest = -1.0
        for window in range(_windows(end - begin, passage)):
            first, last = _window(begin, end, passage, window)
            counts[:], frequencies[:], reverse[:] = 0, 0, 0
            for position in range(first, last):
                column = _column(ids[position], known, table)
                for pair in range(table.starts[column], table.starts[column + 1]):
                    counts[table.words[pair]] += table.forward[pair]
                    frequencies[table.words[pair]] += table.both[pair]
                    reverse[table.words[pair]] += table.reverse[pair]
            total = 0.0
            for word in range(size):
                gains[word] = 0
                if counts[word] > 0:
                    gains[word] = table.each[word] * np.log1p(table.odds[word] * counts[word] / max(1, last - first))
                total += gains[word]
            out.counts[number] += counts
            out.frequencies[number] += frequencies
            out.reverse[number] += reverse
            out.lengths[number, 1] += last - first
            if total > highest:
                highest = total
                out.forward[number], out.passage_frequencies[number] = gains, frequencies
                out.passage_reverse[number] = reverse
                out.lengths[number, 0], out.best[number] = last - first, window


@compiled_arithmetic
def _column(term: int, known: Ids, table: Table) -> int:
    if term < 0 or term >= len(known):
        return 0
    for number in range(len(table.verbatim)):
        if table.verbatim[number] == term:
            return table.verbatim_columns[number]
    word = known[term]
    return table.columns[word] if 0 <= word < len(table.columns) else 0
