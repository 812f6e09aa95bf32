"""The options of ``layerwise``, the paper's search space, and its ablations by name."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from isogloss.storage.errors import InputError
from isogloss.systems.base import numbers, option
from isogloss.systems.matchers.base import MatcherOptions

POOLINGS = ("k-max", "average")
SCORERS = ("feed-forward", "cosine")
CRITICS = ("penalty", "clipping")
FEATURES = ("max", "map")
VARIANTS = ("", "enc-k", "enc-p", "adv-non", "adv-one", "adv-all", "adv-top")
PAPER_GRID = {
    "layers": ["1", "2", "3", "4", "5"],
    "widths": ["2,3", "2,4", "2,5", "3,4", "3,5", "4,5", "2,3,4,5"],
    "pooling": list(POOLINGS),
    "beta": ["0.001", "0.01", "0.1", "1", "10", "100", "1000"],
    "rate": ["0.1", "0.01", "0.001", "0.0001", "0.00001"],
}
"""The search space of the paper (section 4.2), as ``isogloss train --grid`` takes it."""
_WIDEST = 100


@dataclass(frozen=True)
class LayerwiseOptions(MatcherOptions):
    """Options of ``layerwise``; the paper's choices are those of its section 4.2."""

    dimension: int = option(300, "of word vectors (paper: 300)", 1, 4096)
    layers: int = option(2, "m, layers of convolution and pooling (paper: 1 to 5)", 1, 20)
    widths: str = option("2,3,4,5", "words that kernels see, side by side (paper: chosen from 2, 3, 4, 5)")
    kernels: int = option(100, "of each width (paper: 100)", 1, 10_000)
    k: int = option(8, "values of each kernel that k-max pooling passes to the next layer", 1, 1000)
    pooling: str = option("k-max", f"between layers: {' or '.join(POOLINGS)} (paper: either); the last has the maximum")
    scorer: str = option("cosine", f"{' or '.join(SCORERS)} (paper: feed-forward)")
    hidden: int = option(128, "units of the feed-forward scorer", 1, 10_000)
    dropout: float = option(0.4, "of word vectors", 0, 0.99)
    epochs: int = option(30, "passes over all pairs", 1, 100_000)
    margin: float = option(0.2, "by which a positive is to beat a negative (paper: 1)", 1e-6, 1000)
    mined: bool = option(True, "hard negatives are the nearest by the model, searched before each epoch but the first")
    beta: float = option(0.001, "of all critics (paper: 0.001 to 1000 by tens); 0: they only measure", 0, 1e6)
    alphas: str = option(
        "", "of the layers from the first, like -0.5 or -1,0.5: above 0 a layer becomes language-invariant, below 0 "
        "language-specific, 0 neither; the last is 1 unless there is a number for every layer; default: 1 for all",
    )  # fmt: skip
    features: str = option("max", "what critics see of the layers below the last: max, or map (all of k-max pooling)")
    critic: str = option("penalty", "kept Lipschitz by a gradient penalty, or by clipping its weights")
    critic_steps: int = option(5, "of the critics for each step of the encoder; 0: no critics (beta=0)", 0, 1000)
    critic_rate: float = option(0.001, "learning rate of the critics", 1e-9, 10)
    critic_hidden: int = option(64, "units of a critic (paper: 64)", 1, 10_000)
    critic_penalty: float = option(10.0, "weight of the gradient penalty", 1e-6, 1e6)
    critic_clip: float = option(0.01, "largest weight of a clipped critic", 1e-9, 1000)
    translated_pairs: str = option(
        "", "train on question-answer pairs of the documents' language with translated questions (as in the paper); "
        "the translator: lexicon:FILE, apertium or file:FILE; default: train on the pairs of both languages",
    )  # fmt: skip
    variant: str = option(
        "", "an ablation of the paper: enc-k (one kernel width, 3), enc-p (features=map), adv-non (beta=0), adv-one "
        "(alphas=0,...,0,1), adv-all (all alphas above 0), adv-top (the last alpha below 0)",
    )  # fmt: skip

    def check(self, system: str) -> None:
        super().check(system)
        self.require(system, {
            "pooling": POOLINGS, "scorer": SCORERS, "critic": CRITICS, "features": FEATURES, "variant": VARIANTS,
        })  # fmt: skip
        made = self.with_variant()
        made.all_alphas()
        made.all_widths()
        if made.features == "map" and made.pooling != "k-max":
            raise InputError(
                f"{system}.features: map needs pooling=k-max; the map of average has any number of columns"
            )
        if made.beta and not made.critic_steps:
            raise InputError(f"{system}.critic_steps: 0 leaves beta={made.beta:g} without critics; set beta=0 too")

    def with_variant(self) -> LayerwiseOptions:
        """The same options with those of the ablation."""
        below, last = self.all_alphas()[:-1], self.all_alphas()[-1]
        changes: dict[str, dict[str, str | float]] = {
            "": {},
            "enc-k": {"widths": "3"},
            "enc-p": {"features": "map"},
            "adv-non": {"beta": 0.0},
            "adv-one": {"alphas": _written([0.0] * len(below) + [last])},
            "adv-all": {"alphas": _written([abs(alpha) or 1.0 for alpha in (*below, last)])},
            "adv-top": {"alphas": _written([*below, -abs(last)])},
        }
        return replace(self, variant="", **changes[self.variant])  # type: ignore[arg-type]

    def all_alphas(self) -> list[float]:
        """A number for each layer; the last is 1 where there are only those below."""
        alphas = numbers("layerwise.alphas", self.alphas, "1,2") or [1.0] * self.layers
        if len(alphas) == self.layers - 1:
            alphas.append(1.0)
        if len(alphas) != self.layers:
            what = f"{self.alphas!r} has {len(alphas)} numbers, there are {self.layers} layers"
            raise InputError(f"layerwise.alphas: {what}; give {self.layers - 1} (the last is 1) or {self.layers}")
        return alphas

    def all_widths(self) -> list[int]:
        """The widths of the kernels."""
        widths = numbers("layerwise.widths", self.widths, "1,2")
        if not widths or any(width != int(width) or not 1 <= width <= _WIDEST for width in widths):
            raise InputError(f"layerwise.widths: {self.widths!r} is not a list of whole numbers like 2,3,4,5")
        return [int(width) for width in widths]


def alpha_grid(layers: int, sizes: Sequence[float] = (0.1, 1.0)) -> list[str]:
    """All signs and sizes of the layers below the last, as ``--grid 'alphas=...'`` takes them.

    >>> ";".join(alpha_grid(2, [0.5]))
    '-0.5;0;0.5'
    """
    values = [-size for size in sorted(sizes, reverse=True)] + [0.0] + sorted(sizes)
    return [_written(each) for each in itertools.product(values, repeat=layers - 1)]


def _written(numbers: Sequence[float]) -> str:
    return ",".join(f"{number:g}" for number in numbers)
