"""One JSON object a line, checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isogloss.base.lines import Place, read_lines
from isogloss.corpus.problems import Problems

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def read_objects(path: Path, required: tuple[str, ...], problems: Problems) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The objects of a file that have the required keys, ids turned into strings. Empty lines are passed over."""
    for place, line in read_lines(path, problems.broken_text):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            problems.error(place, "malformed line", f"not JSON ({what})")
            continue
        wrong = _what_is_wrong(line, value, required)
        if wrong:
            problems.error(place, "malformed line", wrong)
            continue
        value[required[0]] = str(value[required[0]])
        yield place, value


def _what_is_wrong(line: str, value: Any, required: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return "expected a JSON object"
    if _HALF_PAIR.search(line) and _has_half_pair(value):
        return r"holds a \u escape that is half a character"
    for key in required:
        if key not in value:
            return f"the object has no {key!r}"
        allowed = (str, int) if key == required[0] else (str,)
        if not isinstance(value[key], allowed) or (value[key] == "" and key == required[0]):
            return f"{key!r} must be a string, got {str(value[key])[:30]!r}"
    return None


def _has_half_pair(value: dict[str, Any]) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def dump(value: dict[str, Any]) -> str:
    """One line of JSON, letters as they are."""
    return json.dumps(value, ensure_ascii=False) + "\n"
