"""Long texts as overlapping windows of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.text.batches import TermTable, TokenizedTexts, tokenize_texts
from isogloss.text.ids import running_sum
from isogloss.text.positions import PlacedWords, placed_words
from isogloss.text.tokenizer import Tokenizer, token_spans

Span = tuple[int, int]
"""Where a stretch of text begins and ends, in characters."""
Numbers = NDArray[np.int64]
Spans = NDArray[np.int32]


class CutTexts(NamedTuple):
    """Texts cut into passages: how many each has, where each begins and ends in its text, and the terms of each."""

    counts: Numbers
    spans: Spans
    terms: TokenizedTexts


class _Windows(NamedTuple):
    """Windows over the words of some texts: how many a text has, the first word and the number of words of each."""

    counts: Numbers
    firsts: Numbers
    sizes: Numbers


def passage_spans(text: str, words: int, step: int = 0) -> list[Span]:
    """Windows of ``words`` words, one every ``step`` words (by default half a window), as places in the text.

    A text has at least one; the last ends with the text's last word and is as long as the others, if there are as many
    words. So all count alike, and none is the tail end of the one before it.

    >>> text = "To be, or not to be: that is the question."
    >>> [text[begin:end] for begin, end in passage_spans(text, 4)]
    ['To be, or not', 'or not to be', 'to be: that is', 'that is the question']
    >>> passage_spans("", 4)
    [(0, 0)]
    """
    spans = token_spans(text)
    if len(spans) <= words:
        return [(0, len(text))]
    last = len(spans) - words
    starts = [*range(0, last, step or max(1, words // 2)), last]
    return [(spans[start][0], spans[start + words - 1][1]) for start in starts]


def passages_of_texts(texts: Sequence[str], words: int, label: str = "cutting passages") -> tuple[Numbers, Spans]:
    """How many passages each of many texts has, and the ``passage_spans`` of all of them.

    >>> counts, spans = passages_of_texts(["to be or not", "to be"], 2)
    >>> counts.tolist(), spans.tolist()
    ([3, 1], [[0, 5], [3, 8], [6, 12], [0, 5]])
    """
    counts, spans = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int32)]
    for own, stretch in _stretches(texts, placed_words(texts, label)):
        windows = _windows(stretch, words)
        counts.append(windows.counts)
        spans.append(_spans(own, stretch, windows))
    return np.concatenate(counts), np.concatenate(spans)


def cut_texts(texts: Sequence[str], words: int, tokenizer: Tokenizer, label: str = "tokenising") -> CutTexts:
    """The passages of many texts, tokenised; with 0 ``words`` the texts are not cut.

    Each text is tokenised once, as a whole, and its passages are windows of what was found: a word at the edge of a
    passage is the word that it is in its text, also where words are not spaced.
    """
    if not words:
        ends = np.fromiter(map(len, texts), np.int32, len(texts))
        whole = np.stack([np.zeros_like(ends), ends], axis=1)
        return CutTexts(np.ones(len(texts), np.int64), whole, tokenize_texts(texts, tokenizer, label=label))
    counts, spans = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int32)]

    def cut() -> Iterator[tuple[list[str], NDArray[np.int32], Numbers]]:
        for own, stretch in _stretches(texts, placed_words(texts, label)):
            windows = _windows(stretch, words)
            counts.append(windows.counts)
            spans.append(_spans(own, stretch, windows))
            offsets = running_sum([windows.sizes])
            places = np.arange(offsets[-1]) + np.repeat(windows.firsts - offsets[:-1], windows.sizes)
            yield stretch.new, stretch.ids[places], offsets

    terms = TermTable(tokenizer).texts(cut())
    return CutTexts(np.concatenate(counts), np.concatenate(spans), terms)


def _stretches(texts: Sequence[str], stretches: Iterator[PlacedWords]) -> Iterator[tuple[Sequence[str], PlacedWords]]:
    """The texts of each stretch, and their words."""
    first = 0
    for stretch in stretches:
        yield texts[first : first + len(stretch)], stretch
        first += len(stretch)


def _windows(stretch: PlacedWords, words: int) -> _Windows:
    """Of ``passage_spans``, for all texts at once."""
    step, lengths = max(1, words // 2), np.diff(stretch.offsets)
    last = np.maximum(0, lengths - words)
    counts = -(-last // step) + 1
    starts = running_sum([counts])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    firsts = np.minimum(place * step, np.repeat(last, counts)) + np.repeat(stretch.offsets[:-1], counts)
    return _Windows(counts, firsts, np.repeat(np.minimum(words, lengths), counts))


def _spans(texts: Sequence[str], stretch: PlacedWords, windows: _Windows) -> Spans:
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    spans = np.stack([np.zeros_like(windows.firsts), np.repeat(lengths, windows.counts)], axis=1).astype(np.int32)
    cut = np.flatnonzero(np.repeat(windows.counts > 1, windows.counts))
    first = windows.firsts[cut]
    spans[cut] = np.stack([stretch.begins[first], stretch.ends[first + windows.sizes[cut] - 1]], axis=1)
    return spans
