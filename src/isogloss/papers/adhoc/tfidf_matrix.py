"""Comparable documents as sparse TF-IDF matrices (Platt et al. 2010): row i of both languages are mates.

``en.mtx`` and ``es.mtx`` are the matrices, ``en.vocab`` and ``es.vocab`` the words of their columns, each plain or
``.gz``. The first line of a matrix is its numbers of rows, columns and non-zeros; each other line is a row, a column
and a value, separated by white space, in any order. The ``%`` lines of Matrix Market files are skipped. Indices count
from 1, as in such files, or from 0: the first index that is 0, or as high as there are rows or columns, decides. Where
neither occurs they count from 1, with a warning. Line i of the vocabulary is the word of column i.

Every document is also a query of the same id, its row counted from 1, and the row of that number in the other language
is relevant. The weights are used as they are in the file, of whatever kind, by systems that weight words (``aligned``:
``Collection.weights``). Systems that count words (``bm25``) read a text: the words of a row, each as often as
:func:`word_counts` can tell from the weights.

:func:`write_platt` writes mates with the recipe of the paper: words as they are written (no stems, no folding), without
the 50 most frequent, then the 20,000 most frequent. A word that occurs tf times in a document, and in df of the N
documents, has the weight

    w = tf * ln(N / df)

and where that is 0 nothing is written.

The matrices are parsed here because ``scipy.io.mmread`` refuses files without a banner and indices from 0, and accepts
NaN and entries that occur twice.
"""

from __future__ import annotations

import gzip
import io
import re
import unicodedata
import warnings
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.document_checks import LONGEST_TEXT
from isogloss.data.documents import Collection, Document, Judgment, Query, TermWeights, joined_fields
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source, existing_directory
from isogloss.papers.adhoc.vocabulary import Vocabulary
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, refuse_existing
from isogloss.storage.lines import Location, find_file, open_bytes, read_lines
from isogloss.storage.progress import track
from isogloss.text.normalization import UNSPACED, WORD, normalize
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans, tokenize

_MATE = 2
_NEAR = 0.02  # weights are often written with four digits
_SHARE = 0.99
_MOST = 10_000  # occurrences of a word in a page; a wrong weight must not fill the memory
_EMPTY_ROWS = 1_000_000
_ENTRY = np.dtype([("row", np.int64), ("column", np.int64), ("value", np.float64)])
_LARGEST_INDEX = 2**31 - 1
_LARGEST_VALUE = float(np.finfo(np.float32).max)
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INSIDE_WORDS = re.compile("[\u00ad\u200c-\u200f\u2060\ufeff]+")  # soft hyphens, joiners, direction marks
_ENTRIES_AT_ONCE = 100_000

_Entries = NDArray[Any]
"""Entries of the type ``_ENTRY``."""


class Platt(Source):
    """A directory with a matrix and a vocabulary for each language."""

    format = "platt"
    folder_sign = "*.mtx*"
    can_write = True
    top_grade = _MATE

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)
        self._matrices: dict[str, TermWeights] = {}  # those without a problem

    @classmethod
    def write(cls, dataset: Dataset, target: Path, overwrite: bool) -> None:
        write_platt(target, dataset, overwrite=overwrite)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for location, id_, text in self._texts(language, problems):
            yield location, Document(id_, text, "", language)

    def languages(self) -> list[str]:
        return sorted({path.name.partition(".mtx")[0] for path in self.directory.glob("*.mtx*")})

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

    def term_weights(self, language: str, ids: Sequence[str]) -> TermWeights:
        matrix = self._matrix(language, Problems(stop_at_errors=False))  # reported when the documents were read
        return matrix.rows([int(id_) - 1 for id_ in ids])

    def _matrix(self, language: str, problems: Problems) -> TermWeights:
        if language in self._matrices:
            return self._matrices[language]
        before = len(problems.kept)
        matrix = read_sparse(self.directory, language, problems)
        if len(problems.kept) == before:
            self._matrices[language] = matrix
        return matrix

    def _texts(self, language: str, problems: Problems) -> Iterator[tuple[Location, str, str]]:
        location = Location(self._size(language).location.path)
        matrix = self._matrix(language, problems)
        counts, word_of = word_counts(matrix), matrix.vocabulary.__getitem__
        lengths = counts * np.fromiter(map(len, matrix.vocabulary), np.int64, len(matrix.vocabulary))[matrix.columns]
        for row in range(len(matrix)):
            span = slice(matrix.offsets[row], matrix.offsets[row + 1])
            if lengths[span].sum() > LONGEST_TEXT:
                what = f"row {row + 1} stands for more than {LONGEST_TEXT:,} characters"
                problems.error(location, "too long", what)
                continue
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


