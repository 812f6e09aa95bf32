"""Compiled code for inverted lists (extra ``fast``): MaxScore, as in ``bm25.py`` but in windows, and inversion.

Documents are taken a few thousand at a time, so that their sums stay in the processor's cache, and every window
profits from the best documents of those before. Let u(c) bound what a concept adds to any score, the concepts be in
ascending order of it, and s be the least score among the best so far. As long as

    u(1) + ... + u(e) < s,

a document with none but the concepts 1 to e cannot be among the best. So only the lists of the others are read. In
those of 1 to e the documents found are looked up, from e downwards, until the rest cannot lift them above s. What
remains is scored again in the order of the query, so that every score is that of ``BM25.scores``. The best so far are
a heap, ordered as ``top_k`` orders: score descending, then id ascending.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled, compiled_arithmetic

WINDOW = 16_384
_ENTRIES_A_LOOKUP = 16  # that are read as fast as one is looked up
_FIRST_WINDOW = 1_024  # then twice as wide each time: before there is an s, everything has to be read

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]
Counts = NDArray[np.int32]
Mask = NDArray[np.bool_]


class Best(NamedTuple):
    """The best so far, as a heap with the last of them on top."""

    scores: Floats
    rows: Numbers


@compiled_arithmetic
def take(score: np.float32, row: int, id_order: Numbers, best: Best, count: int) -> int:
    """Insert a document into the best; the last of them is dropped if there are too many."""
    if score <= 0 or (count == len(best.rows) and not _before(score, row, best.scores[0], best.rows[0], id_order)):
        return count
    if count < len(best.rows):
        _rise(score, row, id_order, best, count)
        return count + 1
    _sink(score, row, id_order, best)
    return count


@compiled_arithmetic
def _before(score: np.float32, row: int, other_score: np.float32, other_row: int, id_order: Numbers) -> bool:
    return bool(score > other_score or (score == other_score and id_order[row] < id_order[other_row]))


@compiled_arithmetic
def _rise(score: np.float32, row: int, id_order: Numbers, best: Best, position: int) -> None:
    """Insert at a free leaf of the heap and move up."""
    while position > 0:
        above = (position - 1) // 2
        if not _before(best.scores[above], best.rows[above], score, row, id_order):
            break
        best.scores[position], best.rows[position] = best.scores[above], best.rows[above]
        position = above
    best.scores[position], best.rows[position] = score, row


@compiled_arithmetic
def _sink(score: np.float32, row: int, id_order: Numbers, best: Best) -> None:
    """Reposition the root of the heap and move down."""
    position, below = 0, 1
    while below < len(best.rows):
        other = below + 1
        if other < len(best.rows) and _before(
            best.scores[below], best.rows[below], best.scores[other], best.rows[other], id_order
        ):
            below = other
        if not _before(score, row, best.scores[below], best.rows[below], id_order):
            break
        best.scores[position], best.rows[position] = best.scores[below], best.rows[below]
        position, below = below, 2 * below + 1
    best.scores[position], best.rows[position] = score, row


class Lists(NamedTuple):
    """Inverted lists of one part, one behind the other, and k1 (1 - b + b |d| / avg|d|) of its documents."""

    documents: Counts
    frequencies: Counts
    saturation: Floats


class Query(NamedTuple):
    """Concepts: c has the terms from ``first[c]`` to ``first[c + 1]``, and the factor n_c idf(c).

    ``order`` is ascending by u(c); ``reach[i]`` is the sum of the first i of them. ``exactness`` is that of
    ``bm25.py``.
    """

    first: Numbers
    weights: Floats
    factors: Floats
    order: Numbers
    reach: Doubles
    exactness: float


class Rows(NamedTuple):
    """The filters and the order of a part's documents, whose first is row ``start``. An empty mask allows all."""

    start: int
    allowed: Mask
    live: Mask
    id_order: Numbers


class _Window(NamedTuple):
    """Documents from ``low``: where their entries begin and end in each list; a sum of parts, and of frequencies, each.

    Sums are 0 between two uses. ``candidates`` may be among the best, ``partial`` are their scores so far.
    """

    low: int
    begins: Numbers
    ends: Numbers
    scores: Floats
    frequencies: Floats
    candidates: Counts
    partial: Floats


