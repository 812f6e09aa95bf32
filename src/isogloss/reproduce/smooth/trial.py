"""A trial: one training of ``smooth`` on one pair of languages, and what it is measured on.

``settings`` has only what differs from the paper's own settings, and a trial is named by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from isogloss.data.source import Pair
from isogloss.reproduce.trials import PaperTrial, file_name
from isogloss.storage.errors import InputError
from isogloss.systems.smooth.model import RECIPES, SmoothOptions

Start = Literal["random", "monolingual"]
NEGATIVES = 40
_PAPER: dict[str, Any] = {"dev_queries": 0}  # trials are measured at their end, not after each epoch
_NAMED = ("encoder", "loss", "seed")


@dataclass(frozen=True)
class Trial(PaperTrial):
    """``train_share``: of the train queries, drawn by the seed; ``ranked_negatives``: irrelevant documents a query."""

    data: str
    pair: Pair
    settings: Mapping[str, Any] = field(default_factory=dict)
    split: str = "dev"
    ranked_negatives: int = NEGATIVES
    train_share: float = 1.0
    start: Start = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", settings_of(self.settings))

    @property
    def name(self) -> str:
        """The name of its files.

        >>> Trial("demo", ("en", "fr"), {"eps": 0.5, "seed": 2}).name
        'en-fr_average_sosl_eps-0.5_seed-2'
        """
        options = self.options()
        parts = ["-".join(self.pair), options.encoder, options.loss]
        parts += [f"{key}-{value}" for key, value in self.settings.items() if key not in _NAMED]
        parts += [
            f"{each.name}-{value}" for each in fields(self)[3:] if (value := getattr(self, each.name)) != each.default
        ]
        return file_name([*parts, f"seed-{options.seed}"])

    def options(self, device: str = "auto") -> SmoothOptions:
        """The options it trains with."""
        return SmoothOptions(**{**_PAPER, **self.settings, "device": device})

    @property
    def thresholds(self) -> str:
        """Those of its loss, for three grades."""
        options = self.options()
        return options.thresholds or ("0.2,0.55,0.9" if options.loss == "3part" else "0.2,0.7")

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Trial:
        trial = super().from_json(found)
        trial.options().check()
        if trial.start not in get_args(Start):
            raise InputError(f"plan: start {trial.start!r} is not one of {', '.join(get_args(Start))}")
        return trial


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those that have the paper's own value anyway, in the order of the options.

    >>> settings_of({"seed": 0, "eps": 0.5, "epochs": 30})
    {'eps': 0.5}
    """
    defaults = asdict(SmoothOptions(**_PAPER))
    if unknown := [key for key in values if key not in defaults]:
        raise InputError(f"smooth: has no option {unknown[0]!r}; it has {', '.join(defaults)}")
    recipe = RECIPES[values.get("encoder", defaults["encoder"])]
    for key in ("epochs", "batch", "rate", "decay"):
        if values.get(key) == recipe[key]:
            values = {**values, key: defaults[key]}
    return {key: values[key] for key in defaults if key in values and values[key] != defaults[key]}
