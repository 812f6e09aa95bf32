"""Trainable systems: a model that is trained on a train split, and saved without documents.

A model directory has ``config.json`` (system and options), the files of the system, and a model card.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

import isogloss
from isogloss.data.dataset import Dataset
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, atomic_file
from isogloss.storage.wording import way
from isogloss.systems.base import System
from isogloss.systems.registry import parse_options, system_type

if TYPE_CHECKING:
    from isogloss.systems.run_directory import RunDirectory

FORMAT = 1
_CONFIG = "config.json"
_MOST_HELD_OUT = 500


@dataclass(frozen=True)
class TrainingHistory:
    """What a training measured: an entry for each epoch, and that of the epoch whose parameters were kept."""

    epochs: list[dict[str, Any]]
    kept_epoch: Mapping[str, Any]


class TrainableSystem(System):
    """A system with a trained model, which can be saved without any documents."""

    learns = True
    trains_by_epochs: ClassVar[bool] = False
    """Whether it is trained epoch by epoch, so that a grid search can choose its options by ``dev_measure``."""

    @property
    def dev_measure(self) -> str:
        """The measure on the dev split that a grid search chooses by; empty unless it ``trains_by_epochs``."""
        return ""

    @abstractmethod
    def train(self, training: Dataset, run: RunDirectory | None = None) -> TrainingHistory:
        """Train on the train split, and write what was measured into the directory of a run, if there is one."""

    @abstractmethod
    def save_model(self, directory: Path) -> None:
        """Write the model into an existing directory."""

    @abstractmethod
    def load_model(self, directory: Path) -> None:
        """Read what ``save_model`` wrote."""

    def save_shared(self, directory: Path) -> None:
        self.save_model(directory)

    def load_shared(self, directory: Path) -> Self:
        self.load_model(directory)
        return self

    def fit(self, training: Dataset) -> None:
        self.train(training)


def hold_out(training: Dataset, fold: int = 0, fewest: int = 20) -> tuple[Dataset, list[str]]:
    """A dataset without a fifth of its train queries, and the judged queries of that fifth; none if they are few.

    What is fitted on top of a model (weights, a calibration) is fitted on queries that the model is not trained on.
    ``fold``: which fifth, from 0 to 4; ``fewest``: how many judged queries are enough.
    """
    queries = training.splits.get("train", [])
    order = np.random.default_rng(0).permutation(len(queries)).tolist()
    fifth = len(queries) // 5
    taken = order[fold * fifth : (fold + 1) * fifth]
    held_out = [queries[i] for i in taken if queries[i] in training.judgments]
    if len(held_out) < fewest:
        return training, []
    kept = [queries[i] for i in sorted({*order} - {*taken})]
    return replace(training, splits={"train": kept}), held_out[:_MOST_HELD_OUT]


def save_model(system: TrainableSystem, directory: Path, training: Mapping[str, Any], overwrite: bool = False) -> None:
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


def is_model(path: Path) -> bool:
    """Whether a folder is, or was, a run or a model of isogloss, and none of another library."""
    if any((path / name).is_file() for name in ("config.toml", f"model/{_CONFIG}")):
        return True
    try:
        return "system" in json.loads((path / _CONFIG).read_text(encoding="utf-8"))
    except OSError:
        return False
    except ValueError:
        return True


def load_model(path: Path) -> TrainableSystem:
    """The system of a model directory or of a run directory, ready to index documents."""
    folder = next((folder for folder in (path, path / "model") if (folder / _CONFIG).is_file()), None)
    if folder is None:
        if (path / "config.toml").is_file():
            command = f"isogloss train --resume -o {path}"
            what = way(command, f"isogloss.resume_training({str(path)!r})")
            raise InputError(f"{path}: this run is not finished; go on with: {what}")
        what = way("'isogloss train'", "isogloss.train")
        raise InputError(f"{path}: is neither a model nor a run (it has no config.json); train one: {what}")
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        if config["format"] != FORMAT:
            what = f"has format {config['format']}, this isogloss reads format {FORMAT}"
            raise InputError(f"{folder}: {what}; train it again")
        made = system_type(config["system"])
        options = parse_options(made.name, made.options_type, {name: str(v) for name, v in config["options"].items()})
        system = made(options, config["query_language"], config["document_language"])
        if not isinstance(system, TrainableSystem):
            raise TypeError(f"{made.name} is not trained")
        system.load_model(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder}: the model is damaged ({error}); train it again") from error
    return system


def _card(system: TrainableSystem, training: Mapping[str, Any]) -> str:
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
