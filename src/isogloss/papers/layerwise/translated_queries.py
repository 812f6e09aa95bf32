"""``bm25-mt``, and the translation of queries that it shares with ``cntn-mt`` and ``match-srnn-mt``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Query
from isogloss.retrieval.bm25 import Concept
from isogloss.retrieval.ranking import Allowed, Ranking
from isogloss.storage.errors import InputError
from isogloss.storage.lines import find_file
from isogloss.storage.wording import way
from isogloss.systems.base import Contribution, SystemOptions, option
from isogloss.systems.bm25 import LexicalOptions, LexicalSystem
from isogloss.systems.explanations import merged
from isogloss.systems.glossers import lexicon_glosser
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.text.tokenizer import tokenize
from isogloss.translation.glossing import Glosser
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.queries import untranslated
from isogloss.translation.translators import (
    TRANSLATOR_HELP,
    LexiconTranslator,
    ReadyTranslations,
    Translator,
    open_translator,
)

_LEXICON_FILE, _READY_FILE = "translator.tsv", "translations.tsv"
_MISSING = ("error", "keep")


@dataclass(frozen=True)
class TranslatorOptions(SystemOptions):
    """Options of systems that translate queries first."""

    translator: str = option("lexicon:", f"of queries: {TRANSLATOR_HELP}")
    lexicon: str = option("", LEXICON_HELP)
    missing: str = option(
        "error", "for a query without a translation in the file: error, or keep (search with the query itself)"
    )


class TranslatedQueries:
    """Translates queries, by the options of a system.

    The system calls ``learn`` when it is fitted, and ``save`` and ``load`` with its own files. Translations are cached,
    and the queries of one split are translated together.
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
        """Induce the lexicon, where the options say so; note the splits: all queries of one are translated together."""
        if self.learns:
            self._lexicon = induce_from(training, self._system)
        for queries in map(training.split, training.splits):
            self._together.update((query.text, queries) for query in queries)

    def __call__(self, texts: Iterable[str]) -> list[str]:
        texts = list(texts)
        for text in texts:
            if text not in self._known:
                queries = self._together.get(text) or [Query("", other) for other in texts]
                originals = [query.text for query in queries]
                found = self.translator.translate(originals, [query.id for query in queries])
                self._known.update(zip(originals, found, strict=True))
        return [self._known[text] for text in texts]

    def phrases(self, text: str) -> list[tuple[str, str]]:
        """The words of a text with their translations, where it is translated word by word; else the whole text."""
        if isinstance(self.translator, LexiconTranslator):
            return self.translator.phrases(text)
        (translation,) = self([text])
        return [(text, translation)]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The translations of a query's words, or of the query as a whole; without words that stay the same."""
        return [(words, [other]) for words, other in dict.fromkeys(self.phrases(query)) if other != words]

    def glosser(self) -> Glosser | None:
        """What says words of documents in the language of the queries, where these are translated word by word."""
        translator = self.translator
        if not isinstance(translator, LexiconTranslator):
            return None
        return lexicon_glosser(translator.lexicon, *self._languages)

    def in_words_of(self, query: str, lines: Sequence[Contribution]) -> list[Contribution]:
        """An explanation with the words of the query, not of its translation, where it is translated word by word."""
        if not isinstance(self.translator, LexiconTranslator):
            return list(lines)
        source_of: dict[str, str] = {}
        for words, translation in self.phrases(query):
            source_of.update((word, source_of.get(word, words)) for word in tokenize(translation))
        return merged([line._replace(query_word=source_of.get(line.query_word, line.query_word)) for line in lines])

    @cached_property
    def translator(self) -> Translator:
        """The translator of the options."""
        if self._lexicon is not None:
            return LexiconTranslator(self._lexicon, *self._languages)
        if self._spec in ("lexicon", "lexicon:"):
            named = way(f"--set {self._system}.lexicon=FILE", "lexicon='FILE'")
            what = f"needs a bilingual lexicon: {named}"
            raise InputError(f"{self._system}: {what}, or another translator: {TRANSLATOR_HELP}")
        if self.learns:
            raise InputError(f"{self._system}: has to induce its lexicon first; give it data with a train split")
        return open_translator(self._spec, *self._languages, keep_missing=self._keep_missing)

    def save(self, directory: Path) -> None:
        """Write the lexicon or the ready translations into a directory, if there are some."""
        if isinstance(self.translator, LexiconTranslator):
            self.translator.lexicon.save(directory / _LEXICON_FILE)
        if isinstance(self.translator, ReadyTranslations):
            self.translator.save(directory / _READY_FILE)

    def load(self, directory: Path) -> None:
        """Use what ``save`` wrote, if anything; never a file that the options name: a stranger may have written them.

        It is read at the first query, but an error now if it is missing.
        """
        kind = self._spec.partition(":")[0]
        if kind in ("lexicon", "file"):
            self._spec = f"{kind}:{find_file(directory / (_LEXICON_FILE if kind == 'lexicon' else _READY_FILE))}"


@dataclass(frozen=True)
class TranslatedBM25Options(LexicalOptions, TranslatorOptions):
    """Options of ``bm25-mt``."""


class TranslatedBM25(LexicalSystem):
    """BM25 with the translation of the query."""

    name = "bm25-mt"
    paper = "Robertson and Zaragoza 2009 for BM25; Li, Du and Chen 2020 for translating first (the -MT rows)"
    summary = "BM25 with the query translated first: by a lexicon word by word, by Apertium, or from a file"
    options_type = TranslatedBM25Options
    translates = True
    options: TranslatedBM25Options

    def __init__(self, options: TranslatedBM25Options, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._translated = TranslatedQueries(self.name, options, query_language, document_language)
        self.learns = self._translated.learns

    def fit(self, training: Dataset) -> None:
        self._translated.learn(training)

    def index_texts(self, texts: Sequence[str]) -> None:
        _ = self._translated.translator  # a missing translator is an error before the work is done
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

    def glosser(self) -> Glosser | None:
        return self._translated.glosser()

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        return self._translated.in_words_of(query, super().explain(query, row, text))

    def save_shared(self, directory: Path) -> None:
        self._translated.save(directory)

    def load_shared(self, directory: Path) -> Self:
        self._translated.load(directory)
        return self
