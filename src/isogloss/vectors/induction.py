"""Bilingual lexicons from pairs of texts that translate each other.

Words are aligned in both directions (:mod:`isogloss.vectors.word_alignment`), and a translation has to hold in both:

    g(s, t) = sqrt(p(t | s) p(s | t))

The best translations of a word by g are kept, and their probability is g, made to add up to 1. p(t | s) itself would
be the obvious choice, but it gives common words a share of everything they stand beside, and search with it is worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.base.errors import InputError
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.stopwords import stop_words
from isogloss.vectors.lexicon import Lexicon
from isogloss.vectors.word_alignment import Floats, Ids, WordPairs, align_words


def induce_lexicon(
    pairs: Sequence[tuple[str, str]],
    languages: tuple[str | None, str | None] = (None, None),
    *,
    minimum_count: int = 2,
    maximum_translations: int = 10,
    minimum_probability: float = 0.03,
    drop_stop_words: bool = False,
    iterations: int = 5,
    window: int = 20,
    maximum_words: int = 3_000_000,
) -> Lexicon:
    """The lexicon of pairs of texts (source, target): the most frequent word first, its best translation first.

    Words seen fewer than ``minimum_count`` times take no part, nor do the stop words of the ``languages`` if they are
    to be dropped. The order of the pairs does not matter. Where the longer side has more than ``maximum_words``, only
    every n-th pair is used: that bounds the memory, at about 500 bytes a word.
    """
    if not pairs:
        raise InputError("induction: no pairs of texts to learn a lexicon from")
    ordered = sorted(pairs)  # equal pairs give equal sums, to the last bit
    sides = [tokenize_texts([pair[side] for pair in ordered]) for side in (0, 1)]
    step = -(-max(len(side.ids) for side in sides) // max(1, maximum_words)) or 1
    dropped = [stop_words(language) if drop_stop_words else () for language in languages]
    source, target = (
        _taking_part(side, step, minimum_count, stops) for side, stops in zip(sides, dropped, strict=True)
    )
    found = _best(align_words(source, target, iterations, window), maximum_translations, minimum_probability)
    lexicon = Lexicon(_entries(found, source, target))
    if not len(lexicon):
        what = f"no word is seen {minimum_count} times beside another in {len(pairs):,} pairs of texts"
        raise InputError(f"induction: {what}; give more of them or a lower minimum count")
    return lexicon


def _taking_part(texts: TokenizedTexts, step: int, minimum_count: int, dropped: Iterable[str]) -> TokenizedTexts:
    """Every n-th text, without words that are rare or dropped; the others are left, empty."""
    text = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
    used = text % step == 0
    frequent = np.bincount(texts.ids[used], minlength=len(texts.terms)) >= minimum_count
    number_of = {term: number for number, term in enumerate(texts.terms)}
    frequent[[number_of[word] for word in dropped if word in number_of]] = False
    used &= frequent[texts.ids]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.bincount(text[used], minlength=len(texts)), out=offsets[1:])
    return TokenizedTexts(texts.terms, texts.ids[used], offsets)


def _best(pairs: WordPairs, maximum: int, minimum: float) -> tuple[Ids, Ids, Floats]:
    """Source ids, target ids and probabilities of the translations that are kept, the best of each source first."""
    score = np.sqrt(pairs.forward * pairs.backward)
    order = np.lexsort((pairs.targets, -score, pairs.sources))
    sources = pairs.sources[order]
    rank = np.arange(len(order)) - np.searchsorted(sources, sources)
    order = order[(rank < maximum) & (score[order] > 0)]
    order = order[_shares(pairs.sources[order], score[order]) >= minimum]
    return pairs.sources[order], pairs.targets[order], _shares(pairs.sources[order], score[order])


def _shares(sources: Ids, score: Floats) -> Floats:
    """The scores of each source made to add up to 1."""
    shares: Floats = score / np.bincount(sources, score)[sources]
    return shares


def _entries(
    found: tuple[Ids, Ids, Floats], source: TokenizedTexts, target: TokenizedTexts
) -> Iterator[tuple[str, str, float]]:
    """Lines of a lexicon, by falling frequency of the source word, then by the word."""
    counts = np.bincount(source.ids, minlength=len(source.terms)).tolist()
    lines = zip(*(array.tolist() for array in found), strict=True)
    for word, translation, probability in sorted(lines, key=lambda line: (-counts[line[0]], source.terms[line[0]])):
        yield source.terms[word], target.terms[translation], probability
