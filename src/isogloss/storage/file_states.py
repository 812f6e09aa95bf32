"""The state of a file when it was read, to see later whether it has changed.

A file has changed if the hash of its content has. It is hashed only if its size, its times or its inode differ from
those of the recorded state, as in git. Clocks of file systems tick coarsely: a file that is written twice within a tick
has the same time both times. So the times of a file that was written less than two seconds ago, or while it was hashed,
are not recorded, and it is hashed again the next time.
"""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from isogloss.storage.files import open_regular

HASH_SIZE = 16
UNKNOWN = bytes(HASH_SIZE)
"""The hash of no file."""
_TICK = 2_000_000_000  # nanoseconds: the coarsest clock in use, that of FAT
_BLOCK = 2**18
_LARGEST = 2**63 - 1


class Status(NamedTuple):
    """What the file system says of a file without opening it; all -1 where that is not to be trusted."""

    size: int = -1
    modified: int = -1
    changed: int = -1
    inode: int = -1

    @classmethod
    def of(cls, found: os.stat_result) -> Status:
        """That of a file; inodes of some file systems have 64 bits without a sign."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino & _LARGEST)


class FileState(NamedTuple):
    """The status of a file and the hash of its content."""

    status: Status
    hash: bytes


def state_of(path: Path, known: FileState | None = None, now: int | None = None) -> FileState:
    """The state of a file: the known one where its status is the same, otherwise the content is hashed.

    ``now`` is the time in nanoseconds. An ``OSError`` if the file cannot be read.
    """
    if known is not None and known.status == Status.of(path.stat()):
        return known
    now = time.time_ns() if now is None else now
    digest = blake2b(digest_size=HASH_SIZE)
    with open_regular(path) as file:
        before = Status.of(os.fstat(file.fileno()))
        while block := file.read(_BLOCK):
            digest.update(block)
        after = Status.of(os.fstat(file.fileno()))
    is_settled = before == after and max(after.modified, after.changed) < now - _TICK
    return FileState(after if is_settled else Status(), digest.digest())


def is_newer(path: Path, begun: int) -> bool:
    """Whether a file was changed after a time in nanoseconds, or is not there any more."""
    try:
        found = path.stat()
    except OSError:
        return True
    return max(found.st_mtime_ns, found.st_ctime_ns) >= begun
