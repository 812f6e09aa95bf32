"""The indexed documents of ``bridge``: their tokens, in parts that were indexed at different times.

The passages of a document are windows over its tokens, so tokens are stored once. The first stage searches the lists
that the expansion made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.impacts import ImpactLists, ImpactQuery, search_impacts
from isogloss.retrieval.ranking import MOST_COUNTED, Allowed, Matches, Ranking
from isogloss.storage.array_checks import check_offsets, check_type, check_within
from isogloss.storage.arrays import has_array, keep_with, load_array, place_of, save_array
from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.expansion import Tokens, dimension_of, expand, score_tables
from isogloss.systems.bridge.matching import (
    COMPILED,
    BestPassages,
    CollectionStatistics,
    DocumentMatches,
    QueryTable,
    best_passages,
    match_documents,
    passage_terms,
    rare_words,
)
from isogloss.text.batches import TokenizedTexts
from isogloss.text.ids import TextIds
from isogloss.text.passages import Span, cut_texts, windows
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import Floats, Ids, Numbers, QueryStatistics, TranslationModel

Vectors = NDArray[np.float32] | None
"""The vectors of a pretrained encoder, one a document."""
_ARRAYS = ("tokens", "offsets", "times", "spans")
_CHECKED = 2**20  # tokens: a millisecond
_NO_SPANS = np.zeros((0, 2), np.int32)


@dataclass(frozen=True, eq=False)
class Part:
    """Documents that were indexed together: their tokens, the span of each passage in its text, and the lists.

    ``others`` are the terms that the translation model does not know. ``times`` is how often the passages have each
    term: passages overlap, so most words of a document count twice.
    """

    translation: TranslationModel
    others: StringTable
    tokens: Tokens
    times: Numbers
    spans: NDArray[np.int32]
    lists: ImpactLists
    vectors: Vectors = None

    @classmethod
    def build(
        cls, translation: TranslationModel, texts: Sequence[str], words: int, terms: Tokenizer, vectors: Vectors
    ) -> Part:
        """Index texts, split into passages of so many words (0: whole texts)."""
        cut = cut_texts(texts, words, terms, f"indexing {len(texts):,} documents")
        return cls.of_tokens(translation, cut.terms, words, cut.spans, vectors)

    @classmethod
    def of_tokens(
        cls, translation: TranslationModel, texts: TokenizedTexts, words: int, spans: NDArray[np.int32],
        vectors: Vectors,
    ) -> Part:  # fmt: skip
        """Index tokenised texts, whose ids become the part's."""
        tokens, others = number_tokens(translation, texts, words)
        lists, times = expand(tokens, translation)
        return cls(translation, others, tokens, times, spans, lists, vectors)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def firsts(self) -> Numbers:
        """The number of the first passage of each document, and the number of all."""
        return np.append(0, np.cumsum(windows(self.tokens.offsets, self.tokens.passage).counts))

    @cached_property
    def number_of(self) -> Callable[[str], int | None]:
        """From a term to its number; None if no document has it and the translation model does not know it."""
        return lru_cache(50_000)(self._number_of)

    def _number_of(self, term: str) -> int | None:
        number = self.translation.find_term(term)
        other = self.others.find(term) if number is None else None
        return number if other is None else self.translation.unknown + 1 + other

    @cached_property
    def term(self) -> Callable[[int], str]:
        """From a number, which is not *unknown*, to its term."""
        return lru_cache(50_000)(self._term)

    def _term(self, number: int) -> str:
        unknown = self.translation.unknown
        return self.translation.document_words[number] if number < unknown else self.others[number - unknown - 1]

    def gone_times(self, live: Allowed) -> Numbers:
        """How often the documents that are not live have each term."""
        terms = passage_terms(self.tokens, np.flatnonzero(~live))[0]
        return np.bincount(terms, minlength=len(self.times))

    def rows_with(self, term: str) -> Ids | None:
        """The documents that have a term; None if they are too many to be listed."""
        number = self.number_of(term)
        if number is None or not self.times[number]:
            return np.zeros(0, np.int32)
        rows = self.lists.rows(dimension_of(self.translation, number))
        return rows if len(rows) else None

    def verbatim(self, query: QueryStatistics) -> Ids:
        """The number of each verbatim term of a query, or -1."""
        numbers = (self.number_of(term) for term in query.verbatim_terms)
        return np.asarray([-1 if number is None else number for number in numbers], np.int32)

    def span(self, row: int, passage: int) -> Span:
        """Where a passage of a document begins and ends in its text."""
        begin, end = self.spans[int(self.firsts[row]) + passage].tolist()
        return begin, end

    def words_of(self, rows: Numbers, passages: Numbers) -> TextIds:
        """One passage of each of some documents, in the translation model's numbers."""
        terms, starts, _ = passage_terms(self.tokens, rows, passages)
        return TextIds(np.minimum(terms, self.tokens.unknown), starts)

    def save(self, directory: Path) -> None:
        """Write all but the translation model into a directory."""
        self.others.save(directory, "others")
        self.lists.save(directory)
        arrays: tuple[NDArray[Any], ...] = (self.tokens.ids, self.tokens.offsets, self.times, self.spans)
        for name, array in zip(_ARRAYS, arrays, strict=True):
            save_array(directory / f"texts.{name}.npy", array)
        if self.vectors is not None:
            save_array(directory / "pretrained.npy", self.vectors)

    @classmethod
    def load(cls, translation: TranslationModel, directory: Path, words: int) -> Part:
        ids, offsets, times, spans = (load_array(directory / f"texts.{name}.npy") for name in _ARRAYS)
        others, path = StringTable.load(directory, "others"), directory / "pretrained.npy"
        vectors = load_array(path) if has_array(path) else None
        tokens = Tokens(ids, offsets, translation.unknown, len(others), words)
        places = {name: place_of(directory / f"texts.{name}.npy") for name in _ARRAYS}
        check_offsets(offsets, len(ids), places["offsets"])
        check_type(ids, np.int32, places["tokens"])
        check_type(times, np.int64, places["times"], tokens.terms)
        check_within(times, 4 * len(ids) + 1, places["times"])
        if len(ids) <= _CHECKED:  # more are checked when they are merged; compiled code takes others for unknown
            keep_with(directory / "texts.tokens.npy", lambda: check_within(ids, tokens.terms, places["tokens"]))
        lists = ImpactLists.load(directory, len(tokens), dimension_of(translation, tokens.terms))
        part = cls(translation, others, tokens, times, spans, lists, vectors)
        if vectors is not None and (vectors.dtype != np.float32 or vectors.shape[:1] != (len(tokens),)):
            raise ValueError(f"{place_of(path)} does not fit: it has the shape {vectors.shape}")
        if spans.shape != (part.firsts[-1], 2) or spans.dtype != np.int32:
            raise ValueError(f"{places['spans']} does not fit: it has {len(spans):,} passages, not {part.firsts[-1]:,}")
        return part


