"""Matchers that translate queries first, and then match within the documents' language; and translated train pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Query
from isogloss.data.judgments import Judgments
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution, SystemOptions, option
from isogloss.systems.lexicons import fill_languages
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.data import RankingData, read_lists, read_ranking_data
from isogloss.systems.matchers.options import MatcherOptions
from isogloss.systems.mt import TranslatedQueries, TranslatorOptions
from isogloss.translation.translators import open_translator


@dataclass(frozen=True)
class TranslatingOptions(MatcherOptions, TranslatorOptions):
    """Options of every matcher that translates."""

    trained_on: str = option(
        "translated",
        "translated: train queries; monolingual: train queries of the documents' language (as in the paper)",
    )

    def check(self, system: str) -> None:
        super().check(system)
        self.require(system, {"trained_on": ("translated", "monolingual")})


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


def translated_pairs(training: Dataset, translator: str) -> Dataset:
    """The same dataset, with translations of the train queries of the documents' language (the layer-wise paper).

    So a cross-lingual system can be trained on question-answer pairs of one language. ``translator`` goes from the
    documents' language to that of the queries. Queries of other splits stay, and are in no language trained on.
    """
    query_language, language = training.pair
    found = load_dataset(training.source, (language, language), problems=training.problems)
    others = {query for name, queries in training.splits.items() if name != "train" for query in queries}
    ids = [query for query in found.splits["train"] if query not in others and query in found.judgments]
    if not ids:
        raise InputError(f"{training.source.name}: has no train queries in {language!r} whose answers are known")
    spec = fill_languages(translator, language, query_language)
    texts = open_translator(spec, language, query_language).translate([found.queries[id_].text for id_ in ids], ids)
    kept = {id_: query for id_, query in training.queries.items() if id_ in others}
    made = {id_: Query(id_, text) for id_, text in zip(ids, texts, strict=True)}
    judged = (
        *(each for each in training.judgments if each.query in kept),
        *(each for each in found.judgments if each.query in made),
    )
    judgments = Judgments(judged, found.judgments.top_grade)
    splits = {**training.splits, "train": ids}
    return replace(training, queries={**kept, **made}, judgments=judgments, splits=splits)
