"""The two systems of ``hybrid``: made from its options, and found again beside an index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_file
from isogloss.corpus.source import Pair
from isogloss.evaluation.system import System
from isogloss.systems.hybrid_options import HybridOptions
from isogloss.systems.model_directory import load_model
from isogloss.systems.passages import by_passages
from isogloss.systems.registry import build_system, make_system, parse_options, system_names, system_type

SIDES = ("dense", "lexical")
_FILE = "hybrid.json"
_FILES = ("lexicon", "query_vectors", "document_vectors")  # what an index keeps a copy of


def make_part(options: HybridOptions, side: str, pair: Pair) -> System:
    """A part, to be fitted unless it is a run."""
    name, settings = getattr(options, side), options.part_settings(side)
    if is_run(name):
        return _trained_part(name, side, settings, options, pair)
    if name == "hybrid":
        raise InputError(f"hybrid.{side}: a hybrid of a hybrid is not possible; name one of its parts")
    known = {option.name for option in fields(system_type(name).options_type)}
    both = {"lexicon": options.lexicon, "passages": str(options.passages)}
    return make_system(name, pair, {key: value for key, value in both.items() if key in known and value} | settings)


def is_run(name: str) -> bool:
    """Whether a part is trained already."""
    return name not in system_names() and Path(name).is_dir()


def _trained_part(name: str, side: str, settings: Mapping[str, str], options: HybridOptions, pair: Pair) -> System:
    if settings:
        raise InputError(f"hybrid.{side}_options: {name} is trained, its options cannot be changed")
    system = load_model(Path(name))
    if (system.query_language, system.document_language) != pair:
        what = f"was trained for {system.query_language}-{system.document_language}, not for {'-'.join(pair)}"
        raise InputError(f"hybrid.{side}: {name} {what}")
    system.options = replace(system.options, passages=options.passages or system.options.passages)
    return by_passages(system)


def save_parts(directory: Path, weight: float, parts: Mapping[str, System]) -> None:
    """Write what ``load_parts`` needs, and what each part shares, into an existing directory."""
    described: dict[str, Any] = {
        side: {"system": part.name, "options": asdict(part.options) | dict.fromkeys(_in(part, _FILES), "")}
        for side, part in parts.items()
    }
    with atomic_file(directory / _FILE) as file:
        file.write(json.dumps({"weight": weight, **described}, ensure_ascii=False, indent=2) + "\n")
    for side, part in parts.items():
        (directory / side).mkdir()
        part.save_shared(directory / side)


def load_parts(directory: Path, pair: Pair) -> tuple[float, dict[str, System]]:
    """Weight and parts as they were saved."""
    content = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    parts = {}
    for side in SIDES:
        name, written = content[side]["system"], content[side]["options"]
        settings = {key: str(value) for key, value in written.items()}
        options = parse_options(name, system_type(name).options_type, settings)
        parts[side] = build_system(name, options, pair).load_shared(directory / side)
    return float(content["weight"]), parts


def _in(part: System, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if hasattr(part.options, name)]
