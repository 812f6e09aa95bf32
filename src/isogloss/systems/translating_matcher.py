"""Matchers that translate the queries first, and then work within the documents' language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.corpus.dataset import Dataset, load_dataset
from isogloss.evaluation.system import Contribution, SystemOptions
from isogloss.systems.matcher import Matcher
from isogloss.systems.matcher_options import MatcherOptions, option
from isogloss.systems.ranking_data import RankingData, read_lists, read_ranking_data
from isogloss.systems.translated_queries import TranslatedQueries, TranslatorOptions

_TRAINED_ON = ("translated", "monolingual")


@dataclass(frozen=True)
class TranslatingOptions(MatcherOptions, TranslatorOptions):
    """Options of every matcher that translates."""

    trained_on: str = option(
        "translated", "the train queries translated, or monolingual: those of the documents' language (the paper's way)"
    )

    def check(self, system: str) -> None:
        super().check(system)
        if self.trained_on not in _TRAINED_ON:
            raise InputError(f"{system}.trained_on: {self.trained_on!r} is not one of {', '.join(_TRAINED_ON)}")


class TranslatingMatcher(Matcher):
    """A matcher of one language; queries of the other are translated before it sees them."""

    options: TranslatingOptions

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._translated = TranslatedQueries(self.name, self.options, query_language, document_language)

    @property
    def one_language(self) -> bool:
        return True

    def query_texts(self, texts: Sequence[str]) -> Sequence[str]:
        return self._translated(texts)

    def read(self, training: Dataset) -> RankingData:
        self._translated.learn(training)
        if self.options.trained_on == "translated":
            return super().read(training)
        data = read_ranking_data(_monolingual(training), replace(self.reading, dev_queries=0))
        if not self.reading.dev_queries or "dev" not in training.splits:
            return data
        return replace(data, dev=read_lists(training, "dev", data.words["query"], self.reading, self.query_texts))

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        return self._translated.translations(query)

    def explain_text(self, query: str, text: str, score: float) -> list[Contribution]:
        return self._translated.in_words_of(query, super().explain_text(query, text, score))

    def save_model(self, directory: Path) -> None:
        super().save_model(directory)
        self._translated.save(directory)

    def load_model(self, directory: Path) -> None:
        self._translated.load(directory)
        super().load_model(directory)


def _monolingual(training: Dataset) -> Dataset:
    """The same train queries in the documents' language; they have the same ids."""
    language = training.pair[1]
    found = load_dataset(training.source, (language, language), problems=training.problems)
    return replace(found, splits={"train": [query for query in training.splits["train"] if query in found.queries]})
