"""The options of ``bridge``, and a trained model: translation model, vectors, feature weights and calibration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.encoders.pretrained_encoder import DOWNLOAD_HELP, PRETRAINED_HELP
from isogloss.storage.arrays import has_array, read_tensors, write_tensors
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file, read_json
from isogloss.storage.strings import StringTable
from isogloss.systems.base import SystemOptions, option
from isogloss.systems.bridge.characters import CHARACTER_FEATURES, CharacterModel
from isogloss.systems.bridge.features import FEATURES, Phrases, Tables
from isogloss.systems.bridge.weights import Calibration, Values, Weights
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP
from isogloss.translation.model import TranslationModel

INGREDIENTS = (
    "lexicon",
    "starter",
    "pages",
    "unknown",
    "document",
    "reverse",
    "length",
    "vectors",
    "bm25",
    "compounds",
    "characters",
    "weights",
)
_FILE, _VECTORS, _FORMS = "bridge.json", "vectors.safetensors", "query_forms"
DEFAULT_WEIGHTS = (
    {"passage forward": 2.3, "passage reverse": 0.46, "passage bm25": 0.7, "pretrained": 10.4},
    {"passage forward": 2.3, "pretrained": 13.8},
)
"""The weights of long and of short queries where there are no train queries to fit them on, 0 for other features.

