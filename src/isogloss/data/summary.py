"""Counts of a dataset: the columns of the smooth paper's Table 1, splits, grades, languages, problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.data.dataset import Dataset, load_collection
from isogloss.data.problems import Problems
from isogloss.data.readers.walking import id_of
from isogloss.data.source import Source
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
        "problems": _problems(dataset.problems),
    }


def summarise_documents(source: Source, counts: Mapping[str, int], problems: Problems) -> dict[str, Any]:
    """Counts of the documents of a source as plain values; ``counts``: how many there are in each language.

    Files that are skipped are listed by their reasons, each with a sentence.
    """
    languages, kinds = {}, Counter[str]()
    for language in counts:
        documents = load_collection(source, language, problems)
        languages[language] = {"documents": len(documents), "characters": sum(len(each.text) for each in documents)}
        kinds.update(str(each.fields["kind"]) for each in documents if "kind" in each.fields)
    root = Path(source.where)
    return {
        "data": source.name,
        "documents": sum(counts.values()),
        "languages": languages,
        "kinds": dict(kinds.most_common()),
        "skipped": {
            reason: {_inside(problem.location.path, root): problem.message for problem in skipped}
            for reason, skipped in problems.skipped_by_reason().items()
        },
        "problems": _problems(problems),
    }


def _inside(path: Path, root: Path) -> str:
    return id_of(path.relative_to(root) if path.is_relative_to(root) else path)


def _problems(problems: Problems) -> dict[str, Any]:
    return {
        "errors": dict(problems.errors),
        "warnings": dict(problems.warnings),
        "first": [str(problem) for problem in problems.kept],
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
