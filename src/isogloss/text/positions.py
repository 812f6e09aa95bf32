"""The words of many texts with their positions, as arrays: by compiled code where that pays, else text by text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import pays
from isogloss.storage.progress import track
from isogloss.text.ids import split_chunks
from isogloss.text.normalization import UNSPACED
from isogloss.text.tokenizer import token_spans

_CHARACTERS_A_SECOND = 1_500_000  # text by text; up to three times as many where no letter changes its length
_LOADING_SECONDS = 1.0  # half of it the tables of code points
_COMPILED = "isogloss.text.compiled.scan"  # what takes long to load
_UNSPACED_TIMES = 6
_SAMPLE = 20
_BATCH_CHARACTERS = 8_000_000  # bounds the memory


@dataclass(frozen=True, slots=True)
class WordPositions:
    """The words of a chunk of texts: those of text ``i`` are ``offsets[i]:offsets[i + 1]``.

    ``ids`` are numbers of words; ``new`` are the words that are in no chunk before, numbered from where those ended. A
    word goes from character ``begins`` of its text to character ``ends``.
    """

    new: list[str]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1


Words = Callable[[Sequence[str]], WordPositions]
"""A chunk of texts to its words, numbered on from the chunks before."""


def word_positions(texts: Sequence[str], label: str = "tokenising") -> Iterator[WordPositions]:
    """The words of one chunk of texts after another.

    >>> [chunk] = word_positions(["L'Été", "l'été l"])
    >>> chunk.new, chunk.ids.tolist(), chunk.begins.tolist(), chunk.ends.tolist(), chunk.offsets.tolist()
    (['l', 'été'], [0, 1, 0, 1, 0], [0, 2, 0, 2, 6], [1, 5, 1, 5, 7], [0, 2, 5])
    """
    words = _compiled_words() if compiled_pays(texts, _CHARACTERS_A_SECOND) else plain_words()
    batches = list(split_chunks(texts, _BATCH_CHARACTERS))
    return map(words, track(batches, label, len(texts), sizes=map(len, batches)))


def compiled_pays(texts: Sequence[str], characters_a_second: int) -> bool:
    """Whether compiled code is worth loading for texts that plain Python tokenises so fast.

    Scripts without spaces are slower; their share is estimated from a sample of the texts.
    """
    sample = texts[:: len(texts) // _SAMPLE + 1]
    unspaced = sum(UNSPACED.search(text) is not None for text in sample) / max(1, len(sample))
    seconds = sum(map(len, texts)) / characters_a_second * (1 + _UNSPACED_TIMES * unspaced)
    return pays(seconds, _LOADING_SECONDS, _COMPILED)


def _compiled_words() -> Words:
    from isogloss.text.compiled.words import CompiledWords  # imports numba

    return CompiledWords().words


def plain_words() -> Words:
    """The words of chunks of texts without compiled code."""
    number_of: dict[str, int] = {}

    def words(texts: Sequence[str]) -> WordPositions:
        known = len(number_of)
        spans = [token_spans(text) for text in texts]
        ids = [number_of.setdefault(word, len(number_of)) for _, _, word in chain.from_iterable(spans)]
        positions = np.asarray([span[:2] for span in chain.from_iterable(spans)], np.int32).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, spans)], dtype=np.int64)
        new = list(number_of)[known:]
        return WordPositions(new, np.asarray(ids, np.int32), offsets, positions[:, 0], positions[:, 1])

    return words
