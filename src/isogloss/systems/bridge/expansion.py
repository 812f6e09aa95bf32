"""Expansion at indexing: a document as a sparse vector over the words of queries, and the tables that queries give it.

The first stage of ``bridge`` is a sum over the words of a query, whose logarithms depend on a passage p only through

    c(w, p) = sum_t P(w | t) n(t, p) / |p|,        pairs with P(w | t) > .03

So c is computed when a document is indexed: of each word w, the largest of all its passages, as one of 255 levels,
sixteen to a doubling, rounded up. A query looks a handful of words up, instead of all translations of each. Terms of
the documents that a query may look for as they stand (names, numbers) have dimensions of their own, with P = 1. What a
level adds to a score is computed for the query, because o_w depends on the collection:

    score(q, d) = sum_w n(w, q) / |q| ln(1 + o_w c(w, d))

It is never below the score of the best passage: a document may have its words in different passages. Index-time
probabilistic structured queries (Yang et al. 2024) are the precedent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.impacts import CHUNK, LEVELS, ImpactLists, Run
from isogloss.storage.compiled import pays
from isogloss.text.passages import windows
from isogloss.translation.model import Floats, Ids, Numbers, TranslationModel

LEAST = 0.03
_BITS = 19  # of a float32 that are dropped: four bits of the fraction stay
_TOP = int(np.float32(1).view(np.int32)) >> _BITS  # of c = 1, the highest level
VALUES: Floats = (np.arange(_TOP - LEVELS + 1, _TOP + 1, dtype=np.int32) << _BITS).view(np.float32)
"""The c of each level; level 0 is that of documents in which the word does not occur."""
SCALE = 1 << 20
"""By which scores are multiplied to become integers."""
_LISTED = 16  # documents at most that a list of a term as it stands has, where the translation model knows the term
_TOKENS_A_SECOND = 1_000_000  # that numpy expands
_AT_ONCE = 20_000  # tokens

Levels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Tokens:
    """Documents as numbers of terms, one document after the other, and the size of their passages.

    The terms of the translation model have its numbers; the ``others`` terms that it does not know have those after
    ``unknown``, its number of all of them.
    """

    ids: Ids
    offsets: Numbers
    unknown: int
    others: int
    passage: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def terms(self) -> int:
        """How many numbers there are."""
        return self.unknown + 1 + self.others


def levels_of(values: NDArray[np.floating]) -> Levels:
    """The level of each c, which is above 0.

    >>> levels_of(np.array([1.0, 0.97, 0.96, 0.5, 1e-9])).tolist()
    [255, 255, 254, 239, 1]
    """
    bits = values.astype(np.float32).view(np.int32)
    levels: Levels = np.clip(((bits + (1 << _BITS) - 1) >> _BITS) - (_TOP - LEVELS + 1), 1, LEVELS - 1).astype(np.uint8)
    return levels


def score_tables(shares: Floats, odds: Floats) -> Ids:
    """What each level of each word adds to a score, in integers: shares are n(w, q) / |q|."""
    tables = np.log1p(odds[:, None] * VALUES) * (shares[:, None] * np.float32(SCALE))
    tables[:, 0] = 0
    rounded: Ids = np.rint(tables).astype(np.int32)
    return rounded


def expand(tokens: Tokens, translation: TranslationModel) -> tuple[ImpactLists, Numbers]:
    """The lists of documents, and how often their passages have each term.

    Dimension w is query word w, the one after the last *unknown*; the terms of the documents follow.
    """
    times = np.zeros(tokens.terms, np.int64)
    runs = _runs(tokens, translation, times)
    return ImpactLists.build(len(tokens), dimension_of(translation, tokens.terms), runs), times


def expanded(tokens: Tokens, translation: TranslationModel) -> Run:
    """The postings of few documents."""
    runs = [*_runs(tokens, translation, np.zeros(tokens.terms, np.int64))]
    return runs[0] if runs else Run(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int64))


def dimension_of(translation: TranslationModel, term: int) -> int:
    """The dimension of a term as it stands."""
    return translation.unknown_word + 1 + term


def _runs(tokens: Tokens, translation: TranslationModel, times: Numbers) -> Iterator[Run]:
    """The postings of one chunk of documents after another; adds to ``times`` what the passages have."""
    listed = document_counts(tokens) <= _LISTED
    listed[tokens.unknown :] = True
    expand_some = _expand_compiled if pays(len(tokens.ids) / _TOKENS_A_SECOND) else _expand
    for first in range(0, len(tokens), CHUNK):
        offsets = tokens.offsets[first : first + CHUNK + 1]
        parts = [*expand_some(replace(tokens, offsets=offsets), translation, listed, times)]
        ends, before = [np.zeros(0, np.int64)], 0
        for part in parts:
            ends.append(part.ends + before)
            before += len(part.levels)
        dimensions, levels = (np.concatenate([each[i] for each in parts]) for i in (0, 1))
        yield Run(dimensions, levels, np.concatenate(ends))


def document_counts(tokens: Tokens) -> Numbers:
    """The number of documents with each term."""
    if pays(len(tokens.ids) / (10 * _TOKENS_A_SECOND)):
        from isogloss.retrieval.compiled import count_texts  # imports numba

        return count_texts(tokens.ids, tokens.offsets, np.arange(tokens.terms))
    texts = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
    return np.bincount(np.unique(texts * tokens.terms + tokens.ids) % tokens.terms, minlength=tokens.terms)


def _expand(tokens: Tokens, translation: TranslationModel, listed: NDArray[np.bool_], times: Numbers) -> Iterator[Run]:
    first = 0
    while first < len(tokens):
        last = int(np.searchsorted(tokens.offsets, tokens.offsets[first] + _AT_ONCE, side="right")) - 1
        last = min(len(tokens), max(last, first + 1))
        yield _expand_few(replace(tokens, offsets=tokens.offsets[first : last + 1]), translation, listed, times)
        first = last


def _expand_few(tokens: Tokens, translation: TranslationModel, listed: NDArray[np.bool_], times: Numbers) -> Run:
    counts, firsts, sizes = windows(tokens.offsets, tokens.passage)
    begins = np.cumsum(sizes) - sizes
    terms = tokens.ids[np.arange(int(sizes.sum())) + np.repeat(firsts - begins, sizes)].astype(np.int64)
    times += np.bincount(terms, minlength=len(times))
    offsets, words, probabilities = translation.by_term(LEAST)
    known, passage = np.minimum(terms, tokens.unknown), np.repeat(np.arange(len(sizes)), sizes)
    lengths = offsets[known + 1] - offsets[known]
    pairs = np.arange(int(lengths.sum())) + np.repeat(offsets[known] - (np.cumsum(lengths) - lengths), lengths)
    base, own = dimension_of(translation, 0), listed[terms]
    dimensions = base + tokens.terms
    keys = np.concatenate(
        [np.repeat(passage, lengths) * dimensions + words[pairs], passage[own] * dimensions + base + terms[own]]
    )
    found, each = np.unique(keys, return_inverse=True)
    sums = np.bincount(each, np.concatenate([probabilities[pairs], np.ones(int(own.sum()))]), len(found))
    of_passage, dimension = np.divmod(found, dimensions)
    document = np.repeat(np.arange(len(tokens)), counts)[of_passage]
    levels = levels_of(sums / sizes[of_passage])
    keys = document * dimensions + dimension
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    highest = np.maximum.reduceat(levels[order], starts) if len(starts) else levels
    document, dimension = np.divmod(keys[order[starts]], dimensions)
    return Run(dimension.astype(np.int32), highest, np.cumsum(np.bincount(document, minlength=len(tokens))))


def _expand_compiled(
    tokens: Tokens, translation: TranslationModel, listed: NDArray[np.bool_], times: Numbers
) -> Iterator[Run]:
    from isogloss.systems.bridge.compiled import Scratch, expand_documents  # imports numba

    base, dimensions_ = dimension_of(translation, 0), dimension_of(translation, tokens.terms)
    kinds: tuple[Any, ...] = (np.float64, np.uint8, np.int32, np.int32)
    scratch = Scratch(*(np.zeros(dimensions_, kind) for kind in kinds))
    first, room = 0, max(1 << 22, dimensions_)
    while first < len(tokens):
        dimensions, levels = np.empty(room, np.int32), np.empty(room, np.uint8)
        ends = np.zeros(len(tokens) - first, np.int64)
        done = expand_documents(
            tokens.ids, tokens.offsets[first:], tokens.unknown, tokens.passage, translation.by_term(LEAST), listed,
            base, scratch, times, dimensions, levels, ends,
        )  # fmt: skip
        size = int(ends[done - 1])
        yield Run(dimensions[:size], levels[:size], ends[:done])
        first += done