def word_counts(matrix: TermWeights) -> NDArray[np.int64]:
    """How often the word of each entry occurs in its document, estimated from the weights; at least once.

    With TF-IDF weights, N rows, df of them with the word,

        w = tf * c * ln(N / df),

    c = 1 for the natural logarithm. Most words occur just once in some document, so c is the median of the words'
    smallest w / ln(N / df). If nearly every tf is then a whole number, these are the counts. Otherwise the weights are
    of another kind, and every word counts once.
    """
    counts = np.ones(len(matrix.columns), dtype=np.int64)
    frequency = np.bincount(matrix.columns, minlength=len(matrix.vocabulary))
    known = (matrix.values > 0) & (frequency[matrix.columns] < len(matrix))
    if not known.any():
        return counts
    columns = matrix.columns[known]
    weights = matrix.values[known] / np.log(len(matrix) / np.maximum(1, frequency))[columns]
    smallest = np.full(len(matrix.vocabulary), np.inf)
    np.minimum.at(smallest, columns, weights)
    frequencies = weights / np.median(smallest[np.isfinite(smallest)])
    whole = np.rint(frequencies)
    if ((np.abs(frequencies - whole) <= _NEAR) & (whole >= 1)).mean() >= _SHARE:
        counts[known] = np.clip(whole, 1, _MOST)
    return counts


class MatrixSize(NamedTuple):
    """The first line of a matrix file."""

    location: Location
    rows: int
    columns: int
    entries: int


def read_sparse(directory: Path | str, language: str, problems: Problems | None = None) -> TermWeights:
    """Read the weights of one language, every line checked.

    A wrong header or a vocabulary of another length is always an error.
    """
    problems = problems or Problems()
    size = read_size(Path(directory) / f"{language}.mtx")
    vocabulary = _read_vocabulary(Path(directory) / f"{language}.vocab", size, problems)
    entries, lines, malformed = _parse(size, problems)
    if len(entries) + malformed != size.entries:
        what = f"says {size.entries} non-zeros, but {len(entries) + malformed} follow; is the file whole?"
        problems.error(size.location, "wrong number of entries", what)
    if size.rows > _EMPTY_ROWS + len(entries):  # a number must not fill the memory
        raise InputError(f"{size.location}: says {size.rows:,} rows, but {len(entries):,} entries follow; correct it")
    entries, lines, base = _checked(entries, lines, size, problems)
    width = max(1, size.columns)
    keys: NDArray[np.int64] = (entries["row"] - base) * width + entries["column"] - base
    order = np.argsort(keys, kind="stable")
    first = np.diff(keys[order], prepend=-1) > 0
    for number in order[~first].tolist():
        what = f"row {entries['row'][number]}, column {entries['column'][number]} occurs a second time"
        problems.error(Location(size.location.path, lines[number]), "duplicate entry", what)
    order = order[first]
    offsets = np.searchsorted(keys[order], np.arange(size.rows + 1) * width).astype(np.int64)
    columns = (entries["column"][order] - base).astype(np.int32)
    return TermWeights(vocabulary, offsets, columns, entries["value"][order].astype(np.float32))


def read_size(path: Path) -> MatrixSize:
    """The header of a matrix file."""
    for location, line in read_lines(path):
        fields = line.split()
        if not fields or line.startswith("%"):
            continue
        numbers = [int(text) for text in fields if text.isdecimal() and text.isascii() and len(text) < 19]
        if len(numbers) != 3 or len(fields) != 3:
            raise InputError(f"{location}: expected the numbers of rows, columns and non-zeros, got {line[:60]!r}")
        size = MatrixSize(location, *numbers)
        if max(size.rows, size.columns) > _LARGEST_INDEX or size.entries > size.rows * size.columns:
            raise InputError(f"{location}: {size.rows} x {size.columns} with {size.entries} non-zeros cannot be")
        return size
    raise InputError(f"{path}: is empty, its first line must say rows, columns and non-zeros")


def _read_vocabulary(path: Path, size: MatrixSize, problems: Problems) -> list[str]:
    words: list[str] = []
    line_of: dict[str, int] = {}
    for location, line in read_lines(path, problems.broken_text):
        word = line.strip()
        words += [""] * (location.line - 1 - len(words))  # lines that are not UTF-8 are columns too
        words.append(word)
        if word and line_of.setdefault(word, location.line) != location.line:
            what = f"the word {word!r} occurs a second time, first in line {line_of[word]}"
            problems.error(location, "duplicate word", what)
    while words and not words[-1]:
        words.pop()
    if len(words) != size.columns:
        location = Location(find_file(path), min(len(words), size.columns + 1))
        raise InputError(f"{location}: {len(words)} words for the {size.columns} columns of {size.location}")
    for number in (number for number, word in enumerate(words, start=1) if not word):
        problems.error(Location(find_file(path), number), "missing word", f"no word for column {number}")
    return words


