"""Glosses: a text word for word in the language of its reader, by a translation model.

Of the translations w of a word t the one with the highest score stands in the gloss:

    ln P(w | t) + 8 cos(v(w), v(text)) + ln 4 ([w is a word of the query that is aligned with t] - [w is a stop word])

So the query and the text that is around decide between translations that are about as probable; v are vectors of words
of both languages in one space, where there are such. Of a stop word t it is the one with the highest P(w | t) P(t | w),
for "the" is aligned with most of them. Terms are stems; the gloss has the usual full form of each. Numbers, names and
code stay as they are. Words without a translation stay, and are marked as unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isogloss.text.compounds import COMPOUNDING, split_compounds
from isogloss.text.normalization import UNSPACED
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, token_spans
from isogloss.translation.model import TranslationModel

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]
Met = Callable[[str], str | None]

_LEAST = 0.01  # P(w | t) of a translation
_MOST = 8  # translations that are chosen from
_SHOWN = 4
_CONTEXT = 8.0
_FAVOUR = math.log(4)
_MET, _ALIGNED = 0.05, 0.5  # P(w | t) of a query word that meets a word: so much, and so much of the text's highest
_SURE = 0.25  # P(w | t) of a translation of a function word: below, the word is left out
_KEPT_TERMS = 50_000
_NOUNS = ("de", "lb")  # languages that write all nouns with a capital
_CODE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|\d[^\W\d_]|[^\W\d_]\d")
_EXPRESSION = re.compile(
    r"(?<!\S)(?:[-:@#$<][\w:<-]*\w[^\s,;]*|[^\s,;]*(?:[a-zA-Z]\.[a-zA-Z]|\w\(|\w_\w|::|[a-zA-Z]=)[^\s,;]*)", re.ASCII
)
_LATIN = re.compile(r"[a-z]")
_ELISION = re.compile(r"['’]")
_ELIDING, _SHORT = ("ca", "co", "fr", "it", "oc", "sc"), 2  # letters
_PUNCTUATION = {
    "。": ". ", "，": ", ", "、": ", ", "：": ": ", "；": "; ", "！": "! ", "？": "? ", "（": " (", "）": ") ",
    "「": ' "', "」": '" ', "『": ' "', "』": '" ', "《": ' "', "》": '" ', "“": ' "', "”": '" ', "・": " ",
}  # fmt: skip
_BEFORE = re.compile(r"\s+(?=[,.;:!?)\]»]+(?:\s|$))")


class Meaning(NamedTuple):
    """A translation of a word, and its share among the translations that are known."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text with what stands for it in the gloss: ``gloss``, or the text itself where that is None.

    An empty gloss leaves the piece out. ``unknown``: a word without a translation. ``match``: a word by which the
    document was found. ``met``: the word of the query that it meets. ``is_function``: an article, a preposition.
    """

    text: str
    gloss: str | None = None
    unknown: bool = False
    match: bool = False
    met: str | None = None
    meanings: tuple[Meaning, ...] = ()
    is_function: bool = False

    @property
    def shown(self) -> str:
        """What a reader of the gloss sees."""
        return self.text if self.gloss is None else self.gloss


def gloss_text(pieces: Sequence[Piece]) -> str:
    """The gloss as plain text.

    >>> gloss_text([Piece("le", ""), Piece(" "), Piece("sel", "salt"), Piece(" "), Piece("!")])
    'salt!'
    """
    return _BEFORE.sub("", " ".join("".join(piece.shown for piece in pieces).split()))


class WordVectors(Protocol):
    """Vectors of words of two languages in one space."""

    def of_text(self, numbers: Sequence[int]) -> Floats:
        """The vector of a text of the document language, of length 1 or 0."""

    def of_words(self, numbers: NDArray[np.int32]) -> Floats:
        """The vectors of words of the query language, a row each, of length 1 or 0."""


class _Translations(NamedTuple):
    """The translations w of a term t, the most probable first.

    Their numbers and full forms, P(w | t), P(t | w), which are stop words, and the ``meanings`` that a reader may see.
    """

    numbers: NDArray[np.int32]
    forms: tuple[str, ...]
    shares: Floats
    reverse: Floats
    functional: NDArray[np.bool_]
    meanings: tuple[Meaning, ...]


class _Context(NamedTuple):
    """What speaks for translations: words of the query as they are written, by their numbers, and the text's vector.

    A word of the text is aligned with a word of the query from the share ``least`` on: half of the highest that a word
    of the text has, so that one word of the query is not said of all words around the one that it meets.
    """

    asked: Mapping[int, str]
    least: Mapping[int, float]
    vector: Floats | None


class Glosser:
    """Glosses texts by a translation model; ``form_of`` gives the usual full form of a term of the query language."""

    def __init__(
        self, model: TranslationModel, tokenizers: tuple[Tokenizer, Tokenizer], form_of: Callable[[str], str],
        vectors: WordVectors | None = None,
    ) -> None:  # fmt: skip
        self.model, self._form_of, self._vectors = model, form_of, vectors
        self._query_terms, self._document_terms = tokenizers
        self.language, self.document_language = str(tokenizers[0].language), str(tokenizers[1].language)
        self._stops = stop_words(self.document_language)
        self._query_stops = frozenset(self._query_terms.terms(sorted(stop_words(self.language))))
        self._of_term = lru_cache(_KEPT_TERMS)(self._translations)

    def gloss(
        self, text: str, query: str = "", marks: Collection[tuple[int, int]] = (), met: Met = lambda token: None,
        around: str = "",
    ) -> tuple[Piece, ...]:  # fmt: skip
        """The pieces of a text, whose texts one after the other are the text.

        ``marks`` are the spans of the words by which it was found. ``met`` says of a word of the text which word of the
        query it met, where that is known; else that is a word of the query that may translate it. ``around`` is text
        that speaks for translations too: of a short title alone little does.
        """
        spans = token_spans(text)
        terms = self._document_terms.terms([token for _, _, token in spans])
        context, marked = self._context(query, terms, around), set(marks)
        code = {place for span in _code_spans(text) for place in range(*span)}
        pieces: list[Piece] = []
        position = 0
        for (begin, end, token), term in zip(spans, terms, strict=True):
            if begin < position:
                continue  # the second token of one character
            written = text[begin:end]
            kept = begin in code
            piece = self._kept(written, token, context) if kept else self._word(written, token, term, context)
            piece = replace(piece, match=(begin, end) in marked, met=met(token) or piece.met)
            if self._is_elided(text, begin, end) and not (piece.is_function and piece.gloss):
                piece = replace(piece, gloss="", unknown=False, is_function=True)
            pieces += [*_between(text[position:begin]), piece]
            position = end
        pieces += _between(text[position:])
        return tuple(_spaced(_without_repeats(pieces)) if UNSPACED.search(text) else _without_repeats(pieces))

    def _context(self, query: str, terms: Sequence[str], around: str) -> _Context:
        spans, stops = token_spans(query), stop_words(self.language)
        query_terms = self._query_terms.terms([token for _, _, token in spans])
        asked: dict[int, str] = {}
        for (begin, end, token), term in zip(spans, query_terms, strict=True):
            number = self.model.find_word(term)
            if number is not None and token not in stops:
                asked.setdefault(number, query[begin:end])
        shares: dict[int, float] = {}
        for found in map(self._of_term, set(terms)) if asked else ():
            for number, share in zip(found.numbers.tolist(), found.shares.tolist(), strict=True):
                shares[number] = max(share, shares.get(number, 0.0))
        least = {number: max(_MET, _ALIGNED * shares.get(number, 0.0)) for number in asked}
        return _Context(asked, least, self._vector([*terms, *self._document_terms(around)]))

    def _vector(self, terms: Sequence[str]) -> Floats | None:
        numbers = [number for term in terms if (number := self.model.find_term(term)) is not None]
        return self._vectors.of_text(numbers) if self._vectors is not None and numbers else None

    def _word(self, written: str, token: str, term: str, context: _Context) -> Piece:
        if not any(map(str.isalpha, token)) or _CODE.search(written) or self._is_foreign(token):
            return self._kept(written, token, context)
        found = self._of_term(term)
        if len(found.numbers):
            return self._chosen(written, token, found, context)
        parts = self._parts(token)
        if not parts:
            kept = self._kept(written, token, context)
            return replace(kept, unknown=self._query_number(token) is None)
        chosen = [self._word(part, part, self._document_terms.terms([part])[0], context) for part in parts]
        gloss = " ".join(dict.fromkeys(piece.shown for piece in chosen if piece.shown))
        met = next((piece.met for piece in chosen if piece.met), None)
        return Piece(written, _with_case(gloss, written), met=met, meanings=(Meaning(gloss, 1.0),))

    def _kept(self, written: str, token: str, context: _Context) -> Piece:
        """A word that stands for itself."""
        number = self._query_number(token)
        return Piece(written, met=None if number is None else context.asked.get(number))

    def _query_number(self, token: str) -> int | None:
        return self.model.find_word(self._query_terms.terms([token])[0])

    def _chosen(self, written: str, token: str, found: _Translations, context: _Context) -> Piece:
        """A word with the translation that the text and the query speak for."""
        numbers = found.numbers.tolist()
        is_function = token in self._stops or (not self._stops and bool(found.functional[0]))
        aligned = [
            share >= context.least.get(number, np.inf)
            for number, share in zip(numbers, found.shares.tolist(), strict=True)
        ]
        if is_function:
            scores = found.shares * found.reverse
        else:
            scores = np.log(found.shares) + _FAVOUR * np.subtract(aligned, found.functional, dtype=np.float32)
            if self._vectors is not None and context.vector is not None:
                scores += _CONTEXT * (self._vectors.of_words(found.numbers) @ context.vector)
        best = int(np.argmax(scores))
        met = context.asked[numbers[aligned.index(True)]] if any(aligned) else None
        if is_function and found.shares[best] < _SURE:
            return Piece(written, "", met=met, meanings=found.meanings, is_function=True)
        form = context.asked[numbers[best]].lower() if aligned[best] else found.forms[best]
        gloss = None if form == token else _with_case(form, written, self.document_language in _NOUNS)
        return Piece(written, gloss, met=met, meanings=found.meanings, is_function=is_function)

    def _parts(self, token: str) -> list[str]:
        """The parts of a compound, or of a word without spaces, that the model knows; none of other words."""
        if UNSPACED.search(token):
            return list(self._longest_parts(token)) if len(token) > 1 else []
        found = split_compounds([token], _Counts(self)) if self.document_language in COMPOUNDING else {}
        return found.get(token, [])

    def _longest_parts(self, token: str) -> Iterator[str]:
        start = 0
        while start < len(token):
            ends = range(len(token), start, -1)
            end = next((end for end in ends if self.times_seen(token[start:end])), start)
            if end > start:
                yield token[start:end]
            start = max(end, start + 1)

    def meanings(self, word: str) -> list[str]:
        """The translations of a word that a gloss of it may be, the most probable first."""
        return [form for term in self._document_terms(word) for form in self._of_term(term).forms]

    def times_seen(self, token: str) -> int:
        """How often the model has seen a word of the document language, at least 1 if it translates it; else 0."""
        (term,) = self._document_terms.terms([token])
        number = self.model.find_term(term)
        known = number is not None and len(self._of_term(term).numbers)
        return 1 + int(self.model.document_counts[number]) if known else 0

    def _is_elided(self, text: str, begin: int, end: int) -> bool:
        """Whether a word is a short one without its last letter: l'été, s'ouvre."""
        return self.document_language in _ELIDING and end - begin <= _SHORT and _ELISION.match(text, end) is not None

    def _is_foreign(self, token: str) -> bool:
        """Whether a word is in Latin letters in a language that is not written in them."""
        return self.document_language in _OTHER_SCRIPTS and bool(_LATIN.search(token))

    def _translations(self, term: str) -> _Translations:
        """The translations of a term of the document language."""
        model, number = self.model, self.model.find_term(term)
        order, offsets = self._by_term
        pairs = order[:0] if number is None else order[offsets[number] : offsets[number + 1]]
        words = (np.searchsorted(model.offsets, pairs, side="right") - 1).astype(np.int32)
        best = np.lexsort((words, -model.query_probabilities[pairs]))
        best = best[words[best] < model.unknown_word][:_MOST]
        pairs, words = pairs[best], words[best]
        terms = [model.query_words[word] for word in words.tolist()]
        forms, shares = tuple(map(self._form_of, terms)), model.query_probabilities[pairs]
        functional = np.fromiter((each in self._query_stops for each in terms), np.bool_, len(terms))
        known = zip(forms, (shares / shares.sum()).round(3).tolist(), strict=True)
        meanings = tuple(map(Meaning._make, known))[:_SHOWN]
        return _Translations(words, forms, shares, model.document_probabilities[pairs], functional, meanings)

    @cached_property
    def _by_term(self) -> tuple[Numbers, Numbers]:
        """The pairs that are probable enough, in the order of their terms, and where those of each term begin."""
        kept = np.flatnonzero(self.model.query_probabilities >= _LEAST)
        terms = self.model.terms[kept]
        counts = np.bincount(terms, minlength=self.model.unknown + 1)
        return kept[np.argsort(terms, kind="stable")], np.append(0, np.cumsum(counts))


class _Counts(Mapping[str, int]):
    """How often a glosser knows words, as a mapping."""

    def __init__(self, glosser: Glosser) -> None:
        self._glosser = glosser

    def __getitem__(self, word: str) -> int:
        return self._glosser.times_seen(word)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_OTHER_SCRIPTS = (
    "am", "ar", "as", "be", "bg", "bn", "el", "fa", "gu", "he", "hi", "hy", "ja", "ka", "kk", "km", "kn", "ko", "ky",
    "lo", "mk", "ml", "mn", "mr", "my", "ne", "or", "pa", "ps", "ru", "si", "sr", "ta", "te", "tg", "th", "ug", "uk",
    "ur", "yi", "zh",
)  # fmt: skip


def _with_case(form: str, written: str, nouns: bool = False) -> str:
    """A word with the capitals of the one that it stands for; where ``nouns`` have one, only those of whole words."""
    if len(written) > 1 and written.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if written[:1].isupper() and not nouns else form


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Where expressions of code are: Array.slice(), :hover, -moz-border, <b>, a_name, std::string.

    >>> [("Le nom :hover (par exemple) d'Array.prototype.at() et std::sort.")[a:b] for a, b in _code_spans(
    ...     "Le nom :hover (par exemple) d'Array.prototype.at() et std::sort.")]
    [':hover', "d'Array.prototype.at()", 'std::sort.']
    """
    return [match.span() for match in _EXPRESSION.finditer(text)]


