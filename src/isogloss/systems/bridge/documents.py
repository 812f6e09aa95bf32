"""The documents of ``bridge``: passages in the words of a channel, one part after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.retrieval.ranking import Allowed, Rows, Scores
from isogloss.storage.arrays import load_array, save_array
from isogloss.systems.bridge.texts import IndexedTexts
from isogloss.text.batches import TokenizedTexts
from isogloss.text.passages import Span, cut_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import Floats, Numbers, QueryStatistics, TranslationModel

Vectors = NDArray[np.float32] | None
"""Of a pretrained encoder, one a document."""


class PassageNumbers(NamedTuple):
    """Passages of some documents, as numbers of a part, and where those of each document begin among them."""

    numbers: Numbers
    starts: Numbers


class PassageMatches(NamedTuple):
    """The likeliest documents of the whole collection for a query, their scores, and c(q)."""

    rows: Rows
    scores: Scores
    context: float


@dataclass(frozen=True)
class Part:
    """Documents that were indexed at one time. ``counts`` are the passages of each, ``spans`` their places."""

    texts: IndexedTexts
    counts: Numbers
    spans: NDArray[np.int32]
    vectors: Vectors = None

    @classmethod
    def build(
        cls, channel: TranslationModel, texts: Sequence[str], words: int, terms: Tokenizer, vectors: Vectors
    ) -> Part:
        """Of texts, cut into passages of so many words (0: not cut)."""
        cut = cut_texts(texts, words, terms, f"indexing {len(texts):,} documents")
        return cls(IndexedTexts.build(channel, cut.terms), cut.counts, cut.spans, vectors)

    def __len__(self) -> int:
        return len(self.counts)

    def has(self, term: str, live: Allowed | None = None) -> bool:
        """Whether any document, or any of the live ones, has a term."""
        if live is None:
            return self.texts.has(term)
        passages = self.texts.postings[term].documents
        return bool(live[np.searchsorted(np.cumsum(self.counts), passages, side="right")].any())

    def passages_of(self, rows: Numbers) -> PassageNumbers:
        """All passages of some documents."""
        firsts = np.cumsum(self.counts) - self.counts
        counts = self.counts[rows]
        starts = np.append(0, np.cumsum(counts))
        numbers = np.arange(starts[-1]) + np.repeat(firsts[rows] - starts[:-1], counts)
        return PassageNumbers(numbers, starts)

    def best(self, asked: QueryStatistics) -> Floats:
        """said(q, p), roughly, of the best passage of every document."""
        firsts = np.cumsum(self.counts) - self.counts
        scores = self.texts.said(asked, rough=True)
        best: Floats = np.maximum.reduceat(scores, firsts) if len(firsts) else scores
        return best

    def save(self, directory: Path) -> None:
        """Write all but the channel into a directory."""
        self.texts.save(directory)
        save_array(directory / "passages.counts.npy", self.counts)
        save_array(directory / "passages.spans.npy", self.spans)
        if self.vectors is not None:
            save_array(directory / "pretrained.npy", self.vectors)

    @classmethod
    def load(cls, channel: TranslationModel, directory: Path) -> Part:
        """Map what ``save`` wrote."""
        vectors = directory / "pretrained.npy"
        counts, spans = (load_array(directory / f"passages.{name}.npy") for name in ("counts", "spans"))
        texts = IndexedTexts.load(channel, directory)
        if not counts.sum() == len(spans) == len(texts):
            raise ValueError("passages.spans.npy does not fit passages.counts.npy")
        return cls(texts, counts, spans, load_array(vectors) if vectors.exists() else None)

    def tokens(self, keep: Allowed) -> TokenizedTexts:
        """The passages of the documents to keep, as they were tokenised."""
        return self.texts.only(np.repeat(keep, self.counts))


class Documents:
    """Parts as one collection; ``live`` says which documents still count in what the collection has."""

    def __init__(self, parts: Sequence[Part], live: Allowed | None = None) -> None:
        self.parts, self.live = list(parts), live
        self._firsts = np.cumsum([0, *map(len, self.parts)])

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def has(self, term: str) -> bool:
        """Whether any document that counts has a term."""
        if self.live is None:
            return any(part.has(term) for part in self.parts)
        return any(part.has(term, live) for part, live in self._with(self.live))

    def counting_only(self, live: Allowed) -> Documents:
        """The same parts, of which only some documents count."""
        return Documents(self.parts, live)

    @property
    def passages(self) -> Numbers:
        """How many passages each document that counts has."""
        counts = np.concatenate([np.zeros(0, np.int64), *(part.counts for part in self.parts)])
        return counts if self.live is None else counts[self.live]

    def best(self, asked: QueryStatistics) -> Floats:
        """said(q, p) of the best passage of every document."""
        return np.concatenate([np.zeros(0, np.float32), *(part.best(asked) for part in self.parts)])

    def split(self, rows: Numbers) -> list[tuple[Part, Numbers, Numbers]]:
        """Parts, the rows there, and which of the given rows these are."""
        number = np.searchsorted(self._firsts, rows, side="right") - 1
        found = []
        for place, part in enumerate(self.parts):
            which = np.flatnonzero(number == place)
            if len(which):
                found.append((part, rows[which] - self._firsts[place], which))
        return found

    def span(self, row: int, passage: int) -> Span:
        """Where a passage of a document begins and ends in its text."""
        ((part, rows, _),) = self.split(np.asarray([row]))
        begin, end = part.spans[part.passages_of(rows).numbers[passage]].tolist()
        return begin, end

    def merged(self, channel: TranslationModel, keep: Allowed | None) -> Part:
        """All parts as one, only the documents to keep."""
        kept = np.ones(len(self), bool) if keep is None else keep
        if len(self.parts) == 1 and kept.all():
            return self.parts[0]
        pairs = self._with(kept)
        counts = [part.counts[keeping] for part, keeping in pairs]
        spans = [part.spans[np.repeat(keeping, part.counts)] for part, keeping in pairs]
        vectors = [part.vectors[keeping] for part, keeping in pairs if part.vectors is not None]
        texts = IndexedTexts.build(channel, _joined([part.tokens(keeping) for part, keeping in pairs]))
        return Part(
            texts, np.concatenate([np.zeros(0, np.int64), *counts]), np.concatenate([_NO_SPANS, *spans]),
            np.concatenate(vectors) if vectors else None,
        )  # fmt: skip

    def _with(self, rows: Allowed) -> list[tuple[Part, Allowed]]:
        """Each part with what is said of its documents."""
        firsts = self._firsts.tolist()
        return [(part, rows[first : first + len(part)]) for part, first in zip(self.parts, firsts, strict=False)]


_NO_SPANS = np.zeros((0, 2), np.int32)


def _joined(parts: Sequence[TokenizedTexts]) -> TokenizedTexts:
    number_of: dict[str, int] = {}
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for part in parts:
        numbers = [number_of.setdefault(term, len(number_of)) for term in part.terms]
        ids.append(np.asarray(numbers, np.int32)[part.ids] if numbers else part.ids)
        lengths.append(np.diff(part.offsets))
    return TokenizedTexts(list(number_of), np.concatenate(ids), np.cumsum(np.concatenate(lengths)))
