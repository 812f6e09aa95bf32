"""A lexicon that grows (align, add words that are each other's nearest, align again), and what an alignment is worth.

The refinement of Conneau et al. (2018), with the seed pairs kept in every round: a few hundred of them are enough to
start with, and the vocabulary of the collection, which no dictionary knows, joins them. Each round starts from the seed
pairs afresh, so that what a poor early map brought in goes when a better one no longer agrees.

    P@k = share of the held-out source words with any of their listed translations among the k nearest target words

(as MUSE counts: Conneau et al. 2018). Only single words with a vector, and translations of one word with a vector,
take part; the other source words are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.papers.word_vectors.alignment import Alignment, AlignmentOptions, Pair, align
from isogloss.papers.word_vectors.nearest import NEIGHBOURS, WordRetriever, mutual_nearest
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError


@dataclass(frozen=True, slots=True)
class Refinement:
    """The last alignment, the pairs that mutual neighbourhood added to the seed pairs, and how many each round did."""

    alignment: Alignment
    induced: tuple[Pair, ...]
    growth: tuple[int, ...]


def refine(
    source: WordVectors,
    target: WordVectors,
    pairs: Iterable[Pair],
    options: AlignmentOptions | None = None,
    rounds: int = 5,
    frequent: int = 10_000,
    neighbours: int = NEIGHBOURS,
) -> Refinement:
    """Align, then ``rounds`` times induce pairs among the ``frequent`` first words of both sides and align again.

    Stops early when a round induces what the one before did.
    """
    if rounds < 0 or frequent < 1:
        raise InputError(f"refinement needs 0 rounds or more (got {rounds}) among 1 word or more (got {frequent})")
    seeds = list(pairs)
    known = set(seeds)
    alignment = align(source, target, seeds, options)
    induced: tuple[Pair, ...] = ()
    growth: list[int] = []
    for _ in range(rounds):
        found = induce_pairs(alignment, source, target, frequent, neighbours)
        new = tuple(pair for pair in found if pair not in known)
        if new == induced:
            break
        induced = new
        growth.append(len(induced))
        alignment = align(source, target, [*seeds, *induced], options)
    return Refinement(alignment, induced, tuple(growth))


def induce_pairs(
    alignment: Alignment, source: WordVectors, target: WordVectors, frequent: int, neighbours: int = NEIGHBOURS
) -> list[Pair]:
    """Pairs among the first words of both sides that are each other's nearest by CSLS, the more frequent first."""
    found = mutual_nearest(
        alignment.apply(source.matrix[:frequent], "source"),
        alignment.apply(target.matrix[:frequent], "target"),
        neighbours,
    )
    return [
        (source.words[left], target.words[right])
        for left, right in zip(found.source.tolist(), found.target.tolist(), strict=True)
    ]


CUTOFFS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class TranslationAccuracy:
    """``measures`` (``P@1`` and so on) over ``words`` source words; ``skipped`` others have no vector."""

    measures: dict[str, float]
    words: int
    skipped: int


def split_pairs(pairs: Iterable[Pair], held_out: float = 0.2, seed: int = 0) -> tuple[list[Pair], list[Pair]]:
    """Pairs to fit on and pairs held out: a share of the source words with all their translations.

    Depends on the words and the seed, not on the order of the pairs.

    >>> fit, held_out = split_pairs([("a", "x"), ("a", "y"), ("b", "z")], held_out=0.5)
    >>> {word for word, _ in fit} & {word for word, _ in held_out}
    set()
    """
    if not 0.0 < held_out < 1.0:
        raise InputError(f"the held-out share must lie between 0 and 1, not {held_out}")
    pairs = list(pairs)
    words = sorted({word for word, _ in pairs})
    order = np.random.default_rng(seed).permutation(len(words))
    chosen = {words[number] for number in order[: round(held_out * len(words))]}
    return [pair for pair in pairs if pair[0] not in chosen], [pair for pair in pairs if pair[0] in chosen]


def translation_accuracy(
    alignment: Alignment,
    source: WordVectors,
    target: WordVectors,
    held_out: Iterable[Pair],
    csls: bool = True,
    cutoffs: Sequence[int] = CUTOFFS,
    frequent: int | None = None,
) -> TranslationAccuracy:
    """Translate the held-out source words among the target's words (the ``frequent`` first ones, if given).

    CSLS takes as many words of the source into account.
    """
    listed: dict[str, set[int]] = {}
    limit = min(frequent or len(target), len(target))
    for word, translation in held_out:
        row = target.row_of.get(translation, limit)
        listed.setdefault(word, set()).update([row] if row < limit and target.matrix[row].any() else [])
    tested = [word for word, rows in listed.items() if rows and word in source and source[word].any()]
    if not tested:
        raise InputError(f"none of the {len(listed)} held-out words has a vector on both sides; hold out others")
    background = alignment.apply(source.matrix[:frequent], "source") if csls else None
    retriever = WordRetriever(alignment.apply(target.matrix[:limit], "target"), background)
    queries = alignment.apply(source.matrix[source.rows(tested)], "source")
    found = retriever.nearest(queries, max(cutoffs)).rows.tolist()
    ranks = np.array([_rank(rows, listed[word]) for word, rows in zip(tested, found, strict=True)])
    measures = {f"P@{k}": float(np.mean(ranks < k)) for k in cutoffs}
    return TranslationAccuracy(measures, len(tested), len(listed) - len(tested))


def _rank(rows: Sequence[int], right: set[int]) -> int:
    """The rank of the first right row, from 0; behind all if there is none."""
    return next((rank for rank, row in enumerate(rows) if row in right), len(rows))
