"""``bm25-mt``: the query is translated, then searched with BM25 as if it had been asked in the documents' language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from isogloss.corpus.dataset import Dataset
from isogloss.corpus.records import Query
from isogloss.evaluation.ranking import Ranking
from isogloss.evaluation.system import Allowed, Contribution
from isogloss.lexical.bm25 import Concept
from isogloss.lexical.translation import untranslated
from isogloss.systems.lexical import LexicalOptions, LexicalSystem
from isogloss.systems.translated_queries import TranslatedQueries, TranslatorOptions


@dataclass(frozen=True)
class TranslatedBM25Options(LexicalOptions, TranslatorOptions):
    """Options of ``bm25-mt``."""


class TranslatedBM25(LexicalSystem):
    """BM25 with the translation of the query."""

    name = "bm25-mt"
    paper = "Robertson and Zaragoza 2009 for BM25; Li, Du and Chen 2020 for translating first (the -MT rows)"
    summary = "BM25 with the query translated first: by a lexicon word by word, by Apertium, or from a file"
    options_type = TranslatedBM25Options
    options: TranslatedBM25Options

    def __init__(self, options: TranslatedBM25Options, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._translated = TranslatedQueries(self.name, options, query_language, document_language)
        self.learns = self._translated.learns

    def fit(self, training: Dataset) -> None:
        self._translated.learn(training)

    def index_texts(self, texts: Sequence[str]) -> None:
        _ = self._translated.translator  # a missing one is found before the work is done
        super().index_texts(texts)

    def concepts(self, query: str) -> list[Concept]:
        (translation,) = self._translated([query])
        return untranslated(translation, self.tokenizer)

    def search_all(self, queries: Sequence[Query], k: int, label: str = "searching") -> Iterator[Ranking]:
        self._translated(query.text for query in queries)  # all at once
        return super().search_all(queries, k, label)

    def search_texts(self, queries: Sequence[str], k: int, allowed: Allowed | None = None) -> list[Ranking]:
        self._translated(queries)
        return super().search_texts(queries, k, allowed)

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        return self._translated.translations(query)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        return self._translated.in_words_of(query, super().explain(query, row, text))

    def save_shared(self, directory: Path) -> None:
        self._translated.save(directory)

    def load_shared(self, directory: Path) -> Self:
        self._translated.load(directory)
        return self
