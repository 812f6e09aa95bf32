r"""``hybrid``: vectors that know what is alike and words that know what was said, in one system.

    score(q, d) = w share_dense(q, d) + (1 - w) share_lexical(q, d)        (see ``search.fusion``)

Both parts find documents; what either finds is scored by both. They are fitted, indexed and saved together.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.corpus.dataset import Dataset
from isogloss.evaluation.ranking import Ranking, Scores, top_k
from isogloss.evaluation.system import Allowed, Contribution, System, SystemOptions
from isogloss.systems.explaining import merged
from isogloss.systems.hybrid_explaining import scaled
from isogloss.systems.hybrid_lists import BothShares, Lists
from isogloss.systems.hybrid_options import HybridOptions
from isogloss.systems.hybrid_parts import SIDES, is_run, load_parts, make_part, save_parts
from isogloss.systems.hybrid_weight import hold_out, tuned_weight
from isogloss.systems.passages import FindsPassages
from isogloss.text.passages import Span

_USUAL_WEIGHT = 0.3


class Hybrid(FindsPassages):
    """A dense and a lexical system whose lists are fused."""

    name = "hybrid"
    paper = "Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion Outperforms Condorcet"
    summary = "a dense and a lexical system together: weighted scores or reciprocal ranks"
    options_type = HybridOptions
    options: HybridOptions
    learns = True

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()
        self.weight = self.options.given_weight()
        self._parts: dict[str, System] = {}

    def __copy__(self) -> Hybrid:
        """One that can be given other documents."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._use({side: copy(part) for side, part in self._parts.items()})
        return made

    def fit(self, training: Dataset) -> None:
        """Find the weight with parts that have not seen a fifth of the train queries; then let both see all."""
        if self.weight is None:
            self.weight = self._find_weight(training)
        self._use(self._fitted(training))

    def index_texts(self, texts: Sequence[str]) -> None:
        self._take_order(self.id_order, len(texts))
        for part in self._parts.values():
            part.id_order = self.id_order
            part.index_texts(texts)
        self._use(self._parts)

    def scores(self, query: str) -> Scores:
        return self._fused(self._lists.all_shares(query))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        return self._fused(self._lists.shares(query, np.asarray(rows, dtype=np.int64)))

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        rows = self._lists.candidates(query, k, allowed)
        return top_k(self.score(query, rows), k, self.id_order, rows)

    def passage(self, query: str, row: int) -> Span | None:
        """The lexical part's, where it found any word; else the dense part's."""
        lexical = self._parts["lexical"]
        found = float(self._lists.scores("lexical", query, np.asarray([row]))[0]) > lexical.found_above
        return self._parts["lexical" if found else "dense"].passage(query, row)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """What each part says, scaled to its share of the score; a word that both speak of has one line."""
        lists, rows = self._lists, np.asarray([row])
        lines = []
        for side, weight, share in zip(SIDES, self._weights, lists.shares(query, rows), strict=True):
            said = self._parts[side].explain(query, row, text)
            if side == "dense":
                said = [self._in_terms(line) for line in said]
            score = float(lists.scores(side, query, rows)[0])
            lines += scaled(said, score, weight * float(share[0]), f"({side})")
        return merged(lines)

    def best_possible(self, query: str) -> float:
        return float(self._fused(self._lists.bounds(query))[0]) or 1.0

    def unknown_words(self, query: str) -> list[str]:
        dense, lexical = (part.unknown_words(query) for part in self._parts.values())
        return [word for word in lexical if word in dense]

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The lexicon's; of words that it lacks the nearest."""
        found = dict(self._parts["dense"].translations(query))
        listed = dict(self._parts["lexical"].translations(query))
        return list((listed | {word: near for word, near in found.items() if word not in listed}).items())

    def term_of(self, word: str) -> str | None:
        return self._parts["lexical"].term_of(word)

    def count_only(self, live: Allowed) -> None:
        for part in self._parts.values():
            part.count_only(live)
        self._use(self._parts)

    def save_shared(self, directory: Path) -> None:
        save_parts(directory, self._weights[0], self._parts)

    def load_shared(self, directory: Path) -> Self:
        self.weight, parts = load_parts(directory, (self.query_language, self.document_language))
        self._use(parts)
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        for side, part in self._parts.items():
            (directory / side).mkdir(exist_ok=True)
            part.save_part(directory / side, keep)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        for side, part in self._parts.items():
            part.load_parts([directory / side for directory in directories], id_order)
        self.id_order = self._parts["dense"].id_order
        self._use(self._parts)
        return self

    def _find_weight(self, training: Dataset) -> float:
        rest, held = hold_out(training)
        if not held or any(is_run(getattr(self.options, side)) for side in SIDES):
            return _USUAL_WEIGHT
        return tuned_weight(training, held, Lists(self._fitted(rest), self.options.fusion, self.options.depth))

    def _fitted(self, training: Dataset) -> dict[str, System]:
        parts = {side: make_part(self.options, side, training.pair) for side in SIDES}
        for side, part in parts.items():
            if part.learns and not is_run(getattr(self.options, side)):
                part.fit(training)
        return parts

    def _use(self, parts: dict[str, System]) -> None:
        self._parts = parts
        self._lists = Lists(parts, self.options.fusion, self.options.depth)
        shared = ("joins", "searches", "explains_quickly")
        vars(self).update({name: all(getattr(part, name) for part in parts.values()) for name in shared})

    @property
    def _weights(self) -> tuple[float, float]:
        weight = _USUAL_WEIGHT if self.weight is None else self.weight
        return weight, 1 - weight

    def _fused(self, shares: BothShares) -> Scores:
        dense, lexical = self._weights
        fused: Scores = dense * shares.dense + lexical * shares.lexical
        return fused

    def _in_terms(self, line: Contribution) -> Contribution:
        """Words as the lexical part sees them, so that one question, ``term_of``, finds all of them in the text."""
        return line._replace(document_words=tuple(self.term_of(word) or word for word in line.document_words))
