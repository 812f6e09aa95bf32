"""``hybrid``: fusion of a dense and a lexical system.

    score(q, d) = w f(dense score of d) + (1 - w) f(lexical score of d)

f makes the scores of a list comparable: by their range, or by reciprocal rank (:mod:`isogloss.retrieval.fusion`). Both
systems retrieve candidates, and both score all of them. They are fitted, indexed and saved together. The weight w is
tuned on a fifth of the train queries, which neither system is fitted on at that time.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.source import Pair
from isogloss.retrieval.fusion import FUSIONS, Doubles, Shared, best_weight
from isogloss.retrieval.ranking import Allowed, Ranking, Scores, top_k
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file, read_json
from isogloss.systems.base import RARE, Contribution, QueryVocabulary, System, SystemOptions, option
from isogloss.systems.explanations import merged
from isogloss.systems.lexicons import LEXICON_HELP
from isogloss.systems.passages import FindsPassages, by_passages
from isogloss.systems.registry import is_system, make_system, system_type
from isogloss.systems.trainable import hold_out, load_model
from isogloss.text.passages import Span
from isogloss.translation.glossing import Glosser

AUTO = "auto"
SIDES = ("dense", "lexical")
_DEFAULT_WEIGHT = 0.3
_FILE = "hybrid.json"
_KEPT = 128  # queries whose lists are cached: the hits of each are explained one by one
_STEP = 1e-6  # between scores that are lowered, in parts of the score


@dataclass(frozen=True)
class HybridOptions(SystemOptions):
    """Options of ``hybrid``; ``lexicon`` and ``passages`` are those of both parts."""

    dense: str = option("aligned", "the part that compares vectors: a system, or a run of 'isogloss train'")
    lexical: str = option("psq", "the part that matches words: a system")
    dense_options: str = option("", "of that system, like dimension=200;window=10")
    lexical_options: str = option("", "of that system, like k1=0.9;stems=no")
    lexicon: str = option("", LEXICON_HELP)
    fusion: str = option("weighted", f"of the two lists: {' or '.join(FUSIONS)} (reciprocal ranks)")
    weight: str = option(
        AUTO, "of the dense part, 0 to 1; auto: tuned on a fifth of the train queries, held out from both parts "
        "meanwhile; 0.3 where there are too few, or where the dense part is a run, which is trained on all",
    )  # fmt: skip
    depth: int = option(200, "how many documents each part retrieves to be fused", 1, 1_000_000)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        self.require("hybrid", {"fusion": tuple(FUSIONS)})
        self.fixed_weight()
        for side in SIDES:
            self.part_settings(side)

    def fixed_weight(self) -> float | None:
        """The weight of the dense part; None where it is tuned."""
        if self.weight == AUTO:
            return None
        try:
            weight = float(self.weight)
        except ValueError:
            weight = -1.0
        if not 0 <= weight <= 1:
            raise InputError(f"hybrid.weight: {self.weight!r} is neither auto nor a number from 0 to 1")
        return weight

    def part_settings(self, side: str) -> dict[str, str]:
        """The settings in ``dense_options`` or ``lexical_options``."""
        written: Any = getattr(self, f"{side}_options")
        settings = [setting.partition("=") for setting in written.split(";") if setting.strip()]
        for key, equals, _ in settings:
            if not equals or not key.strip():
                raise InputError(f"hybrid.{side}_options: {written!r} is not a list like KEY=VALUE;KEY=VALUE")
        return {key.strip(): value.strip() for key, _, value in settings}

    def is_run(self, side: str) -> bool:
        """Whether a part is a trained model."""
        name = getattr(self, side)
        return not is_system(name) and Path(name).is_dir()

    def make_part(self, side: str, pair: Pair) -> System:
        """A part, which has to be fitted unless it is a run."""
        name, settings = getattr(self, side), self.part_settings(side)
        if self.is_run(side):
            if settings:
                raise InputError(f"hybrid.{side}_options: {name} is trained, its options cannot be changed")
            system = load_model(Path(name))
            if (system.query_language, system.document_language) != pair:
                what = f"was trained for {system.query_language}-{system.document_language}, not for {'-'.join(pair)}"
                raise InputError(f"hybrid.{side}: {name} {what}")
            system.options = replace(system.options, passages=self.passages or system.options.passages)
            return by_passages(system)
        if name == "hybrid":
            raise InputError(f"hybrid.{side}: a hybrid of a hybrid is not possible; name one of its parts")
        known = {option.name for option in fields(system_type(name).options_type)}
        both = {"lexicon": self.lexicon, "passages": str(self.passages)}
        return make_system(name, pair, {key: value for key, value in both.items() if key in known and value} | settings)


Found = Callable[[str, str], Ranking]
"""The list of a part, by its side, for a query."""


class BothShares(NamedTuple):
    """The comparable scores f of some documents."""

    dense: Doubles
    lexical: Doubles


def below(scores: Scores, before: Scores) -> Scores:
    """Falling scores, lowered where they are not below all those before.

    >>> below(np.array([3.0, 2.5, 1.0]), np.array([5.0, 2.0])).round(3).tolist()
    [2.0, 2.0, 1.0]
    """
    if not len(before):
        return scores
    last = float(before[-1])
    steps = last - _STEP * max(1.0, abs(last)) * np.arange(1, len(scores) + 1)
    lowered: Scores = np.minimum(scores, steps)
    return lowered


class Lists:
    """The lists of both parts, ``depth`` documents each.

    They are retrieved from the whole collection, even if a search is restricted: so a document has one score for a
    query.
    """

    def __init__(self, parts: Mapping[str, System], fusion: str, depth: int, found: Found | None = None) -> None:
        self.parts, self._depth = dict(parts), depth
        self._shares, self._bound = FUSIONS[fusion]
        self._found = found or lru_cache(_KEPT)(lambda side, query: self.parts[side].search(query, depth))
        self._known: OrderedDict[tuple[str, str], Ranking] = OrderedDict()

    def shares(self, query: str, rows: NDArray[np.int64]) -> BothShares:
        """The comparable scores of some documents."""
        return BothShares(
            *(self._shares(self._found(side, query), rows, self.scores(side, query, rows)) for side in self.parts)
        )

    def scores(self, side: str, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores of a part for some documents, cached where they are a query's candidates."""
        known = self._known.get((side, query))
        if known is not None and len(rows) and np.isin(rows, known.rows).all():
            return known.scores[np.searchsorted(known.rows, rows)]
        found = self.parts[side].score(query, rows)
        if len(rows) > 1 and (np.diff(rows) > 0).all():
            self._known[side, query] = Ranking(rows, found)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)  # the oldest
        return found

    def all_shares(self, query: str) -> BothShares:
        """The comparable scores of all documents."""
        found = [(side, part.scores(query)) for side, part in self.parts.items()]
        return BothShares(*(self._shares(self._found(side, query), np.arange(len(each)), each) for side, each in found))

    def bounds(self, query: str) -> BothShares:
        """Upper bounds of the comparable scores."""
        bounds = [self._bound(self._found(side, query), part.best_possible(query)) for side, part in self.parts.items()]
        return BothShares(*(np.asarray([bound]) for bound in bounds))

    def candidates(self, query: str, allowed: Allowed | None = None) -> NDArray[np.int64]:
        """The rows that either part retrieves, ascending."""
        return next(self.tiers(query, allowed))

    def tiers(self, query: str, allowed: Allowed | None = None) -> Iterator[NDArray[np.int64]]:
        """The rows that either part retrieves, ascending; then those of twice the depth that are new, and so on.

        What is first does not depend on how many are wanted.
        """
        depth, seen = self._depth, np.zeros(0, np.int64)
        while True:
            if allowed is None and depth == self._depth:
                found = [self._found(side, query) for side in self.parts]
            else:
                found = [part.search(query, depth, allowed) for part in self.parts.values()]
            rows = np.unique(np.concatenate([ranking.rows for ranking in found])).astype(np.int64)
            yield np.setdiff1d(rows, seen, assume_unique=True)
            if all(len(ranking.rows) < depth for ranking in found):
                return
            depth, seen = 2 * depth, rows


