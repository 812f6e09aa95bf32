"""Comparable documents as sparse TF-IDF matrices (Platt et al. 2010): row i of both languages are mates.

``en.mtx`` and ``es.mtx`` (first line rows, columns, non-zeros; then row, column, value), ``en.vocab`` and ``es.vocab``
(line i: the word of column i), each plain or ``.gz``: see :mod:`isogloss.data.readers.sparse_matrix`. Every document is
also a query of the same id, its row counted from 1, and the row of that number in the other language is relevant.

The systems of the house read texts, so a document's text is its words, each as often as the weights say it stood there.
The weights themselves are given by :func:`read_sparse`.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document, Judgment, Query, joined_fields
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.readers.sparse_matrix import MatrixSize, SparseRows, read_size, read_sparse
from isogloss.data.source import Pair, Source, existing_directory
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, refuse_existing
from isogloss.storage.lines import Location, find_file
from isogloss.storage.progress import track
from isogloss.text.normalization import UNSPACED, WORD, normalize
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans, tokenize
from isogloss.text.vocabulary import Vocabulary

# Writing mates as sparse TF-IDF matrices, with the vocabulary recipe of Platt et al. (2010).
#
# The words are taken as they are written (no stems, no folding); the 50 most frequent are dropped, the next 20,000
# kept. A word that stands tf times in a document, and in df of the N documents, weighs
#
#     w = tf * ln(N / df)
#
# and where that is 0 nothing is written.

_INSIDE_WORDS = re.compile("[\u00ad\u200c-\u200f\u2060\ufeff]+")  # soft hyphens, joiners, direction marks
_ENTRIES_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class PlattOptions:
    """How texts become columns. The defaults are the recipe of the paper."""

    drop_frequent: int = 50
    vocabulary_size: int | None = 20_000
    drop_stop_words: bool = False
    fold: bool = False
    """Words as the house tokeniser gives them, instead of as they are written."""
    fields: tuple[str, ...] = ("text",)
    splits: tuple[str, ...] = ("all",)
    """Whose queries name the mates."""

    def __post_init__(self) -> None:
        if self.drop_frequent < 0:
            raise InputError(f"drop_frequent: {self.drop_frequent} is below 0")
        if self.vocabulary_size is not None and self.vocabulary_size < 1:
            raise InputError(f"vocabulary_size: {self.vocabulary_size} is below 1")


PAPER = PlattOptions()


def write_platt(
    directory: Path | str,
    data: Dataset | tuple[Collection, Collection],
    options: PlattOptions = PAPER,
    overwrite: bool = False,
) -> None:
    """Write the mates of a dataset, or two collections whose rows are mates, as matrices and vocabularies."""
    directory = Path(directory)
    refuse_existing(directory, overwrite)  # before the work, not after
    both = data if isinstance(data, tuple) else find_mates(data, options.splits)
    if len(both[0]) != len(both[1]):
        raise InputError(f"{directory}: {len(both[0])} and {len(both[1])} documents cannot be mates row by row")
    if both[0].language == both[1].language or not (both[0].language and both[1].language):
        languages = " and ".join(repr(collection.language) for collection in both)
        raise InputError(f"{directory}: platt: holds documents of two languages, not {languages}")
    with atomic_directory(directory, overwrite) as partial:
        for collection in both:
            _write_language(partial, collection, options)


def find_mates(dataset: Dataset, splits: tuple[str, ...] = ("all",)) -> tuple[Collection, Collection]:
    """Documents of both languages, row i of one the counterpart of row i of the other, each in one row at most.

    They are the page that a query was taken from (relevant for it in its own language) and the page relevant for it
    in the other language.
    """
    pages = _pages_of_queries(dataset)
    relevant = dataset.judgments
    found: dict[str, str] = {}
    taken: set[str] = set()
    for query in (query.id for split in splits for query in dataset.split(split)):
        mates = [id_ for id_, grade in relevant[query].items() if grade >= relevant.top_grade and id_ not in taken]
        page = pages.get(query)
        if page is not None and page not in found and mates:
            found[page] = mates[0]
            taken.add(mates[0])
    what = f"{dataset.source.name} {'-'.join(dataset.pair)}"
    if not found:
        raise InputError(f"{what}: no query has both the page it was taken from and a relevant document, so no mates")
    ours = [_row(dataset.source_documents, id_) for id_ in found]
    theirs = [_row(dataset.documents, id_) for id_ in found.values()]
    if dataset.pair[0] != dataset.pair[1] and [page.text for page in ours] == [page.text for page in theirs]:
        raise InputError(f"{what}: has no documents in {dataset.pair[0]!r} of its own, so no mates")
    return Collection(ours, dataset.pair[0]), Collection(theirs, dataset.pair[1])


def _pages_of_queries(dataset: Dataset) -> dict[str, str]:
    """Query id to the page of its own language that it was taken from."""
    language = dataset.pair[0]
    try:
        lines = dataset.source.judgments((language, language), dataset.problems)
        own = Judgments((judgment for _, judgment in lines), dataset.source.top_grade)
        known = dataset.source_documents.row_of
    except InputError as error:
        raise InputError(f"{error}; platt: needs the {language} page that each query was taken from") from error
    return {query: page for query, page, grade in own if grade >= own.top_grade and page in known}


def _row(collection: Collection, id_: str) -> Document:
    return collection[collection.row_of[id_]]


class _Counts(NamedTuple):
    """``words[ids[j]]`` stands ``counts[j]`` times in document ``rows[j]``."""

    words: list[str]
    rows: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: NDArray[np.int32]


def _write_language(directory: Path, collection: Collection, options: PlattOptions) -> None:
    counted = _count_words(collection, options)
    words = _choose_words(counted, collection.language, options)
    column_of = np.full(len(counted.words), -1, dtype=np.int64)
    id_of = {word: number for number, word in enumerate(counted.words)}
    column_of[[id_of[word] for word in words]] = np.arange(len(words))
    columns = column_of[counted.ids]
    holding = np.bincount(columns[columns >= 0], minlength=len(words))
    weights = np.log(len(collection) / holding)[columns] * counted.counts
    kept = np.flatnonzero((columns >= 0) & (weights > 0))
    kept = kept[np.lexsort((columns[kept], counted.rows[kept]))]
    with open(directory / f"{collection.language}.vocab", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{word}\n" for word in words)
    with open(directory / f"{collection.language}.mtx", "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(collection)} {len(words)} {len(kept)}\n")
        for start in range(0, len(kept), _ENTRIES_AT_ONCE):
            part = kept[start : start + _ENTRIES_AT_ONCE]
            entries = zip(
                (counted.rows[part] + 1).tolist(), (columns[part] + 1).tolist(), weights[part].tolist(), strict=True
            )
            # Nine digits: as exact as single precision, in which they are read, can be.
            file.writelines(f"{row} {column} {weight:.9g}\n" for row, column, weight in entries)


def _count_words(collection: Collection, options: PlattOptions) -> _Counts:
    split = tokenize if options.fold else written_words
    id_of: dict[str, int] = {}
    ids, counts, lengths = array("i"), array("i"), array("i")
    for document in track(collection, f"counting words ({collection.language})"):
        tally = Counter(split(joined_fields(document, options.fields)))
        ids.extend([id_of.setdefault(word, len(id_of)) for word in tally])
        counts.extend(tally.values())
        lengths.append(len(tally))
    rows = np.repeat(np.arange(len(lengths)), np.array(lengths, dtype=np.int32))
    return _Counts(list(id_of), rows, np.array(ids, dtype=np.int32), np.array(counts, dtype=np.int32))


def _choose_words(counted: _Counts, language: str, options: PlattOptions) -> list[str]:
    """The words by frequency, the highest of all dropped first, so that stop words among them are not dropped twice."""
    totals = np.bincount(counted.ids, weights=counted.counts, minlength=len(counted.words)).astype(np.int64)
    ranked = Vocabulary.from_counts(dict(zip(counted.words, totals.tolist(), strict=True))).words
    words = ranked[options.drop_frequent :]
    if options.drop_stop_words:
        stops = stop_words(language)
        words = [word for word in words if normalize(word) not in stops]
    if not words:
        what = f"the {language} documents have only {len(ranked)} different words"
        raise InputError(f"{what}, none is left when the {options.drop_frequent} most frequent are dropped")
    return words[: options.vocabulary_size]


def written_words(text: str) -> list[str]:
    """The words of a text as they are written: the house's idea of a word, nothing folded.

    >>> written_words("L'Été: CSS属性を設定")
    ['L', 'Été', 'CSS', '属性', 'を', '設定']
    """
    if text.isascii():
        return WORD.findall(text)
    text = _INSIDE_WORDS.sub("", unicodedata.normalize("NFC", text))
    if UNSPACED.search(text):
        return [text[start:end] for start, end, _ in token_spans(text)]
    return WORD.findall(text)


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

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for location, id_, text in self._texts(language, problems):
            yield location, Document(id_, text, "", language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        for location, id_, text in self._texts(language, problems):
            yield location, Query(id_, text, "", language)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        ours, theirs = (self._size(language) for language in pair)
        if ours.rows != theirs.rows:
            what = f"{theirs.rows} rows, but {ours.rows} in {ours.location.path.name}; row i of both must be mates"
            problems.error(theirs.location, "different numbers of rows", what)
        location = Location(theirs.location.path)
        mates = range(1, min(ours.rows, theirs.rows) + 1)
        return ((location, Judgment(str(row), str(row), _MATE)) for row in mates)

    def _texts(self, language: str, problems: Problems) -> Iterator[tuple[Location, str, str]]:
        location = Location(self._size(language).location.path)
        matrix = read_sparse(self.directory, language, problems)
        counts, word_of = word_counts(matrix), matrix.vocabulary.__getitem__
        for row in range(len(matrix)):
            span = slice(matrix.offsets[row], matrix.offsets[row + 1])
            words = np.repeat(matrix.columns[span], counts[span]).tolist()
            yield location, str(row + 1), " ".join(map(word_of, words))

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
