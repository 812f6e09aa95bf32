"""Which messages of a language are aligned: half a million of them say the same things again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from sources import Pair

_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 25  # distinct English words
_WANTED = 10  # messages with a word


def chosen(pairs: Sequence[Pair]) -> list[Pair]:
    """The messages that have a word which fewer than ten chosen ones have, short ones first.

    A word of one message only is no reason to choose it: what is seen once is not in the table. The order of the pairs
    does not matter.
    """
    words = {pair: frozenset(_WORD.findall(pair.english.lower())) for pair in pairs}
    found = Counter(word for own in words.values() for word in own)
    have: Counter[str] = Counter()
    taken = []
    for pair in sorted(words, key=_order):
        own = words[pair]
        if len(own) <= _LONGEST and any(found[word] > 1 and have[word] < _WANTED for word in own):
            taken.append(pair)
            have.update(own)
    return taken


def _order(pair: Pair) -> tuple[int, bytes]:
    """Short texts first; among those of about the same length the order is arbitrary, but always the same."""
    return len(pair.english) // 8, blake2b(f"{pair.english}\t{pair.other}".encode(), digest_size=8).digest()
