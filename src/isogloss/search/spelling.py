"""Typing errors in queries: a word that nothing in the index knows is read as a known one that is one slip away.

A slip is a letter too many, a letter missing, a letter for another, or two letters exchanged. All words w that are one
slip away from the typed word x are made, and looked up (Norvig 2007, How to Write a Spelling Corrector): so nothing has
to be stored, and a word is known in every form whose stem is known. Of the known ones it is read as

    argmax over w of P(w) P(x | w)        P(w): how frequent w is in the documents, by the systems of the index

P(x | w) takes the four kinds of slips to be alike, and letters beside the right one on the keyboard to be as likely as
all others.

What is known in any way is never changed: a word that is translated, a name that stands in the documents, a stop word,
a compound of known words. Nor are numbers, codes, words in capitals, short words and words in other scripts. Where few
words are known, a short one is left alone too unless letters are exchanged: it may well be right.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from math import log
from operator import and_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.systems.base import QueryVocabulary, System
from isogloss.text.compounds import COMPOUNDING, LINKS, SHORTEST_PART
from isogloss.text.stemming import stem
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans

_SHORTEST, _LONGEST = 3, 24  # letters of a word that is corrected; of the shortest, letters are missing or exchanged
_FEW_WORDS = 5_000  # of a vocabulary that lacks many common words, which are near to others
_SURE = 6  # letters of a word that is then corrected only if two are exchanged
_MOST_OF_ALPHABET = 100  # letters
_MOST_LETTERS = 1_000  # of a query: a longer one is a text and was not typed
_MOST = 8  # words of a query that are corrected: what has more is in another language, or no text
_WITHIN = ".,;:!?…\"'’`()[]{}<>«»“”‘„¿¡-–—/"  # signs that stand between words; others make a code of them
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = log(0.5 / 5)  # a letter around the right one
_AWAY = log(0.5 / 25)  # any other
_FIRST = log(0.3)  # the first letter is seldom wrong


def _neighbours() -> dict[str, str]:
    """The letters around each letter of the keyboard."""
    keys = [(letter, column + row / 2, row) for row, keys in enumerate(_KEYBOARD) for column, letter in enumerate(keys)]
    return {
        letter: "".join(other for other, x, y in keys if other != letter and abs(x - left) <= 1 and abs(y - row) <= 1)
        for letter, left, row in keys
    }


NEIGHBOURS = _neighbours()


class Correction(NamedTuple):
    """A word of a query, and the word that it was read as."""

    word: str
    read_as: str


class ReadQuery(NamedTuple):
    """A query as it is searched for, and what was corrected in it."""

    query: str
    corrected: tuple[Correction, ...] = ()


def read_query(query: str, systems: Collection[System]) -> ReadQuery:
    """A query with its typing errors corrected by what the systems know of words."""
    if len(query) > _MOST_LETTERS:
        return ReadQuery(query)
    every = token_spans(query)
    typed = {word for _, _, word in every}
    spans = [each for each in every if is_plain(query, *each) and each[2][:-1] not in typed]  # sqrt, sqrtf are meant
    stops = frozenset().union(*(stop_words(system.query_language) for system in systems))
    words = list(dict.fromkeys(word for _, _, word in spans if word not in stops))
    if not words or not systems:
        return ReadQuery(query)
    unknown = [word for word, known in zip(words, _known(words, systems), strict=True) if not known]
    if not 0 < len(unknown) <= _MOST:
        return ReadQuery(query)
    found = _nearest(unknown, systems)
    if 2 * len(found) < len(unknown):  # it is in another language
        return ReadQuery(query)
    pieces, end = [], 0
    for begin, after, word in spans:
        if word in found:
            pieces += [query[end:begin], _cased(query[begin:after], found[word])]
            end = after
    return ReadQuery("".join([*pieces, query[end:]]), tuple(Correction(*each) for each in found.items()))


def is_plain(query: str, begin: int, end: int, word: str) -> bool:
    """Whether a word is one that may be mistyped: neither short, nor a number, nor part of a code or an address."""
    if not (_SHORTEST <= len(word) <= _LONGEST and word.isalpha()):
        return False
    if not query[begin + 1 : end].islower() and not (query.isupper() and " " in query.strip()):
        return False
    return all(sign.isalpha() or sign in _WITHIN for sign in _chunk(query, begin, end))


def _chunk(query: str, begin: int, end: int) -> str:
    """A word with what stands before and after it up to the next white space."""
    before, after = query[:begin].split(), query[end:].split()
    head = before[-1] if before and not query[begin - 1].isspace() else ""
    tail = after[0] if after and not query[end].isspace() else ""
    return head + query[begin:end] + tail


def _cased(typed: str, read: str) -> str:
    """A word with the capitals that were typed."""
    return read.upper() if typed.isupper() else read[0].upper() + read[1:] if typed[0].isupper() else read


def _known(words: Sequence[str], systems: Collection[System]) -> list[bool]:
    """Whether any system knows each word."""
    return [any(each) for each in zip(*(system.knows(words) for system in systems), strict=True)]


def _frequencies(words: Sequence[str], systems: Collection[System]) -> NDArray[np.float64]:
    """The highest frequency of each word."""
    return np.stack([system.frequencies(words) for system in systems]).max(axis=0)  # type: ignore[no-any-return]


def _nearest(unknown: Sequence[str], systems: Collection[System]) -> dict[str, str]:
    """What each unknown word is read as; without those that nothing known is near to, and compounds of known ones."""
    vocabularies = [system.query_vocabulary() for system in systems]
    letters, small = _letters(vocabularies), max(each.size for each in vocabularies) < _FEW_WORDS
    words = [word for word in unknown if set(letters).issuperset(word) and not _is_compound(word, systems)]
    near = [list(one_slip_away(word, letters)) for word in words]
    found = _frequencies([each for of_word in near for each in of_word], systems) if words else np.zeros(0)
    read = {}
    for word, candidates, end in zip(words, near, np.cumsum([len(each) for each in near]).tolist(), strict=True):
        known, ending = found[end - len(candidates) : end], _ending(word, systems)
        scores = {
            candidates[i]: log(known[i]) + chance
            for i in np.flatnonzero(known).tolist()
            if (chance := likelihood(word, candidates[i], ending, _SURE if small else _SHORTEST)) is not None
        }
        if scores:
            read[word] = max(scores, key=lambda each: (scores[each], each))
    return read


def _letters(vocabularies: Collection[QueryVocabulary]) -> str:
    """The letters of known words, with all of the keyboard where these are Latin, or none are known."""
    known = "".join(each.letters for each in vocabularies)
    latin = string.ascii_lowercase if not known or not {*string.ascii_lowercase}.isdisjoint(known) else ""
    return "".join(dict.fromkeys(latin + known))[:_MOST_OF_ALPHABET]


def _is_compound(word: str, systems: Collection[System]) -> bool:
    """Whether a word consists of two known ones, in a language that writes such words as one."""
    parts = list(_parts(word)) if any(system.query_language in COMPOUNDING for system in systems) else []
    known = _known(parts, systems) if parts else []
    return any(map(and_, known[::2], known[1::2]))


def one_slip_away(word: str, letters: str) -> set[str]:
    """All words that differ from a word by one slip.

    >>> sorted(one_slip_away("ab", "abc"))[:6]
    ['a', 'aa', 'aab', 'aba', 'abb', 'abc']
    """
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    missing = {head + letter + tail for head, tail in cuts for letter in letters}
    other = {head + letter + tail[1:] for head, tail in cuts[:-1] for letter in letters}
    exchanged = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts[:-2]}
    return (missing | other | exchanged | {head + tail[1:] for head, tail in cuts[:-1]}) - {word}


def likelihood(typed: str, meant: str, ending: int | None = None, short: int = _SHORTEST) -> float | None:
    """Ln P(x | w) of a typed word, but for a constant, given one that is one slip away; None if it is too unlikely.

    It is where the slip is within an ``ending`` that the language has, which begins after so many letters. In a word of
    no more than ``short`` letters, too many words are one wrong letter away; where few are known, one missing letter.
    """
    place = _first_difference(typed, meant)
    if ending is not None and place > ending:
        return None
    first = 0.0 if place else _FIRST
    if len(typed) == len(meant) and typed[place + 1 :] != meant[place + 1 :]:
        return first  # two are exchanged
    if len(typed) < len(meant) and (len(typed) > short or short == _SHORTEST):
        return first  # a letter is missing
    if len(typed) <= short:
        return None
    x, around = typed[place], NEIGHBOURS.get(meant[place : place + 1], "")
    if len(typed) > len(meant):
        around += typed[max(0, place - 1) : place] + NEIGHBOURS.get(typed[place - 1], "")
        return first + (_BESIDE if x in around else _AWAY)
    return first + (_BESIDE if x in around or _bare(x) == _bare(meant[place]) else _AWAY)


def _ending(word: str, systems: Collection[System]) -> int | None:
    """Where the ending begins that a stemmer takes off a word; None where it takes off a letter at most."""
    begins = [_first_difference(word, stem([word], system.query_language)[0]) for system in systems]
    return min((begin for begin in begins if begin < len(word) - 1), default=None)


def _first_difference(one: str, other: str) -> int:
    """The number of letters with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def _parts(word: str) -> Iterator[str]:
    """The parts of a word, if it is a compound of two: first and last by turns."""
    for end in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
        for link in LINKS:
            if word.startswith(link, end) and len(word) - end - len(link) >= SHORTEST_PART:
                yield word[:end]
                yield word[end + len(link) :]


def _bare(letter: str) -> str:
    """A letter without its accents."""
    return unicodedata.normalize("NFD", letter)[0]
