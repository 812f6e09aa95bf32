"""Named arrays in one file, in the safetensors format: no pickle, and any other tool can read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.base.files import write_bytes


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
