"""The documents of a language in an engine: queries are encoded here, the engine ranks, and what a system re-scores or
fuses is re-scored and fused here, from the texts and scores that the engine gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from isogloss.data.documents import Document, joined_fields
from isogloss.engines.base import Approximating, EngineHit, IndexEngine
from isogloss.index.engine_systems import EngineSystem, padded
from isogloss.index.language_index import Candidate, Filters
from isogloss.retrieval.field_lists import field_keys
from isogloss.retrieval.ranking import Matches, Ranking
from isogloss.systems.base import Contribution, System
from isogloss.systems.hybrid import BothShares

_RECENT = 1_000  # documents that are cached: hits are explained one by one
_SHOWN = 32  # documents that are cached as they are indexed
_KEPT = 128  # queries whose lists are cached


class EngineLanguageIndex:
    """The documents of a language in an engine. The key of a document is its id.

    ``dimension`` is that of the engine: shorter vectors are padded with zeros, which change no inner product.
    """

    countable = 100  # what is counted is fetched

    def __init__(
        self, encoder: EngineSystem, engine: IndexEngine, language: str, dimension: int, count: int,
        fields: tuple[str, ...],
    ) -> None:  # fmt: skip
        self._encoder, self._engine, self._language, self._dimension = encoder, engine, language, dimension
        self.count, self._fields = count, fields
        self._recent: dict[str, Document] = {}
        self._whole_list = lru_cache(_KEPT)(self._list)
        self._alone = lru_cache(_SHOWN)(encoder.of_one)
        if encoder.hybrid is not None:
            encoder.hybrid.take_lists(self._ranking)

    @property
    def system(self) -> System:
        """The system that scores the documents."""
        return self._encoder.system

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Candidate[str]]:
        return self.search_many([query], k, filters)[0]

    def search_many(self, queries: Sequence[str], k: int, filters: Filters | None = None) -> list[list[Candidate[str]]]:
        """The best ``k`` documents for each query; none for a query without a known word."""
        if self._encoder.hybrid is not None:
            found = [self._fused(query, k, filters) for query in queries]
        elif self._encoder.sparse is not None:
            found = self._sparse(queries, k, filters)
        else:
            found = self._dense(queries, k, filters)
        return [[Candidate(id_, score, id_) for id_, score in hits] for hits in found]

    def count_matches(self, query: str, filters: Filters | None = None) -> Matches:
        """Unknown: an engine returns the best, and does not count the others."""
        return Matches(0, False)

    def documents(self, keys: Sequence[str]) -> list[Document | None]:
        found = self._engine.get(self._language, keys)
        recent = self._recent if len(self._recent) < _RECENT else {}
        recent |= {key: each for key, each in zip(keys, found, strict=True) if each is not None}
        self._recent = recent
        return found

    def find(self, id_: str) -> str | None:
        return id_ if self.known([id_]) else None

    def known(self, ids: Sequence[str]) -> set[str]:
        fetched = self.documents(ids)
        return {id_ for id_, document in zip(ids, fetched, strict=True) if document is not None}

    def stored(self, ids: Sequence[str]) -> Iterator[Document]:
        return (document for document in self._engine.get(self._language, ids) if document is not None)

    def explain(self, query: str, key: str, text: str) -> list[Contribution]:
        """The words that made the score; the document is encoded again, as the only one of a copy of the system."""
        alone = self._alone(key, text)
        hybrid = self._encoder.hybrid
        if hybrid is None:
            return alone.explain(query, 0, text)
        ids = [key]
        scores = {side: np.asarray([dict(self._scored(side, query, ids)).get(key, 0.0)]) for side in hybrid.parts}
        assert isinstance(alone, type(hybrid))
        return alone.explain_shares(query, text, scores, self._shares(query, ids, scores))

    def passage(self, query: str, key: str) -> tuple[int, int] | None:
        """Begin and end of the document's best passage, found by encoding its passages again."""
        if not self.system.options.passages:
            return None
        document = self._recent.get(key) or self.documents([key])[0]
        return None if document is None else self._alone(key, joined_fields(document, self._fields)).passage(query, 0)

    def value_counts(self, name: str, keys: Sequence[str]) -> Counter[str]:
        found = (key for document in self.documents(keys) if document for key in field_keys(document))
        return Counter(key[len(name) + 1 :] for key in found if key.startswith(f"{name}="))

    def about(self) -> dict[str, Any]:
        """The measured recall, where the language is searched approximately."""
        recalls = self._engine.recalls() if isinstance(self._engine, Approximating) else {}
        return {"kind": "approximate", "recall": recalls[self._language]} if self._language in recalls else {}

    def _dense(
        self, queries: Sequence[str], k: int, filters: Filters | None = None, ids: Sequence[str] | None = None
    ) -> list[list[EngineHit]]:
        """By inner products; a query without a known word, which scores all documents alike, finds none."""
        assert self._encoder.dense is not None
        vectors = padded(self._encoder.dense.encode_queries(queries), self._dimension)
        found: list[list[EngineHit]] = [[] for _ in queries]
        known = np.flatnonzero(vectors.any(axis=1))
        answers = self._engine.search(self._language, vectors[known], k, filters, ids) if len(known) else []
        for number, hits in zip(known.tolist(), answers, strict=True):
            found[number] = hits
        return found

    def _sparse(
        self, queries: Sequence[str], k: int, filters: Filters | None = None, ids: Sequence[str] | None = None
    ) -> list[list[EngineHit]]:
        """By sparse products, or re-scored from the texts of those that score best by them."""
        system = self._encoder.sparse
        assert system is not None
        if ids is not None and system.candidates:
            return [self._rescored(query, ids, k) for query in queries]
        vectors = [system.sparse_query(query) for query in queries]
        wanted = max(k, system.candidates)
        found = self._engine.search(self._language, vectors, wanted, filters, ids)
        if system.candidates:
            pairs = zip(queries, found, strict=True)
            return [self._rescored(query, [hit.id for hit in hits], k) for query, hits in pairs]
        return [[hit for hit in hits if hit.score > system.found_above] for hits in found]

    def _rescored(self, query: str, ids: Sequence[str], k: int) -> list[EngineHit]:
        assert self._encoder.sparse is not None
        fetched = zip(ids, self._engine.get(self._language, ids), strict=True)
        texts = {id_: joined_fields(document, self._fields) for id_, document in fetched if document is not None}
        scores = self._encoder.sparse.rescore(query, list(texts.values())).tolist()
        hits = [EngineHit(id_, score) for id_, score in zip(texts, scores, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]

    # a hybrid: the lists of both parts, as :class:`isogloss.systems.hybrid.Lists` has them of files

    def _fused(self, query: str, k: int, filters: Filters | None) -> list[EngineHit]:
        """The fused lists of both parts, and what is beyond their depth after them, as in ``Hybrid.search``."""
        from isogloss.systems.hybrid import below

        hybrid = self._encoder.hybrid
        assert hybrid is not None
        depth, ranked, seen = hybrid.options.depth, list[EngineHit](), set[str]()
        while True:
            whole = filters is None and depth == hybrid.options.depth
            lists = [
                self._whole_list(s, query) if whole else self._list(s, query, depth, filters) for s in hybrid.parts
            ]
            ids = sorted({id_ for hits in lists for id_, _ in hits} - seen)
            new = sorted(self._fused_hits(query, ids), key=lambda hit: (-hit.score, hit.id))
            scores = below(*(np.asarray([hit.score for hit in hits]) for hits in (new, ranked)))
            ranked += [EngineHit(hit.id, score) for hit, score in zip(new, scores.tolist(), strict=True)]
            if len(ranked) >= k or all(len(hits) < depth for hits in lists):
                return ranked[:k]
            seen.update(ids)
            depth *= 2

    def _fused_hits(self, query: str, ids: Sequence[str]) -> list[EngineHit]:
        hybrid = self._encoder.hybrid
        assert hybrid is not None
        scores = {}
        for side in hybrid.parts:
            known = dict(self._scored(side, query, ids))
            scores[side] = np.asarray([known.get(id_, 0.0) for id_ in ids])
        fused = hybrid.fused(self._shares(query, ids, scores))
        return [EngineHit(id_, score) for id_, score in zip(ids, fused.tolist(), strict=True)]

    def _list(self, side: str, query: str, k: int = 0, filters: Filters | None = None) -> list[EngineHit]:
        assert self._encoder.hybrid is not None
        search = self._dense if side == "dense" else self._sparse
        return search([query], k or self._encoder.hybrid.options.depth, filters)[0]

    def _scored(self, side: str, query: str, ids: Sequence[str]) -> list[EngineHit]:
        """The scores of a part for some documents."""
        return (self._dense if side == "dense" else self._sparse)([query], len(ids), None, ids)[0] if ids else []

    def _ranking(self, side: str, query: str) -> Ranking:
        """The list of a part, with places for rows."""
        hits = self._whole_list(side, query)
        return Ranking(np.arange(len(hits)), np.asarray([hit.score for hit in hits], np.float32))

    def _shares(self, query: str, ids: Sequence[str], scores: dict[str, Any]) -> BothShares:
        """The comparable scores of some documents, by the lists of the whole collection."""
        hybrid = self._encoder.hybrid
        assert hybrid is not None
        shares = []
        for side in hybrid.parts:
            place = {hit.id: number for number, hit in enumerate(self._whole_list(side, query))}
            rows = np.asarray([place.get(id_, len(place)) for id_ in ids], np.int64)
            shares.append(hybrid.shares(self._ranking(side, query), rows, scores[side]))
        return BothShares(*shares)
