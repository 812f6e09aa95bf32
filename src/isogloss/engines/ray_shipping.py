"""A system on its way to other machines: what it needs and no document decides, as files in Ray's object store.

The object store holds one copy a node, which all workers of the node read; no file system has to be shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from isogloss.storage.checksums import write_checksums
from isogloss.systems.base import System
from isogloss.systems.registry import build_system, parse_options, system_type

Files = Mapping[str, NDArray[np.uint8]]


@dataclass(frozen=True)
class ShippedSystem:
    """A system without documents. ``fingerprint`` tells its model from any other."""

    name: str
    options: Mapping[str, Any]
    pair: tuple[str, str]
    fingerprint: str
    files: Any
    """A reference to :data:`Files` in the object store."""


def ship(system: System) -> ShippedSystem:
    """Put a system's shared half into the object store."""
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        folder = Path(scratch)
        system.save_shared(folder)
        fingerprint = write_checksums(folder).hash
        files = {
            path.relative_to(folder).as_posix(): np.fromfile(path, dtype=np.uint8)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    pair = system.query_language, system.document_language
    return ShippedSystem(system.name, asdict(system.options), pair, fingerprint, ray.put(files))


def unpack(shipped: ShippedSystem) -> System:
    """The system again, in another process. Its files have lost their names by then, so that none is left behind."""
    files: Files = ray.get(shipped.files)
    told = {name: str(value) for name, value in shipped.options.items()}
    options = parse_options(shipped.name, system_type(shipped.name).options_type, told)
    system = build_system(shipped.name, options, shipped.pair)
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        for name, content in files.items():
            path = Path(scratch) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content.tofile(path)
        return system.load_shared(Path(scratch))
