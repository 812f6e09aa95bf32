"""Facets: how many of the documents that a search finds have each value of a field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isogloss.index.language_index import Filters
from isogloss.search.hits import Hits
from isogloss.search.searcher import Searcher
from isogloss.storage.deadline import check

_MOST_VALUES = 20


@dataclass(frozen=True)
class Facets:
    """For each field the most frequent values among ``counted`` documents, and how many documents have each.

    ``complete``: these are all documents that the query finds; otherwise they are the best of each language.
    """

    counted: int
    complete: bool
    values: Mapping[str, Sequence[tuple[str, int]]]

    def count(self, hits: Hits) -> None:
        """Correct how many documents match a query, where more of them were counted for the facets."""
        if not hits.total_is_exact:
            hits.total, hits.total_is_exact = max(hits.total, self.counted), self.complete


def count_facets(
    searcher: Searcher, query: str, names: Sequence[str], languages: Sequence[str] | None = None,
    filters: Filters | None = None,
) -> Facets:  # fmt: skip
    """Count the values of some fields among the documents that a query finds in these languages, or in all."""
    counted, complete = 0, True
    counts = {name: Counter[str]() for name in names}
    for language_index in searcher.choose(languages).values():
        check()
        found = language_index.search(query, language_index.countable, filters)
        counted += len(found)
        complete &= len(found) < language_index.countable or len(found) == language_index.count
        keys = [each.key for each in found]
        for name, of_name in counts.items():
            of_name.update(language_index.value_counts(name, keys))
    ordered = {name: sorted(of_name.items(), key=lambda pair: (-pair[1], pair[0])) for name, of_name in counts.items()}
    return Facets(counted, complete, {name: values[:_MOST_VALUES] for name, values in ordered.items()})
