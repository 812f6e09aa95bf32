"""Searching an index: the best documents of all its languages, with what made each score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from isogloss.data.documents import Document, joined_fields
from isogloss.index.language_index import Candidates, Filters, LanguageIndex
from isogloss.index.reader import OpenIndex
from isogloss.index.scales import divisors
from isogloss.search.hits import Hit, Hits, relevance_of
from isogloss.search.reranking import Reranker
from isogloss.storage.deadline import check
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution


class _Candidate(NamedTuple):
    """A document of a shelf, its score as it compares with other languages', and what the system's was divided by."""

    score: float
    id: str
    language: str
    place: Any
    divisor: float


_At = tuple[str, Any]
"""A language and a place on its shelf."""


class Searcher:
    """Searches an index in all its languages.

    With several languages each score, and each part of its explanation, is divided by what makes it comparable with
    those of other languages (:mod:`isogloss.index.scales`); ``usual`` scores of the languages are part of that.
    """

    def __init__(self, index: OpenIndex, reranker: Reranker | None = None) -> None:
        self.index = index
        self.reranker = reranker

    @property
    def languages(self) -> Mapping[str, LanguageIndex[Any]]:
        """For each language its documents and what searches them."""
        return self.index.languages

    def search(
        self, query: str, k: int = 10, languages: Sequence[str] | None = None, filters: Filters | None = None,
        offset: int = 0, explain: bool = True,
    ) -> Hits:  # fmt: skip
        """The ``k`` best documents after the first ``offset``, of the given languages or of all.

        ``filters``: only documents that have these fields with these values.
        """
        wanted = max(offset + k, self._depth)
        found = {}
        for language, language_index in self.index.choose(languages).items():
            check()
            found[language] = language_index.search(query, wanted, filters)
        if self.reranker is None:
            return self._hits(query, found, offset, k, explain)
        hits = self._hits(query, found, 0, wanted, False)
        shown = self.reranker.reorder(query, hits)[offset : offset + k]
        return Hits([self.explained(query, hit) for hit in shown] if explain else shown, hits.missing)

    def reranked_by(self, reranker: Reranker) -> Searcher:
        """The same, with the first hits of each search put in a better order."""
        return Searcher(self.index, reranker)

    @property
    def _depth(self) -> int:
        """How many hits are looked for at least."""
        return self.reranker.depth if self.reranker else 0

    def search_many(
        self, queries: Sequence[str], k: int = 10, languages: Sequence[str] | None = None,
        filters: Filters | None = None,
    ) -> list[Hits]:  # fmt: skip
        """The ``k`` best documents for each query: what ``search`` gives, without explanations, faster."""
        wanted = max(k, self._depth)
        chosen = self.index.choose(languages)
        per_language = []
        for language_index in chosen.values():
            check()
            per_language.append(language_index.search_many(queries, wanted, filters))
        per_query = zip(*per_language, strict=True) if chosen else [()] * len(queries)
        found = [dict(zip(chosen, of_query, strict=True)) for of_query in per_query]
        listed = [self._listed(query, each)[:wanted] for query, each in zip(queries, found, strict=True)]
        documents = self._documents(hit for of_query in listed for hit in of_query)
        made = []
        for query, of_query, each in zip(queries, listed, found, strict=True):
            check()
            hits = self._shown(query, of_query, documents, 1, False)
            made.append(Hits((self.reranker.reorder(query, hits) if self.reranker else hits)[:k], _missing(each)))
        return made

    def get(self, id_: str, language: str | None = None) -> Document | None:
        """A document by its id, of a language or of the first that has it."""
        for shelf in self.index.choose([language] if language else None).values():
            place = shelf.find(id_)
            if place is not None:
                return shelf.documents([place])[0]
        return None

    def explains_quickly(self, languages: Sequence[str] | None = None) -> bool:
        """Whether all hits in the given languages, or in all, can be explained in about the time of a search."""
        chosen, reranker = self.index.choose(languages), self.reranker
        quickly = reranker is None or reranker.explains_quickly or reranker.languages[1] not in chosen
        return quickly and all(shelf.system.explains_quickly for shelf in chosen.values())

    def explain(self, query: str, language: str, id_: str, reranked: bool = False) -> tuple[Contribution, ...]:
        """What made the score of a document, in the measure of the score that ``search`` gives.

        It is the score of the system that searches, or that of the re-ranker if it is told so.
        """
        shelf = self.index.choose([language])[language]
        place = shelf.find(id_)
        document = None if place is None else shelf.documents([place])[0]
        if document is None:
            raise InputError(f"document: {id_!r} is not in this index in {language!r}")
        if reranked:
            return self._reranker_of(language).explain(query, document)
        return self._explain(query, language, place, document, self._divisors(query)[language])

    def explained(self, query: str, hit: Hit) -> Hit:
        """The hit with what made its score."""
        if hit.explanation:
            return hit
        if hit.reranked:
            parts = self._reranker_of(hit.language).explain(query, hit.document, hit.score)
        else:
            parts = self.explain(query, hit.language, hit.document.id)
        return replace(hit, explanation=parts)

    def _reranker_of(self, language: str) -> Reranker:
        if self.reranker is None:
            raise InputError("reranked: nothing re-ranks the hits here; ask without it, or name a run to re-rank by")
        if language != self.reranker.languages[1]:
            what = f"hits in {language!r} are not re-ranked, only those in {self.reranker.languages[1]!r}"
            raise InputError(f"reranked: {what}; ask without it")
        return self.reranker

    def term_of(self, language: str, reranked: bool = False) -> Callable[[str], str | None]:
        """What the words of a document are called in an explanation of a language, or of the re-ranker: themselves."""
        return str if reranked else self.languages[language].system.term_of

    def unknown_words(self, query: str, languages: Sequence[str] | None = None) -> list[str]:
        """The words of a query that no system of the given languages, or of all, can do anything with."""
        unknown = [shelf.system.unknown_words(query) for shelf in self.index.choose(languages).values()]
        return [word for word in unknown[0] if all(word in other for other in unknown)] if unknown else []

    def translations(
        self, query: str, languages: Sequence[str] | None = None
    ) -> dict[str, list[tuple[str, list[str]]]]:
        """For each language, the words of a query and what stands for them there."""
        return {language: shelf.system.translations(query) for language, shelf in self.index.choose(languages).items()}

    def source(self, name: str) -> Document:
        """A document in the language of the queries, by its number from 1 or, where there is none, by its id."""
        store = self.index.sources
        if store is None:
            what = "this index keeps no documents in the language of the queries to search with"
            raise InputError(f"{what}; make it again from a source that has some")
        if name.isdecimal() and len(name) < 19 and 1 <= int(name) <= len(store):
            return store[int(name) - 1]
        row = store.find(name)
        if row is None:
            raise InputError(f"document: {name!r} is neither a number from 1 to {len(store)} nor the id of one")
        return store[row]

    def text_of(self, document: Document) -> str:
        """What was indexed of a document."""
        return joined_fields(document, self.index.manifest.fields)

    def _hits(self, query: str, found: Mapping[str, Candidates[Any]], offset: int, k: int, explain: bool) -> Hits:
        """The best of what each language found for a query."""
        listed = self._listed(query, found)[offset : offset + k]
        return Hits(self._shown(query, listed, self._documents(listed), offset + 1, explain), _missing(found))

    def _listed(self, query: str, found: Mapping[str, Candidates[Any]]) -> list[_Candidate]:
        """What each language found, in one list."""
        scales = self._divisors(query)
        listed = [
            _Candidate(each.score / scales[language], each.id, language, each.place, scales[language])
            for language, candidates in found.items()
            for each in candidates.found
        ]
        listed.sort(key=lambda hit: (-hit.score, hit.id, hit.language))
        return listed

    def _documents(self, found: Iterable[_Candidate]) -> dict[_At, Document]:
        """The documents of what was found, fetched for a language at once, without those that are gone by now."""
        places: dict[str, dict[Any, None]] = {}
        for hit in found:
            places.setdefault(hit.language, {})[hit.place] = None
        fetched = {language: self.languages[language].documents(list(own)) for language, own in places.items()}
        return {
            (language, place): document
            for language, own in places.items()
            for place, document in zip(own, fetched[language], strict=True)
            if document is not None
        }

    def _shown(
        self, query: str, found: Sequence[_Candidate], documents: Mapping[_At, Document], rank: int, explain: bool
    ) -> list[Hit]:
        """What was found as hits, of which the first has this rank."""
        there = [hit for hit in found if (hit.language, hit.place) in documents]
        return [
            self._hit(query, number, hit, documents[hit.language, hit.place], explain)
            for number, hit in enumerate(there, start=rank)
        ]

    def _hit(self, query: str, rank: int, found: _Candidate, document: Document, explain: bool) -> Hit:
        check()
        shelf = self.languages[found.language]
        explanation = self._explain(query, found.language, found.place, document, found.divisor) if explain else ()
        passage = shelf.passage(query, found.place)
        relevance = relevance_of(found.score * found.divisor, shelf.system.thresholds())
        return Hit(rank, found.score, found.language, document, explanation, passage, relevance)

    def _explain(
        self, query: str, language: str, place: Any, document: Document, divisor: float
    ) -> tuple[Contribution, ...]:
        parts = self.languages[language].explain(query, place, self.text_of(document))
        return tuple(part._replace(score=part.score / divisor) for part in parts)

    def _divisors(self, query: str) -> dict[str, float]:
        """What the scores of each language are divided by."""
        return divisors(
            query, {language: shelf.system for language, shelf in self.languages.items()}, self.index.manifest.usual
        )


def _missing(found: Mapping[str, Candidates[Any]]) -> list[str]:
    """The parts that did not answer."""
    return [part for candidates in found.values() for part in candidates.missing]
