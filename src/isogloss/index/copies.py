"""A small file that an index cannot do without, and its copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from isogloss.storage.errors import DamagedIndexError, refuse_no_damage, warn_once

Content = TypeVar("Content")


def read_or_copy(file: Path, copy: Path, read: Callable[[Path], Content]) -> Content:
    """What a file holds; what its copy holds, with a warning, where the file is missing or damaged."""
    try:
        return read(file)
    except (OSError, ValueError) as error:
        refuse_no_damage(error)
        try:
            found = read(copy)
        except (OSError, ValueError) as worse:
            refuse_no_damage(worse)
            what = f"and so is its copy {copy.name}: restore one of them, or make the index again with 'isogloss index'"
            raise DamagedIndexError(f"{file}: is damaged ({error}), {what}") from error
        warn_once(f"{file} is damaged, its copy is used; mend it: isogloss check {file.parent} --repair")
        return found