@compiled_arithmetic
def search_part(lists: Lists, query: Query, spans: Numbers, rows: Rows, best: Best, count: int) -> int:
    """Insert the documents of a part into the best, of which there are ``count``; the new count."""
    begins, ends = spans[:, 0].copy(), spans[:, 0].copy()
    scores, frequencies = np.zeros(WINDOW, dtype=np.float32), np.zeros(WINDOW, dtype=np.float32)
    candidates, partial = np.empty(WINDOW, dtype=np.int32), np.empty(WINDOW, dtype=np.float32)
    width = _FIRST_WINDOW
    while True:
        least = _least(query, best, count)
        skipped = _skipped(query, least)
        low = _next_document(lists.documents, query, spans, begins, skipped)
        if low < 0:
            return count
        _move(lists.documents, spans, low, low + width, begins, ends)
        window = _Window(low, begins, ends, scores, frequencies, candidates, partial)
        for concept in query.order[skipped:]:
            _add(lists, query, window, concept)
        found = _collect(lists, query, window, rows, skipped, least)
        for position in range(skipped - 1, -1, -1):
            found = _look_up(lists, query, window, position, found, least)
        for number in range(found):
            if partial[number] >= _least(query, best, count):
                score = _score(lists, query, window, candidates[number])
                count = take(score, rows.start + candidates[number], rows.id_order, best, count)
        begins[:] = ends
        width = min(2 * width, WINDOW)


@compiled_arithmetic
def _move(documents: Counts, spans: Numbers, low: int, high: int, begins: Numbers, ends: Numbers) -> None:
    """Go forward to the entries of the documents from ``low`` to ``high``."""
    for term in range(len(spans)):
        begins[term] = gallop(documents, begins[term], spans[term, 1], low)
        ends[term] = gallop(documents, begins[term], spans[term, 1], high)


@compiled_arithmetic
def _least(query: Query, best: Best, count: int) -> float:
    """The least score that can be among the best, rounding errors considered."""
    return query.exactness * best.scores[0] if count == len(best.scores) else 0.0


@compiled_arithmetic
def _skipped(query: Query, least: float) -> int:
    """The number of concepts that cannot reach the least score together."""
    skipped = 0
    while skipped < len(query.order) and query.reach[skipped + 1] < least:
        skipped += 1
    return skipped


@compiled_arithmetic
def _next_document(documents: Counts, query: Query, spans: Numbers, begins: Numbers, skipped: int) -> int:
    """The first document not yet read with a concept that is not skipped, or -1."""
    lowest = -1
    for concept in query.order[skipped:]:
        for term in range(query.first[concept], query.first[concept + 1]):
            if begins[term] < spans[term, 1]:
                document = documents[begins[term]]
                if lowest < 0 or document < lowest:
                    lowest = document
    return lowest


@compiled_arithmetic
def gallop(documents: NDArray[np.integer], begin: int, end: int, wanted: int) -> int:
    """The position of the first of ascending documents that is not below the wanted one; ``end`` if all are."""
    step = 1
    while begin + step < end and documents[begin + step] < wanted:
        begin += step
        step *= 2
    return _bisect(documents, begin, min(begin + step, end), wanted)


