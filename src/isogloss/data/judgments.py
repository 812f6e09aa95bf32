"""Graded judgments: how relevant documents are for a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from isogloss.data.documents import Judgment


class Judgments:
    """Query id to document id to grade. Unlisted pairs have grade 0.

    ``top_grade`` is the grade of a *relevant* (MR) document: 2 in WikiCLIR, the highest grade there is elsewhere.
    Grades from 1 up count as relevant at all (MR or SR).
    """

    def __init__(self, judgments: Iterable[Judgment] = (), top_grade: int | None = None) -> None:
        self._grades: dict[str, dict[str, int]] = {}
        for query, document, grade in judgments:
            self._grades.setdefault(query, {})[document] = grade
        highest = max((max(grades.values()) for grades in self._grades.values()), default=1)
        self.top_grade = top_grade if top_grade is not None else max(1, highest)

    def __getitem__(self, query: str) -> Mapping[str, int]:
        return self._grades.get(query, {})

    def __contains__(self, query: object) -> bool:
        return query in self._grades

    def __iter__(self) -> Iterator[Judgment]:
        for query, grades in self._grades.items():
            for document, grade in grades.items():
                yield Judgment(query, document, grade)

    def __len__(self) -> int:
        return sum(map(len, self._grades.values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Judgments) and self._grades == other._grades

    __hash__ = None  # type: ignore[assignment]

    @property
    def queries(self) -> list[str]:
        """The ids of the judged queries."""
        return list(self._grades)

    def grade_counts(self) -> dict[int, int]:
        """The number of judgments of each grade, highest first."""
        counts = Counter(grade for grades in self._grades.values() for grade in grades.values())
        return dict(sorted(counts.items(), reverse=True))
