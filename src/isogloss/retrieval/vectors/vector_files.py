"""One part of a vector index in a directory: its rows, and what is known of them. Opened without being read.

vectors.json    format, shape, storage, length of the longest row, what was asked for and what was measured
vectors.npy     the rows: float32, float16 or int8
scales.npy      of int8: what a step of each row is worth
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.retrieval.vectors.quantised import Quantised
from isogloss.retrieval.vectors.vector_storage import Stored, storage_of
from isogloss.storage.arrays import load_array, save_array

FORMAT = 2
_FILE = "vectors.json"
_FILE_1 = "exact.json"  # format 1: float32 or float16 in matrix.npy


class SavedRows(NamedTuple):
    """Rows, the length of the longest, and what else was written with them."""

    rows: Stored
    longest: float
    about: Mapping[str, Any]


def save_rows(directory: Path, saved: SavedRows) -> None:
    """Write into an existing directory."""
    rows = saved.rows
    save_array(directory / "vectors.npy", rows.codes if isinstance(rows, Quantised) else rows)
    if isinstance(rows, Quantised):
        save_array(directory / "scales.npy", rows.scales)
    about = {"format": FORMAT, "shape": rows.shape, "storage": storage_of(rows), "longest": saved.longest}
    (directory / _FILE).write_text(json.dumps({**about, **saved.about}) + "\n", encoding="utf-8")


def load_rows(directory: Path) -> SavedRows:
    """Map what was written, in this format or the first; what is not whole is a ``ValueError`` or ``OSError``."""
    old = (directory / _FILE_1).exists()
    about = _read_about(directory / (_FILE_1 if old else _FILE), 1 if old else FORMAT)
    rows: Stored = load_array(directory / ("matrix.npy" if old else "vectors.npy"))
    if about.get("storage") == "int8":
        rows = Quantised(rows, load_array(directory / "scales.npy"))  # type: ignore[arg-type]  # or else refused below
    if list(rows.shape) != about["shape"] or storage_of(rows) != about.get("storage", storage_of(rows)):
        raise ValueError(f"the vectors are {storage_of(rows)} of shape {rows.shape}, {_FILE} says otherwise")
    return SavedRows(rows, float(about["longest"]), about)


def _read_about(path: Path, wanted: int) -> dict[str, Any]:
    about = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(about, dict):
        raise ValueError(f"{path.name} is no object")
    missing = {"format", "shape", "longest"} - set(about)
    if missing:
        raise ValueError(f"{path.name} does not say its {', '.join(sorted(missing))}")
    if about["format"] != wanted:
        raise ValueError(f"format {about['format']}, this isogloss reads format {wanted}")
    return about
