"""The files of a run: ``config.toml``, ``metrics.jsonl``, ``model/``, a checkpoint meanwhile, a marker at the end."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory, atomic_file
from isogloss.storage.wording import way

_CONFIG = "config.toml"
_FINISHED = "finished.json"


class RunDirectory:
    """A directory that a training writes into."""

    def __init__(self, path: Path, begin: Callable[[], None] | None = None) -> None:
        self.path = path
        self._begin = begin

    @classmethod
    def create(cls, path: Path, config: Mapping[str, Any], overwrite: bool = False) -> RunDirectory:
        """A new run. The directory appears when training begins, after all inputs were checked; an old one is replaced
        only then.
        """

        def begin() -> None:
            with atomic_directory(path, overwrite, _CONFIG) as partial, atomic_file(partial / _CONFIG) as file:
                file.write(as_toml(config))

        return cls(path, begin)

    def begin(self) -> None:
        """Make the directory, if it was not made before."""
        if self._begin:
            self._begin()
            self._begin = None

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """A run that was begun before."""
        if not (path / _CONFIG).is_file():
            begun = way("without --resume", "with isogloss.train")
            raise InputError(f"{path}: is not a run (it has no config.toml); begin one {begun}")
        return cls(path)

    @property
    def config(self) -> dict[str, Any]:
        """What the run was begun with."""
        try:
            return tomllib.loads((self.path / _CONFIG).read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise InputError(f"{self.path / 'config.toml'}: cannot be read ({error})") from error

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return (self.path / _FINISHED).is_file()

    @property
    def model(self) -> Path:
        """Where the model is."""
        return self.path / "model"

    @property
    def checkpoint(self) -> Path:
        """Where a training that can be resumed keeps its state until it is finished."""
        return self.path / "checkpoint.safetensors"

    @property
    def how_to_resume(self) -> str:
        """What the user can do to go on with an interrupted run."""
        command = f"isogloss train --resume -o {shlex.quote(str(self.path))}"
        return f"go on with: {way(command, f'isogloss.resume_training({str(self.path)!r})')}"

    def record(self, history: list[dict[str, Any]]) -> None:
        """Write what was measured, a line for each epoch."""
        with atomic_file(self.path / "metrics.jsonl") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in history)

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Mark the run as finished; the checkpoint is of no more use."""
        with atomic_file(self.path / _FINISHED) as file:
            file.write(json.dumps(summary, indent=2) + "\n")
        self.checkpoint.unlink(missing_ok=True)


def as_toml(values: Mapping[str, Any]) -> str:
    """Plain values and one level of tables as TOML.

    >>> print(as_toml({"system": "smooth", "options": {"eps": 1.0, "frozen": False}}), end="")
    system = "smooth"
    <BLANKLINE>
    [options]
    eps = 1.0
    frozen = false
    """
    lines = [f"{key} = {_toml_value(value)}\n" for key, value in values.items() if not isinstance(value, Mapping)]
    for key, table in values.items():
        if isinstance(table, Mapping):
            lines += [f"\n[{key}]\n", *(f"{name} = {_toml_value(value)}\n" for name, value in table.items())]
    return "".join(lines)


def _toml_value(value: Any) -> str:
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str):  # a JSON string is a TOML string, but for DEL, which TOML wants escaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value)
