"""A translation model: the likelihood of a text of one language given a text of another, word by word.

    P(q | d) = prod_w [lambda P(w) + (1 - lambda) sum_t P(w | t) n(t, d) / |d|]^n(w, q)
    P(d | q) = prod_t [lambda P(t) + (1 - lambda) sum_w P(t | w) n(w, q) / |q|]^n(t, d)

What is used of them are log-likelihood ratios a word, against a text 0 of which no word matches. The forward one is

    1/|q| ln(P(q | d) / P(q | 0))
        = 1/|q| sum_w n(w, q) ln(1 + (1 - lambda) / (lambda P(w)) sum_t P(w | t) n(t, d) / |d|)

and the reverse one has q and d exchanged. All words that are rare in the
training texts are one word, *unknown*: what is rare in one language is mostly rare in the other, and P(unknown |
unknown) is estimated like any other. A query word that the model does not know but the documents have (a name, a
number) is a *verbatim* term: it matches itself alone.

The model is trained on pairs of texts that translate each other and, where there is one, on a dictionary. Words are
aligned in both directions (:mod:`isogloss.translation.word_alignment`). An entry of the dictionary is one more pair of
texts of a word each: the many occurrences of a word in the texts outweigh it, and where there are none it is all there
is. Entries with translations that no document has are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.strings import StringTable
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.word_alignment import align_words

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]

LAMBDA = 0.2
ARRAYS = ("offsets", "terms", "query_probabilities", "document_probabilities", "query_counts", "document_counts")
"""The names under which the arrays of a model are saved, in the order of the constructor."""
_SEEN = 2  # words seen less often are unknown
_LEAST = 1e-3  # pairs less probable in both directions are dropped
_MOST_WORDS = 3_000_000  # of a side that are aligned: it bounds the memory, at some 500 bytes a word


@dataclass(frozen=True)
class QueryStatistics:
    """The distinct words of a query: how often each occurs, its number, and which are verbatim terms."""

    words: tuple[str, ...]
    times: Floats
    numbers: Numbers
    verbatim: Mapping[int, str]
    """Position among the words to the term of the documents that it matches."""

    @property
    def length(self) -> float:
        """|q|."""
        return float(self.times.sum())

    @property
    def verbatim_terms(self) -> list[str]:
        """The verbatim terms, each once: several words may match one term."""
        return list(dict.fromkeys(self.verbatim.values()))


class TranslationModel:
    """P(w | t) and P(t | w) of the words of two languages, both sorted; the number after the last is *unknown*.

    The pairs of word ``w`` are at ``offsets[w]:offsets[w + 1]``: ``terms`` has the numbers of t,
    ``query_probabilities`` P(w | t), ``document_probabilities`` P(t | w). The counts are those of the training texts.
    """

    def __init__(
        self, query_words: StringTable, document_words: StringTable, offsets: Numbers, terms: Ids,
        query_probabilities: Floats, document_probabilities: Floats, query_counts: Numbers, document_counts: Numbers,
    ) -> None:  # fmt: skip
        self.query_words, self.document_words = query_words, document_words
        self.offsets, self.terms = offsets, terms
        self.query_probabilities, self.document_probabilities = query_probabilities, document_probabilities
        self.query_counts, self.document_counts = query_counts, document_counts
        self._find = lru_cache(50_000)(query_words.find)

    @property
    def unknown(self) -> int:
        """The number of unknown words of documents."""
        return len(self.document_words)

    @cached_property
    def query_odds(self) -> Floats:
        """(1 - lambda) / (lambda P(w)) of each word of the query language."""
        return _odds(self.query_counts)

    @cached_property
    def document_odds(self) -> Floats:
        """The same of each word of the document language."""
        return _odds(self.document_counts)

    @cached_property
    def verbatim_odds(self) -> float:
        """The same of a verbatim term, which is as rare as can be."""
        return float(_odds(np.append(self.query_counts, 0))[-1])

    def query_statistics(
        self, counts: Mapping[str, int], has_term: Callable[[str], bool], term_of: Mapping[str, str]
    ) -> QueryStatistics:
        """A query by its words; ``has_term``: whether any document has a term; ``term_of`` maps words to terms."""
        verbatim, numbers = {}, []
        for position, word in enumerate(counts):
            number = self._find(word)
            if number is None and has_term(term := term_of.get(word, word)):
                verbatim[position] = term
            numbers.append(len(self.query_words) if number is None else number)
        times = np.fromiter(counts.values(), np.float32, len(counts))
        return QueryStatistics(tuple(counts), times, np.asarray(numbers, np.int64), verbatim)

    def translations(self, number: int) -> tuple[Ids, Floats, Floats]:
        """The numbers t of the translations of a query word, P(w | t) and P(t | w)."""
        span = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.terms[span], self.query_probabilities[span], self.document_probabilities[span]

    def odds_of(self, query: QueryStatistics) -> Floats:
        """(1 - lambda) / (lambda P(w)) of the words of a query."""
        odds = self.query_odds[query.numbers]
        odds[list(query.verbatim)] = self.verbatim_odds
        return odds

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by the names they are saved under."""
        values = (
            self.offsets, self.terms, self.query_probabilities, self.document_probabilities,
            self.query_counts, self.document_counts,
        )  # fmt: skip
        return dict(zip(ARRAYS, values, strict=True))

    def save(self, directory: Path) -> None:
        """Write the model into a directory."""
        self.query_words.save(directory, "query_words")
        self.document_words.save(directory, "document_words")
        for name, array in self.arrays().items():
            save_array(directory / f"translation.{name}.npy", array)

    @classmethod
    def load(cls, directory: Path) -> TranslationModel:
        """Map what ``save`` wrote."""
        queries, documents = (StringTable.load(directory, name) for name in ("query_words", "document_words"))
        return cls(queries, documents, *(load_array(directory / f"translation.{name}.npy") for name in ARRAYS))


