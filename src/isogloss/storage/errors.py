"""Errors a user can act on. The command line prints their one line and exits with status 2."""

from __future__ import annotations

import importlib
from types import ModuleType


class InputError(Exception):
    """An input is wrong: the message names the file, the line, the value and the way out."""


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
