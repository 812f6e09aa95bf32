"""What the service does, without HTTP: search, explain, get, say how things are. Several threads call it at once."""

from __future__ import annotations

import time
from pathlib import Path

import isogloss
from isogloss.index.reader import OpenIndex
from isogloss.search.query_language import guess_query_language, language_note
from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher
from isogloss.server.fresh_index import FreshIndex
from isogloss.server.limits import BATCH, DEPTH, EXPLAINED, MOST_HITS, QUERY_LENGTH, Limits
from isogloss.server.marking import Marking
from isogloss.server.messages import (
    BatchAnswer,
    BatchRequest,
    DocumentMessage,
    ExplainAnswer,
    ExplainRequest,
    FoundMessage,
    IndexStatus,
    LimitsMessage,
    SearchAnswer,
    SearchRequest,
    StatusAnswer,
)
from isogloss.server.presenting import document_message, hit_message, meanings, reasons
from isogloss.server.refusals import Refusal
from isogloss.server.stopwatch import Stopwatch
from isogloss.storage.errors import InputError


class Service:
    """One index, and perhaps a second to compare it with."""

    def __init__(
        self, index: Path, compare: Path | None = None, limits: Limits | None = None, reranker: Reranker | None = None
    ) -> None:
        self.main = FreshIndex(index)
        self.compare = FreshIndex(compare) if compare else None
        self._limits = limits or Limits()
        self._reranker = reranker
        self._started = time.monotonic()

    def index(self, which: str = "main") -> OpenIndex:
        """The index to search in."""
        if which == "main":
            return self.main.now()
        if self.compare is None:
            raise Refusal(404, "index: this service has no second index; start it with --compare")
        return self.compare.now()

    def search(self, request: SearchRequest) -> SearchAnswer:
        """The best documents for a query."""
        watch = Stopwatch()
        if request.offset + request.k > DEPTH:
            raise Refusal(422, f"offset: hits after the first {DEPTH} are not given; ask more precisely")
        if request.explain and request.k > EXPLAINED:
            raise Refusal(422, f"explain: at most {EXPLAINED} hits are explained at once; lower k")
        index = self.index(request.index)
        searcher, manifest = self.searcher(index, request.index), index.manifest
        languages = request.languages or None
        wanted = request.k + 1  # one more, to know whether there are more
        hits = searcher.search(request.q, wanted, languages, request.filters or None, request.offset, request.explain)
        translations = searcher.translations(request.q, languages)
        marking = Marking(searcher, request.q, translations)
        query_language = _query_language(request, manifest.query_language, list(searcher.languages))
        return SearchAnswer(
            query=request.q,
            query_language=query_language,
            expected_language=manifest.query_language,
            note=language_note(query_language, manifest.query_language, list(searcher.languages)),
            languages=list(searcher.index.choose(languages)),
            offset=request.offset,
            more=len(hits) > request.k,
            hits=[
                hit_message(searcher, hit, rank, marking.of(hit), request.explain)
                for rank, hit in enumerate(hits[: request.k], start=request.offset + 1)
            ],
            unknown_words=searcher.unknown_words(request.q, languages),
            translations={language: meanings(words) for language, words in translations.items()},
            missing=list(hits.missing),
            doubtful=hits.doubtful,
            generation=index.generation,
            milliseconds=watch.milliseconds,
        )

    def search_batch(self, request: BatchRequest) -> BatchAnswer:
        """The best documents for each of many queries."""
        watch = Stopwatch()
        index = self.index(request.index)
        searcher = self.searcher(index, request.index)
        found = searcher.search_many(request.queries, request.k, request.languages or None, request.filters or None)
        results = [
            FoundMessage(
                query,
                [hit_message(searcher, hit, rank, _nothing, False) for rank, hit in enumerate(hits, start=1)],
                list(hits.missing),
                hits.doubtful,
            )
            for query, hits in zip(request.queries, found, strict=True)
        ]
        return BatchAnswer(results, index.generation, watch.milliseconds)

    def searcher(self, index: OpenIndex, which: str) -> Searcher:
        """What searches an index; the second one is left as it is, so that re-ranking can be compared with none."""
        return Searcher(index).reranked_by(self._reranker) if self._reranker and which == "main" else Searcher(index)

    def explain(self, request: ExplainRequest) -> ExplainAnswer:
        """What made the score of a document: the score of the system that found it, or that of the re-ranker."""
        index = self.index(request.index)
        searcher = self.searcher(index, request.index)
        document = searcher.get(request.id, request.language)
        if document is None:
            raise _no_such_document(request.language, request.id)
        parts = searcher.explain(request.q, request.language, request.id, request.reranked)
        languages = [request.language]
        return ExplainAnswer(
            query=request.q,
            language=request.language,
            id=request.id,
            title=document.title,
            system=searcher.reranker.name if searcher.reranker and request.reranked else index.manifest.system,
            score=float(sum(part.score for part in parts)),
            explanation=reasons(searcher, request.language, document, parts, request.reranked),
            translations=meanings(searcher.translations(request.q, languages)[request.language]),
            unknown_words=searcher.unknown_words(request.q, languages),
        )

    def get(self, language: str, id_: str, which: str = "main") -> DocumentMessage:
        """A document."""
        searcher = Searcher(self.index(which))
        document = searcher.get(id_, language) if language in searcher.languages else None
        if document is None:
            raise _no_such_document(language, id_)
        return document_message(document, language)

    def warm(self) -> None:
        """Have read and compiled what the first search would otherwise wait for."""
        query = "what is known about water and stones"
        for which in ("main", "compare") if self.compare else ("main",):
            self.search(SearchRequest(query, k=1, index=which))
            self.search_batch(BatchRequest([query, query], k=1, index=which))

    def close(self) -> None:
        """Let go of the indexes."""
        for index in (self.main, self.compare):
            if index is not None:
                index.seen.close()

    def status(self, writable: bool) -> StatusAnswer:
        """How things are."""
        limits = LimitsMessage(
            QUERY_LENGTH, MOST_HITS, DEPTH, BATCH, self._limits.search_bytes, self._limits.seconds
        )  # fmt: skip
        return StatusAnswer(
            version=isogloss.__version__,
            index=_status_of(self.main.now()),
            compare=_status_of(self.compare.now()) if self.compare else None,
            writable=writable,
            uptime_seconds=round(time.monotonic() - self._started, 3),
            limits=limits,
        )


def _nothing(word: str) -> bool:
    """Batches are for programs: nothing is marked."""
    return False


def _status_of(index: OpenIndex) -> IndexStatus:
    manifest = index.manifest
    try:
        about = index.about()
    except FileNotFoundError:  # a writer took something away while it was being counted
        about = {}
    about.pop("path", None)  # where it lies is nobody's business
    if "store" in about:
        about["store"] = {name: about["store"].get(name) for name in ("engine", "search")}
    return IndexStatus(
        index.path.name, manifest.system, manifest.query_language, documents_of(index), index.generation, about
    )


def documents_of(index: OpenIndex) -> dict[str, int]:
    """How many documents of each language can be found."""
    return dict(index.manifest.documents)


def _query_language(request: SearchRequest, expected: str, others: list[str]) -> str:
    said = request.query_language
    if said not in ("", "detect"):
        return said
    try:
        return guess_query_language(request.q, expected, others) or expected
    except InputError:  # a language that cannot be told from others by its looks
        return expected


def _no_such_document(language: str, id_: str) -> Refusal:
    return Refusal(404, f"there is no document {id_[:100]!r} in {language!r}")
