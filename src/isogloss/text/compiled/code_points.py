"""What the tokeniser does with each code point, as tables for compiled code.

Normalising a text (NFKC, case folding, no invisible characters) is normalising its characters one by one, except where
characters compose or are reordered. The tables contain the folded form of every character and its role in words, and
mark the characters that depend on their neighbours:

=========== ==============================================================================================
``HARD``    composes, reorders or folds to several words: the text around it goes to the tokeniser itself
``SEVERAL`` folds to several characters of one word (``ß``, ``ﬁ``, the Thai ``ำ``)
``NOTHING`` is invisible and vanishes
``ORDERED`` a combining mark that composes with nothing: stays in order unless a mark of a higher class precedes
``FOLLOWS`` composes with a few characters directly before it (marked ``JOINS_NEXT``) and with no other
=========== ==============================================================================================

Everything is derived from ``normalize`` and the patterns of isogloss under the running Python, so that it agrees with
the version of Unicode of that Python.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.text.normalization import UNSPACED as UNSPACED_PATTERN
from isogloss.text.normalization import WORD, normalize

FOLDED = 0x1FFFF  # the folded character; where ODD the number of what it folds to
BETWEEN = 1 << 17  # keeps Thai letters on both its sides together (``.``, ``:``) but is CALM_CHAINED beside another
LETTER = 1 << 21  # may start a word
MARK = 1 << 22  # may go on with one
PLAIN = 1 << 23  # a letter or mark of a script with spaces that is not ODD: the bulk of all text
UNSPACED = 1 << 24  # of a script without spaces: ICU cuts its words
CHAINED = 1 << 25  # of those, one that ICU keeps together with neighbouring letters and digits: Thai, not Chinese
CALM = 1 << 26  # ICU always cuts between this and a Chinese or Japanese character, whatever is around
CALM_CHAINED = 1 << 27  # and between this and a Thai (Lao, Khmer, Burmese) one
SPACE = 1 << 28  # nothing is ever joined over it
JOINS_NEXT = 1 << 29  # composes with some FOLLOWS character
ODD = 1 << 30  # see the table ``care``
STARTS = 1 << 31  # a PLAIN letter

LONGEST_UNSPACED = 2  # characters that an UNSPACED one may fold to

HARD, SEVERAL, NOTHING, ORDERED, FOLLOWS = 1, 2, 3, 4, 5

_KNOWN = 0x20000  # what lies beyond is rare, and HARD for that reason alone
_HANGUL_FOLLOWERS = [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]
_HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
_SURROGATES = range(0xD800, 0xE000)
_NOT_CHAINED_RANGES = ((0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF))
# Rather too few than too many: what is not here is cut by the tokeniser itself.
_CALM_RANGES = ((0x00, 0x5E), (0x60, 0x2AF), (0x370, 0x482), (0x48A, 0x52F), (0x200B, 0x200B), (0x2010, 0x203E),
                (0x20A0, 0x20BF), (0x2100, 0x2BFF), (0x3000, 0x3004), (0x3008, 0x3020), (0x3030, 0x3030),
                (0xAC00, 0xD7A3), (0x1F300, 0x1F3FA), (0x1F400, 0x1FAFF))  # fmt: skip
_CALM_CHAINED_RANGES = ((0x00, 0x26), (0x28, 0x2D), (0x2F, 0x2F), (0x3B, 0x40), (0x5B, 0x5E), (0x60, 0x60),
                        (0x7B, 0x7F), (0xA0, 0xA9), (0xAB, 0xB1), (0xBB, 0xBB), (0xBF, 0xBF), (0xD7, 0xD7),
                        (0xF7, 0xF7), (0x200B, 0x200B), (0x2010, 0x2017), (0x201A, 0x2023), (0x2030, 0x203E),
                        (0x20A0, 0x20BF), (0x2190, 0x23FF), (0x3000, 0x3004), (0x3008, 0x3020))  # fmt: skip


class CodePoints(NamedTuple):
    """One entry a code point; ``expansions[expansion_starts[k]:expansion_starts[k + 1]]`` is the ``k``-th expansion."""

    info: NDArray[np.uint32]
    care: NDArray[np.uint8]
    combining: NDArray[np.uint8]
    expansions: NDArray[np.uint32]
    expansion_starts: NDArray[np.int64]


@lru_cache(maxsize=1)
def code_points() -> CodePoints:
    """The tables, made once a process."""
    return _Tables().finished()


class _Tables:
    def __init__(self) -> None:
        self.characters = np.arange(_KNOWN, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
        self.combining = np.zeros(0x110000, dtype=np.uint8)
        self.combining[:_KNOWN] = np.fromiter(map(unicodedata.combining, self.characters), np.uint8, _KNOWN)
        self.classes = self._classes()
        self.followers, self.joiners = _compositions(self.characters)
        self.info = np.full(0x110000, ODD, dtype=np.uint32)
        self.care = np.full(0x110000, HARD, dtype=np.uint8)
        self.expansions = ["-"]  # as long as what a plain character folds to

    def finished(self) -> CodePoints:
        self._fill_unchanged()
        for character in self._changed():
            number = ord(character)
            self.info[number], self.care[number] = self._changed_entry(character)
        for number in self.joiners:
            self.info[number] |= JOINS_NEXT
        ends = np.cumsum([0, *map(len, self.expansions)], dtype=np.int64)
        return CodePoints(self.info, self.care, self.combining, _ords("".join(self.expansions)), ends)

    def _classes(self) -> NDArray[np.uint32]:
        """LETTER, MARK, UNSPACED, ... of each folded character."""
        letters = np.fromiter(map(str.isalnum, self.characters), bool, _KNOWN)
        # One token a line, of two characters where the second may be in a word.
        lines = WORD.findall("".join(f"a{character}\n" for character in self.characters))
        in_words = np.fromiter(map(len, lines), np.int64, _KNOWN) == 2
        classes = np.where(letters, LETTER, np.where(in_words, MARK, 0)).astype(np.uint32)
        classes[_ords(UNSPACED_PATTERN.findall(self.characters))] |= UNSPACED
        classes[classes & UNSPACED != 0] |= CHAINED
        for first, last in _NOT_CHAINED_RANGES:
            classes[first : last + 1] &= ~np.uint32(CHAINED)
        for ranges, bit in ((_CALM_RANGES, CALM), (_CALM_CHAINED_RANGES, CALM_CHAINED)):
            for first, last in ranges:
                classes[first : last + 1] |= bit
        classes[_ords(" \n\r\t")] |= SPACE
        classes[_ords(".:'’‘·")] |= BETWEEN
        return classes

    def _changed(self) -> list[str]:
        """The characters that do not fold to themselves, or that decompose; Hangul syllables do so without harm."""
        lines = "\n".join(self.characters)
        folded = unicodedata.normalize("NFKC", lines).casefold().split("\n")
        apart = unicodedata.normalize("NFKD", lines).split("\n")
        del folded[ord("\n")], apart[ord("\n")]  # the line end, a line of its own, made two
        changed = [not c == f == d for c, f, d in zip(self.characters, folded, apart, strict=True)]
        rest = [c for c, differs in zip(self.characters, changed, strict=True) if not differs and c != "\n"]
        vanished = [c for c, f in zip(rest, normalize("\n".join(rest)).split("\n"), strict=True) if c != f]
        found = [c for c, differs in zip(self.characters, changed, strict=True) if differs]
        return [c for c in found if ord(c) not in _HANGUL_SYLLABLES] + vanished

    def _fill_unchanged(self) -> None:
        """Every character as if it folded to itself."""
        self.info[:_KNOWN] = np.arange(_KNOWN, dtype=np.uint32) | self.classes | _plain(self.classes)
        self.care[:_KNOWN] = 0
        for number in np.flatnonzero(self.combining).tolist():
            self._set_odd(number, HARD if number in self.followers else ORDERED)
        for number in self.followers:
            if not self.combining[number]:
                self._set_odd(number, FOLLOWS)
        # ICU keeps digits together over a comma, and counts in UTF-16.
        unspaced = np.flatnonzero(self.classes & UNSPACED).tolist()
        numbers = [n for n in unspaced if n > 0xFFFF or (self.classes[n] & CHAINED and chr(n).isdecimal())]
        for number in (*_HANGUL_FOLLOWERS, *_SURROGATES, *numbers):
            self._set_odd(number, HARD)

    def _set_odd(self, number: int, care: int) -> None:
        kind = int(self.classes[number])
        self.care[number] = care if kind & (LETTER | MARK) else HARD
        self.info[number] = self._expansion(chr(number)) | kind | ODD

    def _changed_entry(self, character: str) -> tuple[int, int]:
        """``info`` and ``care`` of a character that does not fold to itself."""
        folded = normalize(character)
        own = int(self.classes[ord(character)])
        if not self._stands_alone(character, folded) or max(folded, default="") >= chr(_KNOWN):
            return own | ODD, HARD
        if not folded:
            return self._expansion("") | own & MARK | ODD, NOTHING
        classes = self.classes[_ords(folded)]
        shared = int(np.bitwise_and.reduce(classes))
        if len(folded) == 1 or not np.any(classes & (LETTER | MARK | UNSPACED)):
            return ord(folded[0]) | shared | int(_plain(shared)), 0
        if not self._one_word(classes, shared):
            return own | ODD, HARD
        return self._expansion(folded) | classes[0] & (LETTER | MARK) | shared & ~(LETTER | MARK) | ODD, SEVERAL

    def _one_word(self, classes: NDArray[np.uint32], shared: int) -> bool:
        """Whether the characters that one folds to are of one word and of one kind of script."""
        in_words = bool(np.all(classes & (LETTER | MARK)))
        if shared & UNSPACED:
            return in_words and len(classes) <= LONGEST_UNSPACED
        return in_words and not np.any(classes & UNSPACED) and bool(classes[0] & LETTER)

    def _expansion(self, folded: str) -> int:
        self.expansions.append(folded)
        return len(self.expansions) - 1

    def _stands_alone(self, character: str, folded: str) -> bool:
        """Whether it folds to the same beside any neighbour, and does not change its neighbours."""
        composed = unicodedata.normalize("NFKC", character)
        cased = composed.casefold()
        if folded and unicodedata.normalize("NFKC", cased) != folded:
            return False
        heads = {unicodedata.normalize("NFKD", stage)[:1] for stage in (character, composed, cased, folded)} - {""}
        if any(unicodedata.combining(head) or ord(head) in self.followers for head in heads):
            return False
        tails = {cased[-1:], folded[-1:]} - {""}
        return not any(unicodedata.combining(tail) or ord(tail) in self.joiners for tail in tails)


def _compositions(characters: str) -> tuple[set[int], set[int]]:
    """The second characters of all composing pairs, and the first ones of pairs whose second is no ordered mark."""
    followers, joiners = set(_HANGUL_FOLLOWERS), set()
    for character, parts in zip(characters, map(unicodedata.decomposition, characters), strict=True):
        first, _, second = parts.partition(" ")
        if not second or first.startswith("<"):
            continue
        pair = chr(int(first, 16)) + chr(int(second, 16))
        if unicodedata.normalize("NFC", pair) == character:  # some decompose for good
            followers.add(ord(pair[1]))
            if not unicodedata.combining(pair[1]):
                joiners.add(ord(pair[0]))
    return followers, joiners


def _plain(classes: NDArray[np.uint32] | int) -> NDArray[np.uint32]:
    """PLAIN for letters and marks of scripts with spaces, STARTS for the letters too."""
    classes = np.asarray(classes)
    plain = np.where(classes & LETTER, PLAIN | STARTS, np.where(classes & MARK, PLAIN, 0))
    return np.where(classes & UNSPACED, 0, plain).astype(np.uint32)


def _ords(characters: Iterable[str]) -> NDArray[np.uint32]:
    return np.fromiter(map(ord, characters), dtype=np.uint32)
