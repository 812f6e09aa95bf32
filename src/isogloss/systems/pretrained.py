"""``pretrained``: the cosine of the vectors of a published multilingual sentence encoder, passage by passage.

It needs neither a lexicon nor training data, and supports only the languages that the encoder was trained on.
Explanations leave words out and score again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from isogloss.encoders.pretrained_encoder import DOWNLOAD_HELP, PRETRAINED_HELP, PretrainedEncoder
from isogloss.storage.array_types import Matrix
from isogloss.systems.base import SystemOptions, option
from isogloss.systems.dense import DenseSystem


@dataclass(frozen=True)
class PretrainedOptions(SystemOptions):
    """Options of ``pretrained``."""

    pretrained: str = option("use", f"which encoder: {PRETRAINED_HELP}")
    download: bool = option(False, DOWNLOAD_HELP)
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
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return self._encoder.encode_documents(texts)

    def score_texts(self, queries: Sequence[str], documents: Sequence[str]) -> Matrix:
        """The same without the cache: these texts are parts of documents, for an explanation."""
        return self.encode_queries(queries) @ self._encoder.encode_documents(documents, keep=False).T

    def save_shared(self, directory: Path) -> None:
        self._encoder.save(directory)

    def load_shared(self, directory: Path) -> Self:
        self._encoder.load(directory)
        return self
