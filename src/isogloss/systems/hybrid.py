"""``hybrid``: vectors that know what is alike and words that know what was said, in one system.

    score(q, d) = w share_dense(q, d) + (1 - w) share_lexical(q, d)        (see ``search.fusion``)

Both parts find documents; what either finds is scored by both. They are fitted, indexed and saved together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, fields, replace
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
from isogloss.storage.files import atomic_file
from isogloss.systems.base import Contribution, System, SystemOptions, option
from isogloss.systems.explanations import merged
from isogloss.systems.lexicons import LEXICON_HELP
from isogloss.systems.model_directory import load_model
from isogloss.systems.passages import FindsPassages, by_passages
from isogloss.systems.registry import build_system, make_system, parse_options, system_names, system_type
from isogloss.systems.trained import hold_out
from isogloss.text.passages import Span

# The options of ``hybrid``.

AUTO = "auto"


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
        AUTO, "of the dense part, 0 to 1; auto: the best for a fifth of the train queries, kept from both parts until "
        "it is found; 0.3 where there are too few, or the dense part is a run, which has seen them all",
    )  # fmt: skip
    depth: int = option(200, "how many documents each part finds, of which the best are taken", 1, 1_000_000)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        if self.fusion not in FUSIONS:
            raise InputError(f"hybrid.fusion: {self.fusion!r} is not one of {', '.join(FUSIONS)}")
        self.given_weight()
        for side in ("dense", "lexical"):
            self.part_settings(side)

    def given_weight(self) -> float | None:
        """The weight of the dense part, or None where it is to be found."""
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
        """What a part's own options say."""
        written: Any = getattr(self, f"{side}_options")
        settings = [setting.partition("=") for setting in written.split(";") if setting.strip()]
        for key, equals, _ in settings:
            if not equals or not key.strip():
                raise InputError(f"hybrid.{side}_options: {written!r} is not a list like KEY=VALUE;KEY=VALUE")
        return {key.strip(): value.strip() for key, _, value in settings}


# The two systems of ``hybrid``: made from its options, and found again beside an index.

SIDES = ("dense", "lexical")
_FILE = "hybrid.json"
_FILES = ("lexicon", "query_vectors", "document_vectors")  # what an index keeps a copy of


def make_part(options: HybridOptions, side: str, pair: Pair) -> System:
    """A part, to be fitted unless it is a run."""
    name, settings = getattr(options, side), options.part_settings(side)
    if is_run(name):
        return _trained_part(name, side, settings, options, pair)
    if name == "hybrid":
        raise InputError(f"hybrid.{side}: a hybrid of a hybrid is not possible; name one of its parts")
    known = {option.name for option in fields(system_type(name).options_type)}
    both = {"lexicon": options.lexicon, "passages": str(options.passages)}
    return make_system(name, pair, {key: value for key, value in both.items() if key in known and value} | settings)


def is_run(name: str) -> bool:
    """Whether a part is trained already."""
    return name not in system_names() and Path(name).is_dir()


def _trained_part(name: str, side: str, settings: Mapping[str, str], options: HybridOptions, pair: Pair) -> System:
    if settings:
        raise InputError(f"hybrid.{side}_options: {name} is trained, its options cannot be changed")
    system = load_model(Path(name))
    if (system.query_language, system.document_language) != pair:
        what = f"was trained for {system.query_language}-{system.document_language}, not for {'-'.join(pair)}"
        raise InputError(f"hybrid.{side}: {name} {what}")
    system.options = replace(system.options, passages=options.passages or system.options.passages)
    return by_passages(system)


def save_parts(directory: Path, weight: float, parts: Mapping[str, System]) -> None:
    """Write what ``load_parts`` needs, and what each part shares, into an existing directory."""
    described: dict[str, Any] = {
        side: {"system": part.name, "options": asdict(part.options) | dict.fromkeys(_in(part, _FILES), "")}
        for side, part in parts.items()
    }
    with atomic_file(directory / _FILE) as file:
        file.write(json.dumps({"weight": weight, **described}, ensure_ascii=False, indent=2) + "\n")
    for side, part in parts.items():
        (directory / side).mkdir()
        part.save_shared(directory / side)


def load_parts(directory: Path, pair: Pair) -> tuple[float, dict[str, System]]:
    """Weight and parts as they were saved."""
    content = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    parts = {}
    for side in SIDES:
        name, written = content[side]["system"], content[side]["options"]
        settings = {key: str(value) for key, value in written.items()}
        options = parse_options(name, system_type(name).options_type, settings)
        parts[side] = build_system(name, options, pair).load_shared(directory / side)
    return float(content["weight"]), parts


