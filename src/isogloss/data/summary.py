"""Counts of a dataset: the columns of the smooth paper's Table 1, splits, grades, languages, problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from isogloss.data.dataset import Dataset
from isogloss.text.language import identify_language
from isogloss.text.tokenizer import tokenize

_SAMPLE = 200


def summarise(dataset: Dataset) -> dict[str, Any]:
    """Counts of a dataset as plain values.

    ``partially_relevant_per_query`` is Table 1's #SR/Q: documents graded above 0 and below the top, per judged query.
    """
    judgments = dataset.judgments
    grades = judgments.grade_counts()
    judged = len(judgments.queries)
    partial = sum(count for grade, count in grades.items() if 0 < grade < judgments.top_grade)
    return {
        "data": dataset.source.name,
        "pair": "-".join(dataset.pair),
        "queries": len(dataset.queries),
        "judged_queries": judged,
        "partially_relevant_per_query": partial / judged if judged else 0.0,
        "documents": len(dataset.documents),
        "parallel": len(dataset.parallel),
        "grades": {str(grade): count for grade, count in grades.items()},
        "splits": {
            name: {"queries": len(ids), "judged": sum(query in judgments for query in ids)}
            for name, ids in dataset.splits.items()
        },
        "query_words": _mean_length([query.text for query in dataset.queries.values()]),
        "document_words": _mean_length([document.text for document in dataset.documents]),
        "query_languages": _languages([query.text for query in dataset.queries.values()]),
        "document_languages": _languages([document.text for document in dataset.documents]),
        "problems": {
            "errors": dict(dataset.problems.errors),
            "warnings": dict(dataset.problems.warnings),
            "first": [str(problem) for problem in dataset.problems.kept],
        },
    }


def _sample(texts: Sequence[str]) -> Iterable[str]:
    return texts[:: max(1, len(texts) // _SAMPLE)]


def _mean_length(texts: Sequence[str]) -> float:
    lengths = [len(tokenize(text)) for text in _sample(texts)]
    return sum(lengths) / len(lengths) if lengths else 0.0


def _languages(texts: Sequence[str]) -> dict[str, float]:
    """The languages that are identified in a sample of the texts: language to share, the largest first."""
    found = Counter(identify_language(text) for text in _sample(texts) if text.strip())
    return {language: count / found.total() for language, count in found.most_common(3)}
