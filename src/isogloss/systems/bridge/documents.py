"""The indexed documents of ``bridge``: overlapping passages of each, in parts that were indexed at different times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed
from isogloss.storage.arrays import load_array, save_array
from isogloss.systems.bridge.matching import CollectionStatistics, PassageIndex
from isogloss.text.batches import TokenizedTexts
from isogloss.text.passages import Span, cut_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import Floats, Numbers, QueryStatistics, TranslationModel

Vectors = NDArray[np.float32] | None
"""The vectors of a pretrained encoder, one a document."""
_NO_SPANS = np.zeros((0, 2), np.int32)


class PassageNumbers(NamedTuple):
    """The passages of some documents of a part, and where those of each document start among them."""

    numbers: Numbers
    starts: Numbers


@dataclass(frozen=True)
class Part:
    """Documents that were indexed together: how many passages each has, and the span of each passage in its text."""

    index: PassageIndex
    counts: Numbers
    spans: NDArray[np.int32]
    vectors: Vectors = None

    @classmethod
    def build(
        cls, translation: TranslationModel, texts: Sequence[str], words: int, terms: Tokenizer, vectors: Vectors
    ) -> Part:
        """Index texts, split into passages of so many words (0: whole texts)."""
        cut = cut_texts(texts, words, terms, f"indexing {len(texts):,} documents")
        return cls(PassageIndex.build(translation, cut.terms), cut.counts, cut.spans, vectors)

    def __len__(self) -> int:
        return len(self.counts)

    def count_of(self, term: str, live: Allowed | None = None) -> int:
        """How often the documents, or the live ones, have a term."""
        return self.index.count_of(term, None if live is None else np.repeat(live, self.counts))

    def term_counts(self, live: Allowed | None = None) -> Numbers:
        """How often the documents, or the live ones, have each term of the translation model."""
        return self.index.counts(None if live is None else np.repeat(live, self.counts))

    def passages_of(self, rows: Numbers) -> PassageNumbers:
        """All passages of some documents."""
        firsts = np.cumsum(self.counts) - self.counts
        counts = self.counts[rows]
        starts = np.append(0, np.cumsum(counts))
        numbers = np.arange(starts[-1]) + np.repeat(firsts[rows] - starts[:-1], counts)
        return PassageNumbers(numbers, starts)

    def best(self, query: QueryStatistics, odds: Floats) -> Floats:
        """forward(q, p), pruned, of the best passage of every document."""
        firsts = np.cumsum(self.counts) - self.counts
        scores = self.index.forward(query, odds, pruned=True)
        best: Floats = np.maximum.reduceat(scores, firsts) if len(firsts) else scores
        return best

    def save(self, directory: Path) -> None:
        """Write all but the translation model into a directory."""
        self.index.save(directory)
        save_array(directory / "passages.counts.npy", self.counts)
        save_array(directory / "passages.spans.npy", self.spans)
        if self.vectors is not None:
            save_array(directory / "pretrained.npy", self.vectors)

    @classmethod
    def load(cls, translation: TranslationModel, directory: Path) -> Part:
        vectors = directory / "pretrained.npy"
        counts, spans = (load_array(directory / f"passages.{name}.npy") for name in ("counts", "spans"))
        index = PassageIndex.load(translation, directory)
        if not counts.sum() == len(spans) == len(index):
            raise ValueError("passages.spans.npy does not fit passages.counts.npy")
        return cls(index, counts, spans, load_array(vectors) if vectors.exists() else None)

    def tokens(self, keep: Allowed) -> TokenizedTexts:
        """The passages of the documents to keep, as they were tokenised."""
        return self.index.only(np.repeat(keep, self.counts))


class Documents:
    """Parts as one collection; ``live``: which documents are not deleted (None: all)."""

    def __init__(self, parts: Sequence[Part], live: Allowed | None = None) -> None:
        self.parts, self.live = list(parts), live
        self._firsts = np.cumsum([0, *map(len, self.parts)])

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def count_of(self, term: str) -> int:
        """How often the live documents have a term."""
        return sum(part.count_of(term, live) for part, live in self._live())

    def rows_with(self, term: str, most: int) -> list[int]:
        """The live documents that have a term; none if there are more than ``most``."""
        found: list[int] = []
        for part, first in zip(self.parts, self._firsts.tolist(), strict=False):
            passages = part.index.postings[term].documents
            rows = first + np.unique(np.searchsorted(np.cumsum(part.counts), passages, side="right"))
            found += (rows if self.live is None else rows[self.live[rows]]).tolist()
            if len(found) > most:
                return []
        return found

    @cached_property
    def statistics(self) -> CollectionStatistics:
        """Those of the live documents."""
        counts = [part.term_counts(live) for part, live in self._live()]
        translation = self.parts[0].index.translation
        return CollectionStatistics(translation, np.sum(counts, axis=0), int(self.passages.sum()), len(self.passages))

    @property
    def passages(self) -> Numbers:
        """The number of passages of each live document."""
        counts = np.concatenate([np.zeros(0, np.int64), *(part.counts for part in self.parts)])
        return counts if self.live is None else counts[self.live]

    def best(self, query: QueryStatistics) -> Floats:
        """The first stage: forward(q, p), pruned, of the best passage of every document."""
        if not self.parts:
            return np.zeros(0, np.float32)
        odds = self.statistics.background.of(query)
        return np.concatenate([part.best(query, odds) for part in self.parts])

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

    def span(self, row: int, passage: int) -> Span:
        """Where a passage of a document begins and ends in its text."""
        ((part, rows, _),) = self.split(np.asarray([row]))
        begin, end = part.spans[part.passages_of(rows).numbers[passage]].tolist()
        return begin, end

    def merged(self, translation: TranslationModel, keep: Allowed | None) -> Part:
        """All parts as one part, with the documents to keep."""
        kept = np.ones(len(self), bool) if keep is None else keep
        if len(self.parts) == 1 and kept.all():
            return self.parts[0]
        pairs = self._with(kept)
        counts = [part.counts[keeping] for part, keeping in pairs]
        spans = [part.spans[np.repeat(keeping, part.counts)] for part, keeping in pairs]
        vectors = [part.vectors[keeping] for part, keeping in pairs if part.vectors is not None]
        index = PassageIndex.build(translation, _joined([part.tokens(keeping) for part, keeping in pairs]))
        return Part(
            index, np.concatenate([np.zeros(0, np.int64), *counts]), np.concatenate([_NO_SPANS, *spans]),
            np.concatenate(vectors) if vectors else None,
        )  # fmt: skip

    def _live(self) -> list[tuple[Part, Allowed | None]]:
        return [(part, None) for part in self.parts] if self.live is None else [*self._with(self.live)]

    def _with(self, rows: Allowed) -> list[tuple[Part, Allowed]]:
        """Each part with the values of its documents."""
        firsts = self._firsts.tolist()
        return [(part, rows[first : first + len(part)]) for part, first in zip(self.parts, firsts, strict=False)]


def _joined(parts: Sequence[TokenizedTexts]) -> TokenizedTexts:
    """The texts of several parts, one after the other, with one list of terms."""
    number_of: dict[str, int] = {}
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for part in parts:
        numbers = [number_of.setdefault(term, len(number_of)) for term in part.terms]
        ids.append(np.asarray(numbers, np.int32)[part.ids] if numbers else part.ids)
        lengths.append(np.diff(part.offsets))
    return TokenizedTexts(list(number_of), np.concatenate(ids), np.cumsum(np.concatenate(lengths)))
