"""Encoders and cross-encoders of sentence-transformers, which needs torch: extra ``sentence-transformers``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from isogloss.encoders.model_files import Model
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import import_extra

_WEIGHTS = {"use_safetensors": True}


class SentenceTransformerEncoder:
    """Pooling and normalisation are those of the model's modules."""

    batch = 32

    def __init__(self, model: Model) -> None:
        self._model = _library().SentenceTransformer(
            str(model.folder), trust_remote_code=False, local_files_only=True, model_kwargs=_WEIGHTS
        )
        self._prompts = model.prompts()
        self.version = _version()

    def encode(self, texts: Sequence[str], is_query: bool) -> Matrix:
        encode = self._model.encode_query if is_query else self._model.encode_document
        prompt = self._prompts[0 if is_query else 1]
        return np.asarray(
            encode(list(texts), prompt=prompt, batch_size=self.batch, show_progress_bar=False), np.float32
        )


class SentenceTransformerCrossEncoder:
    """The score of a query and a text, read together."""

    def __init__(self, model: Model) -> None:
        self._model = _library().CrossEncoder(
            str(model.folder), trust_remote_code=False, local_files_only=True, model_kwargs=_WEIGHTS
        )
        self.labels = int(self._model.num_labels)

    def score(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        return np.asarray(self._model.predict([list(pair) for pair in pairs], show_progress_bar=False), np.float32)


def _library() -> Any:
    library = import_extra("sentence_transformers", "sentence-transformers", "a sentence-transformers model")
    import_extra("transformers.utils.logging", "sentence-transformers", "it").disable_progress_bar()
    return library


def _version() -> str:
    return f"{version('sentence-transformers')} {version('transformers')}"