def _in(part: System, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if hasattr(part.options, name)]


# What the two parts of ``hybrid`` say of a query's documents, made comparable.

_KEPT = 128  # lists of the last queries: the hits of each are explained one by one


class BothShares(NamedTuple):
    """The shares of some documents, in the order of their rows."""

    dense: Doubles
    lexical: Doubles


class Lists:
    """The lists of both parts, each as long as ``depth`` allows.

    They are those of the whole collection, whatever a search is restricted to: so a document has one score for a query.
    """

    def __init__(self, parts: Mapping[str, System], fusion: str, depth: int) -> None:
        self.parts, self._depth = dict(parts), depth
        self._shares, self._bound = FUSIONS[fusion]
        self._found = lru_cache(_KEPT)(self._find)
        self._known: dict[tuple[str, str], Ranking] = {}

    def shares(self, query: str, rows: NDArray[np.int64]) -> BothShares:
        """What each part gives some documents."""
        return BothShares(
            *(self._shares(self._found(side, query), rows, self.scores(side, query, rows)) for side in self.parts)
        )

    def scores(self, side: str, query: str, rows: NDArray[np.int64]) -> Scores:
        """The scores that a part gives some documents, remembered where they are a query's candidates."""
        known = self._known.get((side, query))
        if known is not None and len(rows) and np.isin(rows, known.rows).all():
            return known.scores[np.searchsorted(known.rows, rows)]
        found = self.parts[side].score(query, rows)
        if len(rows) > 1 and (np.diff(rows) > 0).all():
            self._known = {} if len(self._known) > _KEPT else self._known
            self._known[side, query] = Ranking(rows, found)
        return found

    def all_shares(self, query: str) -> BothShares:
        """What each part gives every document."""
        scores = [part.scores(query) for part in self.parts.values()]
        found = zip(self.parts, scores, strict=True)
        return BothShares(*(self._shares(self._found(side, query), np.arange(len(each)), each) for side, each in found))

    def bounds(self, query: str) -> BothShares:
        """The most that each part can give."""
        bounds = [self._bound(self._found(side, query), part.best_possible(query)) for side, part in self.parts.items()]
        return BothShares(*(np.asarray([bound]) for bound in bounds))

    def candidates(self, query: str, k: int = 0, allowed: Allowed | None = None) -> NDArray[np.int64]:
        """The rows that either part finds, at least ``k`` each if there are as many, in ascending order."""
        if allowed is None and k <= self._depth:
            found = [self._found(side, query) for side in self.parts]
        else:
            found = [part.search(query, max(k, self._depth), allowed) for part in self.parts.values()]
        return np.unique(np.concatenate([ranking.rows for ranking in found])).astype(np.int64)

    def _find(self, side: str, query: str) -> Ranking:
        return self.parts[side].search(query, self._depth)


# How much the dense part of ``hybrid`` is to say: what suits train queries best that it has not learned from.


def tuned_weight(training: Dataset, queries: list[str], lists: Lists) -> float:
    """The weight that finds the relevant documents of some queries best; the parts have not learned from these."""
    documents, judgments = training.documents, training.judgments
    for part in lists.parts.values():
        part.index(documents, ("text",))
    seen = []
    for query in queries:
        rows = lists.candidates(training.queries[query].text)
        shares = lists.shares(training.queries[query].text, rows)
        meant = [documents.row_of[id_] for id_, grade in judgments[query].items() if grade == judgments.top_grade]
        seen.append(Shared(*shares, documents.id_order[rows], np.isin(rows, meant)))
    return best_weight(seen)


# The explanations of two systems as one.


def scaled(lines: Sequence[Contribution], score: float, share: float, name: str) -> list[Contribution]:
    """Lines that add up to ``score`` scaled to add up to ``share``; what they leave out is put down to ``name``.

    >>> scaled([Contribution("sea", ("mer",), 3.0)], 4.0, 2.0, "(rest)")
    [Contribution(query_word='sea', document_words=('mer',), score=1.5),
     Contribution(query_word='(rest)', document_words=(), score=0.5)]
    """
    factor = share / score if score else 0.0
    if factor <= 0:  # a rank speaks for a document even where its score does not
        return [Contribution(name, (), share)] if share else []
    said = [line._replace(score=line.score * factor) for line in lines]
    rest = share - sum(line.score for line in said)
    return [*said, *([Contribution(name, (), rest)] if abs(rest) > 1e-6 * abs(share) else [])]


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
