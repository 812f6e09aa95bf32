"""Options of systems as Python writes them, to settings as ``--set`` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_settings(options: Mapping[str, Any]) -> dict[str, str]:
    """Every value as the user would write it on the command line.

    >>> as_settings({"passages": 30, "drop_stop_words": True, "thresholds": (0.2, 0.7)})
    {'passages': '30', 'drop_stop_words': 'true', 'thresholds': '0.2,0.7'}
    """
    return {name: _written(value) for name, value in options.items()}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(_written, value))
    return str(value)
