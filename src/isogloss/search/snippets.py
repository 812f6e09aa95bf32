"""Snippets and reasons: the span of a document that shows why it was found, and the words that matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from isogloss.data.documents import Document
from isogloss.search.hits import Hit
from isogloss.search.searcher import Searcher
from isogloss.systems.base import Contribution
from isogloss.text.passages import Span
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans, tokenize

OTHER_WORDS = "(other words)"
_MARKS = re.compile(r"^(?:#{1,6}(?=[ \t])|```[^\n]*+|-(?= ))", re.MULTILINE)
"""What makes a line a heading, code or an item of a list."""
_AROUND = 1_000  # characters before and after a passage that are read
_MOST_CHARACTERS = 20_000  # of a document without a known passage are searched for a window
_MOST_EXPLAINED = 200_000  # of a document are searched for the words of an explanation
_PARTS = 10  # a query may be a whole document: only what counted most is shown


@dataclass(frozen=True)
class Snippet:
    """A span of text, the positions of the matching words in it, and those words as they are written.

    ``span`` is where it begins and ends in the whole text.
    """

    text: str
    marks: tuple[tuple[int, int], ...]
    words: tuple[str, ...]
    span: Span = (0, 0)


def make_snippet(text: str, is_match: Callable[[str], bool], width: int = 30, passage: Span | None = None) -> Snippet:
    """The first window of ``width`` words with the most different matching words, moved to centre them.

    Where the system knows the best passage, the window lies within it; a shorter passage is shown whole. Of a long text
    only what is around the passage is read.
    """
    cut, end = (0, len(text)) if passage is None else (max(0, passage[0] - _AROUND), passage[1] + _AROUND)
    near = _MARKS.sub(lambda found: " " * len(found[0]), text[cut:end])  # as many characters: positions stay
    text = f"{text[:cut]}{near}{text[end:]}"
    spans = [(cut + begin, cut + after, token) for begin, after, token in token_spans(near)]
    low, high = _words_within(spans, passage)
    matched = [token if is_match(token) else None for _, _, token in spans[low:high]]
    start = low + _best_start(matched, width)
    window = spans[start : min(start + width, high)]
    if not window:
        return Snippet(near, (), (), (cut, cut + len(near)))
    first = 0 if start == cut == 0 else window[0][0]
    last = len(text) if window[-1] is spans[-1] and end >= len(text) else window[-1][1]
    shown = [(b, e) for (b, e, _), token in zip(window, matched[start - low :], strict=False) if token is not None]
    before, after = "… " if first else "", " …" if last < len(text) else ""
    shift = len(before) - first
    return Snippet(
        before + text[first:last] + after,
        tuple((begin + shift, end + shift) for begin, end in shown),
        tuple(dict.fromkeys(text[begin:end] for begin, end in shown)),
        (first, last),
    )


def passage_of_text(passage: Span | None, indexed: str, text: str) -> Span | None:
    """A passage of the indexed text, which may begin with a title, as a passage of the text at its end.

    >>> passage_of_text((0, 12), "Sea The sea is salt.", "The sea is salt.")
    (0, 8)
    """
    if passage is None or not indexed.endswith(text):
        return None
    begin, end = (max(0, position - (len(indexed) - len(text))) for position in passage)
    return (begin, end) if end else None


def _words_within(spans: list[tuple[int, int, str]], passage: Span | None) -> tuple[int, int]:
    """The first word of a passage and the one after its last; all words without a passage, or with an empty one."""
    if passage is None:
        return 0, len(spans)
    inside = [number for number, (begin, end, _) in enumerate(spans) if passage[0] <= begin and end <= passage[1]]
    return (inside[0], inside[-1] + 1) if inside else (0, len(spans))


def _best_start(matched: list[str | None], width: int) -> int:
    best, best_start = -1, 0
    for start in range(max(1, len(matched) - width + 1)):
        if start and matched[start - 1] is None and matched[min(start + width, len(matched)) - 1] is None:
            continue  # it has neither lost nor gained a match
        different = len({token for token in matched[start : start + width] if token is not None})
        if different > best:
            best, best_start = different, start
    return _centred(matched, best_start, width)


def _centred(matched: list[str | None], start: int, width: int) -> int:
    """The first best window ends with a match: move it so that its matches stand in the middle."""
    positions = [number for number in range(start, min(start + width, len(matched))) if matched[number] is not None]
    if not start or not positions:
        return 0
    room = width - (positions[-1] - positions[0] + 1)
    return max(0, min(positions[0] - room // 2, len(matched) - width))


def surface_words(text: str, terms: Collection[str], to_term: Callable[[str], str | None]) -> tuple[str, ...]:
    """The words of a text, as they are written, that have one of these terms."""
    return tuple(word for word, term in _terms_of_words(text, to_term).items() if term in terms)


def _terms_of_words(text: str, to_term: Callable[[str], str | None]) -> dict[str, str | None]:
    """The words of a text, as they are written, in their order, and the term of each."""
    tokens = {text[begin:end]: token for begin, end, token in token_spans(text)}
    return {word: to_term(token) for word, token in tokens.items()}


def told(parts: Sequence[Contribution], query_language: str) -> list[Contribution]:
    """An explanation whose lines all say something; the others are added up in one line at the end.

    Lines say nothing that are of stop words, or of words that match none. Remarks, in parentheses, are kept.
    """
    kept = content_parts(parts, query_language)
    rest = [part for part in parts if part not in kept]
    return [*kept, *([Contribution(OTHER_WORDS, (), sum(part.score for part in rest))] if rest else [])]


def content_parts(parts: Sequence[Contribution], query_language: str) -> list[Contribution]:
    """The lines of an explanation that say something; those of stop words do where there are no others."""
    matching = [part for part in parts if part.document_words]
    content = [part for part in matching if not is_stop_word(part.query_word, query_language)] or matching
    return [part for part in parts if part in content or part.query_word.startswith("(")]


def is_stop_word(words: str, language: str) -> bool:
    """Whether words of a query are stop words, all of them."""
    tokens = tokenize(words)
    return bool(tokens) and stop_words(language).issuperset(tokens)


def without_stop_words(words: Sequence[str], language: str) -> tuple[str, ...]:
    """Words of a document that are no stop words; all where there are no others."""
    return tuple(word for word in words if not is_stop_word(word, language)) or tuple(words)


def content_words(query: str, language: str) -> list[str]:
    """The words of a query that are no stop words; all where there are no others."""
    words = tokenize(query)
    return [word for word in words if word not in stop_words(language)] or words


class Reason(NamedTuple):
    """A word of the query, the matching words as the document writes them, and their part of the score."""

    query_word: str
    document_words: tuple[str, ...]
    score: float

    @property
    def different_words(self) -> list[str]:
        """The words; of those that differ by capitals alone the first.

        >>> Reason("sea", ("Mer", "mer", "mers"), 1.0).different_words
        ['Mer', 'mers']
        """
        first = dict[str, str]()
        for word in self.document_words:
            first.setdefault(word.casefold(), word)
        return [*first.values()]


def reasons_of(
    searcher: Searcher, language: str, document: Document, parts: Sequence[Contribution], reranked: bool = False,
    shown: str = "",
) -> list[Reason]:  # fmt: skip
    """An explanation, of the re-ranker if ``reranked``, with words as the document writes them.

    Those of ``shown``, the part of the document that is shown, come first.
    """
    text = f"{shown} {document.title} {document.text[:_MOST_EXPLAINED]}"
    terms = _terms_of_words(text, searcher.term_of(language, reranked))
    found = []
    for part in told(parts, searcher.query_language):
        words = tuple(word for word, term in terms.items() if term in part.document_words) or part.document_words
        found.append(Reason(part.query_word, without_stop_words(words, language), float(part.score)))
    return found


def snippet_of(searcher: Searcher, hit: Hit, is_match: Callable[[str], bool]) -> Snippet:
    """A snippet of the best passage, or else of the text's best window."""
    text = hit.document.text
    passage = passage_of_text(hit.passage, searcher.text_of(hit.document), text)
    return make_snippet(text if passage else text[:_MOST_CHARACTERS], is_match, passage=passage)


