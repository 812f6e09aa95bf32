"""Lexical systems that translate the query with a bilingual lexicon: ``bm25-dict`` and ``psq``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.retrieval.bm25 import Concept
from isogloss.storage.errors import InputError
from isogloss.storage.lines import find_file
from isogloss.storage.wording import way
from isogloss.systems.base import RARE, VERBATIM, QueryVocabulary, names_among, option
from isogloss.systems.bm25 import LexicalOptions, LexicalSystem
from isogloss.systems.concept_dimensions import ConceptDimensions
from isogloss.systems.glossers import lexicon_glosser
from isogloss.systems.lexicons import BUNDLED, INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.systems.sparse import DimensionCounts, SparseSystem
from isogloss.text.batches import TokenizedTexts
from isogloss.text.stopwords import stop_words
from isogloss.translation.glossing import Glosser
from isogloss.translation.lexicon import Lexicon, Phrase
from isogloss.translation.queries import QueryTranslator


@dataclass(frozen=True)
class TranslatingOptions(LexicalOptions):
    """Options of the systems that translate the query."""

    lexicon: str = option("", LEXICON_HELP)
    translations: int = option(10, "most translations of a word that are used", 1, 1000)


@dataclass(frozen=True)
class DictionaryOptions(TranslatingOptions):
    """Options of ``bm25-dict``."""

    structure: str = option(
        "synonym", "how the translations of a word are combined: synonym (one concept) or independent"
    )


@dataclass(frozen=True)
class PsqOptions(TranslatingOptions):
    """Options of ``psq``."""

    decay: float = option(
        0.9, "where the lexicon has no probabilities: p of its i-th translation is proportional to decay^i", 0, 1
    )


_LEXICON_FILE = "lexicon.tsv"
_SHOWN = 5


class TranslatingSystem(LexicalSystem, SparseSystem):
    """A lexical system that translates the query by a lexicon."""

    translates = True
    options: TranslatingOptions
    _is_saved = False
    _expanded: tuple[QueryTranslator, ConceptDimensions] | None = None

    def __init__(self, options: TranslatingOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._lexicon_path = Path(fill_languages(options.lexicon, query_language, document_language))
        self._induced: Lexicon | None = None
        self._read: dict[Path, QueryTranslator] = {}  # shared by copies of a system: a lexicon is read once
        self.learns = options.lexicon == INDUCED

    def fit(self, training: Dataset) -> None:
        """Induce the lexicon, if it is to be induced."""
        if self.learns:
            self._induced, self._read = induce_from(training, self.name), {}

    def concepts(self, query: str) -> list[Concept]:
        return self._translator(query)

    def unknown_words(self, query: str) -> list[str]:
        return [word for word, found in self._query_words(query) if not found]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        return [(word, found) for word, found in self._query_words(query) if found]

    def glosser(self) -> Glosser:
        return lexicon_glosser(self._translator.lexicon, self.query_language, self.document_language)

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Whether each word has a translation, or is in the documents or in a phrase of the lexicon."""
        translator, stops = self._translator, stop_words(self.query_language)
        each = zip(words, super().knows(words), translator.has_all(words), strict=True)
        return [here or there or word in translator.words or word in stops for word, here, there in each]

    def frequencies(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The share of documents that have the most frequent translation of a word, or the word itself."""
        verbatim = names_among(words, self.document_frequencies(words), self.tokenizer) / max(1, self.texts)
        found = VERBATIM * verbatim
        for i in np.flatnonzero(self._translator.has_all(words)).tolist():
            translations = self._translator.translate((words[i],))
            terms = self.tokenizer.terms([word for each in translations for word in each.phrase])
            share = self.document_frequencies(terms).max(initial=0) / max(1, self.texts)
            found[i] = max(found[i], share, RARE)
        return found

    def query_vocabulary(self) -> QueryVocabulary:
        return QueryVocabulary(self._translator.letters, len(self._translator.words))

    def index_texts(self, texts: Sequence[str]) -> None:
        if not self._is_saved:
            _ = self._translator  # a missing lexicon is an error before the work is done
        super().index_texts(texts)

    def counted(self, tokens: TokenizedTexts) -> DimensionCounts:
        return self._dimensions.counted(tokens)

    def save_shared(self, directory: Path) -> None:
        super().save_shared(directory)
        self._translator.lexicon.save(directory / _LEXICON_FILE)

    def load_shared(self, directory: Path) -> Self:
        self._lexicon_path = find_file(directory / _LEXICON_FILE)  # it is read later, but an error now if missing
        self._is_saved = True
        return super().load_shared(directory)

    @property
    def _translator(self) -> QueryTranslator:
        path = self._lexicon_path
        if path not in self._read:
            if self._induced is None and not path.name:
                named = way(f"--set {self.name}.lexicon=FILE", "lexicon='FILE'")
                what = f"{named} (or {BUNDLED}: a small one, to try)"
                raise InputError(f"{self.name}: needs a bilingual lexicon: {what}")
            self._read[path] = self.make_translator(self._induced or Lexicon.read(path))
        return self._read[path]

    @property
    def _dimensions(self) -> ConceptDimensions:
        translator = self._translator
        if self._expanded is None or self._expanded[0] is not translator:
            self._expanded = translator, ConceptDimensions(translator.every_concept())
        return self._expanded[1]

    def _query_words(self, query: str) -> list[tuple[str, list[str]]]:
        """The words of a query, each with its translations."""
        words = dict.fromkeys(concept.words for concept in self.concepts(query))
        return [(word, self._translations_of(tuple(word.split(" ")))) for word in words]

    def _translations_of(self, phrase: Phrase) -> list[str]:
        """The best translations; the word itself where it has none but some document contains it."""
        found = sorted(self._translator.translate(phrase), key=lambda translation: -translation.probability)
        if found:
            return [" ".join(translation.phrase) for translation in found[: min(_SHOWN, self.options.translations)]]
        terms = self.tokenizer.terms(phrase)
        return list(phrase) if any(map(self._is_known, terms)) else []

    @abstractmethod
    def make_translator(self, lexicon: Lexicon) -> QueryTranslator:
        """The translator of queries into concepts."""


class DictionaryBM25(TranslatingSystem):
    """Up to k translations a word, as synonyms of each other."""

    name = "bm25-dict"
    paper = "Pirkola 1998, The Effects of Query Structure and Dictionary Setups in Dictionary-Based CLIR"
    summary = "BM25 with the query translated by a bilingual lexicon, translations of a word as synonyms"
    options_type = DictionaryOptions
    options: DictionaryOptions

    def make_translator(self, lexicon: Lexicon) -> QueryTranslator:
        o = self.options
        if o.structure not in ("synonym", "independent"):
            raise InputError(f"{self.name}: structure {o.structure!r} is neither synonym nor independent")
        return QueryTranslator(
            lexicon, self.query_language, self.tokenizer, o.structure, o.translations, drop_stop_words=o.drop_stop_words
        )


class ProbabilisticStructuredQueries(TranslatingSystem):
    """Term and document frequencies of a query word as expectations over its translations."""

    name = "psq"
    paper = "Darwish and Oard 2003, Probabilistic Structured Query Methods"
    summary = "BM25 over probabilistic structured queries: translations weighted by their probability"
    options_type = PsqOptions
    options: PsqOptions
    expected_df = True

    def make_translator(self, lexicon: Lexicon) -> QueryTranslator:
        o = self.options
        return QueryTranslator(
            lexicon, self.query_language, self.tokenizer, "probability", o.translations, o.decay, o.drop_stop_words
        )
