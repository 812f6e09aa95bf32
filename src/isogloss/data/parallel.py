"""Pairs of texts of the train split: translated pages, and questions with their answers.

The page a query was taken from (its relevant document of the pair en-en) and its relevant document of the pair en-fr
are translations of each other. Where no such page is known the query's own text replaces it. Lexicons and alignments
are trained on such pages, and on parallel text (``Dataset.parallel``) as on more of them; translation language models
and topic models on question-answer pairs.

Leakage rule: a page or an answer counts only if all queries it is relevant for are in the train split. Those of dev and
test queries, and of queries in no split at all, never contribute.
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
    """The texts of the train split's translated pages and of parallel text, query language first; each pair once."""
    documents, row_of = dataset.documents, dataset.documents.row_of
    targets = {
        query: [documents[row_of[document]] for document in _relevant(dataset.judgments, query)]
        for query in dataset.queries
    }
    sources = _source_pages(dataset)
    train = dataset.split("train")
    held_out = dataset.queries.keys() - {query.id for query in train}
    held_out_sources, held_out_targets = _ids(sources, held_out), _ids(targets, held_out)
    found: dict[tuple[type, str, str], tuple[str, str]] = {}
    for query in train:
        for target in targets[query.id]:
            for source in _others(sources.get(query.id, ()), target) or [query]:
                if target.id in held_out_targets or (isinstance(source, Document) and source.id in held_out_sources):
                    continue
                texts = joined_fields(source, fields), joined_fields(target, fields)
                found.setdefault((type(source), source.id, target.id), texts)
    if not found and not dataset.parallel:
        what = f"the train split has no translated pages for {'-'.join(dataset.pair)}"
        raise NoPagesError(f"{dataset.source.name}: {what}")
    return [*found.values(), *dataset.parallel]


def _source_pages(dataset: Dataset) -> _Pages:
    """The pages the queries were taken from, where the source has them."""
    language = dataset.pair[0]
    problems = Problems(dataset.problems.stop_at_errors)  # problems of the queries were counted before
    try:
        lines = dataset.source.source_judgments(language, problems)
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
    """Without the target itself: formats without languages have one collection for both."""
    return [page for page in pages if (page.id, page.text) != (target.id, target.text)]


def question_answer_pairs(training: Dataset) -> list[tuple[str, str]]:
    """The text of each query of the train split with those of its relevant documents (of the top grade)."""
    judgments, documents = training.judgments, training.documents
    train = training.split("train")
    ids = {query.id for query in train}
    held_out = {document for query, document, grade in judgments if query not in ids and grade >= judgments.top_grade}
    pairs = [
        (query.text, documents[documents.row_of[document]].text)
        for query in train
        for document in _relevant(judgments, query.id)
        if document not in held_out
    ]
    if not pairs:
        what = f"the train split has no query with a relevant document for {'-'.join(training.pair)}"
        raise InputError(f"{training.source.name}: {what}")
    return pairs