@compiled_arithmetic
def _bisect(documents: NDArray[np.integer], begin: int, end: int, wanted: int) -> int:
    while begin < end:
        middle = (begin + end) // 2
        if documents[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@compiled_arithmetic
def _add(lists: Lists, query: Query, window: _Window, concept: int) -> None:
    """Add what a concept gives to the scores of the window."""
    documents, counts, saturation = lists.documents, lists.frequencies, lists.saturation
    scores, frequencies, low = window.scores, window.frequencies, window.low
    first, behind, factor = query.first[concept], query.first[concept + 1], query.factors[concept]
    if behind == first + 1:
        weight = query.weights[first]
        for entry in range(window.begins[first], window.ends[first]):
            frequency = np.float32(counts[entry]) * weight
            scores[documents[entry] - low] += frequency / (saturation[documents[entry]] + frequency) * factor
        return
    for term in range(first, behind):
        weight = query.weights[term]
        for entry in range(window.begins[term], window.ends[term]):
            frequencies[documents[entry] - low] += np.float32(counts[entry]) * weight
    for term in range(first, behind):
        for entry in range(window.begins[term], window.ends[term]):
            frequency = frequencies[documents[entry] - low]
            frequencies[documents[entry] - low] = 0
            if frequency > 0:
                scores[documents[entry] - low] += frequency / (saturation[documents[entry]] + frequency) * factor


@compiled_arithmetic
def _collect(lists: Lists, query: Query, window: _Window, rows: Rows, skipped: int, least: float) -> int:
    """Find the candidates among the documents of the window, and reset their sums; the number of candidates."""
    documents, scores, low = lists.documents, window.scores, window.low
    enough, found = least - query.reach[skipped], 0
    for concept in query.order[skipped:]:
        for term in range(query.first[concept], query.first[concept + 1]):
            for entry in range(window.begins[term], window.ends[term]):
                document = documents[entry]
                score = scores[document - low]
                scores[document - low] = 0
                if score > 0 and score >= enough and _may_be_found(rows, document):
                    window.candidates[found], window.partial[found] = document, score
                    found += 1
    return found


@compiled_arithmetic
def _may_be_found(rows: Rows, document: int) -> bool:
    row = rows.start + document
    return (len(rows.allowed) == 0 or rows.allowed[row]) and (len(rows.live) == 0 or rows.live[row])


@compiled_arithmetic
def _look_up(lists: Lists, query: Query, window: _Window, position: int, found: int, least: float) -> int:
    """Add the part of one concept to the candidates; the number that can still be among the best."""
    concept, enough, kept = query.order[position], least - query.reach[position], 0
    candidates, partial, scores = window.candidates, window.partial, window.scores
    entries = 0
    for term in range(query.first[concept], query.first[concept + 1]):
        entries += window.ends[term] - window.begins[term]
    is_read = entries < _ENTRIES_A_LOOKUP * found
    if is_read:
        _add(lists, query, window, concept)
    for number in range(found):
        document = candidates[number]
        part = scores[document - window.low] if is_read else _part(lists, query, window, document, concept)
        score = partial[number] + part
        candidates[kept], partial[kept] = document, score
        kept += score >= enough
    if is_read:
        for term in range(query.first[concept], query.first[concept + 1]):
            for entry in range(window.begins[term], window.ends[term]):
                scores[lists.documents[entry] - window.low] = 0
    return kept


@compiled_arithmetic
def _part(lists: Lists, query: Query, window: _Window, document: int, concept: int) -> np.float32:
    """What a concept adds to the score of a document of the window."""
    frequency = np.float32(0)
    for term in range(query.first[concept], query.first[concept + 1]):
        entry = _bisect(lists.documents, window.begins[term], window.ends[term], document)
        if entry < window.ends[term] and lists.documents[entry] == document:
            frequency += np.float32(lists.frequencies[entry]) * query.weights[term]
    part = np.float32(0)
    if frequency > 0:
        part = frequency / (lists.saturation[document] + frequency) * query.factors[concept]
    return part


@compiled_arithmetic
def _score(lists: Lists, query: Query, window: _Window, document: int) -> np.float32:
    score = np.float32(0)
    for concept in range(len(query.factors)):
        score += _part(lists, query, window, document, concept)
    return score


@compiled
def count_unseen(documents: Counts, spans: Numbers, seen: Mask) -> int:
    """The number of documents in several lists that were not seen before; now they are."""
    count = 0
    for term in range(len(spans)):
        for entry in range(spans[term, 0], spans[term, 1]):
            count += not seen[documents[entry]]
            seen[documents[entry]] = True
    return count


# Inversion by counting: two passes over the ids, with no sort because texts come in their order.


@compiled
def count_texts(ids: Counts, starts: Numbers, rank: Numbers) -> Numbers:
    """The number of texts with each term."""
    counts, latest = np.zeros(len(rank), np.int64), np.full(len(rank), -1, np.int32)
    for text in range(len(starts) - 1):
        for position in range(starts[text], starts[text + 1]):
            term = rank[ids[position]]
            if latest[term] != text:
                latest[term] = text
                counts[term] += 1
    return counts


@compiled
def fill_lists(
    ids: Counts, starts: Numbers, rank: Numbers, free: Numbers, documents: Counts, frequencies: Counts
) -> None:
    """Write the texts of each term, and its frequency in each, from ``free[term]`` on."""
    latest = np.full(len(rank), -1, np.int32)
    for text in range(len(starts) - 1):
        for position in range(starts[text], starts[text + 1]):
            term = rank[ids[position]]
            if latest[term] != text:
                latest[term] = text
                documents[free[term]], frequencies[free[term]] = text, 0
                free[term] += 1
            frequencies[free[term] - 1] += 1
