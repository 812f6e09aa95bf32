"""Searching an index: the best documents of all its languages, each with an explanation of its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any, NamedTuple

from isogloss.data.documents import Document, joined_fields
from isogloss.index.language_index import Candidate, Filters, LanguageIndex
from isogloss.index.reader import OpenIndex
from isogloss.index.score_scales import STANDARD_DEPTH, by_system, divisors, standard_scores
from isogloss.retrieval.ranking import Matches
from isogloss.search.hits import Hit, Hits, relevance_of
from isogloss.search.query_language import detect_query_language
from isogloss.search.reranking import Reranker
from isogloss.search.spelling import ReadQuery, read_query
from isogloss.storage.deadline import check
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import tokenize

_TOGETHER = 32  # queries that are searched at once: systems remember what they computed of so many


class _Scored(NamedTuple):
    """A candidate of a language: its comparable score, the divisor that made it so, and its share of the best."""

    score: float
    id: str
    language: str
    key: Any
    divisor: float
    share: float = 0.0


class Searcher:
    """Searches an index in all its languages, with queries in one: the first of the index, unless one is named.

    With several languages of documents, each score and each part of its explanation is divided by a scale that makes it
    comparable with those of the other languages (:mod:`isogloss.index.score_scales`). Lists of different systems are
    merged by how far a score stands out in its own list.
    """

    def __init__(self, index: OpenIndex, reranker: Reranker | None = None, query_language: str = "") -> None:
        self.index, self._given_reranker = index, reranker
        self.query_language = query_language or index.manifest.query_language
        known = index.manifest.query_languages
        if self.query_language not in known:
            what = f"{query_language!r} is not a language that this index takes queries in; it takes {', '.join(known)}"
            raise InputError(f"query language: {what}")

    def asked_in(self, language: str) -> Searcher:
        """A searcher of the same index with queries in another language."""
        return self if language == self.query_language else Searcher(self.index, self._given_reranker, language)

    @property
    def reranker(self) -> Reranker | None:
        """What re-orders the first hits; None where the index has other queries, and these are not what it is for."""
        given, several = self._given_reranker, len(self.index.manifest.query_languages) > 1
        return None if given and several and not given.takes(self.query_language) else given

    def for_query(self, query: str, language: str | None = None) -> Searcher:
        """A searcher with queries in this language; in the detected language of the query where none is named."""
        return self.asked_in(language or detect_query_language(query, self.index))

    @property
    def languages(self) -> Mapping[str, LanguageIndex[Any]]:
        """For each language its documents and what searches them."""
        return self.index.by_query_language[self.query_language]

    def choose(self, languages: Sequence[str] | None) -> dict[str, LanguageIndex[Any]]:
        """The indexes of these languages, or of all."""
        return self.index.choose(languages, self.query_language)

    def search(
        self, query: str, k: int = 10, languages: Sequence[str] | None = None, filters: Filters | None = None,
        offset: int = 0, explain: bool = True, exact: bool = False,
    ) -> Hits:  # fmt: skip
        """The ``k`` best documents after the first ``offset``, of these languages or of all.

        ``filters``: only documents that have these fields with these values. Typing errors are corrected unless the
        query is to be searched for ``exact`` as it is; explanations are those of the corrected query.
        """
        read = ReadQuery(query) if exact else self.read(query, languages)
        query, wanted = read.query, max(offset + k, self._depth)
        found, matches = {}, []
        for language, language_index in self.choose(languages).items():
            check()
            found[language] = language_index.search(query, wanted, filters)
            counted = len(found[language]), len(found[language]) < wanted
            matches.append(max(Matches(*counted), language_index.count_matches(query, filters)))
        ranked = self._ranked(query, found)
        if self.reranker is None:
            listed = ranked[offset : offset + k]
            hits = self._hits(query, listed, self._documents(listed), offset + 1, explain)
        else:
            every = self._hits(query, ranked[:wanted], self._documents(ranked[:wanted]), 1, False)
            hits = self.reranker.reorder(query, every)[offset : offset + k]
            hits = [self.explained(query, hit) for hit in hits] if explain else hits
        return _answer(hits, read, matches)

    def read(self, query: str, languages: Sequence[str] | None = None) -> ReadQuery:
        """A query without its typing errors, by what the systems of these languages, or of all, know of words."""
        return read_query(query, [each.system for each in self.choose(languages).values()])

    def reranked_by(self, reranker: Reranker) -> Searcher:
        """A searcher that re-orders the first hits of each search."""
        return Searcher(self.index, reranker, self.query_language)

    @property
    def _depth(self) -> int:
        """The least number of hits to search for, so that what is first does not depend on how many are wanted."""
        mixed = len({each.system.name for each in self.languages.values()}) > 1
        return max(self.reranker.depth if self.reranker else 0, STANDARD_DEPTH if mixed else 0)

    def search_many(
        self, queries: Sequence[str], k: int = 10, languages: Sequence[str] | None = None,
        filters: Filters | None = None, exact: bool = False,
    ) -> list[Hits]:  # fmt: skip
        """The ``k`` best documents for each query: what ``search`` gives, without explanations, faster."""
        reads = [ReadQuery(query) if exact else self.read(query, languages) for query in queries]
        groups = (reads[begin : begin + _TOGETHER] for begin in range(0, len(reads), _TOGETHER))
        return [hits for group in groups for hits in self._search_group(group, k, languages, filters)]

    def _search_group(
        self, reads: Sequence[ReadQuery], k: int, languages: Sequence[str] | None, filters: Filters | None
    ) -> Iterator[Hits]:
        queries = [read.query for read in reads]
        wanted = max(k, self._depth)
        chosen = self.choose(languages)
        per_language = []
        for language_index in chosen.values():
            check()
            per_language.append(language_index.search_many(queries, wanted, filters))
        per_query = zip(*per_language, strict=True) if chosen else [()] * len(queries)
        found = [dict(zip(chosen, of_query, strict=True)) for of_query in per_query]
        ranked = [self._ranked(query, each)[:wanted] for query, each in zip(queries, found, strict=True)]
        documents = self._documents(hit for of_query in ranked for hit in of_query)
        for read, of_query, lists in zip(reads, ranked, found, strict=True):
            check()
            hits = self._hits(read.query, of_query, documents, 1, False)
            matches = [Matches(len(each), len(each) < wanted) for each in lists.values()]
            yield _answer((self.reranker.reorder(read.query, hits) if self.reranker else hits)[:k], read, matches)

    def search_each(
        self, queries: Sequence[str], k: int = 10, languages: Sequence[str] | None = None,
        filters: Filters | None = None, query_language: str | None = None, exact: bool = False,
    ) -> list[Hits]:  # fmt: skip
        """The same, but each query is in its own language, which is detected where it is not named."""
        searchers = [self.for_query(query, query_language) for query in queries]
        results = [Hits() for _ in queries]
        for language in dict.fromkeys(searcher.query_language for searcher in searchers):
            numbers = [i for i, searcher in enumerate(searchers) if searcher.query_language == language]
            own = searchers[numbers[0]].search_many([queries[i] for i in numbers], k, languages, filters, exact)
            for number, hits in zip(numbers, own, strict=True):
                results[number] = hits
        return results

    def get(self, id_: str, language: str | None = None) -> Document | None:
        """A document by its id, of a language or of the first that has it."""
        for own, language_index in self.choose([language] if language else None).items():
            key = language_index.find(id_)
            document = None if key is None else language_index.documents([key])[0]
            if document is not None:
                return document if document.language else replace(document, language=own)
        return None

    def explains_quickly(self, languages: Sequence[str] | None = None) -> bool:
        """Whether hits in these languages, or in all, can be explained in about the time of a search."""
        chosen, reranker = self.choose(languages), self.reranker
        quickly = reranker is None or reranker.explains_quickly or not any(map(reranker.reads, chosen))
        return quickly and all(each.system.explains_quickly for each in chosen.values())

    def explain(self, query: str, language: str, id_: str, reranked: bool = False) -> tuple[Contribution, ...]:
        """The words that made the score of a document, on the scale of the scores that ``search`` gives.

        The score is that of the system that searches, or of the re-ranker if ``reranked``.
        """
        language_index = self.choose([language])[language]
        key = language_index.find(id_)
        document = None if key is None else language_index.documents([key])[0]
        if document is None:
            raise InputError(f"document: {id_!r} is not in this index in {language!r}")
        if reranked:
            return self._reranker_of(language).explain(query, document)
        return self._explain(query, language, key, document, self._divisors(query)[language])

    def explained(self, query: str, hit: Hit) -> Hit:
        """The hit with its explanation."""
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
        if self.reranker.languages and not self.reranker.reads(language):
            what = f"hits in {language!r} are not re-ranked, only those in {self.reranker.languages[1]!r}"
            raise InputError(f"reranked: {what}; ask without it")
        return self.reranker

    def name_of_system(self, language: str, reranked: bool = False) -> str:
        """The name of the system whose score a hit in a language has."""
        return self._reranker_of(language).name if reranked else self.languages[language].system.name

    def chance(self, score: float, language: str, reranked: bool = False) -> float | None:
        """The chance that a document of a language with this score is relevant, where the system is calibrated.

        Calibrated scores of several languages are comparable as they are.
        """
        return None if reranked else self.languages[language].system.chance(score)

    def term_of(self, language: str, reranked: bool = False) -> Callable[[str], str | None]:
        """A function from a word of a document to its term in explanations of a language; the re-ranker's are words."""
        return str if reranked else self.languages[language].system.term_of

    def unknown_words(self, query: str, languages: Sequence[str] | None = None) -> list[str]:
        """The words of a query that the systems of these languages, or of all, do not know."""
        unknown = [each.system.unknown_words(query) for each in self.choose(languages).values()]
        return [word for word in unknown[0] if all(word in other for other in unknown)] if unknown else []

    def translations(
        self, query: str, languages: Sequence[str] | None = None
    ) -> dict[str, list[tuple[str, list[str]]]]:
        """For each language, the words of a query and their translations; stop words only where there are no others."""
        found = {language: each.system.translations(query) for language, each in self.choose(languages).items()}
        stops = stop_words(self.query_language)
        content = {
            language: [each for each in words if not stops.issuperset(tokenize(each[0]))]
            for language, words in found.items()
        }
        return content if any(content.values()) else found

    def source(self, name: str, language: str = "") -> Document:
        """A document in a language of the queries, by its number from 1 or, where there is none, by its id.

        The language is the first in which there are some, unless it is named.
        """
        found = self.index.sources
        language = language if language in found else next(iter(found), "")
        sources = found.get(language)
        if sources is None:
            what = "this index keeps no documents in the language of the queries to search with"
            raise InputError(f"{what}; make it again from a source that has some")
        if name.isdecimal() and len(name) < 19 and 1 <= int(name) <= len(sources):
            return replace(sources[int(name) - 1], language=language)
        row = sources.find(name)
        if row is None:
            raise InputError(f"document: {name!r} is neither a number from 1 to {len(sources)} nor the id of one")
        return replace(sources[row], language=language)

    def text_of(self, document: Document) -> str:
        """The indexed text of a document."""
        return joined_fields(document, self.index.manifest.fields)

    def _ranked(self, query: str, found: Mapping[str, Sequence[Candidate[Any]]]) -> list[_Scored]:
        """The candidates of all languages in one ranking."""
        lists: dict[str, list[_Scored]] = {}
        scales = self._divisors(query)
        for language, candidates in found.items():
            lists.setdefault(self.languages[language].system.name, []).extend(
                _Scored(each.score / scales[language], each.id, language, each.key, scales[language])
                for each in candidates
            )
        ranked = [_ordered(each) for each in lists.values()]
        if len(ranked) < 2:
            return ranked[0] if ranked else []
        placed = [
            pair for each in ranked for pair in zip(standard_scores([hit.score for hit in each]), each, strict=True)
        ]
        return [hit for _, hit in sorted(placed, key=lambda pair: (-pair[0], pair[1].id, pair[1].language))]

    def _documents(self, found: Iterable[_Scored]) -> dict[tuple[str, Any], Document]:
        """Documents by language and key, fetched once for each language, without those deleted by now."""
        keys: dict[str, dict[Any, None]] = {}
        for hit in found:
            keys.setdefault(hit.language, {})[hit.key] = None
        return {
            (language, key): document
            for language, own in keys.items()
            for key, document in zip(own, self.languages[language].documents(list(own)), strict=True)
            if document is not None
        }

    def _hits(
        self, query: str, found: Sequence[_Scored], documents: Mapping[tuple[str, Any], Document], first: int,
        explain: bool,
    ) -> list[Hit]:  # fmt: skip
        """The hits of those candidates that have a document; the rank of the first hit is ``first``."""
        hits: list[Hit] = []
        for candidate in found:
            document = documents.get((candidate.language, candidate.key))
            if document is not None:
                check()
                score, _, language, key, divisor, share = candidate
                explanation = self._explain(query, language, key, document, divisor) if explain else ()
                passage, system = self.languages[language].passage(query, key), self.languages[language].system
                relevance, chance = relevance_of(score * divisor, system.thresholds()), system.chance(score * divisor)
                bar = share if chance is None else chance
                rank = first + len(hits)
                hits.append(
                    Hit(rank, score, language, document, explanation, passage, relevance, chance=chance, bar=bar)
                )
        return hits

    def _explain(
        self, query: str, language: str, key: Any, document: Document, divisor: float
    ) -> tuple[Contribution, ...]:
        parts = self.languages[language].explain(query, key, self.text_of(document))
        return tuple(part._replace(score=part.score / divisor) for part in parts)

    def _divisors(self, query: str) -> dict[str, float]:
        """The scale of each language: scores are divided by it."""
        usual = self.index.manifest.usual.get(self.query_language, {})
        groups = by_system({language: each.system for language, each in self.languages.items()})
        return {language: scale for group in groups for language, scale in divisors(query, group, usual).items()}


def _ordered(candidates: Sequence[_Scored]) -> list[_Scored]:
    """The candidates of one system, the best first, each with its share of the best score.

    Where no score is positive, they are taken for logarithms.
    """
    best = max((each.score for each in candidates), default=0.0)
    ordered = sorted(candidates, key=lambda hit: (-hit.score, hit.id, hit.language))
    shares = (max(0.0, hit.score / best) if best > 0 else exp(hit.score - best) for hit in ordered)
    return [hit._replace(share=share) for hit, share in zip(ordered, shares, strict=True)]


def _answer(found: Iterable[Hit], read: ReadQuery, matches: Iterable[Matches]) -> Hits:
    """The hits of a query, as it was read, and how many documents match in all languages."""
    hits, every = Hits(found), list(matches)
    hits.read_as, hits.corrected = read
    hits.total, hits.total_is_exact = sum(each.number for each in every), all(each.is_exact for each in every)
    return hits