def _odds(counts: Numbers) -> Floats:
    """By counts, each raised by one: a word that was not seen has a probability above 0."""
    share = (counts + 1.0) / (counts.sum() + len(counts))
    odds: Floats = ((1 - LAMBDA) / (LAMBDA * share)).astype(np.float32)
    return odds


class Numbered(NamedTuple):
    """Texts in the word numbers of a model: ``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``."""

    ids: Ids
    offsets: Numbers


class TrainedTranslation(NamedTuple):
    """A model, and the texts it was trained on in its word numbers."""

    model: TranslationModel
    queries: Numbered
    documents: Numbered


class _Side(NamedTuple):
    """The known words of one language, sorted; the texts and the lexicon's entries in their numbers."""

    words: list[str]
    texts: Numbered
    entries: Numbered


def train_translation_model(
    pairs: Sequence[tuple[str, str]], lexicon: Lexicon | None, tokenizers: tuple[Tokenizer, Tokenizer],
    document_terms: Iterable[str], unknown: bool = True,
) -> TrainedTranslation:  # fmt: skip
    """Train on pairs of texts and a lexicon; ``document_terms``: what documents have beside the terms of the pairs.

    Without ``unknown`` words that are rare in the texts are left out, rather than taken for one word.
    """
    ordered = sorted(pairs)
    texts = [tokenize_texts([pair[side] for pair in ordered], tokenizers[side]) for side in (0, 1)]
    entries = _entries(lexicon, tokenizers, {*document_terms, *texts[1].terms})
    if not len(texts[0].ids) and not len(entries[0].ids):
        what = "there are neither translated pages nor a lexicon with words that documents have"
        raise InputError(f"nothing to learn translations from: {what}")
    sides = [_known(texts[side], entries[side], unknown) for side in (0, 1)]
    step = -(-max(len(side.texts.ids) for side in sides) // _MOST_WORDS) or 1
    source, target = (_taken(side, step) for side in sides)
    found = align_words(source, target)
    kept = np.maximum(found.forward, found.backward) >= _LEAST
    sources = found.sources[kept]
    counts = [np.bincount(side.texts.ids, minlength=len(side.words) + 1) for side in sides]
    model = TranslationModel(
        StringTable.of(sides[0].words), StringTable.of(sides[1].words),
        np.searchsorted(sources, np.arange(len(sides[0].words) + 2)), found.targets[kept],
        found.backward[kept].astype(np.float32), found.forward[kept].astype(np.float32), *counts,
    )  # fmt: skip
    return TrainedTranslation(model, sides[0].texts, sides[1].texts)


def _entries(
    lexicon: Lexicon | None, tokenizers: tuple[Tokenizer, Tokenizer], document_terms: set[str]
) -> tuple[TokenizedTexts, TokenizedTexts]:
    """The single words of the lexicon and those of their translations whose terms documents have."""
    known_phrases = lexicon or Lexicon()
    written = [
        (phrase[0], " ".join(translation.phrase))
        for phrase in known_phrases
        if len(phrase) == 1
        for translation in known_phrases[phrase]
    ]
    targets = tokenize_texts([translation for _, translation in written], tokenizers[1])
    known = np.fromiter((term in document_terms for term in targets.terms), bool, len(targets.terms))
    lengths = np.diff(targets.offsets)
    matches = np.bincount(np.repeat(np.arange(len(lengths)), lengths), known[targets.ids], len(lengths))
    usable = [entry for entry, fits in zip(written, (matches == lengths) & (lengths > 0), strict=True) if fits]
    first, second = (tokenize_texts([entry[side] for entry in usable], tokenizers[side]) for side in (0, 1))
    return first, second


def _known(texts: TokenizedTexts, entries: TokenizedTexts, unknown: bool) -> _Side:
    counts = np.bincount(texts.ids, minlength=len(texts.terms))
    often = {term for term, count in zip(texts.terms, counts.tolist(), strict=True) if count >= _SEEN}
    words = sorted(often | set(entries.terms), key=lambda word: word.encode("utf-8", "surrogatepass"))
    number_of = {word: number for number, word in enumerate(words)}
    rest = len(words) if unknown else -1
    return _Side(words, _numbered(texts, number_of, rest), _numbered(entries, number_of, rest))


def _numbered(texts: TokenizedTexts, number_of: dict[str, int], rest: int) -> Numbered:
    numbers = np.fromiter((number_of.get(term, rest) for term in texts.terms), np.int32, len(texts.terms))
    ids: Ids = numbers[texts.ids] if len(numbers) else np.zeros(0, np.int32)
    kept = ids >= 0
    return Numbered(ids[kept], np.append(0, np.cumsum(kept))[texts.offsets])


def _taken(side: _Side, step: int) -> TokenizedTexts:
    """Texts and entries as one list; of very many texts every n-th, the others are empty."""
    used: NDArray[np.bool_] = np.repeat(np.arange(len(side.texts.offsets) - 1) % step == 0, np.diff(side.texts.offsets))
    offsets: Numbers = np.append(0, np.cumsum(used))[side.texts.offsets]
    ids = np.concatenate([side.texts.ids[used], side.entries.ids])
    return TokenizedTexts(
        [*side.words, ""], ids, np.concatenate([offsets, offsets[-1] + side.entries.offsets[1:]]).astype(np.int64)
    )
