"""Decimal numbers in text to floats, a block of text at a time: the part of reading text vectors that takes the time.

With the dot taken out, a number is a row of digits m and f, how many of them stood behind the dot:

    value = m / 10^f

Eight digits at a time are looked at as one 64-bit integer, whose bytes are put together pairwise in three
multiplications (Lemire 2018, "Quickly parsing eight digits"), all numbers of the block at once. Up to 15 digits m and
10^f are exact in double precision and the division rounds once, so the result is what ``float`` gives; up to 19 digits
it is within one unit in the last place of a double. Everything else (exponents, longer numbers, nan) goes through
``float``. ``numpy.fromstring`` needs about four times as long, and takes "1-2" for two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SPACE, _MINUS, _DOT = b" -."
_LONGEST = 19  # digits that a 64-bit integer holds whatever they are
_PADDING = b"0" * 24  # room to look back from the end of the first number
_POWERS = 10.0 ** np.arange(_LONGEST + 1)

_Integers = NDArray[np.int64]
_Words = NDArray[np.uint64]
_Flags = NDArray[np.bool_]


def parse_decimals(pieces: Sequence[bytes]) -> NDArray[np.float32] | None:
    """The numbers of all pieces, one space between two of them; None if anything else is there.

    >>> parse_decimals([b"0.5 -12.25", b"1e-3"]).tolist() == np.float32([0.5, -12.25, 0.001]).tolist()
    True
    >>> parse_decimals([b"0.5  0.25"]) is None  # an empty field is no number
    True
    """
    text = b" ".join((_PADDING, *pieces, b""))
    characters = np.frombuffer(text, dtype=np.uint8)
    spaces = np.flatnonzero(characters == _SPACE)
    starts, ends = spaces[:-1] + 1, spaces[1:]
    negative = characters[starts] == _MINUS
    dots, decimals = _dots(np.flatnonzero(characters == _DOT), starts, ends)
    digits = ends - starts - dots - negative
    odd = (dots > 1) | (digits < 1) | (digits > _LONGEST)
    numerators = _digits(text.translate(None, b"."), ends - np.cumsum(dots), np.minimum(digits, _LONGEST), odd)
    values = numerators.astype(np.float64)
    values /= _POWERS[np.minimum(decimals, _LONGEST)]
    np.negative(values, out=values, where=negative)
    if odd.any() and not _read_singly(text, starts, ends, odd, values):
        return None
    with np.errstate(over="ignore"):  # beyond single precision: infinity, which whoever gathers the rows refuses
        return values.astype(np.float32)


def is_number(field: bytes) -> bool:
    """Whether a field says a number, be it nan; unlike Python, nobody else puts underscores into one."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _dots(places: _Integers, starts: _Integers, ends: _Integers) -> tuple[_Integers, _Integers]:
    """How many dots each number has, and how many characters come after the (first) one."""
    if len(places) == len(starts) and bool(((starts <= places) & (places < ends)).all()):
        return np.ones_like(places), ends - places - 1
    first = np.searchsorted(places, starts)
    dots = np.searchsorted(places, ends) - first
    return dots, np.where(dots > 0, ends - np.append(places, 0)[first] - 1, 0)


def _digits(text: bytes, ends: _Integers, counts: _Integers, odd: _Flags) -> _Words:
    """The integers whose last digit stands before ``ends``; those that hold anything but digits are marked odd."""
    windows = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    total = np.zeros(len(ends), dtype=np.uint64)
    for group in range(-(-int(counts.max(initial=0)) // 8)):
        eight = windows[ends - 8 * (group + 1)].astype(np.uint64, copy=False)
        eight ^= _ZEROS
        eight &= _LAST[np.clip(counts - 8 * group, 0, 8)]
        odd |= ((eight + _TO_TOP_BIT) | eight) & _TOP_BITS != 0
        for factor, shift, mask in _STEPS:
            eight *= factor
            eight >>= shift
            eight &= mask
        total += eight * np.uint64(10 ** (8 * group))
    return total


_ZEROS = np.uint64(0x3030303030303030)  # exclusive or with it turns "0" to "9" into 0 to 9 and all else into more
_TO_TOP_BIT = np.uint64(0x7676767676767676)  # added to a byte, it reaches the top bit from 10 on
_TOP_BITS = np.uint64(0x8080808080808080)
# The last n of eight characters, the first being the lowest byte.
_LAST = np.array([(0xFFFFFFFFFFFFFFFF << 8 * (8 - n)) & 0xFFFFFFFFFFFFFFFF for n in range(9)], dtype=np.uint64)
_STEPS = tuple(  # ten times each first neighbour plus the second: digits to pairs, pairs to fours, fours to eight
    (np.uint64(1 + (10**width << 8 * width)), np.uint64(8 * width), np.uint64(mask))
    for width, mask in ((1, 0x00FF00FF00FF00FF), (2, 0x0000FFFF0000FFFF), (4, 0x00000000FFFFFFFF))
)


def _read_singly(text: bytes, starts: _Integers, ends: _Integers, odd: _Flags, values: NDArray[np.float64]) -> bool:
    fields = [text[start:end] for start, end in zip(starts[odd].tolist(), ends[odd].tolist(), strict=True)]
    if not all(map(is_number, fields)):
        return False
    values[odd] = [float(field) for field in fields]
    return True
