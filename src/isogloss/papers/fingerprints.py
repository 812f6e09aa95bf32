"""A hash of what a dataset holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from isogloss.data.dataset import Dataset


def fingerprint(dataset: Dataset, *more: object) -> str:
    """Of documents, queries, judgments, splits, and what else is given as plain values; not of where the data lie."""
    found = hashlib.sha256()
    for part in (*_content(dataset), *more):
        found.update(json.dumps(part).encode())
    return found.hexdigest()[:32]


def _content(dataset: Dataset) -> Iterator[object]:
    yield dataset.pair, dataset.judgments.top_grade
    yield from ((document.id, document.text) for document in dataset.documents)
    yield from ((query.id, query.text) for query in dataset.queries.values())
    yield from sorted(dataset.judgments)
    yield dataset.splits
