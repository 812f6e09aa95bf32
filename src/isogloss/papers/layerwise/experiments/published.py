"""The results of the layer-wise adversary paper (its Tables 1 to 3), and the claims of its text."""

from __future__ import annotations

from typing import NamedTuple

from isogloss.papers.reproduction.trials import read_published

MEASURES = ("MAP", "P@10")
MODEL_LABEL = "the paper's model"
"""What the paper calls our model."""
_IN_PAPER = {"Our model": MODEL_LABEL}

Row = dict[str, tuple[float, float]]
"""Data set to MAP and P@10."""


PUBLISHED: dict[str, dict[str, Row]] = {
    table: {
        _IN_PAPER.get(name, name): {"Yahoo": (row[0], row[1]), "Baidu": (row[2], row[3])} for name, row in rows.items()
    }
    for table, rows in read_published("layerwise").items()
}
_DATA_OF = {"en": "Yahoo", "zh": "Baidu"}


class Claim(NamedTuple):
    """A claim of the text about two rows: the first is ``better``, ``worse``, ``on par``, ``above``, ….

    Better and worse mean by a significant difference; on par, not better and not worse that there is none (of that
    sign). Above and below are orders of which the text says no more. ``data``: the data sets it is said of.
    """

    left: str
    right: str
    relation: str
    measures: tuple[str, ...] = MEASURES
    data: tuple[str, ...] = ("Yahoo", "Baidu")


def _all(left: str, rights: tuple[str, ...], relation: str) -> list[Claim]:
    return [Claim(left, right, relation) for right in rights]


_DEEP, _EARLY = ("AI-CNN", "CNTN", "Match-SRNN"), ("BM25", "TRANS", "TOPIC")
_MT, _ADVERSARIES = ("CNTN-MT", "Match-SRNN-MT"), ("ADV-NON", "ADV-ONE", "ADV-ALL", "ADV-TOP")
CLAIMS = {
    "table1": [
        Claim("TRANS", "BM25", "better"),
        Claim("TOPIC", "BM25", "better"),
        Claim("DSSM", "BM25", "above"),  # which "shows the worst performance"
        *(claim for deep in _DEEP for claim in _all(deep, (*_EARLY, "DSSM"), "better")),
        *_all("Match-SRNN", ("AI-CNN", "CNTN"), "above"),
        Claim("CNTN-MT", "CNTN", "on par", ("MAP",)),
        Claim("CNTN-MT", "CNTN", "worse", ("P@10",), ("Yahoo",)),
        Claim("CNTN-MT", "CNTN", "on par", ("P@10",), ("Baidu",)),
        Claim("Match-SRNN-MT", "Match-SRNN", "on par"),
        *(
            claim
            for both in ("CLANN", "CLTK")
            for claim in (
                *_all(both, _EARLY, "above"), Claim(both, "DSSM", "not worse"), *_all(both, _DEEP, "worse"),
                *_all(both, _MT, "below"),
            )
        ),
        Claim("CLANN", "CNTN-MT", "not worse"),  # it "approaches" it "in most cases"
        Claim("CLANN", "CLTK", "above"),
        *_all(MODEL_LABEL, ("CLANN", "CLTK"), "better"),
        *_all(MODEL_LABEL, _MT, "on par"),
        Claim(MODEL_LABEL, "CNTN-MT", "above"),
        Claim(MODEL_LABEL, "Match-SRNN-MT", "below"),
        *_all(MODEL_LABEL, (*_EARLY, "DSSM"), "better"),
        *_all(MODEL_LABEL, ("CNTN", "AI-CNN"), "on par"),
        Claim(MODEL_LABEL, "Match-SRNN", "worse"),
    ],
    "table2": [
        Claim(MODEL_LABEL, "ENC-K", "better", ("MAP",)),
        Claim(MODEL_LABEL, "ENC-K", "above", ("P@10",)),
        Claim("ENC-P", MODEL_LABEL, "not better"),
    ],
    "table3": [
        *_all(MODEL_LABEL, _ADVERSARIES, "better"),
        Claim("ADV-ONE", "ADV-NON", "above"),
        *_all("ADV-TOP", _ADVERSARIES[:3], "below"),
    ],
}  # fmt: skip
"""Section 4.3; of Table 3 the text says that most of the differences are significant, not which."""


def published_data(language: str) -> tuple[str, ...]:
    """The paper's data sets whose documents are in the language; both where none is."""
    return (_DATA_OF[language],) if language in _DATA_OF else ("Yahoo", "Baidu")
