"""Learning a noisy channel from pairs of texts that translate each other and, where there is one, from a dictionary.

Words are aligned in both directions (IBM model 1 with a window, :mod:`isogloss.vectors.word_alignment`). An entry of
the dictionary is one more pair of texts, of a word each: where pages have shown what a word means their many places
outweigh it, where they have not it is all there is. Entries that no document could use are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.base.errors import InputError
from isogloss.base.strings import StringTable
from isogloss.lexical.channel import Channel, Ids, Numbers
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.vectors.lexicon import Lexicon
from isogloss.vectors.word_alignment import align_words

_SEEN = 2  # words seen less often are unknown
_LEAST = 1e-3  # pairs less probable in both directions are dropped
_MOST_WORDS = 3_000_000  # of a side that are aligned: it bounds the memory, at some 500 bytes a word


class Numbered(NamedTuple):
    """Texts in the numbers of a channel: ``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``."""

    ids: Ids
    offsets: Numbers


class Learned(NamedTuple):
    """A channel, and the texts it was learned from in its numbers."""

    channel: Channel
    queries: Numbered
    documents: Numbered


class _Side(NamedTuple):
    """The words of one language that are known, sorted; the texts in their numbers; entries likewise."""

    words: list[str]
    texts: Numbered
    entries: Numbered


def learn_channel(
    pairs: Sequence[tuple[str, str]], lexicon: Lexicon | None, tokenizers: tuple[Tokenizer, Tokenizer],
    held: Iterable[str], unknown: bool = True,
) -> Learned:  # fmt: skip
    """Learn from pairs of texts and a lexicon; ``held`` are terms that documents have, whatever pairs say.

    Without ``unknown`` words that are hardly ever seen are left out, rather than taken for one word.
    """
    ordered = sorted(pairs)
    texts = [tokenize_texts([pair[side] for pair in ordered], tokenizers[side]) for side in (0, 1)]
    entries = _entries(lexicon, tokenizers, {*held, *texts[1].terms})
    if not len(texts[0].ids) and not len(entries[0].ids):
        what = "there are neither translated pages nor a lexicon with words that documents have"
        raise InputError(f"nothing to learn translations from: {what}")
    sides = [_known(texts[side], entries[side], unknown) for side in (0, 1)]
    step = -(-max(len(side.texts.ids) for side in sides) // _MOST_WORDS) or 1
    source, target = (_taken(side, step) for side in sides)
    found = align_words(source, target)
    kept = np.maximum(found.forward, found.backward) >= _LEAST
    sources = found.sources[kept]
    counts = [np.bincount(side.texts.ids, minlength=len(side.words) + 1) for side in sides]
    channel = Channel(
        StringTable.of(sides[0].words), StringTable.of(sides[1].words),
        np.searchsorted(sources, np.arange(len(sides[0].words) + 2)), found.targets[kept],
        found.backward[kept].astype(np.float32), found.forward[kept].astype(np.float32), *counts,
    )  # fmt: skip
    return Learned(channel, sides[0].texts, sides[1].texts)


def _entries(
    lexicon: Lexicon | None, tokenizers: tuple[Tokenizer, Tokenizer], held: set[str]
) -> tuple[TokenizedTexts, TokenizedTexts]:
    """The lexicon's words and their translations, of words whose translation documents can have."""
    known_phrases = lexicon or Lexicon()
    written = [
        (phrase[0], " ".join(translation.phrase))
        for phrase in known_phrases
        if len(phrase) == 1
        for translation in known_phrases[phrase]
    ]
    targets = tokenize_texts([translation for _, translation in written], tokenizers[1])
    known = np.fromiter((term in held for term in targets.terms), bool, len(targets.terms))
    lengths = np.diff(targets.offsets)
    matches = np.bincount(np.repeat(np.arange(len(lengths)), lengths), known[targets.ids], len(lengths))
    usable = [entry for entry, fits in zip(written, (matches == lengths) & (lengths > 0), strict=True) if fits]
    first, second = (tokenize_texts([entry[side] for entry in usable], tokenizers[side]) for side in (0, 1))
    return first, second


def _known(texts: TokenizedTexts, entries: TokenizedTexts, unknown: bool) -> _Side:
    counts = np.bincount(texts.ids, minlength=len(texts.terms))
    often = {term for term, count in zip(texts.terms, counts.tolist(), strict=True) if count >= _SEEN}
    words = sorted(often | set(entries.terms), key=lambda word: word.encode("utf-8", "surrogatepass"))
    number_of = {word: number for number, word in enumerate(words)}
    rest = len(words) if unknown else -1
    return _Side(words, _numbered(texts, number_of, rest), _numbered(entries, number_of, rest))


def _numbered(texts: TokenizedTexts, number_of: dict[str, int], rest: int) -> Numbered:
    numbers = np.fromiter((number_of.get(term, rest) for term in texts.terms), np.int32, len(texts.terms))
    ids: Ids = numbers[texts.ids] if len(numbers) else np.zeros(0, np.int32)
    kept = ids >= 0
    return Numbered(ids[kept], np.append(0, np.cumsum(kept))[texts.offsets])


def _taken(side: _Side, step: int) -> TokenizedTexts:
    """Texts and entries as one list; of very many texts every n-th, the others are empty."""
    used: NDArray[np.bool_] = np.repeat(np.arange(len(side.texts.offsets) - 1) % step == 0, np.diff(side.texts.offsets))
    offsets: Numbers = np.append(0, np.cumsum(used))[side.texts.offsets]
    ids = np.concatenate([side.texts.ids[used], side.entries.ids])
    return TokenizedTexts(
        [*side.words, ""], ids, np.concatenate([offsets, offsets[-1] + side.entries.offsets[1:]]).astype(np.int64)
    )