def _parse(size: MatrixSize, problems: Problems) -> tuple[_Entries, Sequence[int], int]:
    """The entries of a matrix file, their lines, and the number of malformed lines."""
    path, header = size.location
    try:
        with open_bytes(path) as file:
            for _ in range(header):
                file.readline()
            content = file.read()
    except EOFError as error:
        raise InputError(f"{Location(path, header + 1)}: the gzip archive is cut off after this line") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{Location(path, header + 1)}: a damaged gzip archive ({error})") from error
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            entries = np.loadtxt(io.BytesIO(content), dtype=_ENTRY, comments=None, ndmin=1)
        except (ValueError, Warning):  # a malformed line, or only blank ones, or an index like 1.0
            entries = np.zeros(0, dtype=_ENTRY)
    if len(entries) == content.count(b"\n") + (not content.endswith(b"\n")):  # no line is blank
        return entries, range(header + 1, header + 1 + len(entries)), 0
    parsed, lines, malformed = [], [], 0
    for line, raw in enumerate(content.split(b"\n"), start=header + 1):
        fields = raw.split()
        if fields and (wrong := _what_is_wrong(fields)):
            malformed += 1
            problems.error(Location(path, line), "malformed line", wrong)
        elif fields:
            parsed.append((int(float(fields[0])), int(float(fields[1])), float(fields[2])))
            lines.append(line)
    return np.array(parsed, dtype=_ENTRY), lines, malformed


def _what_is_wrong(fields: list[bytes]) -> str | None:
    texts = [text[:30].decode("utf-8", "replace") for text in fields]
    if len(fields) != 3:
        return f"expected row, column and value, got {' '.join(texts)[:60]!r}"
    for name, raw, text in zip(("row", "column"), fields, texts, strict=False):
        if not _NUMBER.fullmatch(raw) or not float(raw).is_integer() or abs(float(raw)) > _LARGEST_INDEX:
            return f"{name} {text!r} is not an index"
    if not _NUMBER.fullmatch(fields[2]) and fields[2].lower().lstrip(b"+-") not in (b"nan", b"inf", b"infinity"):
        return f"value {texts[2]!r} is not a number"
    return None


def _checked(
    entries: _Entries, lines: Sequence[int], size: MatrixSize, problems: Problems
) -> tuple[_Entries, Sequence[int], int]:
    """The entries within the matrix and with a valid value, their lines, and the index of the first row: 0 or 1."""
    path, bounds = size.location.path, (("row", size.rows), ("column", size.columns))
    zero = (entries["row"] == 0) | (entries["column"] == 0)
    top = (entries["row"] == size.rows) | (entries["column"] == size.columns)
    telling = np.flatnonzero(zero | top)[:1]
    base = 0 if len(telling) and zero[telling[0]] else 1
    if not len(telling) and len(entries):
        what = "has neither an index 0 nor one as high as there are rows or columns; taken to count from 1"
        problems.warn(Location(path), "unclear indices", what)
    good = (entries["value"] >= 0) & (entries["value"] <= _LARGEST_VALUE)
    for name, count in bounds:
        good &= (entries[name] >= base) & (entries[name] < count + base)
    why = f" (line {lines[telling[0]]} shows that indices count from {base})" if len(telling) else ""
    for number in np.flatnonzero(~good).tolist():
        location = Location(path, lines[number])
        for name, count in bounds:
            lowest, highest = (base, count - 1 + base) if len(telling) else (0, count)
            if not lowest <= entries[name][number] <= highest:
                what = f"{name} {entries[name][number]} is not between {lowest} and {highest}{why}"
                problems.error(location, "index out of range", what)
                break
        else:
            what = f"value {entries['value'][number]:g} is not a number from 0 up"
            problems.error(location, "wrong value", what)
    return entries[good], [lines[number] for number in np.flatnonzero(good).tolist()], base


@dataclass(frozen=True, slots=True)
class PlattOptions:
    """How texts become columns. The defaults are the recipe of the paper."""

    drop_frequent: int = 50
    vocabulary_size: int | None = 20_000
    drop_stop_words: bool = False
    fold: bool = False
    """Words as ``tokenize`` gives them, instead of as they are written."""
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
    refuse_existing(directory, overwrite)
    both = data if isinstance(data, tuple) else find_mates(data, options.splits)
    if len(both[0]) != len(both[1]):
        raise InputError(f"{directory}: {len(both[0])} and {len(both[1])} documents cannot be mates row by row")
    if both[0].language == both[1].language or not (both[0].language and both[1].language):
        languages = " and ".join(repr(collection.language) for collection in both)
        raise InputError(f"{directory}: platt: has documents of two languages, not {languages}")
    with atomic_directory(directory, overwrite, "*.vocab") as partial:
        for collection in both:
            _write_language(partial, collection, options)


def find_mates(dataset: Dataset, splits: tuple[str, ...] = ("all",)) -> tuple[Collection, Collection]:
    """Documents of both languages, row i of one the mate of row i of the other, each in one row at most.

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
    """``words[ids[j]]`` occurs ``counts[j]`` times in document ``rows[j]``."""

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
    frequency = np.bincount(columns[columns >= 0], minlength=len(words))
    weights = np.log(len(collection) / frequency)[columns] * counted.counts
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
    """The words by frequency; the most frequent are dropped before the stop words."""
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
    """The words of a text as they are written: as :func:`tokenize` finds them, nothing folded.

    >>> written_words("L'Été: CSS属性を設定")
    ['L', 'Été', 'CSS', '属性', 'を', '設定']
    """
    if text.isascii():
        return WORD.findall(text)
    text = _INSIDE_WORDS.sub("", unicodedata.normalize("NFC", text))
    if UNSPACED.search(text):
        return [text[start:end] for start, end, _ in token_spans(text)]
    return WORD.findall(text)
