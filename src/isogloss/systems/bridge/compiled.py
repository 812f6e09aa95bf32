"""Compiled code of ``bridge`` (extra ``fast``): the expansion of documents, and the match statistics of some of them.

Both read documents token by token, through windows over their words: the passages. What they compute is said in
:mod:`isogloss.systems.bridge.expansion` and :mod:`isogloss.systems.bridge.matching`. Tokens come from files: a number
that is no term's counts as unknown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled_arithmetic
from isogloss.systems.bridge.matching import DocumentMatches

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
    ids: Ids, offsets: Numbers, unknown: int, passage: int, by_term: tuple[Numbers, Ids, Floats],
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
                known = min(term, unknown)
                times[term] += 1
                for pair in range(starts[known], starts[known + 1]):
                    touched = _count(words[pair], probabilities[pair], sums, in_passage, touched)
                if listed[term]:
                    touched = _count(base + term, 1, sums, in_passage, touched)
            found = _keep_highest(scratch, touched, last - first, found)
        for number in range(found):
            dimensions[written], levels[written] = in_document[number], highest[in_document[number]]
            highest[in_document[number]] = 0
            written += 1
        ends[document] = written
    return len(offsets) - 1


@compiled_arithmetic
def _count(dimension: int, times: float, sums: Doubles, in_passage: Ids, touched: int) -> int:
    """Add a number above 0 to the sum of a dimension, or of a word; how many have one."""
    if sums[dimension] == 0:
        in_passage[touched] = dimension
        touched += 1
    sums[dimension] += times
    return touched


@compiled_arithmetic
def _keep_highest(scratch: Scratch, touched: int, length: int, found: int) -> int:
    """Turn the sums of a passage into levels of the document; how many dimensions it has."""
    sums, highest, in_passage, in_document = scratch
    for dimension in in_passage[:touched]:
        level = _level(sums[dimension] / length)
        sums[dimension] = 0
        if highest[dimension] == 0:
            in_document[found] = dimension
            found += 1
        highest[dimension] = max(highest[dimension], level)
    return found


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
    level = ((int(bits) + (1 << _BITS) - 1) >> _BITS) - _LOWEST
    return np.uint8(min(255, max(1, level)))


class Table(NamedTuple):
    """The translation probabilities of a query: those of column c are ``starts[c]:starts[c + 1]``.

    ``columns`` has the column of each term of the translation model, *unknown* the last; ``verbatim`` are the numbers
    of terms beyond that have one of their own, ``verbatim_columns`` these. Column 0 is that of what matches nothing.
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
    times: Doubles
    rare: NDArray[np.bool_]


class Documents(NamedTuple):
    """The documents of a part: their tokens, where each begins, and the size of passages."""

    ids: Ids
    offsets: Numbers
    passage: int


class _Hits(NamedTuple):
    """The tokens of a document that match anything: their positions, and their columns."""

    positions: Numbers
    columns: Ids


@compiled_arithmetic
def best_passages(documents: Documents, rows: Numbers, table: Table, scores: Doubles, best: Numbers) -> None:
    """The number of the best passage of some documents by forward(q, p), the first of several.

    ``scores``: |q| forward(q, p) of the rare words of the query alone, of the passage with the most of that.
    """
    counts, touched = np.zeros(len(table.odds)), np.zeros(len(table.odds), np.int32)
    hits = _room(documents, rows)
    for number in range(len(rows)):
        begin, end = documents.offsets[rows[number]], documents.offsets[rows[number] + 1]
        size = _find_hits(documents.ids, begin, end, table, hits)
        scores[number], highest, first_hit = 0.0, -1.0, 0
        for window in range(_windows(end - begin, documents.passage)):
            first, last = _window(begin, end, documents.passage, window)
            while first_hit < size and hits.positions[first_hit] < first:
                first_hit += 1
            found, hit = 0, first_hit
            while hit < size and hits.positions[hit] < last:
                column = hits.columns[hit]
                for pair in range(table.starts[column], table.starts[column + 1]):
                    if table.forward[pair] > 0:
                        found = _count(table.words[pair], table.forward[pair], counts, touched, found)
                hit += 1
            common = _likelihood(counts, touched, found, table, last - first, False)
            score = _likelihood(counts, touched, found, table, last - first, True)
            for word in touched[:found]:
                counts[word] = 0
            scores[number] = max(scores[number], score)
            if common + score > highest:
                highest, best[number] = common + score, window


@compiled_arithmetic
def _likelihood(counts: Doubles, touched: Ids, found: int, table: Table, length: int, rare: bool) -> float:
    """Sum_w n(w, q) ln(1 + odds counts / |p|) over the rare or the common ones of the touched words.

    As a product of the words, of which one logarithm is taken.
    """
    total, product = 0.0, 1.0
    for word in touched[:found]:
        if table.rare[word] != rare:
            continue
        odds = 1 + table.odds[word] * counts[word] / length
        if table.times[word] == 1:
            product *= odds
            if product > 1e200:
                total += np.log(product)
                product = 1.0
        else:
            total += table.times[word] * np.log(odds)
    return float(total + np.log(product))


@compiled_arithmetic
def _room(documents: Documents, rows: Numbers) -> _Hits:
    longest = 0
    for row in rows:
        longest = max(longest, documents.offsets[row + 1] - documents.offsets[row])
    return _Hits(np.empty(longest, np.int64), np.empty(longest, np.int32))


@compiled_arithmetic
def _find_hits(ids: Ids, begin: int, end: int, table: Table, hits: _Hits) -> int:
    unknown, size = len(table.columns) - 1, 0
    for position in range(begin, end):
        term = ids[position]
        if 0 <= term < unknown:
            column = table.columns[term]
        else:
            column = table.columns[unknown]
            for number in range(len(table.verbatim)):
                if table.verbatim[number] == term:
                    column = table.verbatim_columns[number]
        if column > 0:
            hits.positions[size], hits.columns[size] = position, column
            size += 1
    return size


@compiled_arithmetic
def match_documents(documents: Documents, rows: Numbers, best: Numbers, table: Table, out: DocumentMatches) -> None:
    """The statistics of some documents and a query; the passage ``best`` of each is given."""
    hits = _room(documents, rows)
    for number in range(len(rows)):
        begin, end = documents.offsets[rows[number]], documents.offsets[rows[number] + 1]
        first, last = _window(begin, end, documents.passage, best[number])
        count = _windows(end - begin, documents.passage)
        for hit in range(_find_hits(documents.ids, begin, end, table, hits)):
            position, column = hits.positions[hit], hits.columns[hit]
            times = _covering(position - begin, end - begin, documents.passage, count)
            here = first <= position < last
            for pair in range(table.starts[column], table.starts[column + 1]):
                word = table.words[pair]
                out.counts[number, word] += times * table.forward[pair]
                out.frequencies[number, word] += times * table.both[pair]
                out.reverse[number, word] += times * table.reverse[pair]
                if here:
                    out.passage_counts[number, word] += table.forward[pair]
                    out.passage_frequencies[number, word] += table.both[pair]
                    out.passage_reverse[number, word] += table.reverse[pair]
        out.lengths[number, 0] = last - first
        out.lengths[number, 1] = (end - begin) if count == 1 else count * documents.passage


@compiled_arithmetic
def _covering(position: int, length: int, words: int, count: int) -> int:
    """The number of passages that a word is in."""
    if count == 1:
        return 1
    step = max(1, words // 2)
    first = max(0, -((words - 1 - position) // step))
    last = min(position // step, count - 2)
    return max(0, last - first + 1) + (position >= length - words)
