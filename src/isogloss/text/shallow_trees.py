"""A shallow tree for texts that no parser has read: clauses over phrases over tags over words.

    ROOT -> CLAUSE,    CLAUSE -> PHRASE | LINK,    PHRASE -> CONTENT | NUMBER,    LINK -> STOP,    a tag -> its word

Punctuation ends a clause. In it a phrase is a run of words that are no stop words, a link a run of stop words. The
labels are the same for all languages, so that trees of two languages can be compared. A language without a list of
stop words has one phrase a clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans
from isogloss.text.trees import ROOT, Tree


class _Word(NamedTuple):
    """A word, the number of the clause it stands in, and whether it is a stop word."""

    token: str
    clause: int
    is_stop: bool


def shallow_tree(text: str, language: str | None) -> Tree:
    """The shallow tree of a text.

    >>> print(shallow_tree("What is life insurance, 50 years on?", "en"))
    (ROOT (CLAUSE (LINK (STOP what) (STOP is)) (PHRASE (CONTENT life) (CONTENT insurance)))
     (CLAUSE (PHRASE (NUMBER 50) (CONTENT years)) (LINK (STOP on))))
    """
    words = _words(text, language)
    clauses = (tuple(map(_phrase, _runs(clause))) for _, clause in groupby(words, key=lambda word: word.clause))
    return Tree(ROOT, tuple(Tree("CLAUSE", clause) for clause in clauses))


def _runs(words: Iterable[_Word]) -> Iterator[list[_Word]]:
    return (list(run) for _, run in groupby(words, key=lambda word: word.is_stop))


def _phrase(words: list[_Word]) -> Tree:
    label = "LINK" if words[0].is_stop else "PHRASE"
    return Tree(label, tuple(Tree(_tag(word), (Tree(word.token),)) for word in words))


def _tag(word: _Word) -> str:
    if word.is_stop:
        return "STOP"
    return "NUMBER" if word.token[0].isdecimal() else "CONTENT"


def _words(text: str, language: str | None) -> Iterator[_Word]:
    stops, clause, last = stop_words(language), 0, 0
    for start, end, token in token_spans(text):
        clause += any(not character.isspace() for character in text[last:start])
        last = max(last, end)
        yield _Word(token, clause, token in stops)
