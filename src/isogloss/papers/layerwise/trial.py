"""A trial: one training of a system (or none, where it does not learn) on one pair, measured on its lists.

A trial is named by what differs from the system's defaults: items that ask for the same trial share it. The device is
no part of a trial, so that those of one machine serve on another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from isogloss.data.source import Pair, Source, parse_pair
from isogloss.papers.kept_trials import file_name
from isogloss.papers.layerwise.lists import Drawing
from isogloss.storage.errors import InputError
from isogloss.systems.base import System
from isogloss.systems.layerwise.options import LayerwiseOptions
from isogloss.systems.lexicons import INDUCED
from isogloss.systems.matchers.base import Matcher
from isogloss.systems.registry import make_system, parse_options, system_type

_TRANSLATING = ("translator", "lexicon", "missing", "trained_on", "translated_pairs")
PACKED = "packed:"


@dataclass(frozen=True)
class Trial:
    """``settings``: options of the system as the user writes them, without its seed."""

    data: str
    pair: Pair
    system: str
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    drawing: Drawing = field(default_factory=Drawing)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", _without_defaults(self.system, self.settings))

    @property
    def name(self) -> str:
        """The name of its files.

        >>> Trial("demo", ("en", "zh"), "layerwise", {"variant": "adv-non"}, 2).name
        'en-zh_layerwise_beta-0_seed-2'
        """
        usual = asdict(Drawing())
        parts = [f"{key}-{value}" for key, value in self.settings.items()]
        parts += [f"{key}-{value}" for key, value in asdict(self.drawing).items() if value != usual[key]]
        return file_name(["-".join(self.pair), self.system, *parts, f"seed-{self.seed}"])

    @property
    def learns_from_arrays(self) -> bool:
        """Whether it can be run on a machine that has torch and numpy alone."""
        return issubclass(system_type(self.system), Matcher)

    def make(self, source: Source | None = None, device: str = "auto") -> System:
        """The system. Without a lexicon of the user's or of the data it is induced from the train split."""
        known = {each.name for each in fields(system_type(self.system).options_type)}
        settings = dict(self.settings)
        if "lexicon" in known and not (source and source.lexicon(self.pair)):
            settings.setdefault("lexicon", INDUCED)
        wanted = {"seed": str(self.seed), "device": device}
        return make_system(self.system, self.pair, {**settings, **_only(wanted, known)}, source)

    def reading(self) -> str:
        """A hash of how it reads the data: trials that read alike share the arrays."""
        system = self.make(device="cpu")
        assert isinstance(system, Matcher)
        found = asdict(system.reading)
        found |= {name: said for name in _TRANSLATING if (said := getattr(system.options, name, ""))}
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]

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
            return cls(**{**found, "pair": parse_pair(found["pair"]), "drawing": Drawing(**found["drawing"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise InputError(f"plan: {json.dumps(found)[:80]} is not a trial ({error})") from error


def has_seeds(system: str) -> bool:
    """Whether chance has a part in what a system learns."""
    return any(each.name == "seed" for each in fields(system_type(system).options_type))


def distinct(trials: Iterable[Trial]) -> list[Trial]:
    """Each trial once, in order."""
    return list({trial.name: trial for trial in trials}.values())


def read_plan(text: str, where: str) -> list[Trial]:
    """The trials of a plan file."""
    try:
        found = json.loads(text)["trials"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{where}: is not a plan; 'isogloss reproduce layerwise --plan' writes one") from error
    return distinct(Trial.from_json(each) for each in found)


def write_plan(trials: Iterable[Trial], pack: str | None = None) -> str:
    """A plan file: trials to be run elsewhere, on the packed data where there are such."""
    if pack:
        trials = [replace(trial, data=f"{PACKED}{pack}") for trial in trials]
    return json.dumps({"trials": [trial.as_json() for trial in trials]}, indent=1) + "\n"


def _only(values: Mapping[str, str], known: set[str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name in known}


def _without_defaults(system: str, settings: Mapping[str, str]) -> dict[str, str]:
    """What differs from the defaults, in the order of the options; a variant of ``layerwise`` is written out."""
    usual = system_type(system).options_type()
    options = parse_options(system, type(usual), settings)
    if isinstance(options, LayerwiseOptions):
        options.check(system)
        options = _written_out(options)
    values, defaults = asdict(options), asdict(usual)
    return {key: _text(value) for key, value in values.items() if value != defaults[key] and key not in _CHOSEN}


_CHOSEN = ("seed", "device")


def _written_out(options: LayerwiseOptions) -> LayerwiseOptions:
    """One way to say it: no variant; no alphas where all are 1, or where critics only watch; no map of no layer."""
    made = options.with_variant()
    if made.layers == 1:
        made = replace(made, features="max")  # critics see the map of the layers below the last
    alphas = made.all_alphas()
    plain = not made.beta or all(alpha == 1 for alpha in alphas)
    return replace(made, alphas="" if plain else ",".join(f"{alpha:g}" for alpha in alphas))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
