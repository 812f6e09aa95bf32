"""Atomic files and directories: written beside the target, then renamed."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, cast

from isogloss.storage.errors import DamagedFileError, InputError
from isogloss.storage.wording import way

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_SYNC_THREADS = 8
MOST_READ = 2**24
"""Bytes that a file of JSON in an index may have."""


def open_regular(path: Path) -> IO[bytes]:
    """Open a file of an index for reading bytes. A pipe or a device is an error: it might never end, or never begin."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise DamagedFileError(path, "is not a file")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, most: int = MOST_READ) -> bytes:
    """The content of a file of an index that is small where it is not damaged."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise DamagedFileError(path, f"has more than {most:,} bytes")
    return content


def read_json(path: Path) -> Any:
    """What a file of JSON in an index contains; one that is none is a :class:`DamagedFileError`."""
    return parse_json(read_regular(path), path)


def parse_json(content: bytes, path: Path) -> Any:
    """What JSON from a file contains."""
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(path, f"is not JSON ({error})") from error


def refuse_existing(path: Path, overwrite: bool, sign: str = "*") -> None:
    """Raise unless ``path`` may be written: it is absent, empty, a device, or ``overwrite`` is set.

    A directory is only replaced if it has a file by which it is known to be of the same kind: one that matches
    ``sign``. Nobody loses a folder of documents because its name was given for an index.
    """
    if not path.exists() or _is_device(path):
        return
    if not (any(path.iterdir()) if path.is_dir() else path.stat().st_size):
        return
    if not overwrite:
        way_out = way("--overwrite", "overwrite=True")
        raise InputError(f"{path}: exists and is not empty; choose another output or add {way_out}")
    if path.is_dir() and not any(path.glob(sign)):
        raise InputError(f"{path}: holds something else (it has no {sign}), which would be lost; choose another output")


@contextmanager
def atomic_file(path: Path | str, overwrite: bool = True) -> Iterator[IO[str]]:
    """A text file that appears under its name only when the block ends well; a device (``/dev/null``) is written to."""
    path = Path(path)
    refuse_existing(path, overwrite)
    if path.is_dir():
        raise InputError(f"{path}: is a directory, a file name is needed")
    if _is_device(path):
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    with _followed(path) as target:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
        partial = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.chmod(_mode(target, 0o666))
            partial.replace(target)
            sync_directory(target.parent)
        finally:
            partial.unlink(missing_ok=True)


def write_bytes(path: Path | str, content: bytes, overwrite: bool = True) -> None:
    """A binary file that appears under its name whole or not at all."""
    with atomic_file(path, overwrite) as file:
        cast(TextIO, file).buffer.write(content)


@contextmanager
def atomic_directory(path: Path | str, overwrite: bool = False, sign: str = "*") -> Iterator[Path]:
    """A directory that appears under its name, whole, only when the block ends well.

    With ``overwrite`` the old one stays in place until the new one is complete, then the two are exchanged in one step;
    one that has no file like ``sign`` is refused.
    """
    path = Path(path)
    refuse_existing(path, overwrite, sign)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file, a directory is needed")
    with _followed(path) as target:
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        try:
            partial.chmod(_mode(target, 0o777) | 0o700)
            yield partial
            sync_tree(partial)
            _exchange_or_rename(partial, target)
            sync_directory(target.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _followed(path: Path) -> Iterator[Path]:
    """The target of a path, links resolved and parents created; the parents are removed again if the work fails."""
    target = Path(os.path.realpath(path))
    made = [parent for parent in target.parents if not parent.exists()]
    try:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise InputError(f"{path.parent}: is a file, a directory is needed for {path.name}") from error
        yield target
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _exchange_or_rename(new: Path, target: Path) -> None:
    if not target.exists():
        new.rename(target)
    elif not _exchange(new, target):
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
        target.rename(old / target.name)
        try:
            new.rename(target)
        except BaseException:
            (old / target.name).rename(target)
            old.rmdir()
            raise
        shutil.rmtree(old, ignore_errors=True)


def _exchange(left: Path, right: Path) -> bool:
    """Swap two paths in one step where the kernel can (Linux ``renameat2``); False where it cannot."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    code = renameat2(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), _RENAME_EXCHANGE)
    return bool(code == 0)


def sync_tree(directory: Path) -> None:
    """Return when every file below a directory, and its name, is on disk."""
    from concurrent.futures import ThreadPoolExecutor  # slow to import

    found = [(Path(root), files) for root, _, files in os.walk(directory)]
    with ThreadPoolExecutor(_SYNC_THREADS) as threads:  # many at once take little longer than one
        list(threads.map(_sync_file, (root / name for root, files in found for name in files)))
        list(threads.map(sync_directory, (root for root, _ in found)))


def _sync_file(path: Path) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def sync_directory(directory: Path) -> None:
    """Return when the names in a directory are on disk."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError:
        return  # some systems cannot open a directory; the rename is still atomic
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode(target: Path, default: int) -> int:
    """The permissions of what is replaced, or the default ones under the user's mask."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return default & ~mask
