"""Two word-vector spaces made one: a linear map fitted on pairs of words that translate each other.

With the rows of S and T the vectors of the pairs' source and target words, x M is in the target space for a source
vector x (a row), where M is one of

    pinv         M = S^+ T,  S^+ = (S^T S)^-1 S^T      (ad hoc paper, equations 1 and 2)
    ridge        M = (S^T S + lambda I)^-1 S^T T
    procrustes   M = U V^T,  U D V^T = svd(S^T T)      (the orthogonal M with the least |S M - T|)

From target to source, S and T are exchanged. Before, each side's vectors may be made of unit length and their mean
over the vocabulary subtracted; with both: unit length, mean subtracted, unit length again (Artetxe et al. 2018).

The pairs come from a lexicon. The ad hoc paper takes the 4,000 most frequent English words with one translation
each; a lexicon lists several, so one has to be chosen (:func:`frequent_pairs`).

A matrix moves a word to where its translation should be; a lexicon knows where it is. With T(w) the translations of w
and a their share, :func:`anchor` moves the vectors of the words that the lexicon knows to

    v(w) = (1 - a) u(e(w) M) + a u( mean_{t in T(w)} u(e(t)) ),  u(x) = x / |x|

(for a phrase t, u(e(t)) stands for the mean of its words' u(e)).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory
from isogloss.translation.lexicon import Lexicon, Phrase, Translation

Pair = tuple[str, str]
"""A word or phrase and one translation; one space separates the words of a phrase."""


def lexicon_pairs(lexicon: Lexicon) -> list[Pair]:
    """Every phrase with every translation of it, in the lexicon's order.

    >>> lexicon_pairs(Lexicon([("ice cream", "glace", 0), ("cat", "chat", 0), ("cat", "minet", 0)]))
    [('ice cream', 'glace'), ('cat', 'chat'), ('cat', 'minet')]
    """
    return [(" ".join(phrase), " ".join(target)) for phrase in lexicon for target, _ in lexicon[phrase]]


def frequent_pairs(
    lexicon: Lexicon,
    counts: Mapping[str, int],
    n: int,
    target_counts: Mapping[str, int] | None = None,
    target_words: Container[str] | None = None,
) -> list[Pair]:
    """The ``n`` most frequent source words that the lexicon knows, one translation each, the most frequent first.

    Of several translations the most probable is taken, where the lexicon has probabilities; then one that is no copy
    of the word; then one whose words all are among ``target_words`` (those that have vectors); then the one most
    frequent by ``target_counts`` (a phrase is as frequent as its rarest word); then the first listed.

    >>> lexicon = Lexicon([("from", "from", 0), ("from", "de", 0), ("from", "desde", 0), ("cat", "gato", 0)])
    >>> frequent_pairs(lexicon, {"from": 9, "cat": 2, "utc": 5}, 2, {"desde": 7, "de": 3})
    [('from', 'desde'), ('cat', 'gato')]
    """
    known = [word for word, count in counts.items() if count > 0 and (word,) in lexicon]
    chosen = sorted(known, key=lambda word: (-counts[word], word))[: max(n, 0)]

    def best(word: str) -> Phrase:
        def worth(translation: Translation) -> tuple[float, bool, bool, int]:
            phrase, probability = translation
            has_vectors = target_words is None or all(each in target_words for each in phrase)
            frequency = min(target_counts.get(each, 0) for each in phrase) if target_counts else 0
            return probability, phrase != (word,), has_vectors, frequency

        return max(lexicon[(word,)], key=worth).phrase  # of equals, max() takes the first

    return [(word, " ".join(best(word))) for word in chosen]


METHODS = ("pinv", "ridge", "procrustes")
DIRECTIONS = ("source-to-target", "target-to-source")
SIDES = ("source", "target")
FORMAT = 1

_FILE = "alignment.json"
_BLOCK_ROWS = 65_536
_ROUNDING = 1e-6  # vectors have single precision: singular values this far below the largest are its rounding errors


@dataclass(frozen=True, slots=True)
class AlignmentOptions:
    """How two spaces are aligned; ``ridge`` is the lambda of the method of that name."""

    method: str = "procrustes"
    normalise: bool = True
    centre: bool = True
    ridge: float = 1.0
    direction: str = DIRECTIONS[0]

    def __post_init__(self) -> None:
        for name, known in (("method", METHODS), ("direction", DIRECTIONS)):
            if (value := getattr(self, name)) not in known:
                raise InputError(f"{value!r} is no {name} of alignment; choose one of {', '.join(known)}")
        if not 0.0 < self.ridge < math.inf:
            raise InputError(f"the lambda of ridge must be a number above 0, not {self.ridge}")


PAPER = AlignmentOptions("pinv", normalise=False, centre=False)
"""The ad hoc paper's letter."""


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """What happens to the vectors of one side before the map. A zero vector carries no information and stays zero."""

    normalise: bool = False
    mean: Matrix | None = None

    @classmethod
    def of(cls, matrix: Matrix, normalise: bool, centre: bool) -> Preparation:
        """With the mean of a vocabulary's vectors (as they are, or of unit length), where it is wanted."""
        if not centre:
            return cls(normalise)
        total = np.zeros(matrix.shape[1])
        for block in _blocks(matrix):
            total += (_unit(block) if normalise else block).sum(axis=0, dtype=np.float64)
        return cls(normalise, (total / max(1, len(matrix))).astype(np.float32))

    def __call__(self, matrix: Matrix) -> Matrix:
        """Prepare rows."""
        if self.normalise:
            matrix = _unit(matrix)
        if self.mean is None:
            return matrix
        centred = np.where(matrix.any(axis=1, keepdims=True), matrix - self.mean, np.float32(0))
        return _unit(centred) if self.normalise else centred


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Brings the vectors of both sides into one space.

    ``pairs`` is how many pairs the map was fitted on, ``skipped`` how many were left out because one side has no
    vector.
    """

    options: AlignmentOptions
    source: Preparation
    target: Preparation
    map: Matrix
    pairs: int
    skipped: int

    @property
    def underdetermined(self) -> bool:
        """Whether there were fewer pairs than dimensions: many maps fit, pinv and ridge take the smallest."""
        return self.pairs < len(self.map)

    def maps(self, side: str) -> bool:
        """Whether vectors of this side go through the map; those of the other are prepared only."""
        if side not in SIDES:
            raise ValueError(f"{side!r} is not a side; choose one of {', '.join(SIDES)}")
        return self.options.direction.startswith(side)

    def dimension(self, side: str) -> int:
        """The number of components of the vectors that :meth:`apply` takes."""
        return int(self.map.shape[0 if self.maps(side) else 1])

    def apply(self, matrix: Matrix, side: str) -> Matrix:
        """The vectors (rows) of the ``source`` or the ``target`` side in the common space, prepared the same way."""
        if matrix.ndim != 2 or matrix.shape[1] != (wanted := self.dimension(side)):
            raise InputError(f"the alignment takes {side} vectors of {wanted} dimensions, not {matrix.shape[-1]}")
        prepare: Preparation = getattr(self, side)
        if not self.maps(side) and not prepare.normalise and prepare.mean is None:
            return matrix
        aligned = np.empty((len(matrix), self.map.shape[1]), dtype=np.float32)
        for block, rows in zip(_blocks(matrix), _blocks(aligned), strict=True):
            rows[:] = prepare(block) @ self.map if self.maps(side) else prepare(block)
        return aligned

    def save(self, directory: Path | str, overwrite: bool = False) -> None:
        """Write a directory: ``alignment.json``, the map, and the means where they are subtracted."""
        content = {"format": FORMAT, **asdict(self.options), "pairs": self.pairs, "skipped": self.skipped}
        with atomic_directory(directory, overwrite, _FILE) as partial:
            (partial / _FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            save_array(partial / "map.npy", self.map)
            for side in SIDES:
                if (mean := getattr(self, side).mean) is not None:
                    save_array(partial / f"{side}_mean.npy", mean)

    @classmethod
    def load(cls, directory: Path | str) -> Alignment:
        """Read what ``save`` wrote."""
        directory = Path(directory)
        try:
            content = json.loads((directory / _FILE).read_text(encoding="utf-8"))
            if not isinstance(content, dict):
                raise TypeError(f"{_FILE} holds no object")
            if content.pop("format") != FORMAT:
                raise ValueError(f"this isogloss reads format {FORMAT}")
            pairs, skipped = int(content.pop("pairs")), int(content.pop("skipped"))
            options = AlignmentOptions(**content)
            matrix = _floats(directory / "map.npy", (None, None))
            means: list[Matrix | None] = [None, None]
            if options.centre:
                widths = matrix.shape if options.direction == DIRECTIONS[0] else matrix.shape[::-1]
                means = [_floats(directory / f"{side}_mean.npy", (w,)) for side, w in zip(SIDES, widths, strict=True)]
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            raise InputError(f"{directory}: not an alignment in the isogloss format ({error}); align again") from error
        source, target = (Preparation(options.normalise, mean) for mean in means)
        return cls(options, source, target, matrix, pairs, skipped)


def align(
    source: WordVectors, target: WordVectors, pairs: Iterable[Pair], options: AlignmentOptions | None = None
) -> Alignment:
    """Fit the map on pairs of words. A pair with no known word on one side is skipped and counted.

    The vector of a phrase is the mean of the vectors of its known words. Fewer pairs than dimensions are no error
    (see :attr:`Alignment.underdetermined`).
    """
    options = options or AlignmentOptions()
    if options.method == "procrustes" and source.dimension != target.dimension:
        what = f"the source has {source.dimension} and the target {target.dimension}"
        raise InputError(f"procrustes needs vectors of equal dimensions, {what}; choose pinv or ridge")
    left, right, skipped = _stack(source, target, list(pairs))
    with np.errstate(invalid="ignore"):  # what infinite numbers come to is reported below
        of_source = Preparation.of(source.matrix, options.normalise, options.centre)
        of_target = Preparation.of(target.matrix, options.normalise, options.centre)
        left, right = of_source(left), of_target(right)
    for side, stack in zip(SIDES, (left, right), strict=True):
        if not np.isfinite(stack).all():
            raise InputError(f"the {side} vectors hold infinite or undefined numbers; take them out to align")
    stacks = (left, right) if options.direction == DIRECTIONS[0] else (right, left)
    return Alignment(options, of_source, of_target, _solve(*stacks, options), len(left), skipped)


def phrase_vectors(vectors: WordVectors, phrases: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
    """For each word or phrase the mean of the vectors of its known words, and whether there is one (zero is none)."""
    rows = [vectors.rows(phrase.split()) for phrase in phrases]
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    means = np.zeros((len(rows), vectors.dimension), dtype=np.float32)
    found = lengths > 0
    if found.any():
        flat = vectors.matrix[np.fromiter((row for phrase in rows for row in phrase), dtype=np.int64)]
        starts = (np.cumsum(lengths) - lengths)[found]
        means[found] = np.add.reduceat(flat, starts, axis=0) / lengths[found, None]
    return means, np.any(means != 0, axis=1)


def _stack(source: WordVectors, target: WordVectors, pairs: Sequence[Pair]) -> tuple[Matrix, Matrix, int]:
    """S and T of the pairs that have both vectors, and how many have not."""
    if not pairs:
        raise InputError("the lexicon holds no pair of words to fit an alignment on; give one with entries")
    left, left_known = phrase_vectors(source, [word for word, _ in pairs])
    right, right_known = phrase_vectors(target, [translation for _, translation in pairs])
    usable = left_known & right_known
    if not usable.any():
        what = f"source vectors for {left_known.sum()}, target vectors for {right_known.sum()}"
        hint = "are the two files of the lexicon's languages, in its order?"
        raise InputError(f"none of the lexicon's {len(pairs)} pairs has a vector on both sides ({what}): {hint}")
    return left[usable], right[usable], len(pairs) - int(usable.sum())


def _solve(left: Matrix, right: Matrix, options: AlignmentOptions) -> Matrix:
    """M with left M ~ right, solved in double precision."""
    solution: NDArray[Any]
    s, t = left.astype(np.float64), right.astype(np.float64)
    if options.method == "pinv":  # by singular values: where there are fewer pairs than dimensions, the smallest M
        solution = np.linalg.lstsq(s, t, rcond=_ROUNDING)[0]
    elif options.method == "ridge":
        solution = np.linalg.solve(s.T @ s + options.ridge * np.eye(s.shape[1]), s.T @ t)
    else:
        u, _, vt = np.linalg.svd(s.T @ t)
        solution = u @ vt
    return solution.astype(np.float32)


def _unit(matrix: Matrix) -> Matrix:
    """Rows of length 1; zero stays zero."""
    unit = np.zeros(matrix.shape, dtype=np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    np.divide(matrix, norms, out=unit, where=norms != 0)
    return unit


def _blocks(matrix: Matrix) -> Iterator[Matrix]:
    """A few rows at a time: a mapped matrix may be larger than the memory."""
    for start in range(0, len(matrix), _BLOCK_ROWS):
        yield matrix[start : start + _BLOCK_ROWS]


def _floats(path: Path, shape: tuple[int | None, ...]) -> Matrix:
    """An array in memory, of single precision and with the dimensions that are not None."""
    array = np.array(load_array(path))
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits or array.dtype != np.float32:
        raise ValueError(f"{path.name} has the shape {array.shape} and the type {array.dtype}")
    return array


def anchor(
    mapped: WordVectors, targets: WordVectors, lexicon: Lexicon, share: float, stop_words: Collection[str] = ()
) -> WordVectors:
    """The mapped vectors of query words, moved towards those of their translations by ``share``.

    A word that the lexicon lacks and that is spelled the same in both languages (a name, an identifier) counts as its
    own translation, unless it is a stop word; any other keeps its mapped vector. Words of the lexicon without a vector
    are added, with that of their translations.
    """
    anchored = _unit_rows(np.asarray(mapped.matrix))
    unit_targets = _unit_rows(np.asarray(targets.matrix))
    for row, word in enumerate(mapped.words):
        centre = _centre(word, lexicon, targets, unit_targets)
        if centre is None and (word,) not in lexicon and word in targets and word not in stop_words:
            centre = unit_targets[targets.row_of[word]]
        if centre is not None:
            anchored[row] = (1 - share) * anchored[row] + share * centre
    more = {
        phrase[0]: centre
        for phrase in lexicon
        if len(phrase) == 1 and phrase[0] not in mapped
        if (centre := _centre(phrase[0], lexicon, targets, unit_targets)) is not None
    }
    if not more:
        return WordVectors(mapped.words, anchored)
    return WordVectors([*mapped.words, *more], np.concatenate([anchored, np.stack(list(more.values()))]))


def _centre(word: str, lexicon: Lexicon, targets: WordVectors, unit_targets: Matrix) -> Matrix | None:
    """The mean direction of the translations of a word, None where none has a vector (zero is none)."""
    found = [rows for phrase, _ in lexicon[(word,)] if (rows := targets.rows(phrase))]
    if not found:
        return None
    mean = np.mean([unit_targets[rows].mean(axis=0) for rows in found], axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length, dtype=np.float32) if length else None


def _unit_rows(matrix: Matrix) -> Matrix:
    return np.asarray(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.float32(1e-12)))
