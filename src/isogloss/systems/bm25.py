"""``bm25``, and the base of lexical systems: inverted lists of the documents, BM25 over the concepts of a query.

As sparse vectors (:mod:`isogloss.systems.sparse`), with N, df and avg|d| of the frozen statistics, BM25 is

    d_c = tf(c, d) / (tf(c, d) + k1 (1 - b + b |d| / avg|d|))
    q_c = n_c ln(1 + (N - df(c) + 0.5) / (df(c) + 0.5))

The concepts c are terms for ``bm25``, and terms and concepts of the lexicon for systems that translate the query.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.bm25 import BM25, BM25Search, Concept, Terms, compile_ahead
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.retrieval.ranking import MOST_COUNTED, Allowed, Matches, Ranking, Scores
from isogloss.systems.base import Contribution, QueryVocabulary, System, SystemOptions, option
from isogloss.systems.concept_dimensions import concept_name
from isogloss.systems.sparse import DimensionCounts, SparseSystem, SparseVector, TermStatistics, dimensions_of
from isogloss.text.alphabet import alphabet
from isogloss.text.batches import TokenizedTexts, available_cores, tokenize_texts
from isogloss.text.stemming import as_forms
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.queries import untranslated

_ROWS_TO_READ_ALL = 8  # where more than one in so many documents is to be scored, all are
_SHOWN = 100  # hits of a query that are explained together
_SHOWN_QUERIES = 100  # whose hits are remembered, because they may be explained
_MANY_DOCUMENTS = 100_000  # with fewer, a query takes less time than a thread costs


@dataclass(frozen=True)
class LexicalOptions(SystemOptions):
    """Options of every lexical system."""

    stems: bool = option(True, "Snowball stems, where the document language has them")
    drop_stop_words: bool = option(False, "leave stop words out of documents and queries")
    k1: float = option(1.2, "saturation of term frequency", 0, 1000)
    b: float = option(0.75, "length normalisation", 0, 1)


class FrozenBM25(BM25):
    """BM25 of a few documents by the statistics of a collection, which they may not be part of."""

    def __init__(
        self, postings: JoinedPostings, options: LexicalOptions, expected_df: bool, statistics: TermStatistics
    ) -> None:
        super().__init__(postings, options.k1, options.b, expected_df)
        self._frozen = statistics
        self.saturation = saturation(options, self.postings.lengths, statistics)

    def scores(self, concepts: Sequence[Concept]) -> Scores:
        return self.scores_at(concepts, np.arange(self.postings.document_count))

    def _idf(self, document_frequency: float) -> float:
        return idf(self._frozen.texts, document_frequency)

    def _count_documents(self, terms: Terms) -> float:
        if self.expected_df:
            return float(sum(weight * self._frozen.frequency(term) for term, weight in terms if weight))
        return float(self._frozen.frequency(concept_name(terms)))


def idf(documents: int, document_frequency: float) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)) of a collection of N documents."""
    return math.log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5))


def saturation(
    options: LexicalOptions, lengths: NDArray[np.integer], statistics: TermStatistics
) -> NDArray[np.float32]:
    """k1 (1 - b + b |d| / avg|d|) of texts of these lengths."""
    return (options.k1 * (1 - options.b + options.b * lengths / statistics.mean_length)).astype(np.float32)


