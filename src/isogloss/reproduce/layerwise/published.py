"""The results of the layer-wise adversary paper (its Tables 1 to 3), and the claims of its text."""

from __future__ import annotations

from typing import NamedTuple

MEASURES = ("MAP", "P@10")
OURS = "Our model"

Row = dict[str, tuple[float, float]]
"""Data set to MAP and P@10."""


def _row(yahoo_map: float, yahoo_precision: float, baidu_map: float, baidu_precision: float) -> Row:
    return {"Yahoo": (yahoo_map, yahoo_precision), "Baidu": (baidu_map, baidu_precision)}


_OURS = _row(0.539, 0.372, 0.460, 0.349)
TABLE1 = {
    "BM25": _row(0.385, 0.302, 0.341, 0.285),
    "TRANS": _row(0.472, 0.349, 0.410, 0.324),
    "TOPIC": _row(0.478, 0.350, 0.413, 0.326),
    "DSSM": _row(0.496, 0.355, 0.424, 0.329),
    "AI-CNN": _row(0.530, 0.369, 0.445, 0.338),
    "CNTN": _row(0.534, 0.373, 0.452, 0.343),
    "Match-SRNN": _row(0.551, 0.379, 0.473, 0.356),
    "CNTN-MT": _row(0.526, 0.364, 0.449, 0.337),
    "Match-SRNN-MT": _row(0.543, 0.374, 0.466, 0.353),
    "CLANN": _row(0.521, 0.360, 0.439, 0.335),
    "CLTK": _row(0.505, 0.354, 0.421, 0.328),
    OURS: _OURS,
}
TABLE2 = {
    "ENC-K": _row(0.527, 0.364, 0.450, 0.342),
    "ENC-P": _row(0.536, 0.372, 0.465, 0.353),
    OURS: _OURS,
}
TABLE3 = {
    "ADV-NON": _row(0.501, 0.353, 0.420, 0.328),
    "ADV-ONE": _row(0.524, 0.363, 0.445, 0.337),
    "ADV-ALL": _row(0.525, 0.361, 0.427, 0.334),
    "ADV-TOP": _row(0.487, 0.341, 0.408, 0.320),
    OURS: _OURS,
}
PUBLISHED = {"table1": TABLE1, "table2": TABLE2, "table3": TABLE3}
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
