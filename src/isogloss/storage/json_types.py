"""What was read from JSON has the types that a dataclass states: a file may have been written by anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from math import isfinite
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints


def check_types(value: Any, kind: Any, name: str = "it") -> None:
    """Raise a ``TypeError`` that names what is not of its type; whole numbers are not negative, others finite.

    Knows strings, numbers, ``tuple[X, ...]``, mappings, optional values, dataclasses and named tuples of all these.

    >>> check_types({"fr": (3, "")}, dict[str, tuple[int | None, ...]], "counts")
    Traceback (most recent call last):
        ...
    TypeError: counts['fr'][1] is not of type int
    """
    arguments = [each for each in get_args(kind) if each not in (..., NoneType)]
    if kind is Any or (value is None and NoneType in get_args(kind)):
        return
    origin = get_origin(kind)
    if NoneType in get_args(kind):
        check_types(value, arguments[0], name)
    elif is_dataclass(kind) or hasattr(kind, "_fields"):
        _require(isinstance(value, kind), kind, name)
        for field, of_field in get_type_hints(kind).items():
            check_types(getattr(value, field), of_field, f"{name}.{field}")
    elif origin is tuple:
        _require(isinstance(value, tuple), kind, name)
        for number, each in enumerate(value):
            check_types(each, arguments[0], f"{name}[{number}]")
    elif origin in (dict, Mapping):
        _require(isinstance(value, dict) and all(isinstance(key, str) for key in value), kind, name)
        for key, each in value.items():
            check_types(each, arguments[1], f"{name}[{key!r}]")
    else:
        _require(_is_plain(value, kind), kind, name)


def _is_plain(value: Any, kind: Any) -> bool:
    if isinstance(value, bool) or kind not in (int, float):
        return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return isinstance(value, int) and value >= 0 if kind is int else isinstance(value, int | float) and isfinite(value)


def _require(fits: bool, kind: Any, name: str) -> None:
    if not fits:
        raise TypeError(f"{name[:100]} is not of type {getattr(kind, '__name__', kind)}")
