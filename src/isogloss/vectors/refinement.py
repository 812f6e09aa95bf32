"""A lexicon that grows: align, find words that are each other's nearest, add them, align again.

The refinement of Conneau et al. (2018), with the given pairs kept in every round: a few hundred of them are enough to
start with, and the vocabulary of the collection at hand, which no dictionary knows, joins them. Each round starts from
the given pairs afresh, so that what a poor early map brought in goes when a better one no longer agrees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isogloss.base.errors import InputError
from isogloss.vectors.alignment import Alignment, AlignmentOptions, align
from isogloss.vectors.frequent_pairs import Pair
from isogloss.vectors.retrieval import NEIGHBOURS, mutual_nearest
from isogloss.vectors.word_vectors import WordVectors


@dataclass(frozen=True, slots=True)
class Refinement:
    """The last alignment, the pairs that mutual neighbourhood added to the given ones, and how many each round did."""

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
    given = list(pairs)
    known = set(given)
    alignment = align(source, target, given, options)
    induced: tuple[Pair, ...] = ()
    growth: list[int] = []
    for _ in range(rounds):
        found = induce_pairs(alignment, source, target, frequent, neighbours)
        new = tuple(pair for pair in found if pair not in known)
        if new == induced:
            break
        induced = new
        growth.append(len(induced))
        alignment = align(source, target, [*given, *induced], options)
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
