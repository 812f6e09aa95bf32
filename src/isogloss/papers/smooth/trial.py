"""A trial: one training of ``smooth`` on one pair of languages, and what it is measured on.

Only what differs from the paper's letter is said (``settings``), and a trial is named by it: two items that ask for the
same trial share it. The device is no part of a trial, so that those of one machine serve on another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from isogloss.data.source import Pair, parse_pair
from isogloss.papers.kept_trials import file_name
from isogloss.storage.errors import InputError
from isogloss.systems.smooth.options import RECIPES, SmoothOptions

Start = Literal["random", "monolingual"]
NEGATIVES = 40
_LETTER: dict[str, Any] = {"dev_queries": 0}  # trials are measured at their end, not after each epoch
_NAMED = ("encoder", "loss", "seed")


@dataclass(frozen=True)
class Trial:
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
        """The name of its files, in letters, digits, ``.``, ``_`` and ``-``.

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
        return SmoothOptions(**{**_LETTER, **self.settings, "device": device})

    @property
    def thresholds(self) -> str:
        """Those of its loss, for three grades."""
        options = self.options()
        return options.thresholds or ("0.2,0.55,0.9" if options.loss == "3part" else "0.2,0.7")

    def identity(self, fingerprint: str) -> str:
        """A hash of all that decides on the result, the content of the data (``fingerprint``) among it."""
        described = {**self.as_json(), "data": fingerprint}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]

    def as_json(self) -> dict[str, Any]:
        """The trial as plain values."""
        return {**asdict(self), "pair": "-".join(self.pair), "settings": dict(self.settings)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Trial:
        """The opposite; what is wrong is an ``InputError``."""
        try:
            trial = cls(**{**found, "pair": parse_pair(found["pair"])})
            trial.options().check()
        except (TypeError, KeyError, AttributeError) as error:
            raise InputError(f"plan: {json.dumps(found)[:80]} is not a trial ({error})") from error
        if trial.start not in get_args(Start):
            raise InputError(f"plan: start {trial.start!r} is not one of {', '.join(get_args(Start))}")
        return trial


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those that say what the paper's letter says anyway, in the order of the options.

    >>> settings_of({"seed": 0, "eps": 0.5, "epochs": 30})
    {'eps': 0.5}
    """
    usual = asdict(SmoothOptions(**_LETTER))
    if unknown := [key for key in values if key not in usual]:
        raise InputError(f"smooth: has no option {unknown[0]!r}; it has {', '.join(usual)}")
    recipe = RECIPES[values.get("encoder", usual["encoder"])]
    for key in ("epochs", "batch", "rate", "decay"):
        if values.get(key) == recipe[key]:
            values = {**values, key: usual[key]}
    return {key: values[key] for key in usual if key in values and values[key] != usual[key]}


def distinct(trials: Iterable[Trial]) -> list[Trial]:
    """Each trial once, in order."""
    return list({trial.name: trial for trial in trials}.values())


def read_plan(text: str, where: str) -> list[Trial]:
    """The trials of a plan file."""
    try:
        found = json.loads(text)["trials"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{where}: is not a plan; 'isogloss reproduce smooth --plan' writes one") from error
    return distinct(Trial.from_json(each) for each in found)


def write_plan(trials: Iterable[Trial]) -> str:
    """A plan file: trials to be run elsewhere."""
    return json.dumps({"trials": [trial.as_json() for trial in trials]}, indent=1) + "\n"
