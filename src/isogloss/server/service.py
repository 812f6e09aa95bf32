"""The operations of the service without HTTP: search, explain, get and status, which several threads call at once, and
changes of the index: one request, one commit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import isogloss
from isogloss.index.lock import IndexBusyError
from isogloss.index.reader import OpenIndex, open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.facets import count_facets
from isogloss.search.query_language import query_language_note, read_query_language
from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import content_words, is_stop_word, snippet_of
from isogloss.search.spelling import ReadQuery
from isogloss.server import models, presenting
from isogloss.server.errors import Refusal, opening_refusal, write_refusal
from isogloss.server.glossing import add_document_gloss, add_glosses
from isogloss.server.limits import BATCH, COST, DEPTH, EXPLAINED, MOST_HITS, QUERY_LENGTH, QUERY_WORDS, Limits
from isogloss.server.log import write_line
from isogloss.server.presenting import (
    Marking,
    about_hits,
    corrections_message,
    facets_message,
    hit_message,
    translations_message,
)
from isogloss.storage.deadline import check
from isogloss.storage.errors import InputError
from isogloss.systems.registry import system_type

_TOGETHER = 32  # queries of a batch that are searched at once, between two checks of the deadline
_REFRESH_SECONDS = 1.0  # between two checks of the disk
_PATIENCE = 5.0  # seconds for another worker of this service, or a short command, to finish its writing
_PAUSE = 0.02
_T = TypeVar("_T")


class FreshIndex:
    """The newest commit of an index that could be opened.

    Changes are checked for at most once a second, by one thread; the others meanwhile search in what they have. A
    change that cannot be opened is logged once and leaves what there was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open = open_index(path)
        self._open.verify()
        self._next = time.monotonic() + _REFRESH_SECONDS
        self._problem = ""

    @property
    def seen(self) -> OpenIndex:
        """The index as last opened; reads nothing, so the event loop may call it."""
        return self._open

    def now(self) -> OpenIndex:
        """The index to search in."""
        if time.monotonic() >= self._next and self._lock.acquire(blocking=False):
            try:
                self._refresh()
            finally:
                self._lock.release()
        return self._open

    def after_write(self) -> None:
        """Open what was just committed."""
        with self._lock:
            self._refresh()

    def _refresh(self) -> None:
        try:
            before, self._open = self._open, self._open.refreshed()
            if self._open is not before:
                self._open.verify()
            self._problem = ""
        except (InputError, OSError) as error:
            if str(error) != self._problem:
                write_line("stale", index=str(self.path), message=str(error))
            self._problem = str(error)
        finally:
            self._next = time.monotonic() + _REFRESH_SECONDS