class Documents:
    """Parts as one collection; ``live``: which documents are not deleted (None: all)."""

    def __init__(self, parts: Sequence[Part], live: Allowed | None = None) -> None:
        self.parts, self.live = list(parts), live
        self._firsts = np.cumsum([0, *map(len, self.parts)])

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def count_of(self, term: str) -> int:
        """How often the passages of live documents have a term."""
        found = ((part.number_of(term), times) for part, times in zip(self.parts, self._times, strict=True))
        return sum(int(times[number]) for number, times in found if number is not None)

    def other_counts(self, terms: Sequence[str]) -> Numbers:
        """The same for each of many terms, 0 for those that the translation model knows."""
        found = np.zeros(len(terms), np.int64)
        for part, times in zip(self.parts, self._times, strict=True):
            numbers = part.others.find_all(terms)
            found += np.where(numbers < 0, 0, times[part.translation.unknown + 1 + numbers])
        return found

    def rows_with(self, term: str, most: int) -> list[int]:
        """The live documents that have a term; none if there are more than ``most``."""
        found: list[int] = []
        for part, first in zip(self.parts, self._firsts.tolist(), strict=False):
            rows = part.rows_with(term)
            if rows is None:
                return []
            rows = rows + first
            found += (rows if self.live is None else rows[self.live[rows]]).tolist()
            if len(found) > most:
                return []
        return found

    @cached_property
    def _times(self) -> list[Numbers]:
        """How often the live passages of each part have each of its terms."""
        if self.live is None:
            return [part.times for part in self.parts]
        return [part.times - part.gone_times(live) for part, live in self._with(self.live)]

    @cached_property
    def statistics(self) -> CollectionStatistics:
        """Those of the live documents."""
        translation = self.parts[0].translation
        counts = np.zeros(translation.unknown + 1, np.int64)
        for times in self._times:
            counts += np.append(times[: translation.unknown], times[translation.unknown :].sum())
        return CollectionStatistics(translation, counts, int(self.passages.sum()), len(self.passages))

    @property
    def passages(self) -> Numbers:
        """The number of passages of each live document."""
        counts = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.firsts) for part in self.parts)])
        return counts if self.live is None else counts[self.live]

    def best(self, query: QueryStatistics, count: int, id_order: Numbers, allowed: Allowed | None) -> Ranking:
        """The first stage: the documents with the highest scores by their expansion, in integers."""
        compiled = COMPILED.functions(0) is not None
        return search_impacts(self.lists, self.impact_query(query), count, id_order, allowed, compiled)

    def count_matches(self, query: QueryStatistics, allowed: Allowed | None) -> Matches:
        """The documents in any list of a query, if these are short; else those in the longest."""
        wanted = self.impact_query(query)
        sizes = np.zeros((len(self.parts), len(wanted.tables)), np.int64)
        for row, part, numbers in zip(sizes, self.parts, wanted.dimensions, strict=True):
            row[:] = [part.lists.count(number) if number >= 0 else 0 for number in numbers.tolist()]
        is_exact = int(sizes.sum()) <= MOST_COUNTED
        used = np.flatnonzero(sizes.any(axis=0)) if is_exact else sizes.sum(axis=0).argmax(keepdims=True)
        found = [np.zeros(0, bool)]
        for part, numbers in zip(self.parts, wanted.dimensions, strict=True):
            here = used[numbers[used] >= 0]
            found.append(part.lists.scores(numbers[here], wanted.tables[here]) > 0)
        matching = np.concatenate(found)
        return Matches(int(np.count_nonzero(matching if allowed is None else matching & allowed)), is_exact)

    def impact_query(self, query: QueryStatistics) -> ImpactQuery:
        """The dimensions and tables of a query: without the most common words, where there are others."""
        odds = self.statistics.background.of(query) if self.parts else np.zeros(len(query.words), np.float32)
        used = rare_words(odds)
        translated = query.numbers[used] != (self.parts[0].translation.unknown_word if self.parts else 0)
        own = np.asarray([position in query.verbatim for position in used.tolist()], bool)
        words = np.concatenate([used[translated | ~own], used[own]])
        as_words, dimensions = int((translated | ~own).sum()), []
        for part in self.parts:
            numbers = (part.number_of(query.verbatim[position]) for position in used[own].tolist())
            verbatim = [-1 if each is None else dimension_of(part.translation, each) for each in numbers]
            dimensions.append(np.append(query.numbers[words[:as_words]], verbatim).astype(np.int64))
        tables = score_tables(query.times[words] / np.float32(max(1.0, query.length)), odds[words])
        return ImpactQuery(dimensions, tables)

    @property
    def lists(self) -> list[ImpactLists]:
        """The lists of each part."""
        return [part.lists for part in self.parts]

    def best_passages(self, table: QueryTable, query: QueryStatistics, rows: Numbers) -> BestPassages:
        """The best passage of each of some documents."""
        found = BestPassages(np.zeros(len(rows)), np.zeros(len(rows), np.int64))
        for part, part_rows, which in self.split(rows):
            own = best_passages(table, part.tokens, part.verbatim(query), part_rows)
            found.scores[which], found.numbers[which] = own
        return found

    def match(self, table: QueryTable, query: QueryStatistics, rows: Numbers, best: Numbers) -> DocumentMatches:
        """The statistics of some documents, whose best passages are known."""
        found = DocumentMatches.empty(len(rows), len(query.words))
        for part, part_rows, which in self.split(rows):
            own = match_documents(table, part.tokens, part.verbatim(query), part_rows, best[which])
            for array, values in zip(found, own, strict=True):
                array[which] = values
        return found

    def cosines(self, vector: Floats) -> Floats:
        """The cosine of every document's vector of a pretrained encoder and a query's."""
        return np.concatenate(
            [np.zeros(0, np.float32), *(p.vectors @ vector for p in self.parts if p.vectors is not None)]
        )

    def split(self, rows: Numbers) -> list[tuple[Part, Numbers, Numbers]]:
        """Each part with some of the rows: their rows in the part, and their positions in ``rows``."""
        number = np.searchsorted(self._firsts, rows, side="right") - 1
        found = []
        for i, part in enumerate(self.parts):
            which = np.flatnonzero(number == i)
            if len(which):
                found.append((part, rows[which] - self._firsts[i], which))
        return found

    def merged(self, translation: TranslationModel, keep: Allowed | None, words: int) -> Part:
        """All parts as one part, with the documents to keep."""
        kept = np.ones(len(self), bool) if keep is None else keep
        if len(self.parts) == 1 and kept.all():
            return self.parts[0]
        pairs = self._with(kept)
        spans = [part.spans[np.repeat(keeping, np.diff(part.firsts))] for part, keeping in pairs]
        vectors = [part.vectors[keeping] for part, keeping in pairs if part.vectors is not None]
        return Part.of_tokens(
            translation, _joined(pairs), words, np.concatenate([_NO_SPANS, *spans]),
            np.concatenate(vectors) if vectors else None,
        )  # fmt: skip

    def _with(self, rows: Allowed) -> list[tuple[Part, Allowed]]:
        """Each part with the values of its documents."""
        firsts = self._firsts.tolist()
        return [(part, rows[first : first + len(part)]) for part, first in zip(self.parts, firsts, strict=False)]


