"""What the lexical systems share: inverted lists of the documents, BM25 over the concepts of a query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.bm25 import BM25, BM25Search, Concept, compile_ahead
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.retrieval.ranking import Allowed, Ranking, Scores
from isogloss.systems.base import Contribution, System, SystemOptions
from isogloss.text.batches import available_cores, tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.queries import untranslated

_ROWS_TO_READ_ALL = 8  # one of so many documents asked for
_MANY_DOCUMENTS = 100_000  # of fewer a query takes less than a thread costs


@dataclass(frozen=True)
class LexicalOptions(SystemOptions):
    """Options of every lexical system."""

    stems: bool = field(default=True, metadata={"help": "Snowball stems, where the document language has them"})
    drop_stop_words: bool = field(default=False, metadata={"help": "leave stop words out of documents and queries"})
    k1: float = field(default=1.2, metadata={"help": "how fast repeated words stop counting", "range": (0, 1000)})
    b: float = field(default=0.75, metadata={"help": "how much long documents are held back", "range": (0, 1)})


class LexicalSystem(System):
    """A system that scores by words."""

    found_above = 0.0
    joins = True
    expected_df = False
    options: LexicalOptions

    def __init__(self, options: LexicalOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.tokenizer = Tokenizer(document_language, options.stems, options.drop_stop_words)
        self._use(JoinedPostings([]))

    @abstractmethod
    def concepts(self, query: str) -> list[Concept]:
        """What a query asks for, in terms of the documents."""

    def index_texts(self, texts: Sequence[str]) -> None:
        tokens = tokenize_texts(texts, self.tokenizer, label=f"indexing {len(texts):,} documents")
        self._use(JoinedPostings([Postings.build(tokens)]))
        if len(texts) >= _MANY_DOCUMENTS:
            compile_ahead()

    def scores(self, query: str) -> Scores:
        return self._bm25.scores(self.concepts(query))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        """Looked up one by one, unless they are so many that reading the lists of all documents takes less."""
        if len(rows) > self._lists.document_count // _ROWS_TO_READ_ALL:
            return self.scores(query)[rows]
        return self._bm25.scores_at(self.concepts(query), rows)

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        return self._search.best(self.concepts(query), k, self.id_order, allowed)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        """Of many documents each query on a core of its own: numpy lets threads run beside each other."""
        if len(queries) < 2 or self._lists.document_count < _MANY_DOCUMENTS:
            return super().search_texts(queries, k, allowed)
        from concurrent.futures import ThreadPoolExecutor  # here, for it takes long to import

        with ThreadPoolExecutor(available_cores()) as threads:
            return list(threads.map(lambda query: self.search(query, k, allowed), queries))

    def best_possible(self, query: str) -> float:
        return self._bm25.best_possible(self.concepts(query)) or 1.0

    def term_of(self, word: str) -> str | None:
        return next(iter(self.tokenizer.terms([word])), None)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        rows, found = np.asarray([row]), []
        for concept in self.concepts(query):
            (score,) = self._bm25.contributions_at(concept, rows).tolist()
            if score:
                terms = [term for term, _ in concept.terms if self._lists.counts_at(term, rows)[0]]
                found.append(Contribution(concept.words, tuple(terms), score))
        return sorted(found, key=lambda contribution: -contribution.score)

    def count_only(self, live: Allowed) -> None:
        self._use(self._lists.counting_only(live))

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self._lists.merged(keep).save(directory)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        self._use(JoinedPostings.load(directories))
        self._take_order(id_order, self._lists.document_count)
        return self

    def _use(self, postings: JoinedPostings) -> None:
        self._lists = postings
        self._bm25 = BM25(postings, self.options.k1, self.options.b, self.expected_df)
        self._search = BM25Search(self._bm25)


# BM25 with the query as it stands, untranslated: the floor that every table shows.


class UntranslatedBM25(LexicalSystem):
    """Query words are matched with document words of the same spelling (or stem)."""

    name = "bm25"
    paper = "Robertson and Zaragoza 2009, The Probabilistic Relevance Framework: BM25 and Beyond"
    summary = "BM25 with the query as it stands, untranslated: the floor"
    options_type = LexicalOptions

    def concepts(self, query: str) -> list[Concept]:
        return untranslated(query, self.tokenizer)