class Hybrid(FindsPassages):
    """A dense and a lexical system whose lists are fused."""

    name = "hybrid"
    paper = "Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion Outperforms Condorcet"
    summary = "a dense and a lexical system together: weighted scores or reciprocal ranks"
    options_type = HybridOptions
    options: HybridOptions
    learns = True
    translates = True
    measures_on_dev = True  # its parts may

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        self.options.check()
        self.weight = self.options.fixed_weight()
        self._parts: dict[str, System] = {}

    def __copy__(self) -> Hybrid:
        """A copy that can index other documents."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._use({side: copy(part) for side, part in self._parts.items()})
        return made

    def fit(self, training: Dataset) -> None:
        """Tune the weight with parts that are fitted without a fifth of the train queries; then fit both on all."""
        if self.weight is None:
            self.weight = self._tuned_weight(training)
        self._use(self._fitted(training))

    def _tuned_weight(self, training: Dataset) -> float:
        rest, held_out = hold_out(training)
        if not held_out or any(map(self.options.is_run, SIDES)):
            return _DEFAULT_WEIGHT
        lists = Lists(self._fitted(rest), self.options.fusion, self.options.depth)
        documents, judgments, seen = training.documents, training.judgments, []
        for part in lists.parts.values():
            part.index(documents, ("text",))
        for query in held_out:
            rows = lists.candidates(training.queries[query].text)
            shares = lists.shares(training.queries[query].text, rows)
            right = [documents.row_of[id_] for id_, grade in judgments[query].items() if grade == judgments.top_grade]
            seen.append(Shared(*shares, documents.id_order[rows], np.isin(rows, right)))
        return best_weight(seen)

    def _fitted(self, training: Dataset) -> dict[str, System]:
        parts = {side: self.options.make_part(side, training.pair) for side in SIDES}
        for side, part in parts.items():
            if part.learns and not self.options.is_run(side):
                part.fit(training)
        return parts

    def index_texts(self, texts: Sequence[str]) -> None:
        self._take_order(self.id_order, len(texts))
        for part in self._parts.values():
            part.id_order = self.id_order
            part.index_texts(texts)
        self._use(self._parts)

    def scores(self, query: str) -> Scores:
        return self.fused(self._lists.all_shares(query))

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        return self.fused(self._lists.shares(query, np.asarray(rows, dtype=np.int64)))

    def search(self, query: str, k: int, allowed: Allowed | None = None) -> Ranking:
        """The fused lists; what is beyond their depth comes after them, with a score below theirs."""
        rows, scores = np.zeros(0, np.int64), np.zeros(0)
        for tier in self._lists.tiers(query, allowed):
            found = top_k(self.score(query, tier), k - len(rows), self.id_order, tier)
            scores = np.concatenate([scores, below(found.scores, scores)])
            rows = np.concatenate([rows, found.rows])
            if len(rows) >= k:
                break
        return Ranking(rows, scores)

    def warm(self) -> None:
        for part in self._parts.values():
            part.warm()

    def passage(self, query: str, row: int) -> Span | None:
        """The lexical part's passage, where it matches any word; else the dense part's."""
        lexical = self._parts["lexical"]
        found = float(self._lists.scores("lexical", query, np.asarray([row]))[0]) > lexical.found_above
        return self._parts["lexical" if found else "dense"].passage(query, row)

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """The explanations of both parts, each scaled to its share of the score; a word of both has one line."""
        rows = np.asarray([row])
        scores = {side: self._lists.scores(side, query, rows) for side in SIDES}
        return self.explain_shares(query, text, scores, self._lists.shares(query, rows), row)

    def explain_shares(
        self, query: str, text: str, scores: Mapping[str, Scores], shares: BothShares, row: int = 0
    ) -> list[Contribution]:
        """Explain a document with these scores of the parts, and these comparable ones."""
        lines = []
        for side, weight, share in zip(SIDES, self._weights, shares, strict=True):
            own = self._parts[side].explain(query, row, text)
            if side == "dense":  # words become terms of the lexical part, so that ``term_of`` finds all of them
                words = [tuple(self.term_of(word) or word for word in line.document_words) for line in own]
                own = [line._replace(document_words=each) for line, each in zip(own, words, strict=True)]
            lines += scaled(own, float(scores[side][0]), weight * float(share[0]), f"({side})")
        return merged(lines)

    def best_possible(self, query: str) -> float:
        return float(self.fused(self._lists.bounds(query))[0]) or 1.0

    def unknown_words(self, query: str) -> list[str]:
        dense, lexical = (part.unknown_words(query) for part in self._parts.values())
        return [word for word in lexical if word in dense]

    def knows(self, words: Sequence[str]) -> list[bool]:
        return [any(each) for each in zip(*(part.knows(words) for part in self._parts.values()), strict=True)]

    def frequencies(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Those of the lexical part; words that only the other part knows are rare."""
        dense, lexical = (part.frequencies(words) for part in self._parts.values())
        return np.maximum(lexical, RARE * dense)

    def query_vocabulary(self) -> QueryVocabulary:
        return max((part.query_vocabulary() for part in self._parts.values()), key=lambda each: each.size)

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """Those of the lexicon; the nearest words where the lexicon has none."""
        found = dict(self._parts["dense"].translations(query))
        listed = dict(self._parts["lexical"].translations(query))
        return list((listed | {word: near for word, near in found.items() if word not in listed}).items())

    def glosser(self) -> Glosser | None:
        return self._parts["lexical"].glosser() or self._parts["dense"].glosser()

    def term_of(self, word: str) -> str | None:
        return self._parts["lexical"].term_of(word)

    def count_only(self, live: Allowed) -> None:
        for part in self._parts.values():
            part.count_only(live)
        self._use(self._parts)

    def save_shared(self, directory: Path) -> None:
        described: dict[str, Any] = {"weight": self._weights[0]}
        for side, part in self._parts.items():
            described[side] = {"system": part.name, "options": part.options.without_files()}
        with atomic_file(directory / _FILE) as file:
            file.write(json.dumps(described, ensure_ascii=False, indent=2) + "\n")
        for side, part in self._parts.items():
            (directory / side).mkdir()
            part.save_shared(directory / side)

    def load_shared(self, directory: Path) -> Self:
        content, parts = read_json(directory / _FILE), {}
        for side in SIDES:
            name, written = content[side]["system"], content[side]["options"]
            settings = {key: str(value) for key, value in written.items()}
            system = make_system(name, (self.query_language, self.document_language), settings)
            parts[side] = system.load_shared(directory / side)
        self.weight = float(content["weight"])
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

    def _use(self, parts: dict[str, System]) -> None:
        self._parts = parts
        self._lists = Lists(parts, self.options.fusion, self.options.depth)
        shared = ("joins", "searches", "explains_quickly")
        vars(self).update({name: all(getattr(part, name) for part in parts.values()) for name in shared})

    @property
    def parts(self) -> dict[str, System]:
        """Both parts; those that would be fitted, before that."""
        pair = self.query_language, self.document_language
        return self._parts or {side: self.options.make_part(side, pair) for side in SIDES}

    def take_lists(self, found: Found) -> None:
        """Scale scores by lists that are found elsewhere, in an engine."""
        self._lists = Lists(self._parts, self.options.fusion, self.options.depth, found)

    def shares(self, found: Ranking, rows: NDArray[np.int64], scores: Scores) -> Doubles:
        """The comparable scores of some documents of a list."""
        return FUSIONS[self.options.fusion].shares(found, rows, scores)

    @property
    def _weights(self) -> tuple[float, float]:
        weight = _DEFAULT_WEIGHT if self.weight is None else self.weight
        return weight, 1 - weight

    def fused(self, shares: BothShares) -> Scores:
        """The scores, of the comparable scores of both parts."""
        dense, lexical = self._weights
        fused: Scores = dense * shares.dense + lexical * shares.lexical
        return fused


def scaled(lines: Sequence[Contribution], score: float, share: float, name: str) -> list[Contribution]:
    """Lines that add up to ``score``, scaled to add up to ``share``; a remainder is a line called ``name``.

    >>> scaled([Contribution("sea", ("mer",), 3.0)], 4.0, 2.0, "(rest)")
    [Contribution(query_word='sea', document_words=('mer',), score=1.5),
     Contribution(query_word='(rest)', document_words=(), score=0.5)]
    """
    factor = share / score if score else 0.0
    if factor <= 0:  # a good rank counts even where the score is not positive
        return [Contribution(name, (), share)] if share else []
    lines = [line._replace(score=line.score * factor) for line in lines]
    rest = share - sum(line.score for line in lines)
    return [*lines, *([Contribution(name, (), rest)] if abs(rest) > 1e-6 * abs(share) else [])]
