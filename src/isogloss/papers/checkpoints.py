"""The state of a training in the directory of its run, so that a killed run goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from isogloss.papers.learner import State
from isogloss.papers.training_loop import Checkpointer, Position
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.errors import InputError
from isogloss.systems.run_directory import RunDirectory


class RunCheckpoints(Checkpointer):
    """Writes the state of a training into the directory of a run, and reads it back."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run

    @property
    def how_to_resume(self) -> str:
        return self.run.how_to_resume

    def resume(self) -> tuple[Position, State, State] | None:
        self.run.begin()
        path = self.run.checkpoint
        if not path.exists():
            return None
        parts: dict[str, State] = {"state": {}, "best": {}}
        try:
            tensors, metadata = read_tensors(path)
            position = Position(**json.loads(metadata["position"]))
            for name, tensor in tensors.items():
                part, _, rest = name.partition(".")
                parts[part][rest] = tensor
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: the checkpoint is damaged ({error}); begin the run again") from error
        return position, parts["state"], parts["best"]

    def checkpoint(self, position: Position, state: State, best: State) -> None:
        tensors = {f"state.{name}": tensor for name, tensor in state.items()}
        tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
        write_tensors(self.run.checkpoint, tensors, {"position": json.dumps(asdict(position))})

    def record(self, history: list[dict[str, Any]]) -> None:
        self.run.record(history)