Fitted weights are regularised towards them. Chosen by MRR on train queries of six sets (first sentences, titles and key
words) with 0 to 300 own pages (docs/results/appendix/quality/notes.md).
"""
DEFAULT_CALIBRATIONS = {
    False: Calibration(1.511, (1.536, 0.05, -0.621), (-1.572,), -2.4),
    True: Calibration(1.346, (1.308, 0.032, -0.45), (-0.115,), -1.06),
}
"""The calibration where there are no train queries, without and with an encoder; fitted on the same queries."""
FEATURES_OF = {
    "document": ("document forward", "document reverse", "document length"),
    "reverse": ("passage reverse", "document reverse", "character reverse", "bigram reverse"),
    "length": ("passage length", "document length"),
    "vectors": ("vectors", "character vectors"),
    "bm25": ("passage bm25", "document bm25"),
}
"""The features that the option ``without`` leaves out, by the name of the ingredient."""


@dataclass(frozen=True)
class BridgeOptions(SystemOptions):
    """Options of ``bridge``."""

    lexicon: str = option("", LEXICON_HELP.replace(f"{INDUCED}: from the translated pages of the train split; ", ""))
    pretrained: str = option(
        "", f"a sentence encoder, whose cosine is one more feature: {PRETRAINED_HELP}; default: none"
    )
    download: bool = option(False, DOWNLOAD_HELP)
    stems: bool = option(True, "Snowball stems, where a language has them")
    dimension: int = option(128, "of the word vectors", 2, 4096)
    epochs: int = option(20, "of training the word vectors", 0, 10_000)
    depth: int = option(100, "how many documents of the first stage are re-scored", 1, 100_000)
    without: str = option("", f"ingredients to leave out, to see what they give: {', '.join(INGREDIENTS)}")
    seed: int = option(0, "of the first vectors and the order of training", 0, 2**31 - 1)
    passages: int = option(30, SystemOptions.__dataclass_fields__["passages"].metadata["help"], 0, 1_000_000)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        for name in self.left_out:
            if name not in INGREDIENTS:
                raise InputError(f"bridge.without: {name!r} is not one of {', '.join(INGREDIENTS)}")
        if {"pages", "lexicon", "starter"} <= self.left_out:
            what = "with neither pages nor a lexicon nor a starter table nothing is left to translate by"
            raise InputError(f"bridge.without: {what}")

    @property
    def left_out(self) -> set[str]:
        """The ingredients to leave out."""
        return {name.strip() for name in self.without.split(",") if name.strip()}


@dataclass(frozen=True)
class BridgeModel:
    """All that does not depend on the indexed documents; ``weights`` are in the order of ``features``."""

    translation: TranslationModel
    tables: Tables
    weights: Weights
    calibration: Calibration | None = None
    characters: CharacterModel | None = None
    forms: StringTable | None = None
    """The full forms of the query words of the translation model; empty where they are the words themselves."""

    def form_of(self, word: str) -> str:
        """The full form of a query word."""
        number = self.translation.find_word(word) if self.forms is not None else None
        return (self.forms[number] if self.forms is not None and number is not None else "") or word

    @property
    def features(self) -> tuple[str, ...]:
        return FEATURES + CHARACTER_FEATURES if self.characters else FEATURES

    def calibrated(self, scores: Values, context: Values) -> Values:
        """Scores that are comparable between queries; ``context`` is z(q)."""
        return self.calibration.log_odds(scores, context) if self.calibration else scores

    @property
    def scale(self) -> float:
        """By how much a calibrated score grows with the score."""
        return self.calibration.slope if self.calibration else 1.0

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The calibrated scores above which a document more likely than not has at least grade 1, 2 and so on."""
        return self.calibration.thresholds if self.calibration else ()

    def save(self, directory: Path) -> None:
        self.translation.save(directory)
        if self.forms is not None:
            self.forms.save(directory, _FORMS)
        tables = self.tables
        phrases = {"query_phrases": tables.query_phrases.keys, "document_phrases": tables.document_phrases.keys}
        write_tensors(directory / _VECTORS, {"query": tables.query, "document": tables.document, **phrases})
        if self.characters:
            self.characters.save(directory)
        content = {
            "weights": dict(zip(self.features, np.stack(self.weights, axis=1).tolist(), strict=True)),
            "calibration": self.calibration._asdict() if self.calibration else None,
        }
        with atomic_file(directory / _FILE) as file:
            file.write(json.dumps(content, indent=2) + "\n")

    @classmethod
    def load(cls, directory: Path) -> BridgeModel:
        """Read what ``save`` wrote; models of earlier versions have no phrases, no characters, or no forms."""
        content = read_json(directory / _FILE)
        tensors, _ = read_tensors(directory / _VECTORS)
        found = content["calibration"]
        if found:
            found = Calibration(
                float(found["slope"]), tuple(map(float, found["context"])), tuple(map(float, found["biases"])),
                float(found["doubt"]),
            )  # fmt: skip
            if not found.biases or len(found.context) != len(DEFAULT_CALIBRATIONS[False].context):
                raise ValueError(f"the calibration of {_FILE} has no bias, or not the numbers of a query's context")
        phrases = []
        for side in ("query", "document"):
            keys = tensors.get(f"{side}_phrases", np.zeros(0, np.int64))
            phrases.append(Phrases(len(tensors[side]) - len(keys), keys))
        weights = Weights(*np.asarray([[*map(float, each)] for each in content["weights"].values()]).T)
        model = cls(
            TranslationModel.load(directory), Tables(tensors["query"], tensors["document"], *phrases), weights,
            found, CharacterModel.load(directory), _load_forms(directory),
        )  # fmt: skip
        if model.forms is not None and len(model.forms) != len(model.translation.query_words):
            raise ValueError(f"{_FORMS}.offsets.npy does not fit query_words.offsets.npy")
        if len(weights.long) != len(model.features):
            raise ValueError(f"{_FILE} has {len(weights.long)} weights for {len(model.features)} features")
        return model


def _load_forms(directory: Path) -> StringTable | None:
    return StringTable.load(directory, _FORMS) if has_array(directory / f"{_FORMS}.offsets.npy") else None


def default_weights(features: Sequence[str] = FEATURES) -> Weights:
    """The weights of some features that are not fitted."""
    return Weights(*(np.asarray([each.get(name, 0.0) for name in features]) for each in DEFAULT_WEIGHTS))


def used_features(features: Sequence[str], options: BridgeOptions) -> NDArray[np.bool_]:
    """Which features the options leave in."""
    left_out = {name for ingredient in options.left_out for name in FEATURES_OF.get(ingredient, ())}
    return np.asarray(
        [name not in left_out and (name != "pretrained" or bool(options.pretrained)) for name in features]
    )
