"""Training pairs made as the layer-wise paper makes them: those of one language, their questions translated.

So a system of two languages can learn from question-answer pairs of the documents' language alone.
"""

from __future__ import annotations

from dataclasses import replace

from isogloss.base.errors import InputError
from isogloss.corpus.dataset import Dataset, load_dataset
from isogloss.corpus.judgments import Judgments
from isogloss.corpus.records import Query
from isogloss.lexical.translators.opening import open_translator
from isogloss.systems.lexicons import fill_languages


def translated_pairs(training: Dataset, translator: str) -> Dataset:
    """The same dataset, with train queries that are those of the documents' language, translated.

    ``translator`` goes from the documents' language to that of the queries. What the other splits hold stays as it is,
    and none of their queries is learned from, in whatever language.
    """
    query_language, language = training.pair
    found = load_dataset(training.source, (language, language), problems=training.problems)
    held = {query for name, queries in training.splits.items() if name != "train" for query in queries}
    ids = [query for query in found.splits["train"] if query not in held and query in found.judgments]
    if not ids:
        raise InputError(f"{training.source.name}: has no train queries in {language!r} whose answers are known")
    spec = fill_languages(translator, language, query_language)
    texts = open_translator(spec, language, query_language).translate([found.queries[id_].text for id_ in ids], ids)
    kept = {id_: query for id_, query in training.queries.items() if id_ in held}
    made = {id_: Query(id_, text) for id_, text in zip(ids, texts, strict=True)}
    judged = (
        *(each for each in training.judgments if each.query in kept),
        *(each for each in found.judgments if each.query in made),
    )
    judgments = Judgments(judged, found.judgments.top_grade)
    splits = {**training.splits, "train": ids}
    return replace(training, queries={**kept, **made}, judgments=judgments, splits=splits)
