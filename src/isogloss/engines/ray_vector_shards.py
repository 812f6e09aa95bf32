"""Encoded blocks on disk, one file each, written beside and renamed into place; at the end all are joined.

A file is named for its number and for what it was made of: the model and the texts. So whatever is there under the
right name is right, a job that was killed goes on with what is missing, and another model or a changed document is
never taken for what was meant.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.engines.ray_blocks import Block
from isogloss.storage.arrays import load_array, read_tensors, write_tensors


class VectorShards:
    """The shards of one job in a directory, which is made if it is not there. ``encoder`` names the model."""

    def __init__(self, directory: Path, encoder: str) -> None:
        self.directory, self._encoder = directory, encoder
        directory.mkdir(parents=True, exist_ok=True)

    def path(self, block: Block) -> Path:
        """Where the arrays of a block are, or will be."""
        return self.directory / f"{block.number:06}-{block.digest(self._encoder)}.safetensors"

    @staticmethod
    def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep the arrays of a block: when this returns they are on disk."""
        write_tensors(path, arrays)

    def join(self, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
        """The arrays of all blocks one after the other, mapped from files and never all in memory."""
        first, _ = read_tensors(paths[0])
        rows = {name: sum(_rows(path, name) for path in paths) for name in first}
        files = {name: self.directory / f"{name}.npy" for name in first}
        whole = {
            name: np.lib.format.open_memmap(files[name], "w+", array.dtype, (rows[name], *array.shape[1:]))
            for name, array in first.items()
        }
        places = dict.fromkeys(first, 0)
        for path in paths:
            for name, array in read_tensors(path)[0].items():
                whole[name][places[name] : places[name] + len(array)] = array
                places[name] += len(array)
        for array in whole.values():
            array.flush()
        return {name: load_array(file) for name, file in files.items()}

    def remove(self) -> None:
        """Take everything away; what was joined can still be read by whoever has it."""
        shutil.rmtree(self.directory, ignore_errors=True)


def _rows(path: Path, name: str) -> int:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return int(file.get_slice(name).get_shape()[0])
