"""Queries translated before they are searched with: what ``bm25-mt``, ``cntn-mt`` and ``match-srnn-mt`` share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Query
from isogloss.retrieval.bm25 import Concept
from isogloss.retrieval.ranking import Allowed, Ranking
from isogloss.storage.errors import InputError
from isogloss.storage.lines import find_file
from isogloss.systems.base import Contribution, SystemOptions
from isogloss.systems.bm25 import LexicalOptions, LexicalSystem
from isogloss.systems.explanations import merged
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.text.tokenizer import tokenize
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.queries import untranslated
from isogloss.translation.translators import TRANSLATOR_HELP, LexiconTranslator, Translator, open_translator

_LEXICON_FILE = "translator.tsv"
_MISSING = ("error", "keep")


@dataclass(frozen=True)
class TranslatorOptions(SystemOptions):
    """Options of every system that translates the queries first."""

    translator: str = field(default="lexicon:", metadata={"help": f"what translates the queries: {TRANSLATOR_HELP}"})
    lexicon: str = field(default="", metadata={"help": LEXICON_HELP})
    missing: str = field(
        default="error",
        metadata={"help": "a query without a ready translation: error, or keep (search with it as it stands)"},
    )


class TranslatedQueries:
    """The translations of queries; called with texts, it gives what stands for them.

    A system makes one of its options, lets it ``learn`` when it is fitted itself, and has it ``save`` and ``load``
    beside its own files. What was translated is remembered, and the queries of one split are translated together.
    """

    def __init__(self, system: str, options: TranslatorOptions, query_language: str, document_language: str) -> None:
        self._system = system
        self._languages = query_language, document_language
        kind, _, where = options.translator.partition(":")
        if kind == "lexicon":
            where = where or options.lexicon
        if options.missing not in _MISSING:
            raise InputError(f"{system}: missing {options.missing!r} is neither error nor keep")
        self._keep_missing = options.missing == "keep"
        self._spec = fill_languages(f"{kind}:{where}" if where else options.translator, *self._languages)
        self._lexicon: Lexicon | None = None
        self._known: dict[str, str] = {}
        self._together: dict[str, list[Query]] = {}

    @property
    def learns(self) -> bool:
        """Whether the lexicon has to be induced from a train split."""
        return self._spec == f"lexicon:{INDUCED}"

    def learn(self, training: Dataset) -> None:
        """Induce the lexicon, if it is to be induced; remember which queries belong together."""
        if self.learns:
            self._lexicon = induce_from(training, self._system)
        self.expect(training)

    def expect(self, dataset: Dataset) -> None:
        """Remember the queries of a dataset: when one of a split is asked for, all of the split are translated."""
        for queries in (dataset.split(name) for name in dataset.splits):
            self._together.update((query.text, queries) for query in queries)

    def __call__(self, texts: Iterable[str]) -> list[str]:
        asked = list(texts)
        for text in asked:
            if text not in self._known:
                self._translate(self._together.get(text) or [Query("", other) for other in asked])
        return [self._known[text] for text in asked]

    def phrases(self, text: str) -> list[tuple[str, str]]:
        """The words of a text, each with its translation, where it is translated word by word; else the text as one."""
        if isinstance(self.translator, LexiconTranslator):
            return self.translator.phrases(text)
        (translation,) = self([text])
        return [(text, translation)]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """What stands for the words of a query, or for all of it; names that stay as they are need no mention."""
        return [(words, [other]) for words, other in dict.fromkeys(self.phrases(query)) if other != words]

    def in_words_of(self, query: str, lines: Sequence[Contribution]) -> list[Contribution]:
        """An explanation by words of the translation in those of the query, where it is translated word by word."""
        if not isinstance(self.translator, LexiconTranslator):
            return list(lines)
        asked: dict[str, str] = {}
        for words, translation in self.phrases(query):
            asked.update((word, asked.get(word, words)) for word in tokenize(translation))
        return merged([line._replace(query_word=asked.get(line.query_word, line.query_word)) for line in lines])

    @cached_property
    def translator(self) -> Translator:
        """What translates."""
        if self._lexicon is not None:
            return LexiconTranslator(self._lexicon, *self._languages)
        if self._spec in ("lexicon", "lexicon:"):
            what = f"needs a bilingual lexicon: --set {self._system}.lexicon=FILE"
            raise InputError(f"{self._system}: {what}, or another translator: {TRANSLATOR_HELP}")
        if self.learns:
            raise InputError(f"{self._system}: has to learn its lexicon first; give it data with a train split")
        return open_translator(self._spec, *self._languages, keep_missing=self._keep_missing)

    def save(self, directory: Path) -> None:
        """Write the lexicon into a directory, if there is one."""
        if isinstance(self.translator, LexiconTranslator):
            self.translator.lexicon.save(directory / _LEXICON_FILE)

    def load(self, directory: Path) -> None:
        """Use the lexicon that ``save`` wrote, if it did."""
        if self._spec.startswith("lexicon"):
            self._spec = f"lexicon:{find_file(directory / _LEXICON_FILE)}"  # read at the first query, missed at once

    def _translate(self, queries: Sequence[Query]) -> None:
        texts = [query.text for query in queries]
        ids = [query.id for query in queries]
        self._known.update(zip(texts, self.translator.translate(texts, ids), strict=True))


# ``bm25-mt``: the query is translated, then searched with BM25 as if it had been asked in the documents' language.


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
