"""Changes to a store in shards, in order: a change counts from the moment its one file has its name.

log/000000000017.safetensors    what each shard is to add, or to delete, in change 17

A change is written once, whole, and then taken over by each shard in its own time: so it comes about in all shards or
in none, whichever of them, or whoever writes, dies meanwhile. When all shards have it the file goes; the last one
stays, for its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.base.tensors import write_tensors
from isogloss.corpus.formats.jsonl import document_of, page_object
from isogloss.corpus.records import Document
from isogloss.stores.store import Matrix

_ENDING = ".safetensors"
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Change:
    """What one shard is to do: add documents, or delete some of a language."""

    documents: Sequence[Document] = ()
    vectors: Matrix | None = None
    language: str = ""
    deleted: Sequence[str] = ()


class ChangeLog:
    """The log of a store; ``directory`` is there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def append(self, changes: Mapping[int, Change]) -> int:
        """Write what each shard is to do; the number of the change. Only one process does this at a time."""
        number = self.last() + 1
        tensors: dict[str, NDArray[np.generic]] = {}
        for shard, change in changes.items():
            about = [page_object(document) for document in change.documents]
            tensors[f"{shard}.about"] = _packed({"documents": about, "in": change.language, "gone": [*change.deleted]})
            if change.vectors is not None:
                tensors[f"{shard}.vectors"] = change.vectors
        write_tensors(self._path(number), tensors)
        return number

    def last(self) -> int:
        """The number of the last change; 0 if there was none."""
        return max(self._numbers(), default=0)

    def after(self, number: int) -> list[int]:
        """The changes that came later, in order."""
        return sorted(later for later in self._numbers() if later > number)

    def read(self, number: int, shard: int) -> Change | None:
        """What a shard is to do, if anything; ``FileNotFoundError`` if all have done it."""
        from safetensors import safe_open

        with safe_open(self._path(number), framework="numpy") as file:
            if f"{shard}.about" not in file.keys():  # noqa: SIM118 - it is no mapping
                return None
            about = json.loads(file.get_tensor(f"{shard}.about").tobytes())
            documents = [document_of(page) for page in about["documents"]]
            vectors = file.get_tensor(f"{shard}.vectors") if documents else None
        return Change(documents, vectors, about["in"], about["gone"])

    def forget(self, number: int) -> None:
        """All shards have all changes up to this one."""
        for earlier in self._numbers():
            if earlier < number:
                self._path(earlier).unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        names = (path.name.removesuffix(_ENDING) for path in self._directory.glob(f"*{_ENDING}"))
        return [int(name) for name in names if name.isdecimal()]

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:012}{_ENDING}"


def _packed(about: Mapping[str, object]) -> Bytes:
    return np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
