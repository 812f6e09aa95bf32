"""The results of the layer-wise adversary paper (its Tables 1 to 3), and the claims of its text."""

from __future__ import annotations

from typing import NamedTuple

from isogloss.reproduce.trials import read_published

MEASURES = ("MAP", "P@10")
OURS = "Our model"

Row = dict[str, tuple[float, float]]
"""Data set to MAP and P@10."""


PUBLISHED: dict[str, dict[str, Row]] = {
    table: {name: {"Yahoo": (row[0], row[1]), "Baidu": (row[2], row[3])} for name, row in rows.items()}
    for table, rows in read_published("layerwise").items()
}
_DATA_OF = {"en": "Yahoo", "zh": "Baidu"}


class Claim(NamedTuple):
    """A claim of the text about two rows: the first is ``better``, ``worse``, ``on par`` or ``not better``.

    Better and worse mean by a significant difference, on par and not better that there is none (of that sign).
    """

    left: str
    right: str
    relation: str
    measures: tuple[str, ...] = MEASURES


def _all(left: str, rights: tuple[str, ...], relation: str) -> list[Claim]:
    return [Claim(left, right, relation) for right in rights]


_DEEP, _EARLY = ("AI-CNN", "CNTN", "Match-SRNN"), ("BM25", "TRANS", "TOPIC")
CLAIMS = {
    "table1": [
        Claim("TRANS", "BM25", "better"),
        Claim("TOPIC", "BM25", "better"),
        *(claim for deep in _DEEP for claim in _all(deep, (*_EARLY, "DSSM"), "better")),
        Claim("CNTN-MT", "CNTN", "on par", ("MAP",)),
        Claim("Match-SRNN-MT", "Match-SRNN", "on par"),
        *_all(OURS, ("CLANN", "CLTK"), "better"),
        *_all(OURS, ("CNTN-MT", "Match-SRNN-MT"), "on par"),
        *_all(OURS, (*_EARLY, "DSSM"), "better"),
        *_all(OURS, ("CNTN", "AI-CNN"), "on par"),
        Claim(OURS, "Match-SRNN", "worse"),
    ],
    "table2": [Claim(OURS, "ENC-K", "better", ("MAP",)), Claim("ENC-P", OURS, "not better")],
    "table3": _all(OURS, ("ADV-NON", "ADV-ONE", "ADV-ALL", "ADV-TOP"), "better"),
}
"""Section 4.3; of Table 3 the text says that most of the differences are significant, not which."""


def published_data(language: str) -> tuple[str, ...]:
    """The paper's data sets whose documents are in the language; both where none is."""
    return (_DATA_OF[language],) if language in _DATA_OF else ("Yahoo", "Baidu")
