"""Arrays in files: single ones that are mapped, and named ones packed or in the safetensors format."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.files import write_bytes

_reading_headers = threading.Lock()  # numpy parses them as Python, which is not thread-safe in 3.11


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write a ``.npy`` file. A full disk is an error here; ``np.save`` loses small arrays on one silently."""
    array = np.ascontiguousarray(array)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.reshape(-1).view(np.uint8).data)


def load_array(path: Path) -> NDArray[Any]:
    """Map an array from a file, never a pickle; an empty one cannot be mapped and is read.

    A file that is no array is a ``ValueError``.
    """
    try:
        with _reading_headers:
            try:
                mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
            except ValueError:
                mapped = np.load(path, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{path.name} is not a whole array: {error}") from error
    return mapped


def save_packed(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays into one compressed ``.npz`` file, which appears whole or not at all."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]  # names are ours: none is "allow_pickle"
    write_bytes(path, packed.getvalue())


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str] | None = None) -> None:
    """Write arrays and some text beside them; the file appears whole or not at all."""
    from safetensors.numpy import save

    laid_out = {name: np.asarray(each, order="C") for name, each in tensors.items()}
    write_bytes(path, save(laid_out, dict(metadata) if metadata else None))


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays and the text of a file; one that is damaged is a ``ValueError``."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path.name} is not whole: {error}") from error
