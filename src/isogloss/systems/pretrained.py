"""``pretrained``: the cosine of the vectors of a published multilingual sentence encoder, passage by passage.

It needs neither a lexicon nor training data, and supports only the languages that the encoder was trained on.
Explanations leave words out and score again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from isogloss.nn.encoders.pretrained import PretrainedEncoder
from isogloss.systems.base import SystemOptions, option
from isogloss.systems.dense import DenseSystem
from isogloss.translation.vectors.word_vectors import Matrix


@dataclass(frozen=True)
class PretrainedOptions(SystemOptions):
    """Options of ``pretrained``."""

    pretrained: str = option("use", "which encoder: use (extra 'pretrained', 15 languages)")
    passages: int = field(default=30, kw_only=True, metadata=SystemOptions.__dataclass_fields__["passages"].metadata)


class Pretrained(DenseSystem):
    """The cosine of the vectors of query and passage."""

    name = "pretrained"
    paper = "Yang et al. 2020, Multilingual Universal Sentence Encoder for Semantic Retrieval"
    summary = "a published multilingual sentence encoder: no training, no dictionary"
    options_type = PretrainedOptions
    explains_quickly = False
    options: PretrainedOptions

    def __init__(self, options: PretrainedOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self._encoder = PretrainedEncoder(options.pretrained)
        for language in (query_language, document_language):
            self._encoder.check(language)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return self._encoder.encode(texts)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self._encoder.encode(texts)