def _between(text: str) -> list[Piece]:
    """What stands between two words."""
    if not any(character in _PUNCTUATION for character in text):
        return [Piece(text)] if text else []
    return [Piece(character, _PUNCTUATION.get(character)) for character in text]


def _without_repeats(pieces: Sequence[Piece]) -> list[Piece]:
    """Of neighbours that have one gloss only the first: "barre d'outils" is "toolbar", not "toolbar of toolbar".

    An apostrophe between glossed words becomes a space. A hyphen goes with a word that is left out.
    """
    made = list(pieces)
    last, since = "", 0  # the last content word, and the place after it
    for place, piece in enumerate(pieces):
        if _ELISION.fullmatch(piece.text):
            if place and pieces[place - 1].gloss is not None:
                made[place] = replace(piece, gloss=" ")
        elif piece.text == "-":
            if any(each.gloss == "" for each in pieces[max(0, place - 1) : place + 2]):
                made[place] = _left_out(piece)
        elif not _is_word(piece):
            last = "" if piece.text.strip() else last
        elif piece.gloss and piece.gloss.lower() == last:
            made[since : place + 1] = [_left_out(each) for each in pieces[since : place + 1]]
            since = place + 1
        elif not piece.is_function:
            last, since = piece.shown.lower(), place + 1
    return made


def _left_out(piece: Piece) -> Piece:
    return replace(piece, gloss="" if piece.text.strip() else " ")


def _spaced(pieces: Sequence[Piece]) -> list[Piece]:
    """With a space between words that have none."""
    made: list[Piece] = []
    for piece in pieces:
        if made and _is_word(made[-1]) and _is_word(piece):
            made.append(Piece("", " "))
        made.append(piece)
    return made


def _is_word(piece: Piece) -> bool:
    return any(map(str.isalnum, piece.text))