class Service:
    """One index, and perhaps a second to compare it with; ``translator``: what translates snippets, if anything."""

    def __init__(
        self, index: Path, compare: Path | None = None, limits: Limits | None = None,
        reranker: Reranker | None = None, translator: str = "", examples: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.main = FreshIndex(index)
        self.compare = FreshIndex(compare) if compare else None
        self._limits = limits or Limits()
        self._reranker, self.translator, self._examples = reranker, translator, list(examples)
        self._started = time.monotonic()

    def index(self, which: str = "main") -> OpenIndex:
        """The index to search in."""
        if which == "main":
            return self.main.now()
        if self.compare is None:
            raise Refusal(404, "index: this service has no second index; start it with --compare")
        return self.compare.now()

    def search(self, request: models.SearchRequest) -> models.SearchAnswer:
        """The best documents for a query."""
        started = time.perf_counter()
        if request.offset + request.k > DEPTH:
            raise Refusal(422, f"offset: hits after the first {DEPTH} are not returned; use a more precise query")
        if request.explain and request.k > EXPLAINED:
            raise Refusal(422, f"explain: at most {EXPLAINED} hits are explained at once; lower k")
        if request.gloss and request.k > EXPLAINED:
            raise Refusal(422, f"gloss: at most {EXPLAINED} hits have a gloss at once; lower k")
        index = self.index(request.index)
        language = read_query_language(request.q, index, _named(request.query_language))
        searcher = self.searcher(index, request.index).asked_in(language.searched)
        languages, filters = request.languages or None, request.filters or None
        wanted = request.k + 1  # one more, to know whether there are more
        hits = searcher.search(request.q, wanted, languages, filters, request.offset, request.explain, request.exact)
        read = hits.read_as
        facets = count_facets(searcher, read, request.facets, languages, filters) if request.facets else None
        if facets:
            facets.count(hits)
        translations = searcher.translations(read, languages)
        marking = Marking(searcher, read, translations)
        shown = [(hit, snippet_of(searcher, hit, marking.of(hit))) for hit in hits[: request.k]]
        messages = [
            hit_message(searcher, hit, rank, marking.of(hit), request.explain, snippet)
            for rank, (hit, snippet) in enumerate(shown, start=request.offset + 1)
        ]
        note = add_glosses(searcher, read, shown, messages, self.translator) if request.gloss else ""
        return models.SearchAnswer(
            query=request.q,
            query_language=language.seems,
            expected_language=language.searched,
            note=query_language_note(language, index),
            languages=list(searcher.choose(languages)),
            offset=request.offset,
            more=len(hits) > request.k,
            hits=messages,
            gloss_note=note,
            unknown_words=_content(searcher.unknown_words(read, languages), read, searcher),
            translations={language: translations_message(words) for language, words in translations.items()},
            facets=facets_message(facets) if facets else None,
            generation=index.generation,
            milliseconds=_milliseconds(started),
            **about_hits(hits),
        )

    def search_batch(self, request: models.BatchRequest) -> models.BatchAnswer:
        """The best documents for each of many queries."""
        started = time.perf_counter()
        index = self.index(request.index)
        searcher = self.searcher(index, request.index)
        results = []
        for begin in range(0, len(request.queries), _TOGETHER):
            check()
            queries = request.queries[begin : begin + _TOGETHER]
            named = _named(request.query_language) or None
            languages, filters = request.languages or None, request.filters or None
            found = searcher.search_each(queries, request.k, languages, filters, named, request.exact)
            for query, hits in zip(queries, found, strict=True):  # batches are for programs: nothing is marked
                shown = [
                    hit_message(searcher, hit, rank, lambda word: False, False) for rank, hit in enumerate(hits, 1)
                ]
                results.append(models.BatchResult(query=query, hits=shown, **about_hits(hits)))
        return models.BatchAnswer(results=results, generation=index.generation, milliseconds=_milliseconds(started))

    def searcher(self, index: OpenIndex, which: str) -> Searcher:
        """What searches an index; the second one is left as it is, so that re-ranking can be compared with none."""
        return Searcher(index).reranked_by(self._reranker) if self._reranker and which == "main" else Searcher(index)

    def explain(self, request: models.ExplainParameters) -> models.ExplainAnswer:
        """What made the score of a document: the score of the system that found it, or that of the re-ranker."""
        index = self.index(request.index)
        language = read_query_language(request.q, index, _named(request.query_lang)).searched
        searcher = self.searcher(index, request.index).asked_in(language)
        document = searcher.get(request.id, request.language)
        if document is None:
            raise _no_such_document(request.language, request.id)
        languages = [request.language]
        read = ReadQuery(request.q) if request.exact else searcher.read(request.q)
        parts = searcher.explain(read.query, request.language, request.id, request.reranked)
        score = float(sum(part.score for part in parts))
        translations = searcher.translations(read.query, languages)
        passage = presenting.passage_shown(searcher, read.query, request, document, parts, translations)
        shown = document.text[slice(*passage)]
        return models.ExplainAnswer(
            query=request.q,
            read_as=read.query,
            corrected=corrections_message(read.corrected),
            language=request.language,
            id=request.id,
            title=document.title,
            system=searcher.name_of_system(request.language, request.reranked),
            passage=passage,
            score=score,
            chance=searcher.chance(score, request.language, request.reranked),
            explanation=presenting.reasons(searcher, request.language, document, parts, request.reranked, shown),
            translations=translations_message(
                [each for each in translations[request.language] if not is_stop_word(each[0], searcher.query_language)]
            ),
            unknown_words=_content(searcher.unknown_words(read.query, languages), read.query, searcher),
        )

    def get(self, language: str, id_: str, request: models.DocumentParameters) -> models.DocumentAnswer:
        """A document."""
        index = self.index(request.index)
        searcher = Searcher(index)
        document = searcher.get(id_, language) if language in searcher.languages else None
        pages = searcher.index.sources.get(language) if document is None else None
        row = pages.find(id_) if pages is not None else None
        if pages is not None and row is not None:
            document = pages[row]  # it can be searched with, and is the twin of another
        if document is None:
            raise _no_such_document(language, id_)
        answer = presenting.document_answer(document, language)
        if request.gloss:
            reader = read_query_language(request.q, index, _named(request.query_lang)).searched
            add_document_gloss(searcher.asked_in(reader), request.q, document, answer)
        return answer

    def warm(self) -> None:
        """Read and compile what the first search would otherwise wait for."""
        query = "what is knwon about water and stones"  # with a typing error, so that words can be looked up
        names: tuple[models.IndexName, ...] = ("main", "compare") if self.compare else ("main",)
        for name in names:
            for of_query in self.index(name).by_query_language.values():
                for language_index in of_query.values():
                    language_index.system.warm()
            self.search(models.SearchRequest(q=query, k=1, index=name))
            self.search_batch(models.BatchRequest(queries=[query, query], k=1, index=name))

    def close(self) -> None:
        """Close the indexes."""
        for index in (self.main, self.compare):
            if index is not None:
                index.seen.close()

    def status(self, writable: bool) -> models.StatusAnswer:
        """The state of the service."""
        limits = models.LimitsMessage(
            query_length=QUERY_LENGTH, query_words=QUERY_WORDS, k=MOST_HITS, depth=DEPTH, batch=BATCH, cost=COST,
            body_bytes=self._limits.search_bytes, seconds=self._limits.seconds,
        )  # fmt: skip
        return models.StatusAnswer(
            version=isogloss.__version__,
            index=_status_of(self.main.now()),
            compare=_status_of(self.compare.now()) if self.compare else None,
            writable=writable,
            uptime_seconds=round(time.monotonic() - self._started, 3),
            limits=limits,
            examples=self._examples,
        )


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


def _status_of(index: OpenIndex) -> models.IndexStatus:
    manifest = index.manifest
    try:
        about = index.about()
    except FileNotFoundError:  # a writer removed a file while it was being counted
        about = {}
    about.pop("path", None)  # addresses are not for clients
    if "engine" in about:
        about["engine"] = {name: about["engine"].get(name) for name in ("engine", "search")}
    return models.IndexStatus(
        name=index.path.name, system=manifest.system, summary=_summary(manifest.system),
        systems={language: each.system.name for language, each in index.languages.items()},
        query_languages=list(manifest.query_languages), documents=dict(manifest.documents),
        sources=dict(manifest.sources), facets=list(manifest.facets), generation=index.generation, about=about,
    )  # fmt: skip


def _summary(system: str) -> str:
    return system_type(system).summary.partition(": ")[0]


def _content(words: Sequence[str], query: str, searcher: Searcher) -> list[str]:
    """Words of a query without stop words, of which nobody needs to hear that they are not known."""
    content = content_words(query, searcher.query_language)
    return [word for word in words if word in content]


def _named(query_language: str) -> str:
    """The language that the client names; empty where it is to be detected."""
    return "" if query_language == "detect" else query_language


def _no_such_document(language: str, id_: str) -> Refusal:
    return Refusal(404, f"there is no document {id_[:100]!r} in {language!r}")


class Writer:
    """Adds and deletes documents, one request at a time; between processes the index's own lock decides.

    A request locks the index until the segments that it caused to merge are merged. No request waits for that: those
    that come meanwhile use the same writer.
    """

    def __init__(self, index: FreshIndex) -> None:
        self._index = index
        self._turn = threading.Lock()
        self._writer: IndexWriter | None = None

    @property
    def busy(self) -> bool:
        """Whether the index is being written to."""
        return self._writer is not None

    def add(self, messages: Sequence[models.DocumentMessage]) -> models.AddAnswer:
        """Add documents or replace those of the same language and id; they are on disk when this returns.

        Of those with the same language and id the last is added.
        """

        def change(writer: IndexWriter) -> models.AddAnswer:
            added = writer.add(map(presenting.document_of, messages))
            return models.AddAnswer(added=added, repeated=len(messages) - added, generation=writer.commit())

        return self._write(change)

    def delete(self, language: str, id_: str) -> models.DeleteAnswer:
        """Delete a document; it is gone for good when this returns."""

        def change(writer: IndexWriter) -> models.DeleteAnswer:
            deleted = writer.delete([id_], [language]) if language in writer.index.languages else 0
            if not deleted:
                raise Refusal(404, f"there is no document {id_[:100]!r} in {language[:50]!r}")
            return models.DeleteAnswer(deleted=deleted, generation=writer.commit())

        return self._write(change)

    def _write(self, change: Callable[[IndexWriter], _T]) -> _T:
        with self._turn:
            try:
                writer = self._opened()
                answer = change(writer)
            except OSError as error:
                self._close()
                refusal = write_refusal(error)
                if refusal is None:
                    raise
                write_line("error", message=str(error))
                raise refusal from error
            except BaseException:
                self._close()  # and drop what is not committed
                raise
            if writer.is_merging:
                threading.Thread(target=self._close_after_merging, args=(writer,), daemon=True).start()
            else:
                self._close()
        self._index.after_write()
        return answer

    def _opened(self) -> IndexWriter:
        """The writer of the index, as soon as nobody else has it."""
        until = time.monotonic() + _PATIENCE
        while self._writer is None:
            try:
                self._writer = IndexWriter(self._index.path).__enter__()
            except IndexBusyError as error:
                if time.monotonic() >= until:
                    write_line("locked", message=str(error))
                    what = "the index is being changed by another process; try again when that is done"
                    raise Refusal(409, what, {"Retry-After": "5"}) from error
                time.sleep(_PAUSE)
            except InputError as error:
                raise opening_refusal(error) from error
        return self._writer

    def _close_after_merging(self, writer: IndexWriter) -> None:
        while self._writer is writer:
            while writer.is_merging:
                time.sleep(_PAUSE)
            with self._turn:
                if self._writer is writer and not writer.is_merging:
                    self._close()

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.__exit__(None, None, None)