def number_tokens(translation: TranslationModel, texts: TokenizedTexts, words: int) -> tuple[Tokens, StringTable]:
    """Tokenised texts in the numbers of a part, in place, and the terms that the translation model does not know."""
    known = translation.number_of
    others = sorted(term for term in texts.terms if term not in known)  # as their UTF-8 bytes sort too
    other = {term: number for number, term in enumerate(others, translation.unknown + 1)}
    numbers = np.fromiter((known.get(term, -1) for term in texts.terms), np.int32, len(texts.terms))
    numbers[numbers < 0] = [other[term] for term in texts.terms if term in other]
    if len(numbers):
        np.take(numbers, texts.ids, out=texts.ids, mode="clip")  # they may be many
    return Tokens(texts.ids, texts.offsets, translation.unknown, len(others), words), StringTable.of(others)


def _joined(parts: Sequence[tuple[Part, Allowed]]) -> TokenizedTexts:
    """The documents to keep of several parts, one after the other, with one list of the terms that they contain."""
    number_of: dict[str, int] = {}
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for part, keep in parts:
        own = np.diff(part.tokens.offsets)
        tokens, number = part.tokens.ids[np.repeat(keep, own)], np.zeros(part.tokens.terms, np.int32)
        check_within(tokens, len(number), "texts.tokens.npy")
        for each in np.flatnonzero(np.bincount(tokens, minlength=len(number))).tolist():
            number[each] = number_of.setdefault(part.term(each), len(number_of))
        ids.append(number[tokens])
        lengths.append(own[keep])
    return TokenizedTexts(list(number_of), np.concatenate(ids), np.cumsum(np.concatenate(lengths)))
