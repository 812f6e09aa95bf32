"""Hits: the result of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isogloss.data.documents import Document
from isogloss.search.gloss import Gloss, Twin
from isogloss.search.spelling import Correction
from isogloss.systems.base import Contribution

CLASSES = ("not relevant", "partially relevant", "relevant")


@dataclass(frozen=True)
class Hit:
    """A document that was found: its rank from 1, its score, and the words that made the score.

    ``passage`` is the begin and end of the best passage in the indexed text (``Searcher.text_of``) and ``relevance`` is
    one of ``CLASSES``, both where the system knows them. ``reranked``: score, class and explanation are those of a
    re-ranker, not of the system that found the document. ``gloss``: title and snippet in the language of the query,
    and ``twin``: the page that is the document's translation into it, both where they are asked for and known.
    ``chance`` is the probability that the document is relevant, where the system is calibrated; ``bar``, from 0 to 1,
    is the chance, or else the share of the best hit's score.
    """

    rank: int
    score: float
    language: str
    document: Document
    explanation: tuple[Contribution, ...] = ()
    passage: tuple[int, int] | None = None
    relevance: str | None = None
    reranked: bool = False
    gloss: Gloss | None = None
    twin: Twin | None = None
    chance: float | None = None
    bar: float = 0.0


class Hits(list[Hit]):
    """The hits of a search, the best first."""

    read_as: str = ""
    """The query that was searched for; ``corrected`` has the typing errors of the user's query that it is without."""
    corrected: tuple[Correction, ...] = ()
    total: int = 0
    """The number of documents that match; where it is not exact, there are at least so many."""
    total_is_exact: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the index probably has nothing relevant: all hits, from rank 1 on, are of the lowest class.

        False for systems without classes, and for hits after the first page, which may well be bad.
        """
        return bool(self) and self[0].rank == 1 and all(hit.relevance == CLASSES[0] for hit in self)


def relevance_of(score: float, thresholds: Sequence[float]) -> str | None:
    """The class of a score: below all thresholds, above all, or partially relevant in between; None without any."""
    if not thresholds:
        return None
    passed = sum(score >= threshold for threshold in thresholds)
    return CLASSES[0] if not passed else CLASSES[2] if passed == len(thresholds) else CLASSES[1]
