"""Pages of two languages that say the same: what lexicons and alignments are learned from.

The page a query was taken from (its relevant document of the pair en-en) and its relevant document of the pair en-fr
are translations of each other. Where no such page is known the query's own text stands in for it.

Leakage rule: a page counts only if all queries it answers are in the train split. Pages of dev and test queries, and
of queries in no split at all, never contribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Document, Query, joined_fields
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError


class NoPagesError(InputError):
    """The train split has no translated pages; nothing is wrong with the data."""


_Pages = Mapping[str, list[Document]]
"""Query id to the pages that are relevant for it."""


def translated_pages(dataset: Dataset, fields: tuple[str, ...] = ("text",)) -> list[tuple[str, str]]:
    """The texts of the train split's translated pages: query language, document language; each pair of pages once."""
    documents, row_of = dataset.documents, dataset.documents.row_of
    targets = {
        query: [documents[row_of[document]] for document in _relevant(dataset.judgments, query)]
        for query in dataset.queries
    }
    sources = _source_pages(dataset)
    train = dataset.split("train")
    held = dataset.queries.keys() - {query.id for query in train}
    held_sources, held_targets = _ids(sources, held), _ids(targets, held)
    found: dict[tuple[type, str, str], tuple[str, str]] = {}
    for query in train:
        for target in targets[query.id]:
            for source in _others(sources.get(query.id, ()), target) or [query]:
                if target.id in held_targets or (isinstance(source, Document) and source.id in held_sources):
                    continue
                texts = joined_fields(source, fields), joined_fields(target, fields)
                found.setdefault((type(source), source.id, target.id), texts)
    if not found:
        what = f"the train split has no translated pages for {'-'.join(dataset.pair)}"
        raise NoPagesError(f"{dataset.source.name}: {what}")
    return list(found.values())


def _source_pages(dataset: Dataset) -> _Pages:
    """The pages the queries were taken from; none where the source does not say."""
    language = dataset.pair[0]
    problems = Problems(dataset.problems.stop_at_errors)  # what is wrong with the queries was counted before
    try:
        lines = dataset.source.judgments((language, language), problems)
    except InputError:
        return {}
    row_of = dataset.source_documents.row_of
    known = []
    for location, judgment in lines:
        if judgment.document in row_of:
            known.append(judgment)
        else:
            problems.error(location, "unknown document id", f"document id {judgment.document!r} does not exist")
    judgments = Judgments(known, dataset.source.top_grade)
    return {
        query: [dataset.source_documents[row_of[document]] for document in _relevant(judgments, query)]
        for query in judgments.queries
    }


def _relevant(judgments: Judgments, query: str) -> list[str]:
    return [document for document, grade in judgments[query].items() if grade >= judgments.top_grade]


def _ids(pages: _Pages, queries: Set[str]) -> set[str]:
    return {page.id for query in queries for page in pages.get(query, ())}


def _others(pages: Iterable[Document], target: Document) -> list[Document | Query]:
    """Without the target itself: formats that do not know languages give one collection for both."""
    return [page for page in pages if (page.id, page.text) != (target.id, target.text)]


# The question-answer pairs of a train split: what a translation language model (or a topic model) learns from.
#
# Leakage rule: an answer counts only if all questions it answers are in the train split.


def question_answer_pairs(training: Dataset) -> list[tuple[str, str]]:
    """The text of each query of the train split beside that of its relevant documents (those of the top grade)."""
    judgments, documents = training.judgments, training.documents
    train = training.split("train")
    asked = {query.id for query in train}
    held = {document for query, document, grade in judgments if query not in asked and grade >= judgments.top_grade}
    pairs = [
        (query.text, documents[documents.row_of[document]].text)
        for query in train
        for document, grade in judgments[query.id].items()
        if grade >= judgments.top_grade and document not in held
    ]
    if not pairs:
        what = f"the train split has no query with a relevant document for {'-'.join(training.pair)}"
        raise InputError(f"{training.source.name}: {what}")
    return pairs
