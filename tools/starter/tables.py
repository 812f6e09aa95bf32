"""A table of word translations from pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sources import Pair

from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.word_alignment import WordPairs, align_words
from isogloss.translation.word_tables import WordTable, best_pairs, pack_table

_SEEN = 2  # pairs of texts that a word pair stands in; one is enough in a name of CLDR
_MOST = 5  # translations of a word, in each direction
_LEAST = 0.03  # P of a translation in one of the directions
_WINDOW = 6  # words: texts are short, and 20 find nothing more
_BLOCK = 5_000  # pairs of texts
_HASHES = 2**23 - 15


def make_table(pairs: Sequence[Pair], language: str, largest: int | None = None) -> WordTable:
    """The table of English and a language; with ``largest``, fewer pairs if its file would have more bytes."""
    english = tokenize_texts([pair.english for pair in pairs], Tokenizer("en", stems=True), processes=1)
    other = tokenize_texts([pair.other for pair in pairs], Tokenizer(language, stems=True), processes=1)
    found = _pruned(align_words(english, other, window=_WINDOW), _LEAST)
    names = np.asarray([pair.source == "cldr" for pair in pairs])
    found = _kept(found, _together(english, other, found, names) >= _SEEN)
    table, least = _table(found, english, other), _LEAST
    while largest is not None and len(pack_table(table)) > largest:
        least *= 1.5
        table = _table(_pruned(found, least), english, other)
    return table


def _pruned(pairs: WordPairs, least: float) -> WordPairs:
    """The best translations of each word, in either direction."""
    forward = best_pairs(pairs.sources, pairs.forward, _MOST, least)
    backward = best_pairs(pairs.targets, pairs.backward, _MOST, least)
    return _kept(pairs, forward | backward)


def _kept(pairs: WordPairs, which: NDArray[np.bool_]) -> WordPairs:
    return WordPairs(pairs.sources[which], pairs.targets[which], pairs.forward[which], pairs.backward[which])


def _together(
    english: TokenizedTexts, other: TokenizedTexts, pairs: WordPairs, names: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """In how many pairs of texts each word pair stands; a name counts twice."""
    width = len(other.terms)
    wanted = pairs.sources.astype(np.int64) * width + pairs.targets
    perhaps = np.zeros(_HASHES, dtype=np.bool_)  # most pairs of words are not wanted: a quick look tells
    perhaps[wanted % _HASHES] = True
    counts = np.zeros(len(wanted), dtype=np.int64)
    (ids, lengths), (other_ids, other_lengths) = _distinct(english), _distinct(other)
    starts, other_starts = np.cumsum(lengths) - lengths, np.cumsum(other_lengths) - other_lengths
    for first in range(0, len(english), _BLOCK):
        texts = slice(first, first + _BLOCK)
        own, others = lengths[texts], other_lengths[texts]
        token = np.arange(own.sum()) + starts[first]  # each meets all of the other text
        text = np.repeat(np.arange(len(own)), own)
        meetings = others[text]
        before = np.cumsum(meetings) - meetings
        partner = np.arange(meetings.sum()) + np.repeat(other_starts[texts][text] - before, meetings)
        keys = np.repeat(ids[token] * width, meetings) + other_ids[partner]
        times = np.repeat((1 + names[texts])[text], meetings)
        hits = perhaps[keys % _HASHES]
        keys, times = keys[hits], times[hits]
        place = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
        counts += np.bincount(place, times * (wanted[place] == keys), len(wanted)).astype(np.int64)
    return counts


def _distinct(texts: TokenizedTexts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct words of each text, one text after another, and how many each has."""
    text = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
    keys = np.unique(text * len(texts.terms) + texts.ids)
    return keys % len(texts.terms), np.bincount(keys // len(texts.terms), minlength=len(texts))


def _table(pairs: WordPairs, english: TokenizedTexts, other: TokenizedTexts) -> WordTable:
    """Only the words that are in a pair, in the order of their bytes."""
    sides = []
    for texts, ids in ((english, pairs.sources), (other, pairs.targets)):
        used = sorted(np.unique(ids).tolist(), key=lambda number: texts.terms[number].encode())
        numbers = np.zeros(len(texts.terms), dtype=np.int32)
        numbers[used] = np.arange(len(used))
        counts = np.bincount(texts.ids, minlength=len(texts.terms))[used].astype(np.float32)
        sides.append(([texts.terms[number] for number in used], numbers[ids], counts))
    (words, queries, query_counts), (others, documents, document_counts) = sides
    order = np.lexsort((documents, queries))
    return WordTable(
        words,
        others,
        queries[order],
        documents[order],
        pairs.forward[order].astype(np.float32),
        pairs.backward[order].astype(np.float32),
        query_counts,
        document_counts,
    )
