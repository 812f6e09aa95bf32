"""The stretch of a document that shows why it was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isogloss.data.documents import Document
from isogloss.search.hits import Hit
from isogloss.search.searcher import Searcher
from isogloss.systems.base import Contribution
from isogloss.text.passages import Span
from isogloss.text.tokenizer import token_spans


@dataclass(frozen=True)
class Snippet:
    """A stretch of text, the places of the words that matched in it, and those words as they are written."""

    text: str
    marks: tuple[tuple[int, int], ...]
    words: tuple[str, ...]


def make_snippet(text: str, is_match: Callable[[str], bool], width: int = 30, passage: Span | None = None) -> Snippet:
    """The window of ``width`` words with the most different matching words (first of equals), they in its middle.

    Where the system knows the best passage, the window lies within it; a passage that is no longer is shown whole.
    """
    spans = token_spans(text)
    low, high = _words_within(spans, passage)
    matched = [token if is_match(token) else None for _, _, token in spans[low:high]]
    start = low + _best_start(matched, width)
    window = spans[start : min(start + width, high)]
    if not window:
        return Snippet(text, (), ())
    first = 0 if start == 0 else window[0][0]
    last = len(text) if window[-1] is spans[-1] else window[-1][1]
    shown = [(b, e) for (b, e, _), token in zip(window, matched[start - low :], strict=False) if token is not None]
    before, after = "… " if first else "", " …" if last < len(text) else ""
    shift = len(before) - first
    return Snippet(
        before + text[first:last] + after,
        tuple((begin + shift, end + shift) for begin, end in shown),
        tuple(dict.fromkeys(text[begin:end] for begin, end in shown)),
    )


def passage_of_text(passage: Span | None, indexed: str, text: str) -> Span | None:
    """A passage of what was indexed, which may begin with a title, as a passage of the text at its end.

    >>> passage_of_text((0, 12), "Sea The sea is salt.", "The sea is salt.")
    (0, 8)
    """
    if passage is None or not indexed.endswith(text):
        return None
    begin, end = (max(0, place - (len(indexed) - len(text))) for place in passage)
    return (begin, end) if end else None


def _words_within(spans: list[tuple[int, int, str]], passage: Span | None) -> tuple[int, int]:
    """The first word of a passage and the one after its last; all words where there is no passage, or no word in it."""
    if passage is None:
        return 0, len(spans)
    inside = [number for number, (begin, end, _) in enumerate(spans) if passage[0] <= begin and end <= passage[1]]
    return (inside[0], inside[-1] + 1) if inside else (0, len(spans))


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


# What is shown of a hit: the stretch of its text that tells why it was found, and the words that met.

_MOST_LETTERS = 20_000  # where nothing says which passage of a long document it is, it is looked for in so much of it


class Reason(NamedTuple):
    """A word of the query, the words it met as the document writes them, and what they added to the score."""

    query_word: str
    document_words: tuple[str, ...]
    score: float


def reasons_of(
    searcher: Searcher, language: str, document: Document, parts: Sequence[Contribution], reranked: bool = False
) -> list[Reason]:
    """An explanation, of the re-ranker if ``reranked``, in the words of the document."""
    term_of = searcher.term_of(language, reranked)
    text = f"{document.title} {document.text}"
    return [
        Reason(
            part.query_word,
            surface_words(text, set(part.document_words), term_of) or part.document_words,
            float(part.score),
        )
        for part in parts
    ]


def snippet_of(searcher: Searcher, hit: Hit, is_match: Callable[[str], bool]) -> Snippet:
    """The passage that was found, or else the stretch with the most words that match."""
    text = hit.document.text
    passage = passage_of_text(hit.passage, searcher.text_of(hit.document), text)
    if passage is None or passage[1] <= _MOST_LETTERS:
        text = text[:_MOST_LETTERS]
    return make_snippet(text, is_match, passage=passage)
