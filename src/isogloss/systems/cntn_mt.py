"""``cntn-mt``: the query is translated, then matched by ``cntn``."""

from __future__ import annotations

from dataclasses import dataclass

from isogloss.systems.cntn import Cntn, CntnOptions
from isogloss.systems.translating_matcher import TranslatingMatcher, TranslatingOptions


@dataclass(frozen=True)
class TranslatingCntnOptions(CntnOptions, TranslatingOptions):
    """Options of ``cntn-mt``."""


class TranslatingCntn(TranslatingMatcher, Cntn):
    """CNTN with the translation of the query."""

    name = "cntn-mt"
    paper = "Qiu and Huang 2015 for CNTN; Li, Du and Chen 2020 for translating first (the -MT rows)"
    summary = "cntn with the query translated first: by a lexicon word by word, by Apertium, or from a file"
    options_type = TranslatingCntnOptions
    options: TranslatingCntnOptions
