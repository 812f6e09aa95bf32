"""Long texts as overlapping windows of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.text.batches import TermTable, TokenizedTexts, tokenize_texts
from isogloss.text.ids import running_sum
from isogloss.text.positions import WordPositions, word_positions
from isogloss.text.tokenizer import Tokenizer, token_spans

Span = tuple[int, int]
"""Where a passage begins and ends in its text, in characters."""
Numbers = NDArray[np.int64]
Spans = NDArray[np.int32]


class CutTexts(NamedTuple):
    """Texts cut into passages: the terms of each text, and the span of each of its ``windows``."""

    terms: TokenizedTexts
    spans: Spans


class Windows(NamedTuple):
    """Windows over the words of some texts: their number in each text, and the first word and the size of each."""

    counts: Numbers
    firsts: Numbers
    sizes: Numbers


def passage_spans(text: str, words: int, step: int = 0) -> list[Span]:
    """Windows of ``words`` words, one every ``step`` words (by default half a window), as spans of the text.

    A text has at least one. The last one ends with the text's last word and is as long as the others if the text has
    enough words.

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
    """The number of passages of each of many texts, and the ``passage_spans`` of all of them.

    >>> counts, spans = passages_of_texts(["to be or not", "to be"], 2)
    >>> counts.tolist(), spans.tolist()
    ([3, 1], [[0, 5], [3, 8], [6, 12], [0, 5]])
    """
    return _concatenated([(found.counts, spans) for _, found, spans in _cut(texts, words, label)])


def cut_texts(texts: Sequence[str], words: int, tokenizer: Tokenizer, label: str = "tokenising") -> CutTexts:
    """Tokenised texts and the spans of their passages; with 0 ``words`` the texts are not cut.

    Each text is tokenised once, as a whole, and its passages are windows over its tokens: a word at the edge of a
    passage is the same word as in its text, in scripts without spaces too.
    """
    if not words:
        ends = np.fromiter(map(len, texts), np.int32, len(texts))
        whole = np.stack([np.zeros_like(ends), ends], axis=1)
        return CutTexts(tokenize_texts(texts, tokenizer, label=label), whole)
    cut: list[Spans] = [np.zeros((0, 2), np.int32)]

    def numbered() -> Iterator[tuple[list[str], NDArray[np.int32], Numbers]]:
        for chunk, _, spans in _cut(texts, words, label):
            cut.append(spans)
            yield chunk.new, chunk.ids, chunk.offsets

    terms = TermTable(tokenizer).texts(numbered())
    return CutTexts(terms, np.concatenate(cut))


def windows(offsets: Numbers, words: int) -> Windows:
    """Those of ``passage_spans``, for all texts at once; ``offsets``: where the words of each text begin."""
    step, lengths = max(1, words // 2), np.diff(offsets)
    last = np.maximum(0, lengths - words) if words else np.zeros_like(lengths)
    counts = -(-last // step) + 1
    starts = running_sum([counts])
    number = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    firsts = np.minimum(number * step, np.repeat(last, counts)) + np.repeat(offsets[:-1], counts)
    return Windows(counts, firsts, np.repeat(np.minimum(words or lengths, lengths), counts))


def _cut(texts: Sequence[str], words: int, label: str) -> Iterator[tuple[WordPositions, Windows, Spans]]:
    """The words of one chunk of texts after another, their windows, and the spans of these."""
    first = 0
    for chunk in word_positions(texts, label):
        found = windows(chunk.offsets, words)
        yield chunk, found, _spans(texts[first : first + len(chunk)], chunk, found)
        first += len(chunk)


def _concatenated(cut: Sequence[tuple[Numbers, Spans]]) -> tuple[Numbers, Spans]:
    counts = np.concatenate([np.zeros(0, np.int64), *(counts for counts, _ in cut)])
    return counts, np.concatenate([np.zeros((0, 2), np.int32), *(spans for _, spans in cut)])


def _spans(texts: Sequence[str], chunk: WordPositions, found: Windows) -> Spans:
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    spans = np.stack([np.zeros_like(found.firsts), np.repeat(lengths, found.counts)], axis=1).astype(np.int32)
    cut = np.flatnonzero(np.repeat(found.counts > 1, found.counts))
    first = found.firsts[cut]
    spans[cut] = np.stack([chunk.begins[first], chunk.ends[first + found.sizes[cut] - 1]], axis=1)
    return spans