class LexicalSystem(System):
    """A system that scores by words.

    ``statistics`` are those of the collection where an engine holds it (:mod:`isogloss.systems.sparse`); without them,
    they are those of the indexed documents.
    """

    found_above = 0.0
    joins = True
    expected_df = False
    options: LexicalOptions
    _shown: dict[str, tuple[NDArray[np.int64], dict[int, list[Contribution]] | None]]
    """The first hits of queries; their explanations, once one of them was explained."""
    statistics: TermStatistics | None = None
    _observed: TermStatistics | None = None
    _letters: str | None

    def __init__(self, options: LexicalOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.tokenizer = Tokenizer(document_language, options.stems, options.drop_stop_words)
        self._use(JoinedPostings([]))

    @abstractmethod
    def concepts(self, query: str) -> list[Concept]:
        """The concepts of a query: groups of document terms that match the same query words."""

    def index_texts(self, texts: Sequence[str]) -> None:
        tokens = tokenize_texts(texts, self.tokenizer, label=f"indexing {len(texts):,} documents")
        self._use(JoinedPostings([Postings.build(tokens)]))
        if len(texts) >= _MANY_DOCUMENTS:
            compile_ahead()

    def observe(self, texts: Sequence[str]) -> None:
        """Add texts to the statistics that ``freeze`` freezes."""
        self._observed = self._observed or TermStatistics()
        tokens = tokenize_texts(texts, self.tokenizer)
        self._observed.observe(tokens, self.counted(tokens))

    def counted(self, tokens: TokenizedTexts) -> DimensionCounts:
        """The dimensions of texts as sparse vectors: the terms, and concepts where queries have such."""
        return DimensionCounts.of(tokens)

    def freeze(self) -> None:
        """Use the observed statistics from now on."""
        self.statistics, self._observed = self._observed or TermStatistics(), None
        self._use(self._lists)

    def scores(self, query: str) -> Scores:
        return self._bm25.scores(self.concepts(query))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        """Few documents are looked up one by one; for many, reading whole inverted lists is faster."""
        if len(rows) > self._lists.document_count // _ROWS_TO_READ_ALL:
            return self.scores(query)[rows]
        return self._bm25.scores_at(self.concepts(query), rows)

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        ranking = self._search.best(self.concepts(query), k, self.id_order, allowed)
        if len(self._shown) >= _SHOWN_QUERIES:
            self._shown = {}
        self._shown[query] = ranking.rows[:_SHOWN].astype(np.int64), None
        return ranking

    def count_matches(self, query: str, allowed: Allowed | None = None) -> Matches:
        """The documents in any list of the query, if these are short; else those in the longest."""
        terms = dict.fromkeys(term for concept in self.concepts(query) for term, weight in concept.terms if weight)
        sizes = {term: self._lists.document_frequency(term) for term in terms}
        is_exact = sum(sizes.values()) <= MOST_COUNTED
        found = np.zeros(self._lists.document_count, bool)
        for term in sizes if is_exact else [max(sizes, key=sizes.__getitem__)]:
            found[self._lists[term].documents] = True
        return Matches(int(np.count_nonzero(found if allowed is None else found & allowed)), is_exact)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """In a large collection, one thread a query: numpy releases the interpreter lock."""
        if len(queries) < 2 or self._lists.document_count < _MANY_DOCUMENTS:
            return super().search_texts(queries, k, allowed)
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        with ThreadPoolExecutor(available_cores()) as threads:
            return list(threads.map(lambda query: self.search(query, k, allowed), queries))

    def warm(self) -> None:
        compile_ahead()

    def best_possible(self, query: str) -> float:
        return self._bm25.best_possible(self.concepts(query)) or 1.0

    def term_of(self, word: str) -> str | None:
        return next(iter(self.tokenizer.terms([word])), None)

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Whether a document has each word; stop words are known."""
        stops = stop_words(self.tokenizer.language)
        pairs = zip(words, self.terms_of(words), strict=True)
        return [word in stops or self._is_known(term) for word, term in pairs]

    def frequencies(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The share of the documents that have each word."""
        terms = self.terms_of(words)
        return as_forms(self.document_frequencies(terms) / max(1, self.texts), words, terms)

    def terms_of(self, words: Sequence[str]) -> list[str]:
        """The term of each word, stop words too."""
        return replace(self.tokenizer, drop_stop_words=False).terms(words)

    @property
    def texts(self) -> int:
        """The number of documents."""
        return self._lists.counted if self.statistics is None else self.statistics.texts

    def document_frequencies(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """The number of documents that have each of many terms, deleted ones included."""
        if self.statistics is not None:
            return self.statistics.frequencies(dimensions_of(terms))
        found = np.zeros(len(terms), np.int64)
        for part in self._lists.parts:
            numbers = part.terms.find_all(terms)
            known = numbers >= 0
            found[known] += part.offsets[numbers[known] + 1] - part.offsets[numbers[known]]
        return found

    def query_vocabulary(self) -> QueryVocabulary:
        tables = [part.terms for part in self._lists.parts]
        if self._letters is None:
            self._letters = alphabet("".join(table.text() for table in tables))
        return QueryVocabulary(self._letters, max(map(len, tables), default=0))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """The hits of a search are looked up together, when the first of them is explained."""
        rows, lines = self._shown.get(query, (np.zeros(0, np.int64), None))
        if lines is None and row in rows:
            lines = dict(zip(rows.tolist(), self._explain(query, rows), strict=True))
            self._shown[query] = rows, lines
        return lines[row] if lines and row in lines else self._explain(query, np.asarray([row]))[0]

    def _explain(self, query: str, rows: NDArray[np.int64]) -> list[list[Contribution]]:
        found: list[list[Contribution]] = [[] for _ in rows]
        for concept in self.concepts(query):
            scores, counts = self._bm25.matches_at(concept, rows)
            for number in np.flatnonzero(scores).tolist():
                terms = tuple(term for term, of_term in counts.items() if of_term[number])
                found[number].append(Contribution(concept.words, terms, float(scores[number])))
        return [sorted(each, key=lambda contribution: -contribution.score) for each in found]

    def count_only(self, live: Allowed) -> None:
        self._use(self._lists.counting_only(live))

    def sparse_documents(self, texts: Sequence[str]) -> list[SparseVector]:
        assert self.statistics is not None, "the statistics are not frozen yet"
        tokens = tokenize_texts(texts, self.tokenizer)
        counted, lengths = self.counted(tokens), np.diff(tokens.offsets)
        frequencies = counted.counts.astype(np.float32)
        saturations = np.repeat(saturation(self.options, lengths, self.statistics), np.diff(counted.offsets))
        return counted.vectors(frequencies / (frequencies + saturations))

    def sparse_query(self, query: str) -> SparseVector:
        weights: dict[str, float] = defaultdict(float)
        for concept in self.concepts(query):
            weights[concept_name(concept.terms)] += concept.times * self._bm25.idf(concept.terms)
        return SparseVector.of(weights)

    def save_shared(self, directory: Path) -> None:
        if self.statistics is not None:
            self.statistics.save(directory)

    def load_shared(self, directory: Path) -> Self:
        self.statistics = TermStatistics.load(directory)
        self._use(self._lists)
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self._lists.merged(keep).save(directory)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        self._use(JoinedPostings.load(directories))
        self._take_order(id_order, self._lists.document_count)
        return self

    def _use(self, postings: JoinedPostings) -> None:
        self._lists, self._letters = postings, None
        self._shown = {}
        if self.statistics is None:
            self._bm25 = BM25(postings, self.options.k1, self.options.b, self.expected_df)
        else:
            self._bm25 = FrozenBM25(postings, self.options, self.expected_df, self.statistics)
        self._search = BM25Search(self._bm25)

    def _is_known(self, term: str) -> bool:
        if self.statistics is not None:
            return self.statistics.frequency(term) > 0
        return self._lists.document_frequency(term) > 0


class UntranslatedBM25(LexicalSystem, SparseSystem):
    """BM25 without translation, the lower bound: query words match document words of the same spelling or stem."""

    name = "bm25"
    paper = "Robertson and Zaragoza 2009, The Probabilistic Relevance Framework: BM25 and Beyond"
    summary = "BM25 with the untranslated query: the lower bound"
    options_type = LexicalOptions

    def concepts(self, query: str) -> list[Concept]:
        return untranslated(query, self.tokenizer)

    def unknown_words(self, query: str) -> list[str]:
        """The words that no document has."""
        return [word for word in tokenize(query) if not all(map(self._is_known, self.tokenizer.terms([word])))]
