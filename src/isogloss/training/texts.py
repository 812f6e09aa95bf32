"""Tokenised texts to rows of a table of word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from isogloss.training.pairs import TextIds

if TYPE_CHECKING:
    from isogloss.text.batches import TokenizedTexts


def choose_words(texts: TokenizedTexts, most: int, least_count: int = 1) -> list[str]:
    """The ``most`` most frequent words that occur at least ``least_count`` times, in the order of their UTF-8 bytes."""
    counts = np.bincount(texts.ids, minlength=len(texts.terms))
    order = np.lexsort((np.asarray(texts.terms, dtype=object), -counts))
    kept = [texts.terms[i] for i in order[:most] if counts[i] >= least_count]
    return sorted(kept, key=lambda word: word.encode("utf-8", "surrogatepass"))


def text_ids(texts: TokenizedTexts, words: Sequence[str], longest: int = 0) -> TextIds:
    """The known words of each text's first ``longest`` ones (0: of all); ids are the places in ``words``."""
    row_of = {word: row for row, word in enumerate(words)}
    rows = np.fromiter((row_of.get(term, -1) for term in texts.terms), dtype=np.int32, count=len(texts.terms))
    lengths = np.diff(texts.offsets)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    ids = rows[texts.ids] if len(rows) else np.zeros(0, np.int32)
    kept = ids >= 0
    if longest:
        kept &= np.arange(len(ids)) - texts.offsets[text_of] < longest
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.bincount(text_of[kept], minlength=len(texts)), out=offsets[1:])
    return TextIds(ids[kept], offsets)
