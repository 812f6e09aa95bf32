"""The registry of systems: names, options as the command line writes them, and systems made from both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, replace
from typing import Any

from isogloss.data.source import Pair, Source
from isogloss.storage.errors import InputError
from isogloss.storage.plugins import PluginGroup, missing_attribute, missing_text, name_fault, subclass_fault
from isogloss.systems.base import AUTO, System, SystemOptions
from isogloss.systems.passages import by_passages


def _find_fault(name: str, system: Any) -> str:
    return (
        subclass_fault(system, System)
        or missing_text(system, ("name", "paper", "summary"))
        or missing_attribute(system, ("options_type",))
        or subclass_fault(system.options_type, SystemOptions)
        or name_fault(name, system.name)
    )


SYSTEMS = PluginGroup(
    "isogloss.systems",
    "system",
    {
        "bridge": "isogloss.systems.bridge.system:Bridge",
        "bm25": "isogloss.systems.bm25:UntranslatedBM25",
        "bm25-dict": "isogloss.systems.dictionary:DictionaryBM25",
        "psq": "isogloss.systems.dictionary:ProbabilisticStructuredQueries",
        "pretrained": "isogloss.systems.pretrained:Pretrained",
        "hybrid": "isogloss.systems.hybrid:Hybrid",
    },
    _find_fault,
)
"""The systems by name; a system is imported when it is used."""
DEFAULT_SYSTEM = "bridge"
ONE_LANGUAGE = "bm25"
"""What searches where queries and documents have the same language, in place of a system that translates."""
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def system_names() -> list[str]:
    """The names of all systems, those of the core first."""
    return SYSTEMS.names()


def system_types() -> list[type[System]]:
    """The classes of all systems; one whose package cannot be imported is left out with a warning."""
    core = [system_type(name) for name in SYSTEMS.core]
    return [*core, *(system for _, system in SYSTEMS.load_plugins())]


def is_system(name: str) -> bool:
    """Whether there is a system of that name."""
    return name in SYSTEMS


def system_type(name: str) -> type[System]:
    """The class of a system."""
    system: type[System] = SYSTEMS.load(name)
    return system


def needs_two_languages(name: str) -> bool:
    """Whether a system is of no use where queries and documents have the same language."""
    return system_type(name).translates


def option_names(name: str) -> set[str]:
    """The names of a system's options."""
    return {option.name for option in fields(system_type(name).options_type)}


def make_system(
    name: str, pair: Pair, settings: Mapping[str, str] | None = None, source: Source | None = None, bare: bool = False
) -> System:
    """A system for a pair of languages; the source's own lexicon is used where the settings name none.

    ``bare``: for training, without the wrapper of the option ``passages``.
    """
    options = parse_options(name, system_type(name).options_type, settings or {})
    lexicon = getattr(options, "lexicon", None)
    if lexicon == AUTO:
        from isogloss.systems.lexicons import auto_lexicon

        options = replace(options, lexicon=auto_lexicon(pair, source)[0])  # type: ignore[call-arg]
    elif source is not None and lexicon == "":
        options = replace(options, lexicon=str(source.lexicon(pair) or ""))  # type: ignore[call-arg]
    return system_type(name)(options, *pair) if bare else build_system(name, options, pair)


def build_system(name: str, options: SystemOptions, pair: Pair) -> System:
    """A system with these options; it indexes passages where they say so."""
    return by_passages(system_type(name)(options, *pair))


def parse_options(system: str, options_type: type[SystemOptions], settings: Mapping[str, str]) -> SystemOptions:
    """Typed options from settings as the user writes them (``key=value``)."""
    known = {option.name: option for option in fields(options_type)}
    values: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in known:
            there_are = ", ".join(name for name, _, _ in options_type.describe())
            raise InputError(f"{system}: has no option {key!r}; it has {there_are}")
        values[key] = _parse(f"{system}.{key}", value, known[key])
    return options_type(**values)


def _parse(name: str, value: str, option: Field[Any]) -> Any:
    default: Any = option.default
    if isinstance(default, bool):
        if value.lower() not in _TRUE + _FALSE:
            raise InputError(f"{name}: {value!r} is neither true nor false")
        return value.lower() in _TRUE
    try:
        parsed = type(default)(value)
    except ValueError:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise InputError(f"{name}: {value!r} is not {kind}") from None
    least, most = option.metadata.get("range", (None, None))
    if least is not None and not least <= parsed <= most:
        raise InputError(f"{name}: {value} is not between {least:g} and {most:g}")
    return parsed


def as_settings(options: Mapping[str, Any]) -> dict[str, str]:
    """Python values as ``--set`` takes them: the inverse of ``parse_options``.

    >>> as_settings({"passages": 30, "drop_stop_words": True, "thresholds": (0.2, 0.7)})
    {'passages': '30', 'drop_stop_words': 'true', 'thresholds': '0.2,0.7'}
    """
    return {name: _written(value) for name, value in options.items()}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(_written, value))
    return str(value)
