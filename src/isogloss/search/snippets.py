"""The stretch of a document that shows why it was found."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from isogloss.text.tokenizer import token_spans


@dataclass(frozen=True)
class Snippet:
    """A stretch of text, the places of the words that matched in it, and those words as they are written."""

    text: str
    marks: tuple[tuple[int, int], ...]
    words: tuple[str, ...]


def make_snippet(text: str, is_match: Callable[[str], bool], width: int = 30) -> Snippet:
    """The window of ``width`` words with the most different matching words (first of equals), they in its middle."""
    spans = token_spans(text)
    hits = [is_match(token) for _, _, token in spans]
    start = _best_start([token if hit else None for (_, _, token), hit in zip(spans, hits, strict=True)], width)
    window = spans[start : start + width]
    if not window:
        return Snippet(text, (), ())
    first = 0 if start == 0 else window[0][0]
    last = len(text) if start + width >= len(spans) else window[-1][1]
    shown = [(b, e) for (b, e, _), hit in zip(window, hits[start:], strict=False) if hit]
    before, after = "… " if first else "", " …" if last < len(text) else ""
    shift = len(before) - first
    return Snippet(
        before + text[first:last] + after,
        tuple((begin + shift, end + shift) for begin, end in shown),
        tuple(dict.fromkeys(text[begin:end] for begin, end in shown)),
    )


def _best_start(matched: list[str | None], width: int) -> int:
    best, best_start = -1, 0
    for start in range(max(1, len(matched) - width + 1)):
        if start and matched[start - 1] is None and matched[min(start + width, len(matched)) - 1] is None:
            continue  # neither lost nor won a match: as good as the window before
        different = len({token for token in matched[start : start + width] if token is not None})
        if different > best:
            best, best_start = different, start
    return _centred(matched, best_start, width)


def _centred(matched: list[str | None], start: int, width: int) -> int:
    """The first best window ends with a match: move it so that what it holds of matches stands in its middle."""
    places = [place for place in range(start, min(start + width, len(matched))) if matched[place] is not None]
    if not start or not places:
        return 0
    room = width - (places[-1] - places[0] + 1)
    return max(0, min(places[0] - room // 2, len(matched) - width))


def surface_words(text: str, terms: Collection[str], to_term: Callable[[str], str | None]) -> tuple[str, ...]:
    """The words of a text, as they are written, whose terms are among the given ones."""
    spans = token_spans(text)
    return tuple(dict.fromkeys(text[begin:end] for begin, end, token in spans if to_term(token) in terms))
