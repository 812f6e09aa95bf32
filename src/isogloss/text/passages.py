"""Long texts as overlapping windows of words."""

from __future__ import annotations

from isogloss.text.tokenizer import token_spans

Span = tuple[int, int]
"""Where a stretch of text begins and ends, in characters."""


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
