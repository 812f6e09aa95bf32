"""What ``bridge`` has learned: a channel, word vectors, weights and a calibration; written and read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.files import atomic_file
from isogloss.systems.bridge.characters import KINDS, Characters
from isogloss.systems.bridge.features import EVIDENCE, Phrases, Tables
from isogloss.systems.bridge.options import BridgeOptions
from isogloss.systems.bridge.weights import Calibration, Values
from isogloss.translation.model import TranslationModel

_FILE, _VECTORS = "bridge.json", "vectors.safetensors"
USUAL_WEIGHTS = {
    "passage said": 2.0, "document said": 1.0, "passage meant": 0.3, "document meant": 0.2, "passage length": 1.0,
    "document length": -0.5, "vectors": 1.0,
}  # fmt: skip
"""Where no train queries say better, and what few of them are drawn towards."""
PARTS = {
    "document": ("document said", "document meant", "document length"),
    "reverse": ("passage meant", "document meant", "characters meant", "pairs meant"),
    "length": ("passage length", "document length"),
    "vectors": ("vectors", "character vectors"),
}
"""Ingredients, and the kinds of evidence that they are."""


@dataclass(frozen=True)
class BridgeModel:
    """All that no document decides. ``weights`` are in the order of ``kinds`` of evidence."""

    channel: TranslationModel
    tables: Tables
    weights: Values
    calibration: Calibration | None = None
    characters: Characters | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the evidence."""
        return EVIDENCE + KINDS if self.characters else EVIDENCE

    def shown(self, scores: Values, context: float) -> Values:
        """Scores as they compare with those of other queries; ``context`` is c(q)."""
        return self.calibration.shown(scores, context) if self.calibration else scores

    @property
    def scale(self) -> float:
        """What is shown of a score of 1 more than another."""
        return self.calibration.slope if self.calibration else 1.0

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The scores from which on a document is more likely than not of the next grade."""
        return self.calibration.thresholds if self.calibration else ()

    def save(self, directory: Path) -> None:
        """Write it into an existing directory."""
        self.channel.save(directory)
        tables = self.tables
        phrases = {"query_phrases": tables.query_phrases.keys, "document_phrases": tables.document_phrases.keys}
        write_tensors(directory / _VECTORS, {"query": tables.query, "document": tables.document, **phrases})
        if self.characters:
            self.characters.save(directory)
        content = {
            "weights": dict(zip(self.kinds, self.weights.tolist(), strict=True)),
            "calibration": self.calibration._asdict() if self.calibration else None,
        }
        with atomic_file(directory / _FILE) as file:
            file.write(json.dumps(content, indent=2) + "\n")

    @classmethod
    def load(cls, directory: Path) -> BridgeModel:
        """Read what ``save`` wrote; one from before there were phrases, or characters, has none."""
        content = json.loads((directory / _FILE).read_text(encoding="utf-8"))
        tensors, _ = read_tensors(directory / _VECTORS)
        found = content["calibration"]
        if found:
            found = Calibration(float(found["slope"]), float(found["context"]), tuple(map(float, found["biases"])))
        phrases = [tensors.get(f"{side}_phrases", np.zeros(0, np.int64)) for side in ("query", "document")]
        sides = [
            Phrases(len(tensors[side]) - len(keys), keys)
            for side, keys in zip(("query", "document"), phrases, strict=True)
        ]
        characters = Characters.load(directory)
        kinds = EVIDENCE + KINDS if characters else EVIDENCE
        return cls(
            TranslationModel.load(directory), Tables(tensors["query"], tensors["document"], *sides),
            np.asarray([float(content["weights"][name]) for name in kinds]),
            found, characters,
        )  # fmt: skip


def default_weights(kinds: Sequence[str] = EVIDENCE) -> Values:
    """The weights where nothing says better."""
    return np.asarray([USUAL_WEIGHTS.get(name, 0.0) for name in kinds])


def used_features(kinds: Sequence[str], options: BridgeOptions) -> NDArray[np.bool_]:
    """Which kinds of evidence have a part."""
    left_out = {name for part in options.left_out for name in PARTS.get(part, ())}
    return np.asarray([name not in left_out and (name != "pretrained" or bool(options.pretrained)) for name in kinds])
