"""Hits: what a search gives back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isogloss.data.documents import Document
from isogloss.systems.base import Contribution

CLASSES = ("not relevant", "partially relevant", "relevant")


@dataclass(frozen=True)
class Hit:
    """A document found: its place among the hits from 1, its score, and what made the score.

    ``passage`` is where the best passage begins and ends in what was indexed of the document (``Engine.text_of``), and
    ``relevance`` one of the classes, both where the system knows. ``reranked``: score, class and explanation are those
    of a re-ranker, not of the system that found it.
    """

    rank: int
    score: float
    language: str
    document: Document
    explanation: tuple[Contribution, ...] = ()
    passage: tuple[int, int] | None = None
    relevance: str | None = None
    reranked: bool = False


class Hits(list[Hit]):
    """What was found, the best first; ``missing`` says which parts of the index did not answer, if any did not."""

    def __init__(self, hits: Iterable[Hit] = (), missing: Iterable[str] = ()) -> None:
        super().__init__(hits)
        self.missing = tuple(dict.fromkeys(missing))

    @property
    def doubtful(self) -> bool:
        """Whether there is probably nothing to be found: all hits, from the first on, are of the lowest class.

        Never where scores say nothing of relevance, and never of hits after the first page, which may well be bad.
        """
        return bool(self) and self[0].rank == 1 and all(hit.relevance == CLASSES[0] for hit in self)


def relevance_of(score: float, thresholds: Sequence[float]) -> str | None:
    """The class of a score: the lowest and the highest have their names, what is between is partially relevant."""
    if not thresholds:
        return None
    passed = sum(score >= threshold for threshold in thresholds)
    return CLASSES[0] if not passed else CLASSES[2] if passed == len(thresholds) else CLASSES[1]