def translated_terms(
    words: Sequence[str], translations: Sequence[tuple[str, Sequence[str]]], term_of: Callable[[str], str | None]
) -> frozenset[str | None]:
    """The terms of the translations of some words of a query, and of those words that have none.

    Translations may be terms already: a stem has another stem in some languages.
    """
    wanted = [(tokenize(word), others) for word, others in translations]
    wanted = [(tokens, others) for tokens, others in wanted if not {*tokens}.isdisjoint(words)]
    known = {token for tokens, _ in wanted for token in tokens}
    found = [word for _, others in wanted for other in others for word in tokenize(other)]
    terms = map(term_of, [*found, *(word for word in words if word not in known)])
    return frozenset([*found, *terms]) - {None}


class SnippetMaker:
    """Makes the snippets of the hits of one query.

    They show the words of the explanation, where there is one, or else the translations of the query's words:
    explaining a hit can take longer than finding it.
    """

    def __init__(self, searcher: Searcher, query: str, query_language: str | None = None) -> None:
        self._any, self._query, self._query_language = searcher, query, query_language
        self._translated = cache(self._translated_terms)

    @cached_property
    def _searcher(self) -> Searcher:
        return self._any.for_query(self._query, self._query_language)

    def __call__(self, hit: Hit) -> Snippet:
        """The snippet of a hit."""
        parts = content_parts(hit.explanation, self._searcher.query_language)[:_PARTS]
        terms: Collection[str | None] = {term for part in parts for term in part.document_words}
        term_of = self._searcher.term_of(hit.language, hit.reranked and bool(hit.explanation))
        terms, stops = terms or self._translated(hit.language), stop_words(hit.language)
        return snippet_of(self._searcher, hit, lambda token: token not in stops and term_of(token) in terms)

    def _translated_terms(self, language: str) -> frozenset[str | None]:
        translations = self._searcher.translations(self._query, [language])[language]
        words = content_words(self._query, self._searcher.query_language)
        return translated_terms(words, translations, self._searcher.term_of(language))
