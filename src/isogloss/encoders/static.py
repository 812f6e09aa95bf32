"""Encoders of model2vec, averages of token vectors, fast on any CPU: extra ``model2vec``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from isogloss.encoders.model_files import Model
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import import_extra


class StaticEncoder:
    """A ``StaticModel``; prompts are written before texts, where the model has some."""

    batch = 1024

    def __init__(self, model: Model) -> None:
        library = import_extra("model2vec", "model2vec", "a model2vec model")
        self._model = library.StaticModel.from_pretrained(model.folder, force_download=False)
        self._prompts = model.prompts()
        self.version = version("model2vec")

    def encode(self, texts: Sequence[str], is_query: bool) -> Matrix:
        prompt = self._prompts[0 if is_query else 1]
        return np.asarray(self._model.encode([prompt + text for text in texts], use_multiprocessing=False), np.float32)
