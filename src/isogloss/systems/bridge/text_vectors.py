"""A text as the sum of its words' vectors, scaled to length 1: the encoder of contrastive training and of ``bridge``.

Sums over runs of rows are compiled where numba is (extra ``fast``): the same operations in the same order, hence the
same numbers.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled_arithmetic
from isogloss.text.ids import Ids, TextIds

Table = NDArray[np.float32]
Numbers = NDArray[np.int64]

_SHORTEST = np.float32(1e-6)  # a sum of rows shorter than this is divided by this
_WORDS_AT_ONCE = 65_536


def encode(table: Table, texts: TextIds) -> Table:
    """One row a text: the sum of its words' rows, of length 1; zero for a text without words."""
    vectors = np.zeros((len(texts), table.shape[1]), np.float32)
    for start, end in whole_texts(texts.offsets, _WORDS_AT_ONCE):
        ids = texts.ids[texts.offsets[start] : texts.offsets[end]]
        sums = add_runs(table, ids, texts.lengths[start:end])
        np.divide(sums, row_lengths(sums), out=vectors[start:end])
    return vectors


def whole_texts(offsets: Numbers, words: int) -> Iterator[tuple[int, int]]:
    """Runs of texts (first, last + 1) of at most so many words, or of one text."""
    start = 0
    while start < len(offsets) - 1:
        end = max(start + 1, int(np.searchsorted(offsets, offsets[start] + words, side="right")) - 1)
        yield start, end
        start = end


def row_lengths(sums: Table) -> Table:
    """The length of each row, at least a little."""
    squares: Table = np.einsum("ij,ij->i", sums, sums)[:, None]
    return np.maximum(np.sqrt(squares), _SHORTEST)


def add_runs(table: Table, rows: Ids, lengths: Numbers) -> Table:
    """Row i is the sum of the table's rows that run i of ``rows`` names."""
    sums = np.zeros((len(lengths), table.shape[1]), np.float32)
    table, rows = table.view(), rows.view()
    table.flags.writeable = rows.flags.writeable = False  # as mapped ones are: one kind of array, compiled once
    add = where_compiled(_add_runs_compiled) or _add_runs_side_by_side
    add(table, rows, lengths, sums)
    return sums


def _add_runs_side_by_side(table: Table, rows: Ids, lengths: Numbers, sums: Table) -> None:
    """Add up the runs, longest first, a row of each at a time: three times as fast as ``np.add.reduceat``.

    Where so few are left that one after the other takes fewer calls, they are added up so.
    """
    longest_first = np.argsort(-lengths, kind="stable")
    starts, falling = (np.cumsum(lengths) - lengths)[longest_first], lengths[longest_first]
    longest, position = int(lengths.max(initial=0)), 0
    longer_than = np.cumsum(np.bincount(lengths, minlength=1)[::-1])[::-1][1:].tolist()  # by length: how many runs
    so_far = np.zeros_like(sums)
    while position < longest and longer_than[position] > longest - position:
        so_far[: longer_than[position]] += table[rows[starts[: longer_than[position]] + position]]
        position += 1
    for run in range(longer_than[position] if position < longest else 0):
        rest = table[rows[starts[run] + position : starts[run] + falling[run]]]
        rest[0] += so_far[run]
        rest.sum(axis=0, out=so_far[run])
    sums[longest_first] = so_far


def _add_runs_compiled(table: Table, rows: Ids, lengths: Numbers, sums: Table) -> None:
    position = 0
    for run in range(len(lengths)):
        total = sums[run]
        for _ in range(lengths[run]):
            row = table[rows[position]]
            position += 1
            for j in range(len(total)):
                total[j] += row[j]


@cache
def where_compiled(function: Callable[..., None]) -> Callable[..., None] | None:
    """The function as machine code, where numba is there to make it."""
    return compiled_arithmetic(function) if importlib.util.find_spec("numba") else None
