"""Errors a user can act on. The command line prints their one line and exits with status 2."""

from __future__ import annotations

import errno
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


class InputError(Exception):
    """An input is wrong: the message names the file, the line, the value and the way out."""


class DamagedFileError(ValueError):
    """A file of an index is not as it was written."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} {what}")
        self.path = path


class OpenFilesError(InputError):
    """The process has as many open files as it may have."""


def refuse_too_many_files(error: BaseException) -> None:
    """Raise an :class:`OpenFilesError` if that is the cause of an error: no file is damaged then."""
    if any(isinstance(each, OSError) and each.errno in (errno.EMFILE, errno.ENFILE) for each in _causes(error)):
        import resource  # not on every system, as this error is not

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        what = f"too many open files, this process may have {limit:,}"
        raise OpenFilesError(f"{what}; raise the limit with 'ulimit -n {4 * limit}', or open fewer indexes") from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


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
