"""A model on disk: ``config.json`` (system and options), the files of the system, and a model card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import isogloss
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, atomic_file
from isogloss.systems.registry import parse_options, system_type
from isogloss.systems.trained import Trainable

FORMAT = 1
_CONFIG = "config.json"


def save_model(system: Trainable, directory: Path, training: Mapping[str, Any], overwrite: bool = False) -> None:
    """Write a model; ``training`` has the lines of the card about its training."""
    with atomic_directory(directory, overwrite) as partial:
        config = {
            "format": FORMAT, "made_by": f"isogloss {isogloss.__version__}", "system": system.name,
            "query_language": system.query_language, "document_language": system.document_language,
            "options": asdict(system.options),
        }  # fmt: skip
        with atomic_file(partial / _CONFIG) as file:
            file.write(json.dumps(config, ensure_ascii=False, indent=2) + "\n")
        with atomic_file(partial / "README.md") as file:
            file.write(_card(system, training))
        system.save_model(partial)


def load_model(path: Path) -> Trainable:
    """The system of a model directory or of a run directory, ready to index documents."""
    folder = next((folder for folder in (path, path / "model") if (folder / _CONFIG).is_file()), None)
    if folder is None:
        if (path / "config.toml").is_file():
            raise InputError(f"{path}: this run is not finished; go on with: isogloss train --resume -o {path}")
        raise InputError(f"{path}: is neither a model nor a run (it has no config.json); train one: 'isogloss train'")
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        if config["format"] != FORMAT:
            what = f"has format {config['format']}, this isogloss reads format {FORMAT}"
            raise InputError(f"{folder}: {what}; train it again")
        made = system_type(config["system"])
        options = parse_options(made.name, made.options_type, {name: str(v) for name, v in config["options"].items()})
        system = made(options, config["query_language"], config["document_language"])
        assert isinstance(system, Trainable)
        system.load_model(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: the model is damaged ({error}); train it again") from error
    return system


def _card(system: Trainable, training: Mapping[str, Any]) -> str:
    """What the model is, what it was trained on, its measures, and how to use it."""
    defaults = {name: default for name, default, _ in system.options_type.describe()}
    changed = {name: value for name, value in asdict(system.options).items() if value != defaults[name]}
    lines = [
        f"# {system.name}: {system.query_language} to {system.document_language}", "", f"{system.summary}.",
        f"After {system.paper}.", "", "| | |", "|---|---|",
        *(f"| {name} | {value} |" for name, value in training.items()),
        *(f"| `{name}` | {value} |" for name, value in changed.items()), "",
        "    isogloss evaluate MODEL --data SOURCE --pair "
        f"{system.query_language}-{system.document_language}",
        f"    isogloss index SOURCE --system MODEL --language {system.document_language} -o INDEX",
        "", "Its vocabulary is that of its training data. It contains no pickle.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
