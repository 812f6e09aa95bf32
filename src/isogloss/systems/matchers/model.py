"""The model of a matcher: the vocabularies of both sides and a scorer. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from isogloss.nn.encoders.torch_encoder import fill
from isogloss.nn.inference import usable_device
from isogloss.nn.matchers.scorer import Scorer, WordTables
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.strings import StringTable
from isogloss.systems.matchers.options import MatcherOptions
from isogloss.text.batches import tokenize_texts
from isogloss.text.ids import TextIds, text_ids

if TYPE_CHECKING:
    from isogloss.training.learner import State

SIDES = ("query", "document")
Build = Callable[[WordTables], Scorer]
"""Makes a scorer with tables of word vectors."""


class MatcherModel:
    """Vocabularies, parameters, and their scorer."""

    def __init__(self, options: MatcherOptions, build: Build, words: dict[str, StringTable], parameters: State) -> None:
        self.options, self.words, self.parameters = options, words, parameters
        self.scorer = load_scorer(options, build, parameters)

    def ids(self, side: str, texts: Sequence[str], label: str = "reading") -> TextIds:
        """The ids of each text's known words."""
        longest = self.options.query_words if side == "query" else self.options.document_words
        return text_ids(tokenize_texts(texts, label=label), self.words[side], longest)

    def save(self, directory: Path) -> None:
        """Write ``model.safetensors`` and the words."""
        write_tensors(directory / "model.safetensors", self.parameters)
        for side in SIDES:
            self.words[side].save(directory, f"{side}_words")

    @classmethod
    def load(cls, directory: Path, options: MatcherOptions, build: Build) -> MatcherModel:
        """Read what ``save`` wrote."""
        parameters, _ = read_tensors(directory / "model.safetensors")
        words = {side: StringTable.load(directory, f"{side}_words") for side in SIDES}
        return cls(options, build, words, parameters)


def first_scorer(options: MatcherOptions, build: Build, tables: Sequence[np.ndarray | None]) -> Scorer:
    """An untrained scorer; the seed draws its weights."""
    query, document = tables
    assert query is not None
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(options.seed)
        return build(WordTables(query, document, options.dropout, not options.frozen))


def load_scorer(options: MatcherOptions, build: Build, parameters: State) -> Scorer:
    """A scorer with trained parameters, on the device of the options."""
    scorer = first_scorer(options, build, [parameters.get(f"tables.{side}") for side in SIDES])
    fill(dict(scorer.named_parameters()), parameters)
    return scorer.to(usable_device(options.device))
