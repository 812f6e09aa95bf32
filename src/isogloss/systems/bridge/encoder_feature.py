"""The feature of a pretrained encoder: the cosine of a query and a document, as if the encoder were ``use``.

The default weight of the feature was chosen with ``use``. Cosines of other encoders have another range: those of some
lie between .7 and 1. So they are brought to the mean m and the deviation s of ``use``, both measured on the pairs of
some unrelated sentences:

    x(q, d) = a q.d + b,    a = s_use / s,    b = m_use - a m

The vectors are lengthened to (a q, b) and (d, 1), whose product is x.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isogloss.encoders.pretrained_encoder import ENCODERS, PretrainedEncoder
from isogloss.storage.array_types import Matrix
from isogloss.storage.files import read_json, write_bytes

MEAN, DEVIATION = 0.055, 0.077
"""Of the cosines of ``use``."""
_FILE = "encoder_feature.json"
_LARGEST = 1000.0
SENTENCES = (
    "The bakery on the corner opens at six in the morning.",
    "How do I change the password of my account?",
    "Volcanoes erupt when molten rock rises through the crust.",
    "The committee will vote on the new budget next week.",
    "She plays the violin in a small orchestra.",
    "Install the driver before you connect the printer.",
    "The river froze early that winter.",
    "A balanced diet contains vegetables, grains and protein.",
    "The train to the airport leaves every twenty minutes.",
    "Bees collect nectar and turn it into honey.",
    "What is the capital of the northern province?",
    "The function returns an error if the list is empty.",
    "He was born in a village near the border in 1821.",
    "Wash the wound and cover it with a clean bandage.",
    "The museum shows paintings of the seventeenth century.",
    "Interest rates have fallen for three months.",
    "The goalkeeper saved a penalty in the last minute.",
    "Plants make sugar from light, water and air.",
    "This contract ends without notice after one year.",
    "The desert is cold at night and hot by day.",
)


class EncoderFeature:
    """An encoder whose products have the range of those of ``use``."""

    def __init__(self, name: str) -> None:
        self.encoder = PretrainedEncoder(name)
        self._scale, self._shift = 1.0, 0.0

    def fit(self) -> None:
        """Measure the products of the encoder; the reference needs no scaling, as no encoder of a package does."""
        if self.encoder.name in ENCODERS:
            return
        mean, deviation = spread(self.encoder)
        self._scale = min(DEVIATION / max(deviation, 1e-9), _LARGEST)
        self._shift = MEAN - self._scale * mean

    def encode_query(self, text: str) -> Matrix:
        (vector,) = self.encoder.encode_queries([text])
        return vector if self._is_plain else np.append(self._scale * vector, np.float32(self._shift))

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        vectors = self.encoder.encode_documents(texts)
        ones = vectors.any(axis=1, keepdims=True).astype(np.float32)
        return vectors if self._is_plain else np.hstack([vectors, ones])

    def save(self, directory: Path) -> None:
        self.encoder.save(directory)
        if not self._is_plain:
            content = json.dumps({"scale": self._scale, "shift": self._shift})
            write_bytes(directory / _FILE, (content + "\n").encode())

    def load(self, directory: Path) -> None:
        self.encoder.load(directory)
        if (directory / _FILE).exists():
            content = read_json(directory / _FILE)
            self._scale, self._shift = float(content["scale"]), float(content["shift"])
            if not (math.isfinite(self._shift) and 0 < self._scale <= _LARGEST):
                raise ValueError(f"{_FILE} has no scale")

    @property
    def _is_plain(self) -> bool:
        return (self._scale, self._shift) == (1.0, 0.0)


def spread(encoder: PretrainedEncoder) -> tuple[float, float]:
    """Mean and deviation of the products of unrelated sentences."""
    products = encoder.encode_queries(SENTENCES) @ encoder.encode_documents(SENTENCES, keep=False).T
    others = products[~np.eye(len(SENTENCES), dtype=bool)]
    return float(others.mean()), float(others.std())
