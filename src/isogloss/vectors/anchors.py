"""Query words by their translations' own vectors.

A matrix moves a word to where its translation should be; a lexicon knows where it is. With T(w) the translations of w
and a the share given to them,

    v(w) = (1 - a) u(e(w) M) + a u( mean_{t in T(w)} u(e(t)) ),  u(x) = x / |x|

for words the lexicon knows. A word it lacks that is spelled the same in both languages (a name, an identifier) counts
as its own translation, unless it is a stop word; any other keeps what the matrix says.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from isogloss.vectors.lexicon import Lexicon
from isogloss.vectors.word_vectors import Matrix, WordVectors


def anchor(
    mapped: WordVectors, targets: WordVectors, lexicon: Lexicon, share: float, stop_words: Collection[str] = ()
) -> WordVectors:
    """The mapped vectors of query words, drawn to those of their translations by ``share``.

    Words of the lexicon that have no vector of their own are added, with their translations' alone.
    """
    anchored = _unit(np.asarray(mapped.matrix))
    unit_targets = _unit(np.asarray(targets.matrix))
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


def _unit(matrix: Matrix) -> Matrix:
    return np.asarray(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.float32(1e-12)))
