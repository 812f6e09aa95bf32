"""Errors a user can act on. The command line prints their one line and exits with status 2."""

from __future__ import annotations

import errno
import importlib
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType


class InputError(Exception):
    """An input is wrong: the message names the file, the line, the value and the way out."""


class DamagedFileError(ValueError):
    """A file of an index is not as it was written."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} {what}")
        self.path = path


class DamagedIndexError(InputError):
    """Files of an index are damaged or missing."""


class OpenFilesError(InputError):
    """The process has as many open files as it may have."""


_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG, None)
"""Errors of the system that tell of a file that is not there, or is something else. None is numpy's."""
_OF_THE_SYSTEM = {
    errno.EACCES: "check who may read it",
    errno.EPERM: "check who may read it",
    errno.EIO: "the disk reports an error; look at the log of the system",
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EROFS: "the disk can only be read",
    errno.ENOMEM: "free some memory",
}


def refuse_no_damage(error: BaseException) -> None:
    """Raise an :class:`InputError` if the system is the cause of an error: no file is damaged then.

    It has too many open files or too little memory, say, or does not let this user read.
    """
    for cause in _causes(error):
        if isinstance(cause, MemoryError):
            raise InputError(
                "memory: there is not enough for this index; free some, or use a larger machine"
            ) from error
        if not isinstance(cause, OSError) or cause.errno in _MISSING:
            continue
        if cause.errno in (errno.EMFILE, errno.ENFILE):
            raise too_many_files(cause.errno) from error
        what = _OF_THE_SYSTEM.get(cause.errno or 0, "try again")
        raise InputError(f"{cause.filename or 'the index'}: {cause.strerror}; {what}") from error


def too_many_files(number: int) -> OpenFilesError:
    """The error for ``EMFILE`` or ``ENFILE``, which names the limit."""
    if number == errno.ENFILE:
        return OpenFilesError("too many open files in the whole system; close some programs, or raise fs.file-max")
    import resource  # not on every system, as this error is not

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    what = f"too many open files, this process may have {limit:,}"
    return OpenFilesError(f"{what}; raise the limit with 'ulimit -n {4 * limit}', or open fewer indexes")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@cache
def warn_once(message: str) -> None:
    """Log a warning, once in a process."""
    logging.getLogger("isogloss").warning(message)


class MissingExtraError(InputError):
    """A feature needs a package that an extra of isogloss would install."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': pip install 'isogloss[{extra}]'")


def import_extra(package: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error that names its extra."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] != package.split(".", maxsplit=1)[0]:
            raise  # the package is installed, one of its own requirements is not
        raise MissingExtraError(package, extra, purpose) from error
