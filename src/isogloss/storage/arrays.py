"""Arrays in files: single ones that are mapped, and named ones packed or in the safetensors format.

A single array has a file of its own or is in a container (:mod:`isogloss.storage.containers`): ``save_array`` and
``load_array`` take the same path for both.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isogloss.storage.containers import find_packed, writer_for
from isogloss.storage.files import open_regular, write_bytes

Kept = TypeVar("Kept")
_TENSOR_TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4",
    "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip

_reading_headers = threading.Lock()  # numpy parses them as Python, which is not thread-safe in 3.11
_NO_ARRAY = EOFError, ValueError, SyntaxError, TokenError, TypeError, OverflowError, MemoryError


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write a ``.npy`` file, or into the container of a folder above (:func:`isogloss.storage.containers.packed`)."""
    array = np.ascontiguousarray(array)
    save_chunks(path, array.dtype, array.shape, [array.reshape(-1).view(np.uint8).data])


def save_chunks(path: Path, dtype: DTypeLike, shape: tuple[int, ...], chunks: Iterable[bytes | memoryview]) -> None:
    """``save_array`` of an array that is not in memory. A full disk is an error; ``np.save`` may not notice it."""
    writer = writer_for(path)
    if writer is not None:
        writer.add(path, dtype, shape, chunks)
        return
    with open(path, "wb") as file:
        about = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, about)
        for chunk in chunks:
            file.write(chunk)


def load_array(path: Path) -> NDArray[Any]:
    """Map an array from a file or a container, never a pickle; an empty file cannot be mapped and is read.

    A file that is no array is a ``ValueError``.
    """
    try:
        open_regular(path).close()
        with _reading_headers:
            try:
                mapped: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")  # np.load would open archives too
            except ValueError:
                with open(path, "rb") as file:
                    mapped = np.lib.format.read_array(file, allow_pickle=False)
    except (FileNotFoundError, NotADirectoryError):
        packed = find_packed(path)
        if packed is None:
            raise
        return packed.container.array(packed.name, packed.directory)
    except _NO_ARRAY as error:
        raise ValueError(f"{path.name} is not a whole array: {error}") from error
    if not isinstance(mapped, np.ndarray) or mapped.dtype.kind not in "biuf":
        raise ValueError(f"{path.name} is not an array of numbers")
    return mapped.view(np.ndarray)  # which is read four times faster than a map


def has_array(path: Path) -> bool:
    """Whether ``load_array`` would find an array."""
    return path.exists() or find_packed(path) is not None


def place_of(path: Path) -> str:
    """Where an array is, for errors: its file, or its container and its name."""
    packed = None if path.exists() else find_packed(path)
    return str(path) if packed is None else packed.place


def keep_with(path: Path, make: Callable[[], Kept]) -> Kept:
    """What ``make`` returns: called once while an array in a container is open, each time for one in a file.

    So that something large is checked once, and not whenever the index is opened again. What is returned must not refer
    to the array.
    """
    packed = None if path.exists() else find_packed(path)
    kept: Kept = make() if packed is None else packed.keep(make)
    return kept


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
    """The arrays and the text of a file; one that is damaged is a ``ValueError``.

    The arrays are mapped: processes that read the same file share its memory, which safetensors' own reader copies.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:  # checks that all arrays lie inside the file
            metadata = dict(file.metadata() or {})
    except SafetensorError as error:
        raise ValueError(f"{path.name} is not whole: {error}") from error
    with open(path, "rb") as opened:
        content = mmap(opened.fileno(), 0, access=ACCESS_READ)
    start = 8 + int.from_bytes(content[:8], "little")
    found = {}
    for name, entry in json.loads(content[8:start]).items():
        if name != "__metadata__":
            if entry["dtype"] not in _TENSOR_TYPES:
                raise ValueError(f"{path.name}: {name} has the type {entry['dtype']}")
            dtype, first = _TENSOR_TYPES[entry["dtype"]], start + entry["data_offsets"][0]
            found[name] = np.ndarray(entry["shape"], dtype, content, first)
    return found, metadata
