"""A translation model: the likelihood of a text of one language given a text of another, word by word.

    P(q | d) = prod_w [lambda P(w) + (1 - lambda) sum_t P(w | t) n(t, d) / |d|]^n(w, q)
    P(d | q) = prod_t [lambda P(t) + (1 - lambda) sum_w P(t | w) n(w, q) / |q|]^n(t, d)

What is used of them are log-likelihood ratios a word, against a text 0 of which no word matches. The forward one is

    1/|q| ln(P(q | d) / P(q | 0))
        = 1/|q| sum_w n(w, q) ln(1 + (1 - lambda) / (lambda P(w)) sum_t P(w | t) n(t, d) / |d|)

and the reverse one has q and d exchanged. The background P(t) is the share of t in the collection that is searched, and
P(w) = sum_t P(w | t) P(t) is what the same model expects of it: the part that IDF plays elsewhere.

All words that are rare in the training texts are one word, *unknown*: what is rare in one language is mostly rare in
the other, and P(unknown | unknown) is estimated like any other. A query word that stands in the documents as a term
that the model does not know (a name, a number) matches this *verbatim* term, beside its translations if it has any.

What is known of translations is combined word by word. Own pairs of texts are aligned in both directions
(:mod:`isogloss.translation.word_alignment`). A dictionary and a starter table add pseudo-counts m(w, t), as many as a
word was seen there, but at most ``strength`` of each:

    P(t | w) = (n(w) P_own(t | w) + m(w, t)) / (n(w) + sum_t' m(w, t') + D)

n(w) counts w in own texts. So these decide on a word that they show often, the others on one that they do not; and of a
word that all of them hardly know, little is believed (D). Pseudo-counts within the alignment were tried: a few pages
then made the search worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.array_checks import check_offsets, check_type, check_within
from isogloss.storage.arrays import keep_with, load_array, place_of, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.strings import StringTable
from isogloss.text.alphabet import alphabet
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.starter import WordTable
from isogloss.translation.word_alignment import WordPairs, align_words

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]

LAMBDA = 0.2
ARRAYS = ("offsets", "terms", "query_probabilities", "document_probabilities", "query_counts", "document_counts")
"""The names under which the arrays of a model are saved, in the order of the constructor."""
_MOST_COUNTED = 2**40
_SEEN = 2  # words seen less often are unknown
_DISCOUNT = 10.0  # D
_LEAST = 1e-3  # pairs less probable in both directions are dropped
_MOST_WORDS = 3_000_000  # of a side that are aligned: it bounds the memory, at some 500 bytes a word


@dataclass(frozen=True)
class QueryStatistics:
    """The distinct words of a query: how often each occurs, its number, and which match a verbatim term."""

    words: tuple[str, ...]
    times: Floats
    numbers: Numbers
    verbatim: Mapping[int, str]
    """Position among the words to the term of the documents that it matches."""
    verbatim_counts: Mapping[int, int]
    """Position to how often the documents have the term."""

    @property
    def length(self) -> float:
        """|q|."""
        return float(self.times.sum())

    @property
    def verbatim_terms(self) -> list[str]:
        """The verbatim terms, each once: several words may match one term."""
        return list(dict.fromkeys(self.verbatim.values()))


class Background(NamedTuple):
    """(1 - lambda) / (lambda P) of each word of the query language and of the document language.

    ``size`` is the number of words that the probabilities were counted in, one more for each word of the vocabulary.
    """

    query_odds: Floats
    document_odds: Floats
    size: float

    def of(self, query: QueryStatistics) -> Floats:
        """The odds of the words of a query; a word without translations has those of its verbatim term."""
        odds = self.query_odds[query.numbers]
        for position, count in query.verbatim_counts.items():
            alone = odds_of((count + 1) / self.size)
            odds[position] = (
                alone if query.numbers[position] == len(self.query_odds) - 1 else min(alone, odds[position])
            )
        return odds


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
        self.find_word = lru_cache(50_000)(query_words.find)
        self.find_term = lru_cache(50_000)(document_words.find)
        self.by_term = lru_cache(1)(self._by_term)

    @property
    def unknown(self) -> int:
        """The number of unknown words of documents."""
        return len(self.document_words)

    @cached_property
    def letters(self) -> str:
        """The letters of the query words."""
        return alphabet(self.query_words.text())

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """From a document word to its number: for many words faster than to find each."""
        return {word: number for number, word in enumerate(self.document_words)}

    @property
    def unknown_word(self) -> int:
        """The number of unknown words of queries."""
        return len(self.query_words)

    @cached_property
    def background(self) -> Background:
        """That of the training texts."""
        sides = [(counts + 1.0) / (counts.sum() + len(counts)) for counts in (self.query_counts, self.document_counts)]
        return Background(odds_of(sides[0]), odds_of(sides[1]), float(self.query_counts.sum() + len(self.query_counts)))

    def background_of(self, counts: Numbers) -> Background:
        """That of a collection, by the counts of the document words in it."""
        size = float(counts.sum() + len(counts))
        share = (counts + 1.0) / size
        expected = np.append(0.0, np.cumsum(self.query_probabilities * share[self.terms]))
        return Background(odds_of(np.maximum(np.diff(expected[self.offsets]), 1 / size)), odds_of(share), size)

    def query_statistics(
        self, counts: Mapping[str, int], count_of: Callable[[str], int], term_of: Mapping[str, str]
    ) -> QueryStatistics:
        """A query by its words; ``count_of``: how often documents have a term; ``term_of`` maps words to terms."""
        verbatim, verbatim_counts, numbers = {}, {}, []
        for position, word in enumerate(counts):
            number, term = self.find_word(word), term_of.get(word, word)
            if self.find_term(term) is None and (count := count_of(term)):
                verbatim[position], verbatim_counts[position] = term, count
            numbers.append(len(self.query_words) if number is None else number)
        times = np.fromiter(counts.values(), np.float32, len(counts))
        return QueryStatistics(tuple(counts), times, np.asarray(numbers, np.int64), verbatim, verbatim_counts)

    def translations(self, number: int) -> tuple[Ids, Floats, Floats]:
        """The numbers t of the translations of a query word, P(w | t) and P(t | w)."""
        span = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.terms[span], self.query_probabilities[span], self.document_probabilities[span]

    def _by_term(self, least: float) -> tuple[Numbers, Ids, Floats]:
        """Pairs with P(w | t) above ``least``: w and P(w | t) of t are at ``offsets[t]:offsets[t + 1]``."""
        kept = np.flatnonzero(self.query_probabilities > least)
        terms, words = self.terms[kept], np.searchsorted(self.offsets, kept, side="right") - 1
        order = np.argsort(terms, kind="stable")
        offsets = np.append(0, np.cumsum(np.bincount(terms, minlength=self.unknown + 1)))
        return offsets, words[order].astype(np.int32), self.query_probabilities[kept[order]]

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
        arrays = {name: load_array(directory / f"translation.{name}.npy") for name in ARRAYS}
        keep_with(directory / "translation.terms.npy", lambda: _check(directory, arrays, len(queries), len(documents)))
        return cls(queries, documents, *arrays.values())


def _check(directory: Path, arrays: Mapping[str, NDArray[Any]], query_words: int, document_words: int) -> None:
    """Raise a ``ValueError`` where compiled code could leave the arrays of a model."""
    places = {name: place_of(directory / f"translation.{name}.npy") for name in ARRAYS}
    pairs = len(arrays["terms"])
    check_type(arrays["terms"], np.int32, places["terms"])
    check_type(arrays["offsets"], np.int64, places["offsets"], query_words + 2)
    check_offsets(arrays["offsets"], pairs, places["offsets"])
    check_within(arrays["terms"], document_words + 1, places["terms"])
    for name, dtype, size in (
        ("query_probabilities", np.float32, pairs), ("document_probabilities", np.float32, pairs),
        ("query_counts", np.int64, query_words + 1), ("document_counts", np.int64, document_words + 1),
    ):  # fmt: skip
        check_type(arrays[name], dtype, places[name], size)
        if len(arrays[name]) and not 0 <= arrays[name].min() <= arrays[name].max() < _MOST_COUNTED:
            raise ValueError(f"{places[name]} has a number that is no probability or count")


def odds_of(share: Any) -> Any:
    """(1 - lambda) / (lambda P) of probabilities P."""
    return np.float32((1 - LAMBDA) / LAMBDA) / np.asarray(share, np.float32)


def share_of(odds: Any) -> Any:
    """P of (1 - lambda) / (lambda P)."""
    return (1 - LAMBDA) / LAMBDA / np.asarray(odds, np.float64)


class Numbered(NamedTuple):
    """Texts in the word numbers of a model: ``ids[offsets[i]:offsets[i + 1]]`` are the words of text ``i``."""

    ids: Ids
    offsets: Numbers


class TrainedTranslation(NamedTuple):
    """A model, and the texts it was trained on in its word numbers."""

    model: TranslationModel
    queries: Numbered
    documents: Numbered


class Compound(NamedTuple):
    """The terms that a compound is made of, and how frequent it is beside them, from 0 to 1."""

    parts: tuple[str, ...]
    share: float


class Knowledge(NamedTuple):
    """What others tell of translations: a table, and the most pseudo-counts that it adds for a word.

    ``forms`` are full forms of its terms of the query language, where it has stems.
    """

    table: WordTable
    strength: float
    forms: Mapping[str, str] = {}


def train_translation_model(
    pairs: Sequence[tuple[str, str]], knowledge: Sequence[Knowledge], tokenizers: tuple[Tokenizer, Tokenizer],
    unknown: bool = True, compounds: Mapping[str, Compound] | None = None,
) -> TrainedTranslation:  # fmt: skip
    """Train on pairs of texts and on what others know.

    Without ``unknown`` words that are rare in the texts are left out, rather than taken for one word. ``compounds`` are
    terms of documents with the terms they are made of.
    """
    compounds = compounds or {}
    ordered = sorted(pairs)
    texts = [tokenize_texts([pair[side] for pair in ordered], tokenizers[side]) for side in (0, 1)]
    tables = [each.table for each in knowledge]
    if not len(texts[0].ids) and not any(len(table.query_numbers) for table in tables):
        raise InputError("nothing to learn translations from: neither translated texts nor a dictionary")
    words = [
        _known(texts[0], [word for table in tables for word in table.query_words]),
        _known(texts[1], [*compounds, *(word for table in tables for word in table.document_words)]),
    ]
    prior = _pseudo_counts(knowledge, words)
    queries, documents = (
        _numbered(side, {word: number for number, word in enumerate(known)}, len(known) if unknown else -1)
        for side, known in zip(texts, words, strict=True)
    )
    step = -(-max(len(queries.ids), len(documents.ids)) // _MOST_WORDS) or 1
    source, target = (_taken(side, known, step) for side, known in zip((queries, documents), words, strict=True))
    own = align_words(source, target, prior=prior)
    seen = [np.bincount(side.ids, minlength=len(side.terms)) for side in (source, target)]
    found = _with_compounds(_combined(own, seen, prior), compounds, words[1])
    kept = np.maximum(found.forward, found.backward) >= _LEAST
    sources = found.sources[kept]
    counts = [
        np.bincount(side.ids, minlength=len(known) + 1) for side, known in zip((queries, documents), words, strict=True)
    ]
    model = TranslationModel(
        StringTable.of(words[0]), StringTable.of(words[1]),
        np.searchsorted(sources, np.arange(len(words[0]) + 2)), found.targets[kept],
        found.backward[kept].astype(np.float32), found.forward[kept].astype(np.float32), *counts,
    )  # fmt: skip
    return TrainedTranslation(model, queries, documents)


def dictionary_table(lexicon: Lexicon, tokenizers: tuple[Tokenizer, Tokenizer]) -> WordTable:
    """The single words of a dictionary: each translation counts 1, or its probability, shared by its words."""
    entries: dict[tuple[str, str], float] = {}
    stops = stop_words(tokenizers[1].language)
    for phrase in lexicon:
        if len(phrase) > 1:
            continue
        (word,) = tokenizers[0].terms(phrase) or ("",)
        for translation, probability in lexicon[phrase]:
            content = [each for each in translation if each not in stops] if len(translation) > 1 else translation
            terms = tokenizers[1].terms(content or translation)
            for term in terms:
                entries[word, term] = entries.get((word, term), 0.0) + (probability or 1.0) / len(terms)
    words = [sorted({pair[side] for pair in entries}, key=_by_bytes) for side in (0, 1)]
    number_of = [{word: number for number, word in enumerate(side)} for side in words]
    keys = np.asarray([[number_of[0][w], number_of[1][t]] for w, t in entries], np.int32).reshape(-1, 2)
    counts = np.fromiter(entries.values(), np.float64, len(entries))
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    queries, documents, counts = keys[order, 0], keys[order, 1], counts[order]
    sums = [np.bincount(side, counts, len(known)) for side, known in zip((queries, documents), words, strict=True)]
    return WordTable(
        words[0], words[1], queries, documents, (counts / sums[0][queries]).astype(np.float32),
        (counts / sums[1][documents]).astype(np.float32), *(np.full(len(side), np.inf, np.float32) for side in words),
    )  # fmt: skip


def _by_bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _pseudo_counts(knowledge: Sequence[Knowledge], words: Sequence[list[str]]) -> WordPairs:
    """m(w, t) = sum_k min(strength_k, n_k(w)) P_k(t | w), and the same with w and t exchanged."""
    number_of = [{word: number for number, word in enumerate(side)} for side in words]
    keys, forward, backward = [np.zeros(0, np.int64)], [np.zeros(0)], [np.zeros(0)]
    for table, strength, _ in knowledge:
        queries, documents = (
            np.fromiter((number[word] for word in side), np.int64, len(side))
            for number, side in zip(number_of, (table.query_words, table.document_words), strict=True)
        )
        keys.append(queries[table.query_numbers] * (len(words[1]) + 1) + documents[table.document_numbers])
        forward.append(np.minimum(strength, table.query_counts)[table.query_numbers] * table.query_probabilities)
        backward.append(
            np.minimum(strength, table.document_counts)[table.document_numbers] * table.document_probabilities
        )
    found, each = np.unique(np.concatenate(keys), return_inverse=True)
    sources, targets = np.divmod(found, len(words[1]) + 1)
    sums = [np.bincount(each, np.concatenate(side), len(found)).astype(np.float64) for side in (forward, backward)]
    return WordPairs(sources.astype(np.int32), targets.astype(np.int32), sums[0], sums[1])


def _combined(own: WordPairs, seen: Sequence[Numbers], prior: WordPairs) -> WordPairs:
    """P(t | w) = (n(w) P_own(t | w) + m(w, t)) / (n(w) + sum_t' m(w, t') + D), and the same with w and t exchanged."""
    width = len(seen[1])
    keys = [pairs.sources.astype(np.int64) * width + pairs.targets for pairs in (own, prior)]
    found = np.union1d(*keys)
    sources, targets = np.divmod(found, width)
    rows = [np.searchsorted(found, each) for each in keys]
    result = []
    for of_own, of_prior, given, side in (
        (own.forward, prior.forward, sources, 0), (own.backward, prior.backward, targets, 1)
    ):  # fmt: skip
        counts = np.zeros(len(found))
        counts[rows[1]] = of_prior
        sums = np.bincount(given, counts, len(seen[side])) + seen[side] + _DISCOUNT
        counts[rows[0]] += of_own * seen[side][given[rows[0]]]
        result.append(counts / sums[given])
    return WordPairs(sources.astype(np.int32), targets.astype(np.int32), *result)


def _with_compounds(pairs: WordPairs, compounds: Mapping[str, Compound], words: list[str]) -> WordPairs:
    """What is not known of a compound t is known of its parts p_1 ... p_n.

    P(w | t) + (1 - sum_w' P(w' | t)) mean_i P(w | p_i), and P(t | w) alike, times the share of t among its parts.
    """
    number_of = {word: number for number, word in enumerate(words)}
    known = [
        (number_of[term], number_of[part], 1 / len(each.parts), each.share)
        for term, each in compounds.items()
        for part in each.parts
        if part in number_of
    ]
    if not known:
        return pairs
    terms, parts = np.asarray([each[:2] for each in known], np.int64).T
    weights, shares = np.asarray([each[2:] for each in known]).T
    weights *= np.maximum(0, 1 - np.bincount(pairs.targets, pairs.backward, len(words) + 1))[terms]
    order = np.argsort(pairs.targets, kind="stable")
    starts = np.searchsorted(pairs.targets[order], np.arange(len(words) + 2))
    lengths = (starts[1:] - starts[:-1])[parts]
    each = np.repeat(np.arange(len(parts)), lengths)
    of_part = order[np.arange(len(each)) + np.repeat(starts[parts] - (np.cumsum(lengths) - lengths), lengths)]
    width = len(words) + 1
    keys = np.append(pairs.sources, pairs.sources[of_part]).astype(np.int64) * width
    found, row = np.unique(keys + np.append(pairs.targets, terms[each]), return_inverse=True)
    backward = np.append(pairs.backward, pairs.backward[of_part] * weights[each])
    forward = np.append(pairs.forward, pairs.forward[of_part] * (weights * shares)[each])
    sources, targets = np.divmod(found, width)
    return WordPairs(
        sources.astype(np.int32), targets.astype(np.int32),
        np.bincount(row, forward, len(found)).astype(np.float64),
        np.bincount(row, backward, len(found)).astype(np.float64),
    )  # fmt: skip


def _known(texts: TokenizedTexts, more: Sequence[str]) -> list[str]:
    """The words that the texts have often enough, and more, sorted."""
    counts = np.bincount(texts.ids, minlength=len(texts.terms))
    often = {term for term, count in zip(texts.terms, counts.tolist(), strict=True) if count >= _SEEN}
    return sorted(often.union(more), key=_by_bytes)


def _numbered(texts: TokenizedTexts, number_of: dict[str, int], rest: int) -> Numbered:
    numbers = np.fromiter((number_of.get(term, rest) for term in texts.terms), np.int32, len(texts.terms))
    ids: Ids = numbers[texts.ids] if len(numbers) else np.zeros(0, np.int32)
    kept = ids >= 0
    return Numbered(ids[kept], np.append(0, np.cumsum(kept))[texts.offsets])


def _taken(texts: Numbered, words: list[str], step: int) -> TokenizedTexts:
    """Of very many texts every n-th; the others are empty."""
    used: NDArray[np.bool_] = np.repeat(np.arange(len(texts.offsets) - 1) % step == 0, np.diff(texts.offsets))
    offsets: Numbers = np.append(0, np.cumsum(used))[texts.offsets]
    return TokenizedTexts([*words, ""], texts.ids[used], offsets)
