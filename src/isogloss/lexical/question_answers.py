"""The question-answer pairs of a train split: what a translation language model (or a topic model) learns from.

Leakage rule: an answer counts only if all questions it answers are in the train split.
"""

from __future__ import annotations

from isogloss.base.errors import InputError
from isogloss.corpus.dataset import Dataset


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
