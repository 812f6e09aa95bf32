r"""Which characters make words, as compiled patterns.

A word starts with a letter or a digit and goes on with letters, digits and combining marks; everything else separates,
the apostrophe and the underscore too (``l'homme`` is ``l`` and ``homme``: a search for ``homme`` must find it).
Python's own ``\w`` does not know combining marks and would cut Hindi and vocalised Arabic to pieces, so their ranges
lie beside this file; as data they are also the same under every Python version.
"""

from __future__ import annotations

import re
from importlib import resources


def _mark_ranges() -> list[tuple[int, int]]:
    lines = resources.files("isogloss.text").joinpath("combining_marks.txt").read_text("utf-8").splitlines()
    bounds = (line.split("-") for line in lines if line and not line.startswith("#"))
    return [(int(first, 16), int(last, 16)) for first, last in bounds]


def _mark() -> str:
    ranges = _mark_ranges()
    # Sets within the basic plane compile to a table, those beyond it to a linear scan: one look at the plane first
    # keeps the scan off nearly every character.
    basic = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges if last < 0x10000)
    beyond = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges if first >= 0x10000)
    return f"(?:[{basic}]|(?=[\U00010000-\U0010ffff])[{beyond}])"


_MARK = _mark()
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303f"
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaadf\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)

WORD = re.compile(rf"[^\W_]++(?:{_MARK}++[^\W_]*+)*+")
"""One word of a normalised text."""

ASCII_WORD = re.compile("[a-z0-9]+")
"""The same for a text of ASCII characters only, found faster."""

UNSPACED = re.compile(_UNSPACED)
"""A character of a script written without spaces: Thai, Lao, Burmese, Khmer, Tai, Chinese, Japanese."""

CUT = "\u00ad"
"""Set between two words: the soft hyphen, which no normalised text holds."""

STRAY_CUT = re.compile(f"{CUT}(?:(?<!{_UNSPACED}{CUT})(?!{_UNSPACED})|(?={_MARK}))")
"""A cut between two characters of scripts with spaces, or before a combining mark: neither parts words."""
