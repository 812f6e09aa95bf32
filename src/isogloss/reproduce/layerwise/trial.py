"""A trial: one training of a system (or none, where it needs none) on one pair, measured on candidate lists.

A trial is named by what differs from the system's defaults.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace

from isogloss.data.source import Pair, Source
from isogloss.reproduce.trials import PaperTrial, file_name
from isogloss.systems.base import System
from isogloss.systems.layerwise import LayerwiseOptions
from isogloss.systems.lexicons import INDUCED
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.registry import make_system, parse_options, system_type

_TRANSLATING = ("translator", "lexicon", "missing", "trained_on", "translated_pairs")
_NO_SETTINGS = ("seed", "device")


@dataclass(frozen=True)
class Drawing:
    """How candidate lists are drawn: the split, how many queries to measure and to validate on, documents a list."""

    split: str = "dev"
    queries: int = 500
    validation: int = 500
    depth: int = 20


@dataclass(frozen=True)
class Trial(PaperTrial):
    """``settings``: options of the system as the user writes them, without its seed."""

    data: str
    pair: Pair
    system: str
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    drawing: Drawing = field(default_factory=Drawing)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", _without_defaults(self.system, self.settings))
        if isinstance(self.drawing, Mapping):  # as a plan has it
            object.__setattr__(self, "drawing", Drawing(**self.drawing))

    @property
    def name(self) -> str:
        """The name of its files.

        >>> Trial("demo", ("en", "zh"), "layerwise", {"variant": "adv-non"}, 2).name
        'en-zh_layerwise_beta-0_seed-2'
        """
        defaults = asdict(Drawing())
        parts = [f"{key}-{value}" for key, value in self.settings.items()]
        parts += [f"{key}-{value}" for key, value in asdict(self.drawing).items() if value != defaults[key]]
        return file_name(["-".join(self.pair), self.system, *parts, f"seed-{self.seed}"])

    @property
    def trains_on_arrays(self) -> bool:
        """Whether it can be run on a machine that has torch and numpy alone."""
        return issubclass(system_type(self.system), Matcher)

    def make(self, source: Source | None = None, device: str = "auto") -> System:
        """The system. Without a lexicon of the user's or of the data it is induced from the train split."""
        known = {each.name for each in fields(system_type(self.system).options_type)}
        settings = dict(self.settings)
        if "lexicon" in known and not (source and source.lexicon(self.pair)):
            settings.setdefault("lexicon", INDUCED)
        wanted = {"seed": str(self.seed), "device": device}
        settings |= {name: value for name, value in wanted.items() if name in known}
        return make_system(self.system, self.pair, settings, source)

    def reading(self) -> str:
        """A hash of how it reads the data: trials that read alike share the arrays."""
        system = self.make(device="cpu")
        assert isinstance(system, Matcher)
        found = asdict(system.reading)
        found |= {name: value for name in _TRANSLATING if (value := getattr(system.options, name, ""))}
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def has_seeds(system: str) -> bool:
    """Whether the training of a system depends on a seed."""
    return any(each.name == "seed" for each in fields(system_type(system).options_type))


def _without_defaults(system: str, settings: Mapping[str, str]) -> dict[str, str]:
    """What differs from the defaults, in the order of the options; a variant of ``layerwise`` is written out."""
    defaults = system_type(system).options_type()
    options = parse_options(system, type(defaults), settings)
    if isinstance(options, LayerwiseOptions):
        options.check(system)
        options = _written_out(options)
    unset = asdict(defaults)
    return {
        key: _text(value) for key, value in asdict(options).items() if value != unset[key] and key not in _NO_SETTINGS
    }


def _written_out(options: LayerwiseOptions) -> LayerwiseOptions:
    """The canonical form: no variant; no alphas where all are 1 or beta is 0; no map of no layer."""
    made = options.with_variant()
    if made.layers == 1:
        made = replace(made, features="max")  # critics see the map of the layers below the last
    alphas = made.all_alphas()
    plain = not made.beta or all(alpha == 1 for alpha in alphas)
    return replace(made, alphas="" if plain else ",".join(f"{alpha:g}" for alpha in alphas))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
