"""Plugins: systems, readers, engines and commands by name, from this package or from any other that is installed.

A package offers a member of a group by an entry point, for example in its ``pyproject.toml``:

    [project.entry-points."isogloss.systems"]
    mine = "my_package.systems:Mine"

isogloss declares its own members in the same way. Importing ``importlib.metadata`` and scanning the entry points of all
installed packages takes 30 to 80 ms, up to a fifth of a search. A group therefore looks a name up in a table of the
core's members first, and scans only for other names and for listings. No other package can take a name of isogloss.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_ISOGLOSS = "isogloss"


class PluginGroup:
    """The members of one group of entry points.

    Parameters
    ----------
    group
        The name of the entry points, like ``isogloss.systems``.
    kind
        What errors call a member, like ``system``.
    core
        Name to ``module:attribute``, or to a module, of the members that isogloss itself has in its core. A test
        compares it with the entry points that isogloss declares.
    find_fault
        What is wrong with a member of another package, given its name and what was imported; empty if nothing is.
    """

    def __init__(self, group: str, kind: str, core: Mapping[str, str], find_fault: Callable[[str, Any], str]) -> None:
        self.group = group
        self.kind = kind
        self.core = core
        self.find_fault = find_fault

    def __contains__(self, name: object) -> bool:
        return name in self.core or name in self._installed

    def names(self) -> list[str]:
        """The names of all members: those of the core in its own order, then the others in alphabetical order."""
        others = sorted(name for name in self._installed if name not in self.core)
        return [*self.core, *others]

    def plugin_names(self) -> list[str]:
        """The names of the members outside the core, in alphabetical order."""
        return self.names()[len(self.core) :]

    def load(self, name: str) -> Any:
        """Import a member.

        Raises
        ------
        InputError
            There is no member of that name, two packages offer it, its package cannot be imported, or it lacks
            something that members of the group have.
        """
        if name in self.core:
            module_name, _, attribute = self.core[name].partition(":")
            module = import_module(module_name)
            return getattr(module, attribute) if attribute else module
        if name not in self._installed:
            raise InputError(f"{self.kind}: {name!r} is not one of {', '.join(self.names())}")
        entry_points = self._installed[name]
        if len(entry_points) > 1:
            packages = ", ".join(_package(entry_point) for entry_point in entry_points)
            raise InputError(f"{self.kind}: {name!r} is offered by several packages ({packages}); keep one of them")
        package = _package(entry_points[0])
        try:
            member = entry_points[0].load()
        except InputError:
            raise  # it says what to do: an extra that is missing, for example
        except (Exception, SystemExit) as error:  # whatever the code of another package raises
            reason = f"cannot be imported ({described(error)})"
            raise InputError(self._refusal(name, package, reason)) from error
        fault = self.find_fault(name, member)
        if fault:
            raise InputError(self._refusal(name, package, fault))
        return member

    def load_plugins(self) -> Iterator[tuple[str, Any]]:
        """The members outside the core with their names; one that cannot be used is left out with a warning."""
        for name, package in self._overshadowed:
            _warn(f"{self.kind}: {name!r}, from the package {package}, has a name of isogloss and is left out")
        for name in self.plugin_names():
            try:
                yield name, self.load(name)
            except InputError as error:
                _warn(str(error))

    def _refusal(self, name: str, package: str, fault: str) -> str:
        return f"{self.kind}: {name!r}, from the package {package}, {fault}; update or uninstall {package}"

    @cached_property
    def _entry_points(self) -> tuple[EntryPoint, ...]:
        from importlib.metadata import entry_points

        return tuple(entry_points(group=self.group))

    @cached_property
    def _own_names(self) -> set[str]:
        """The names that isogloss itself declares, which no other package can take."""
        declared = {entry_point.name for entry_point in self._entry_points if _package(entry_point) == _ISOGLOSS}
        return declared | set(self.core)

    @cached_property
    def _overshadowed(self) -> list[tuple[str, str]]:
        """Name and package of what other packages offer under a name of isogloss."""
        others = [entry_point for entry_point in self._entry_points if _package(entry_point) != _ISOGLOSS]
        return [(other.name, _package(other)) for other in others if other.name in self._own_names]

    @cached_property
    def _installed(self) -> dict[str, list[EntryPoint]]:
        """Name to entry points, usually one; the same one found twice on the path counts once."""
        installed: dict[str, list[EntryPoint]] = {}
        for entry_point in self._entry_points:
            if (entry_point.name, _package(entry_point)) in self._overshadowed:
                continue
            others = installed.setdefault(entry_point.name, [])
            if entry_point.value not in [other.value for other in others]:
                others.append(entry_point)
        return installed


def missing_attribute(member: Any, names: Iterable[str]) -> str:
    """The fault of a member that lacks one of these attributes; empty if it has all of them."""
    missing = [name for name in names if not hasattr(member, name)]
    return f"has no {missing[0]}" if missing else ""


def missing_text(member: Any, names: Iterable[str]) -> str:
    """The fault of a member in which one of these attributes is missing, empty or no text."""
    for name in names:
        text = getattr(member, name, None)
        if not (isinstance(text, str) and text.strip()):
            return f"has no {name}" if text in (None, "") else f"has {name} = {text!r}, which is no text"
    return ""


def subclass_fault(member: Any, base: type) -> str:
    """The fault of a member that is no class derived from ``base``, or an abstract one; empty if it can be used."""
    if not (isinstance(member, type) and issubclass(member, base)):
        return f"is not a subclass of {base.__module__}.{base.__name__}"
    abstract = sorted(getattr(member, "__abstractmethods__", ()))
    return f"does not implement {', '.join(abstract)}" if abstract else ""


def name_fault(name: str, own_name: str) -> str:
    """The fault of a member that calls itself by another name than its entry point."""
    return "" if own_name == name else f"calls itself {own_name!r}"


def described(error: BaseException) -> str:
    """The type of an error and its message."""
    return ": ".join(filter(None, (type(error).__name__, str(error))))


def _warn(message: str) -> None:
    """Log a warning in one line without control characters, which the code of another package may have put there."""
    printable = "".join(letter if letter.isprintable() else " " for letter in message)
    logging.getLogger("isogloss").warning("%s", " ".join(printable.split()))


def _package(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else entry_point.value
