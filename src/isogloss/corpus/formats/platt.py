"""Comparable documents as sparse TF-IDF matrices (Platt et al. 2010): row i of both languages are mates.

``en.mtx`` and ``es.mtx`` (first line rows, columns, non-zeros; then row, column, value), ``en.vocab`` and ``es.vocab``
(line i: the word of column i), each plain or ``.gz``: see :mod:`isogloss.corpus.formats.sparse_rows`. Every document is
also a query of the same id, its row counted from 1, and the row of that number in the other language is relevant.

The systems of the house read texts, so a document's text is its words, each as often as the weights say it stood there.
The weights themselves are given by :func:`read_sparse`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isogloss.base.errors import InputError
from isogloss.base.lines import Place, find_file
from isogloss.corpus.formats.platt_writer import PlattOptions, find_mates, write_platt
from isogloss.corpus.formats.sparse_rows import MatrixSize, SparseRows, read_size, read_sparse
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Document, Judgment, Query
from isogloss.corpus.source import Pair, Source, existing_directory

__all__ = ["Platt", "PlattOptions", "SparseRows", "find_mates", "read_sparse", "word_counts", "write_platt"]

_MATE = 2
_NEAR = 0.02  # weights are often written with four digits
_SHARE = 0.99
_MOST = 10_000  # no word stands more often in a page; a wrong weight must not fill the memory


class Platt(Source):
    """A directory with a matrix and a vocabulary for each language."""

    format = "platt"
    top_grade = _MATE

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Place, Document]]:
        for place, id_, text in self._texts(language, problems):
            yield place, Document(id_, text, "", language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Place, Query]]:
        for place, id_, text in self._texts(language, problems):
            yield place, Query(id_, text, "", language)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Place, Judgment]]:
        ours, theirs = (self._size(language) for language in pair)
        if ours.rows != theirs.rows:
            what = f"{theirs.rows} rows, but {ours.rows} in {ours.place.path.name}; row i of both must be mates"
            problems.error(theirs.place, "different numbers of rows", what)
        place = Place(theirs.place.path)
        mates = range(1, min(ours.rows, theirs.rows) + 1)
        return ((place, Judgment(str(row), str(row), _MATE)) for row in mates)

    def _texts(self, language: str, problems: Problems) -> Iterator[tuple[Place, str, str]]:
        place = Place(self._size(language).place.path)
        matrix = read_sparse(self.directory, language, problems)
        counts, word_of = word_counts(matrix), matrix.vocabulary.__getitem__
        for row in range(len(matrix)):
            span = slice(matrix.offsets[row], matrix.offsets[row + 1])
            words = np.repeat(matrix.columns[span], counts[span]).tolist()
            yield place, str(row + 1), " ".join(map(word_of, words))

    def _size(self, language: str) -> MatrixSize:
        try:
            path = find_file(self.directory / f"{language}.mtx")
        except InputError as error:
            names = (re.fullmatch(r"(.+)\.mtx(\.gz)?", path.name) for path in self.directory.iterdir())
            known = ", ".join(sorted({name[1] for name in names if name})) or "none"
            raise InputError(f"{error}; languages here: {known}") from None
        return read_size(path)


def word_counts(matrix: SparseRows) -> NDArray[np.int64]:
    """How often the word of each entry stood in its document, as far as the weights tell; at least once.

    With TF-IDF weights, N rows, and df of them holding the word,

        w = tf * c * ln(N / df),

    c = 1 for the natural logarithm. Most words stand just once in some document, so c is the median of the words'
    smallest w / ln(N / df). If that makes nearly every tf a whole number they are taken, otherwise the weights are of
    another kind and every word counts once.
    """
    counts = np.ones(len(matrix.columns), dtype=np.int64)
    holding = np.bincount(matrix.columns, minlength=len(matrix.vocabulary))
    known = (matrix.values > 0) & (holding[matrix.columns] < len(matrix))
    if not known.any():
        return counts
    columns = matrix.columns[known]
    weights = matrix.values[known] / np.log(len(matrix) / np.maximum(1, holding))[columns]
    smallest = np.full(len(matrix.vocabulary), np.inf)
    np.minimum.at(smallest, columns, weights)
    frequencies = weights / np.median(smallest[np.isfinite(smallest)])
    whole = np.rint(frequencies)
    if ((np.abs(frequencies - whole) <= _NEAR) & (whole >= 1)).mean() >= _SHARE:
        counts[known] = np.clip(whole, 1, _MOST)
    return counts
