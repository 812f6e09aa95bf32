"""Lexical systems that translate the query with a bilingual lexicon: ``bm25-dict`` and ``psq``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from isogloss.data.dataset import Dataset
from isogloss.retrieval.bm25 import Concept
from isogloss.storage.errors import InputError
from isogloss.storage.lines import find_file
from isogloss.systems.bm25 import LexicalOptions, LexicalSystem
from isogloss.systems.lexicons import BUNDLED, INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.translation.lexicon import Lexicon, Phrase
from isogloss.translation.queries import QueryTranslator


@dataclass(frozen=True)
class TranslatingOptions(LexicalOptions):
    """Options of the systems that translate the query."""

    lexicon: str = field(
        default="",
        metadata={"help": LEXICON_HELP},
    )
    translations: int = field(
        default=10, metadata={"help": "how many translations of a word are used at most", "range": (1, 1000)}
    )


@dataclass(frozen=True)
class DictionaryOptions(TranslatingOptions):
    """Options of ``bm25-dict``."""

    structure: str = field(
        default="synonym",
        metadata={"help": "how the translations of a word are combined: synonym (one concept) or independent"},
    )


@dataclass(frozen=True)
class PsqOptions(TranslatingOptions):
    """Options of ``psq``."""

    decay: float = field(
        default=0.9,
        metadata={
            "help": "where the lexicon has no probabilities: p of its i-th translation is proportional to decay^i",
            "range": (0, 1),
        },
    )


_LEXICON_FILE = "lexicon.tsv"
_SHOWN = 5


class TranslatingSystem(LexicalSystem):
    """A lexical system whose query goes through a lexicon first."""

    options: TranslatingOptions
    _is_saved = False

    def __init__(self, options: TranslatingOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._lexicon_path = Path(fill_languages(options.lexicon, query_language, document_language))
        self._induced: Lexicon | None = None
        self._read: dict[Path, QueryTranslator] = {}  # copies of a system share it: a lexicon is read once
        self.learns = options.lexicon == INDUCED

    def fit(self, training: Dataset) -> None:
        """Induce the lexicon, if it is to be induced."""
        if self.learns:
            self._induced, self._read = induce_from(training, self.name), {}

    def concepts(self, query: str) -> list[Concept]:
        return self._translator(query)

    def unknown_words(self, query: str) -> list[str]:
        return [word for word, meanings in self._meanings(query) if not meanings]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        return [(word, meanings) for word, meanings in self._meanings(query) if meanings]

    def index_texts(self, texts: Sequence[str]) -> None:
        if not self._is_saved:
            _ = self._translator  # a missing lexicon is found before the work is done
        super().index_texts(texts)

    def save_shared(self, directory: Path) -> None:
        self._translator.lexicon.save(directory / _LEXICON_FILE)

    def load_shared(self, directory: Path) -> Self:
        self._lexicon_path = find_file(directory / _LEXICON_FILE)  # read at the first query, missed at once
        self._is_saved = True
        return self

    @property
    def _translator(self) -> QueryTranslator:
        path = self._lexicon_path
        if path not in self._read:
            if self._induced is None and not path.name:
                what = f"--set {self.name}.lexicon=FILE (or {BUNDLED}: a small one, to try)"
                raise InputError(f"{self.name}: needs a bilingual lexicon: {what}")
            self._read[path] = self.make_translator(self._induced or Lexicon.read(path))
        return self._read[path]

    def _meanings(self, query: str) -> list[tuple[str, list[str]]]:
        """The words of a query that are searched for, and what stands for each in the documents, if anything does."""
        words = dict.fromkeys(concept.words for concept in self.concepts(query))
        return [(word, self._meanings_of(tuple(word.split(" ")))) for word in words]

    def _meanings_of(self, phrase: Phrase) -> list[str]:
        """The best translations; of a word that has none the word itself, if any document has it as it stands."""
        found = sorted(self._translator.translate(phrase), key=lambda translation: -translation.probability)
        if found:
            return [" ".join(translation.phrase) for translation in found[: min(_SHOWN, self.options.translations)]]
        terms = self.tokenizer.terms(phrase)
        return list(phrase) if any(len(self._bm25.postings[term].documents) for term in terms) else []

    @abstractmethod
    def make_translator(self, lexicon: Lexicon) -> QueryTranslator:
        """The system's way from a query to concepts."""


class DictionaryBM25(TranslatingSystem):
    """Up to k translations a word, taken as synonyms of each other."""

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
