"""Queries translated before they are searched with: what ``bm25-mt``, ``cntn-mt`` and ``match-srnn-mt`` share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.lines import find_file
from isogloss.corpus.dataset import Dataset
from isogloss.corpus.records import Query
from isogloss.evaluation.system import Contribution, SystemOptions
from isogloss.lexical.translators.opening import TRANSLATOR_HELP, open_translator
from isogloss.lexical.translators.translator import Translator
from isogloss.lexical.translators.word_by_word import LexiconTranslator
from isogloss.systems.explaining import merged
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.text.tokenizer import tokenize
from isogloss.vectors.lexicon import Lexicon

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
