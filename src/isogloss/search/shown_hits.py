"""What is shown of a hit: the stretch of its text that tells why it was found, and the words that met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from isogloss.corpus.records import Document
from isogloss.evaluation.system import Contribution
from isogloss.search.engine import Engine
from isogloss.search.hits import Hit
from isogloss.search.snippets import Snippet, make_snippet, passage_of_text, surface_words

_MOST_LETTERS = 20_000  # where nothing says which passage of a long document it is, it is looked for in so much of it


class Reason(NamedTuple):
    """A word of the query, the words it met as the document writes them, and what they added to the score."""

    query_word: str
    document_words: tuple[str, ...]
    score: float


def reasons_of(
    engine: Engine, language: str, document: Document, parts: Sequence[Contribution], reranked: bool = False
) -> list[Reason]:
    """An explanation, of the re-ranker if ``reranked``, in the words of the document."""
    term_of = engine.term_of(language, reranked)
    text = f"{document.title} {document.text}"
    return [
        Reason(
            part.query_word,
            surface_words(text, set(part.document_words), term_of) or part.document_words,
            float(part.score),
        )
        for part in parts
    ]


def snippet_of(engine: Engine, hit: Hit, is_match: Callable[[str], bool]) -> Snippet:
    """The passage that was found, or else the stretch with the most words that match."""
    text = hit.document.text
    passage = passage_of_text(hit.passage, engine.text_of(hit.document), text)
    if passage is None or passage[1] <= _MOST_LETTERS:
        text = text[:_MOST_LETTERS]
    return make_snippet(text, is_match, passage=passage)
