"""``cntn``: the convolutional neural tensor network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isogloss.systems.base import SystemOptions, option
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.matchers.options import MatcherOptions
from isogloss.systems.matchers.translating import TranslatingMatcher, TranslatingOptions

if TYPE_CHECKING:
    from isogloss.nn.matchers.scorer import Scorer, WordTables


@dataclass(frozen=True)
class CntnOptions(MatcherOptions):
    """Options of ``cntn``."""

    filters: int = option(100, "of each convolution", 1, 100_000)
    window: int = option(3, "words a filter sees", 1, 100)
    layers: int = option(2, "of convolution and k-max pooling", 1, 10)
    top: int = option(4, "values of a filter that the last layer keeps (k_top)", 1, 1000)
    outputs: int = option(64, "of the encoders", 1, 10_000)
    slices: int = option(5, "of the tensor", 1, 1000)
    shared: bool = option(True, "one encoder for queries and documents")


class Cntn(Matcher):
    """Convolutional encoders, compared by a tensor layer."""

    name = "cntn"
    paper = (
        "Qiu and Huang 2015, Convolutional Neural Tensor Network Architecture for Community-based Question Answering"
    )
    summary = "convolutional encoders whose vectors are compared by a neural tensor layer"
    options_type: ClassVar[type[SystemOptions]] = CntnOptions
    options: CntnOptions

    def build(self, tables: WordTables) -> Scorer:
        from isogloss.nn.matchers import cntn

        made = self.options
        sizes = (made.filters, made.window, made.layers, made.top, made.outputs, made.slices)
        return cntn.Cntn(tables, *sizes, made.shared)


# ``cntn-mt``: the query is translated, then matched by ``cntn``.


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
