"""Qdrant as an engine: ``qdrant:FOLDER`` (Qdrant's own engine in this process, :mod:`isogloss.engines.qdrant.edge`) or
``qdrant+http://HOST:6333`` (a server, :mod:`isogloss.engines.qdrant.client`).

A point is a passage, or a whole document: it says its language, its document and what filters may ask for. The first
point of a document has the document as JSON and the number of its points. One point without vectors has the settings.

Results are grouped by document here: points are fetched until there are enough documents. So the ranking is exact, ties
and all; Qdrant's own groups stop after a few rounds, and its engine for one process does not have them.

Qdrant writes a batch point by point. Readers of this process wait for it, but a process or a server that is killed in
the middle leaves part of it; add the batch again then.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Document, document_of, page_object
from isogloss.engines.base import EngineHit, Filters, Matrix, Points, Queries, checked_points, checked_queries
from isogloss.engines.qdrant.points import FoundPoint, PointStore, StoredPoint, Where
from isogloss.engines.recall import chosen_languages, ef_search_for, measured_levels, reached_recalls
from isogloss.retrieval.field_lists import field_keys
from isogloss.retrieval.vectors.approximate import TARGET, sample_queries
from isogloss.storage.errors import InputError
from isogloss.systems.sparse import SparseVector

VERSION = 2
_SETTINGS = str(uuid.uuid5(uuid.NAMESPACE_URL, "isogloss settings"))
_FIRST = ("passage", 0)
_BATCH = 500  # points sent at a time: a server takes 32 MB
_POINTS = 4  # fetched for each document that is wanted, after the first try
_ROUNDING = 2e-6  # of a score, at most, is lost by sums in float32
_QUERIES, _SAMPLED = 200, 2_000  # queries that measure the recall, vectors that they are made of


class QdrantEngine:
    """Documents as points of Qdrant; ``create`` and ``open`` connect to one."""

    def __init__(self, points: PointStore) -> None:
        self._points, self._turns = points, points.turns
        self._settings = self._read_settings()

    @classmethod
    def create(cls, url: str, dimension: int, *, name: str, sparse: bool = False) -> QdrantEngine:
        """A new and empty one of that name."""
        return cls.begun(_store(url).create(url, name, dimension, sparse), dimension, sparse)

    @classmethod
    def begin(cls, url: str, dimension: int, *, name: str, sparse: bool = False) -> QdrantEngine:
        """A new one that ``sweep`` removes, if it is in a folder, unless ``finish`` is called."""
        return cls.begun(_store(url).begin(url, name, dimension, sparse), dimension, sparse)

    @classmethod
    def sweep(cls, url: str) -> list[str]:
        """Remove from a folder what ended processes have begun and not finished; the names."""
        names: list[str] = _store(url).sweep(url)
        return names

    def finish(self) -> None:
        """Mark it as complete."""
        self._points.finish()

    @classmethod
    def begun(cls, points: PointStore, dimension: int, sparse: bool) -> QdrantEngine:
        """The engine of new points, with its settings."""
        _write_settings(points, {"version": VERSION, "dimension": dimension, "sparse": sparse, "hnsw": {}})
        return cls(points)

    @classmethod
    def open(cls, url: str, *, name: str) -> QdrantEngine:
        """The one of that name."""
        points: PointStore = _store(url).open(url, name)
        try:
            return cls(points)
        except BaseException:
            points.close()
            raise

    def add(self, documents: Sequence[Document], points: Points | Matrix) -> None:
        """Add or replace documents; points that a document has no more are deleted at last."""
        checked = checked_points(documents, points, self._settings["dimension"], self._settings["sparse"])
        starts = checked.starts
        new = [
            point
            for document, *ends in zip(documents, starts, starts[1:], strict=False)
            for point in _points_of(document, checked, range(*ends))
        ]
        if not new:
            return
        with self._turns.writing():
            firsts = [_number(document.language, document.id) for document in documents]
            before = self._points.payloads(firsts, ["points"])
            for start in range(0, len(new), _BATCH):
                self._points.upsert(new[start : start + _BATCH])
            surplus = [
                _number(document.language, document.id, number)
                for document, first, count in zip(documents, firsts, checked.counts.tolist(), strict=True)
                for number in range(count, before[first]["points"] if first in before else 0)
            ]
            if surplus:
                self._points.delete(surplus)
            self._points.flush()

    def delete(self, language: str, ids: Sequence[str]) -> int:
        firsts = {_number(language, id_): id_ for id_ in ids}
        with self._turns.writing():
            found = self._points.payloads(list(firsts), ["points"]) if firsts else {}
            if found:
                counts = ((firsts[first], payload["points"]) for first, payload in found.items())
                self._points.delete([_number(language, id_, point) for id_, count in counts for point in range(count)])
                self._points.flush()
        return len(found)

    def search(
        self, language: str, queries: Queries, k: int, filters: Filters | None = None, ids: Sequence[str] | None = None
    ) -> list[list[EngineHit]]:
        checked = checked_queries(queries, self._settings["dimension"], self._settings["sparse"])
        where: list[tuple[str, Any]] = [("language", language)]
        where += [("keys", f"{name}={value}") for name, value in (filters or {}).items()]
        where += [] if ids is None else [("document", list(ids))]
        if k < 1 or (ids is not None and not ids):
            return [[] for _ in checked]
        ef = None
        if isinstance(checked, np.ndarray) and ids is None:
            ef = ef_search_for(self._settings["hnsw"].get(language), k)
        with self._turns.reading():
            return [self._best(query, k, where, ef) for query in checked]

    def get(self, language: str, ids: Sequence[str]) -> list[Document | None]:
        numbers = [_number(language, id_) for id_ in ids]
        with self._turns.reading():
            found = self._points.payloads(numbers, ["page"]) if numbers else {}
        return [document_of(json.loads(found[number]["page"])) if number in found else None for number in numbers]

    def documents(self, language: str) -> Iterator[Document]:
        """The documents of a language, in no order."""
        for point in self._points.scroll([("language", language), _FIRST], ["page"]):
            yield document_of(json.loads(point.payload["page"]))

    def counts(self) -> dict[str, int]:
        with self._turns.reading():
            return self._points.counts("language", [_FIRST])

    def about(self) -> dict[str, Any]:
        kind = {language: "hnsw" for language in self.recalls()}
        settings = {name: self._settings[name] for name in ("version", "dimension", "sparse")}
        return {"engine": "qdrant", "mode": self._points.mode, "search": kind or "exact", **settings}

    def approximate(self, how: str) -> dict[str, float]:
        """Build an HNSW graph of the dense vectors and measure its recall (``yes``; ``auto``: where there are many)."""
        languages = chosen_languages(self.counts(), how) if self._settings["dimension"] else []
        if not languages and not self._settings["hnsw"]:
            return {}
        with self._turns.writing():
            self._points.use_graph(bool(languages), self._settings["dimension"], self._settings["sparse"])
            levels = {language: {"levels": self._measured(language)} for language in languages}
            _write_settings(self._points, {**self._settings, "hnsw": levels})
            self._points.flush()
            self._settings = self._read_settings()
        return self.recalls()

    def recalls(self) -> dict[str, float]:
        return reached_recalls(self._settings["hnsw"])

    def close(self) -> None:
        self._points.close()

    def drop(self) -> None:
        self._points.drop()

    def _best(self, query: NDArray[np.float32] | SparseVector, k: int, where: Where, ef: int | None) -> list[EngineHit]:
        """Points are fetched until there are ``k`` documents and all that may score like the last: then ids decide."""
        limit = k + 1
        while True:
            found, best = self._points.query(query, where, limit, ef), dict[str, float]()
            for point in found:
                best.setdefault(point.document, point.score)
            scores = list(best.values())
            if len(found) < limit or (len(scores) > k and not _is_near(scores[k - 1], found[-1].score)):
                break
            limit *= _POINTS
        if isinstance(query, SparseVector):
            best = {}
            for document, score in self._settled(query, found):
                best[document] = max(score, best.get(document, -np.inf))
        hits = [EngineHit(document, score) for document, score in best.items()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]

    def _settled(self, query: SparseVector, found: Sequence[FoundPoint]) -> list[tuple[str, float]]:
        """Documents and scores of points; those that are nearly equal are summed again, exactly.

        Qdrant sums in float32, in an order that may differ from point to point: equal sums may differ in the last bits.
        """
        ends = [place for place in range(1, len(found)) if not _is_near(found[place - 1].score, found[place].score)]
        groups = [found[start:end] for start, end in pairwise([0, *ends, len(found)])]
        doubtful = [point.id for group in groups if len({point.score for point in group}) > 1 for point in group]
        vectors = self._points.sparse(doubtful) if doubtful else {}
        exact = {id_: float(np.float32(vector.product(query))) for id_, vector in vectors.items()}
        return [(point.document, exact.get(point.id, point.score)) for point in found]

    def _measured(self, language: str) -> list[dict[str, Any]]:
        where = [("language", language)]
        sample = [point.dense for point, _ in zip(self._points.scroll(where, (), True), range(_SAMPLED), strict=False)]
        queries = sample_queries(np.stack([vector for vector in sample if vector is not None]), _QUERIES)
        return measured_levels(
            queries,
            lambda some, k: [self._best(query, k, where, None) for query in some],
            lambda some, k, ef: [self._best(query, k, where, ef) for query in some],
            TARGET,
        )

    def _read_settings(self) -> dict[str, Any]:
        found = self._points.payloads([_SETTINGS], ["settings"]).get(_SETTINGS, {})
        settings: dict[str, Any] = json.loads(found.get("settings", "{}"))
        if settings.get("version") != VERSION:
            what = f"the points in Qdrant are not of version {VERSION}, which this isogloss reads"
            raise InputError(f"{what}; make the index again, or use the isogloss that made it")
        return settings


def _is_near(score: float, lower: float) -> bool:
    """Whether two scores may be equal but for rounding."""
    return score - lower <= _ROUNDING * abs(score)


def _write_settings(points: PointStore, settings: dict[str, Any]) -> None:
    points.upsert([StoredPoint(_SETTINGS, {"settings": json.dumps(settings)})])
    points.flush()


def _points_of(document: Document, points: Points, rows: range) -> Iterator[StoredPoint]:
    keys = field_keys(document)
    try:
        "".join([document.id, *keys]).encode()
    except UnicodeEncodeError as error:
        what = "has a character in its id or in a field that Qdrant cannot keep (a lone surrogate)"
        raise InputError(f"document: {document.id!r} {what}; leave it out") from error
    for number, row in enumerate(rows):
        payload = {"language": document.language, "document": document.id, "keys": keys, "passage": number}
        if not number:
            payload |= {"page": json.dumps(page_object(document)), "points": len(rows)}
        yield StoredPoint(
            _number(document.language, document.id, number), payload,
            None if points.dense is None else points.dense[row], None if points.sparse is None else points.sparse[row],
        )  # fmt: skip


def _number(language: str, id_: str, point: int = 0) -> str:
    """Points have numbers for ids, here made of what names the document, and which of its points it is."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([language, id_, point])))


def _store(url: str) -> Any:
    """The class of the points at an address; each imports a package of its own."""
    if "+" in url.partition(":")[0]:
        from isogloss.engines.qdrant import client

        return client.ClientPoints
    from isogloss.engines.qdrant import edge

    return edge.EdgePoints
