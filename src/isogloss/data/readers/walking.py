"""The files below a folder that somebody else may have filled: links, pipes and names that are not UTF-8."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from isogloss.data.problems import OTHER_KIND, UNREADABLE, Problems
from isogloss.storage.lines import Location

_HIDDEN = (".", "~$")  # the second are of office programs, while a document is open
_NOT_SHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff%]")


def walk(directory: Path, endings: tuple[str, ...], problems: Problems, follow: bool = False) -> Iterator[Path]:
    """The files with these endings, folder by folder; hidden ones and folders are left out.

    Skipped are files with other endings, what is no file (a pipe, a device), a folder that cannot be read, and a link
    that leads out of the folder. ``follow``: such links are followed, and links to folders too, each folder once.
    """
    root = os.path.realpath(directory)
    waiting, seen = [directory], {root}
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.skip(Location(folder), UNREADABLE, f"is a folder that cannot be read ({error.strerror})")
            continue
        for entry in found:
            path, target = folder / entry.name, os.path.realpath(entry.path) if entry.is_symlink() else ""
            is_folder = entry.is_dir()
            if entry.name.startswith(_HIDDEN):
                continue
            if not (is_folder or entry.name.lower().endswith(endings)):
                problems.skip(Location(path), OTHER_KIND, "is of a kind that is not read")
            elif target and not follow and not _is_inside(target, root):
                problems.skip(Location(path), "link out of the folder", "leads out of the folder")
            elif is_folder:
                real = target or os.path.realpath(entry.path)
                if real not in seen and (follow or not target):
                    seen.add(real)
                    waiting.append(path)
            elif entry.is_file():
                yield path
            else:
                problems.skip(Location(path), "no file", "is no file, but a pipe, a device or a broken link")


def id_of(path: Path) -> str:
    r"""A path as the id of a document; in a name that cannot be shown, those bytes and ``%`` are written as ``%FF``.

    >>> id_of(Path("docs/50%.txt")), id_of(Path(os.fsdecode(b"docs/caf\xe9.txt")))
    ('docs/50%.txt', 'docs/caf%E9.txt')
    """
    name = path.as_posix()
    if not _NOT_SHOWN.search(name.replace("%", "")):
        return name
    return _NOT_SHOWN.sub(lambda match: "".join(f"%{byte:02X}" for byte in os.fsencode(match[0])), name)


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
