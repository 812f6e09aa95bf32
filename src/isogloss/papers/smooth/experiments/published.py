"""What the smooth paper reports: its Tables 1, 2 and 3, by the language of the documents."""

from __future__ import annotations

from typing import NamedTuple

from isogloss.papers.reproduction.trials import read_published

MEASURES = ("P_mr@1", "P_mr@5", "P_r@5", "NDCG@5", "MAP", "MRR_mr", "MRR_r")
"""The columns of Tables 2 and 3."""
LANGUAGES = {"fr": "French", "it": "Italian", "sw": "Swahili", "tl": "Tagalog"}

Values = tuple[float, float, float, float, float, float, float]


class Statistics(NamedTuple):
    """A row of Table 1: queries, partially relevant documents a query, documents."""

    queries: int
    partially_relevant: float
    documents: int


_TABLES = read_published("smooth")
TABLE1 = {language: Statistics(*row) for language, row in _TABLES["table1"].items()}
TABLE2: dict[str, dict[str, Values]] = _TABLES["table2"]
TABLE3: dict[str, dict[str, Values]] = {
    language: {"average": TABLE2[language]["SOSL"], **rows} for language, rows in _TABLES["table3"].items()
}
