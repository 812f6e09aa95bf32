r"""Normalisation, and the patterns of words in normalised text.

One spelling for one word: compatibility forms, letter case and invisible characters are folded.

A word starts with a letter or a digit and goes on with letters, digits and combining marks. Everything else separates
words, the apostrophe and the underscore too (``l'homme`` is ``l`` and ``homme``: a search for ``homme`` must find it).
Python's own ``\w`` does not match combining marks and would cut words of Hindi and vocalised Arabic, so the ranges of
these marks are in a file beside this one; as data they are also the same under every Python version.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources

# Soft hyphens, joiners, direction marks, variation selectors: they control how text is drawn. The zero width space
# U+200B is not among them: it separates words in Thai and Khmer.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)
_RUN = re.compile(r"\s+|\S+")
_ROUNDS = 8  # a fixed point is reached after two or three on any text; the bound only guards against a loop without end


def normalize(text: str) -> str:
    """Fold compatibility forms (NFKC), case and invisible characters; a second call changes nothing.

    >>> normalize("ﬁancée STRASSE Straße Ｗｉｄｅ")
    'fiancée strasse strasse wide'
    """
    if text.isascii():
        return text.lower()
    for _ in range(_ROUNDS):
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
        if unicodedata.is_normalized("NFKC", text):  # another round would change nothing
            break
    return text


def normalize_aligned(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The normalised text, and where in ``text`` each of its characters begins and ends.

    >>> normalize_aligned("ﬁX")
    ('fix', [0, 0, 1], [1, 1, 2])
    """
    if _is_aligned(text):  # most texts: character by character
        return text.casefold(), range(len(text)), range(1, len(text) + 1)
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for line in text.splitlines(keepends=True):
        if _is_aligned(line):
            folded.append(line.casefold())
            starts += range(position, position + len(line))
            ends += range(position + 1, position + len(line) + 1)
            position += len(line)
            continue
        for cluster in _clusters(line):
            folded.append(_fold(cluster))
            starts += [position] * len(folded[-1])
            position += len(cluster)
            ends += [position] * len(folded[-1])
    return "".join(folded), starts, ends


def _is_aligned(text: str) -> bool:
    folded = text.casefold()
    return len(folded) == len(text) and folded == normalize(text)


def _clusters(text: str) -> Iterator[str]:
    """Cut a text into clusters that can be normalised one by one: mostly into characters."""
    for run in _RUN.findall(text):
        yield from run if "".join(map(_fold, run)) == normalize(run) else _joined_clusters(run)


def _joined_clusters(run: str) -> Iterator[str]:
    cluster = run[0]
    for character in run[1:]:
        if _joins(cluster, character):
            cluster += character
        else:
            yield cluster
            cluster = character
    yield cluster


def _joins(cluster: str, character: str) -> bool:
    folded = _fold(character)
    return (
        not folded
        or unicodedata.combining(character) != 0
        or unicodedata.combining(folded[0]) != 0
        or normalize(cluster + character) != normalize(cluster) + folded
    )


@lru_cache(maxsize=10_000)
def _fold(cluster: str) -> str:
    return normalize(cluster)


def _mark() -> str:
    lines = resources.files("isogloss.text").joinpath("combining_marks.txt").read_text("utf-8").splitlines()
    bounds = (line.split("-") for line in lines if line and not line.startswith("#"))
    ranges = [(int(first, 16), int(last, 16)) for first, last in bounds]
    # Sets within the basic plane compile to a table, those beyond it to a linear scan: testing the plane first saves
    # nearly every character the scan.
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
"""Inserted between two words: the soft hyphen, which is in no normalised text."""

STRAY_CUT = re.compile(f"{CUT}(?:(?<!{_UNSPACED}{CUT})(?!{_UNSPACED})|(?={_MARK}))")
"""A cut between two characters of scripts with spaces, or before a combining mark: neither separates words."""
