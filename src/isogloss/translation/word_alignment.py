"""Which words translate each other: IBM model 1 (Brown et al. 1993) over pairs of texts, in both directions.

Each word t_j of the target text comes from one word s_i of the source text, the likelier the nearer their positions,
or from none (NULL):

    p(t_j | s) = n p(t_j | NULL) + (1 - n) sum_i a_ij p(t_j | s_i),    a_ij ~ exp(-d_ij / w) where d_ij <= w, else 0

d_ij is the distance of i from where t_j would stand in a text as long as s, in words of the shorter text; a_ij adds up
to 1 over i. It is fixed and not estimated, so a round of expectation maximisation never lowers the likelihood:

    E: c(s, t) = sum_ij [s_i = s, t_j = t] (1 - n) a_ij p(t_j | s_i) / p(t_j | s)
    M: p(t | s) = c(s, t) / sum_t' c(s, t')

At the start p(t | s) is the same for all t that stand near s; or, where other texts or a dictionary tell something of
the pair, as their pseudo-counts are, with one more count for all of the former together.

The sum over pairs of texts is a sum over blocks of them: the expected counts of each block are computed by themselves
(map) and added up by pair of words in the order of the blocks (reduce). So whoever computes the blocks
(:func:`blocks_mapped_by`), the result is the same to the last bit on processors of one kind.

Plain model 1 has the same a_ij for all i: every word meets every other. On pages of hundreds of words that costs the
square of their length and finds worse translations; with the window, work and memory are proportional to the text.

A lexicon keeps the translations that hold in both directions, the best of each word by

    g(s, t) = sqrt(p(t | s) p(s | t)),

made to add up to 1. p(t | s) itself would be the obvious choice, but it gives common words a share of everything they
stand beside, and search with it is worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.stopwords import stop_words
from isogloss.translation.lexicon import Lexicon

Ids = NDArray[np.int32]
Floats = NDArray[np.float64]
_Positions = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
Mapper = Callable[[Callable[[Arrays], Arrays], Iterable[Arrays]], Iterable[Arrays]]
"""What ``map`` is: applies a function to each of some blocks; the results in the order of the blocks."""

_mapper: ContextVar[Mapper] = ContextVar("mapper", default=map)
_BLOCK_MEETINGS = 1_000_000
_LONGEST_TEXT = 1_000  # longer ones are cut, both sides in proportion: few words lose a neighbour, blocks stay small


@contextmanager
def blocks_mapped_by(mapper: Mapper) -> Iterator[None]:
    """Words that are aligned meanwhile in more than one block are aligned by this ``map``, on other machines say."""
    before = _mapper.set(mapper)
    try:
        yield
    finally:
        _mapper.reset(before)


class WordPairs(NamedTuple):
    """Pairs of words, as term ids, with p(target | source) and p(source | target); or with pseudo-counts of these."""

    sources: Ids
    targets: Ids
    forward: Floats
    backward: Floats


class _Meetings(NamedTuple):
    """Tokens near each other, as positions among the tokens of a block, and exp(-d_ij / w)."""

    sources: _Positions
    targets: _Positions
    nearness: Floats


@dataclass(slots=True)
class _Block:
    """Consecutive texts. ``rows[pairs[m]]`` is the row of the pair of words whose tokens are meeting ``m``."""

    texts: slice
    rows: Ids
    pairs: Ids


class _Direction:
    """p(word | source), one a row, and p(word | NULL). Row 0 is no pair of words: its probability stays 0.

    ``prior`` has the pseudo-count of each row at the start, when the pairs of a word share one count beside it.
    """

    def __init__(self, sources: Ids, source_count: int, word_count: int, prior: Floats) -> None:
        self.sources, self._source_count = sources, source_count
        self.probabilities: Floats = 1 / np.bincount(sources, minlength=source_count)[sources] + prior
        self.probabilities[0] = 0.0
        self.null: Floats = np.ones(word_count)
        self._normalize()

    def add(self, rows: Ids, counts: Floats, words: Ids, null_counts: Floats, log_likelihood: Floats) -> None:
        """Add what a block expects of its pairs and of each of its words that are explained."""
        self._counts[rows] += counts
        self._null_counts += np.bincount(words, null_counts, len(self.null))
        self._log_likelihood += float(log_likelihood)

    def maximize(self) -> float:
        """Make the expected counts the new probabilities; the log likelihood of the old ones."""
        log_likelihood = self._log_likelihood
        self.probabilities, self.null = self._counts, self._null_counts
        self._normalize()
        return log_likelihood

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop rows."""
        self.sources, self.probabilities = self.sources[kept], self.probabilities[kept]
        self._normalize()

    def _normalize(self) -> None:
        sums = np.bincount(self.sources, self.probabilities, self._source_count)
        self.probabilities /= np.where(sums > 0, sums, 1)[self.sources]
        self.null /= max(self.null.sum(), np.finfo(float).tiny)
        self._counts: Floats = np.zeros(len(self.sources))
        self._null_counts: Floats = np.zeros(len(self.null))
        self._log_likelihood = 0.0


class Model1:
    """Two sides of texts, text i of one being a translation of text i of the other; ``step`` is one round.

    ``window`` is w, ``null`` is n. Pairs less probable than ``floor`` in both directions are dropped after a round.
    ``prior`` has pseudo-counts of pairs to start with, each pair once.
    """

    def __init__(
        self, source: TokenizedTexts, target: TokenizedTexts, window: int = 20, null: float = 0.25, floor: float = 1e-4,
        prior: WordPairs | None = None,
    ) -> None:  # fmt: skip
        if len(source) != len(target):
            raise ValueError("as many texts are needed on both sides")
        if window < 1 or not 0 < null < 1:
            raise ValueError("a window of at least one word and a null between 0 and 1 are needed")
        self._source_ids, self._target_ids = source.ids, target.ids
        self._source_offsets, self._target_offsets = _cut(source.offsets, target.offsets)
        self._window, self._null, self._floor = window, null, floor
        prior = prior or WordPairs(*np.zeros((2, 0), np.int32), *np.zeros((2, 0)))
        prior_keys = prior.sources.astype(np.int64) * len(target.terms) + prior.targets
        keys = self._find_pairs(len(target.terms), prior_keys)
        sources, targets = (ids.astype(np.int32) for ids in np.divmod(keys, max(1, len(target.terms))))
        counts = np.zeros((2, len(keys)))
        counts[:, 1 + np.searchsorted(keys[1:], prior_keys)] = prior.forward, prior.backward
        self._forward = _Direction(sources, len(source.terms), len(target.terms), counts[0])
        self._backward = _Direction(targets, len(target.terms), len(source.terms), counts[1])

    def step(self) -> tuple[float, float]:
        """One round of both directions; the log likelihoods before it, of the target texts and of the source texts."""
        expect = partial(expected_counts, self._window, self._null)
        for block, found in zip(self._blocks, self._map(expect, map(self._inputs, self._blocks)), strict=True):
            sources, targets = self._tokens(block.texts)
            self._forward.add(block.rows, found["forward"], targets, found["no_source"], found["target_likelihood"])
            self._backward.add(block.rows, found["backward"], sources, found["no_target"], found["source_likelihood"])
        likelihoods = self._forward.maximize(), self._backward.maximize()
        self._prune()
        return likelihoods

    def pairs(self) -> WordPairs:
        """The pairs and their probabilities as they are now."""
        forward, backward = self._forward, self._backward
        return WordPairs(
            forward.sources[1:], backward.sources[1:], forward.probabilities[1:], backward.probabilities[1:]
        )

    def _find_pairs(self, target_terms: int, prior: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the blocks; the key of each row: source id * number of target terms + target id, ascending.

        ``prior`` has the keys of pairs that need no meeting.
        """
        self._blocks = [
            _Block(texts, np.zeros(0, np.int32), np.zeros(0, np.int32))
            for texts in _blocks(self._source_offsets, self._target_offsets, self._window)
        ]
        found = []
        met = self._map(partial(meeting_pairs, self._window, target_terms), map(self._texts, self._blocks))
        for block, pairs in zip(track(self._blocks, "finding words that meet"), met, strict=True):
            block.pairs = pairs["pairs"]
            found.append(pairs["keys"])
        keys = np.sort(np.concatenate([prior, *found]), kind="stable")  # it merges what is sorted; unique() would hash
        table = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
        for block, of_block in zip(self._blocks, found, strict=True):
            block.rows = np.asarray(np.searchsorted(table, of_block) + 1, dtype=np.int32)
        return np.concatenate([np.zeros(1, np.int64), table])

    @property
    def _map(self) -> Mapper:
        return _mapper.get() if len(self._blocks) > 1 else map

    def _tokens(self, texts: slice) -> tuple[Ids, Ids]:
        """The words of both sides of some texts."""
        sides = (self._source_ids, self._source_offsets), (self._target_ids, self._target_offsets)
        source, target = (ids[offsets[texts.start] : offsets[texts.stop]] for ids, offsets in sides)
        return source, target

    def _offsets(self, texts: slice) -> Arrays:
        inside = slice(texts.start, texts.stop + 1)
        return {"source_offsets": self._source_offsets[inside], "target_offsets": self._target_offsets[inside]}

    def _texts(self, block: _Block) -> Arrays:
        """What :func:`meeting_pairs` needs."""
        sources, targets = self._tokens(block.texts)
        return {**self._offsets(block.texts), "sources": sources, "targets": targets}

    def _inputs(self, block: _Block) -> Arrays:
        """What :func:`expected_counts` needs: the probabilities of this block's pairs and words alone."""
        sources, targets = self._tokens(block.texts)
        return {
            **self._offsets(block.texts),
            "pairs": block.pairs,
            "forward": self._forward.probabilities[block.rows],
            "backward": self._backward.probabilities[block.rows],
            "no_source": self._forward.null[targets],
            "no_target": self._backward.null[sources],
        }

    def _prune(self) -> None:
        likely = np.maximum(self._forward.probabilities, self._backward.probabilities) >= self._floor
        likely[0] = True
        if likely.all():
            return
        rows = np.where(likely, np.cumsum(likely) - 1, 0).astype(np.int32)
        for block in self._blocks:
            block.rows = rows[block.rows]
        self._forward.keep(likely)
        self._backward.keep(likely)


def meeting_pairs(window: int, target_terms: int, block: Arrays) -> Arrays:
    """The keys of the pairs of words that meet in a block, ascending, and of which of them each meeting is one."""
    meetings = _meet(block["source_offsets"], block["target_offsets"], window)
    sources = block["sources"][meetings.sources].astype(np.int64)
    keys, pairs = np.unique(sources * target_terms + block["targets"][meetings.targets], return_inverse=True)
    return {"keys": keys, "pairs": pairs.astype(np.int32)}


def expected_counts(window: int, null: float, block: Arrays) -> Arrays:
    """The E step of a block: c(s, t) of its pairs and the count of NULL of each of its words, in both directions."""
    meetings, pairs = _meet(block["source_offsets"], block["target_offsets"], window), block["pairs"]

    def expect(probabilities: Floats, positions: _Positions, from_null: Floats) -> tuple[Floats, Floats, Floats]:
        """``positions`` are those of the words that are explained."""
        from_null = null * from_null
        weights = probabilities[pairs]
        weights *= meetings.nearness
        widths = np.bincount(positions, meetings.nearness, len(from_null))
        share = (1 - null) / np.where(widths > 0, widths, 1)
        likelihood = from_null + share * np.bincount(positions, weights, len(from_null))
        weights *= (share / likelihood)[positions]
        counts: Floats = np.bincount(pairs, weights, len(probabilities)).astype(np.float64, copy=False)
        return counts, from_null / likelihood, np.asarray(np.log(likelihood).sum())

    forward, no_source, target_likelihood = expect(block["forward"], meetings.targets, block["no_source"])
    backward, no_target, source_likelihood = expect(block["backward"], meetings.sources, block["no_target"])
    return {
        "forward": forward, "no_source": no_source, "target_likelihood": target_likelihood,
        "backward": backward, "no_target": no_target, "source_likelihood": source_likelihood,
    }  # fmt: skip


def _meet(source_offsets: _Positions, target_offsets: _Positions, window: int) -> _Meetings:
    """All i, j of each text with d_ij <= w (to the next whole word), target token by target token."""
    source_starts, source_lengths = source_offsets[:-1] - source_offsets[0], np.diff(source_offsets)
    target_starts, target_lengths = target_offsets[:-1] - target_offsets[0], np.diff(target_offsets)
    text = np.repeat(np.arange(len(target_lengths)), target_lengths)
    lengths = source_lengths[text]
    scale = lengths / target_lengths[text]
    unit = np.maximum(1.0, scale)  # a word of the shorter text, in words of the source text
    centre = (np.arange(len(text)) - target_starts[text] + 0.5) * scale
    low = np.maximum(0, np.floor(centre - window * unit)).astype(np.int64)
    high = np.minimum(lengths, np.ceil(centre + window * unit)).astype(np.int64)
    counts = high - low
    ends = np.cumsum(counts)
    number = np.arange(ends[-1] if len(ends) else 0)
    sources = number + np.repeat(low + source_starts[text] - (ends - counts), counts)
    distances = sources - np.repeat(source_starts[text] + centre - 0.5, counts)
    nearness = np.exp(-np.abs(distances) / np.repeat(window * unit, counts))
    return _Meetings(sources, np.repeat(np.arange(len(text)), counts), nearness)


def align_words(
    source: TokenizedTexts, target: TokenizedTexts, iterations: int = 5, window: int = 20, null: float = 0.25,
    prior: WordPairs | None = None,
) -> WordPairs:  # fmt: skip
    """The word pairs after some rounds of :class:`Model1`, sorted by source and target id."""
    model = Model1(source, target, window, null, prior=prior)
    for _ in track(range(iterations), "aligning words"):
        model.step()
    return model.pairs()


def _cut(source: _Positions, target: _Positions) -> tuple[_Positions, _Positions]:
    """Offsets with long texts cut into as many parts on both sides."""
    longer = np.maximum(np.diff(source), np.diff(target))
    parts = np.maximum(1, -(-longer // _LONGEST_TEXT))
    text = np.repeat(np.arange(len(parts)), parts)
    part = np.arange(len(text)) - (np.cumsum(parts) - parts)[text]

    def refined(offsets: _Positions) -> _Positions:
        starts = offsets[text] + np.diff(offsets)[text] * part // parts[text]
        return np.append(starts, offsets[-1])

    return refined(source), refined(target)


def _blocks(source: _Positions, target: _Positions, window: int) -> list[slice]:
    """Runs of texts with about as many meetings each."""
    lengths, others = np.diff(source), np.diff(target)
    meetings = np.minimum(lengths * others, (2 * window + 2) * np.maximum(lengths, others))
    block = np.cumsum(meetings) // _BLOCK_MEETINGS
    bounds = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(lengths)]
    return [slice(first, last) for first, last in pairwise(bounds) if last > first]


def induce_lexicon(
    pairs: Sequence[tuple[str, str]],
    languages: tuple[str | None, str | None] = (None, None),
    *,
    minimum_count: int = 2,
    maximum_translations: int = 10,
    minimum_probability: float = 0.03,
    drop_stop_words: bool = False,
    iterations: int = 5,
    window: int = 20,
    maximum_words: int = 3_000_000,
) -> Lexicon:
    """The lexicon of pairs of texts (source, target): the most frequent word first, its best translation first.

    Words seen fewer than ``minimum_count`` times take no part, nor do the stop words of the ``languages`` if they are
    to be dropped. The order of the pairs does not matter. Where the longer side has more than ``maximum_words``, only
    every n-th pair is used: that bounds the memory, at about 500 bytes a word.
    """
    if not pairs:
        raise InputError("induction: no pairs of texts to induce a lexicon from")
    ordered = sorted(pairs)  # equal pairs give equal sums, to the last bit
    sides = [tokenize_texts([pair[side] for pair in ordered]) for side in (0, 1)]
    step = -(-max(len(side.ids) for side in sides) // max(1, maximum_words)) or 1
    dropped = [stop_words(language) if drop_stop_words else () for language in languages]
    source, target = (
        _taking_part(side, step, minimum_count, stops) for side, stops in zip(sides, dropped, strict=True)
    )
    found = _best(align_words(source, target, iterations, window), maximum_translations, minimum_probability)
    lexicon = Lexicon(_entries(found, source, target))
    if not len(lexicon):
        what = f"no word is seen {minimum_count} times beside another in {len(pairs):,} pairs of texts"
        raise InputError(f"induction: {what}; give more of them or a lower minimum count")
    return lexicon


def _taking_part(texts: TokenizedTexts, step: int, minimum_count: int, dropped: Iterable[str]) -> TokenizedTexts:
    """Every n-th text, without words that are rare or dropped; the others are left, empty."""
    text = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
    used = text % step == 0
    frequent = np.bincount(texts.ids[used], minlength=len(texts.terms)) >= minimum_count
    number_of = {term: number for number, term in enumerate(texts.terms)}
    frequent[[number_of[word] for word in dropped if word in number_of]] = False
    used &= frequent[texts.ids]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.bincount(text[used], minlength=len(texts)), out=offsets[1:])
    return TokenizedTexts(texts.terms, texts.ids[used], offsets)


def _best(pairs: WordPairs, maximum: int, minimum: float) -> tuple[Ids, Ids, Floats]:
    """Source ids, target ids and probabilities of the translations that are kept, the best of each source first."""
    score = np.sqrt(pairs.forward * pairs.backward)
    order = np.lexsort((pairs.targets, -score, pairs.sources))
    sources = pairs.sources[order]
    rank = np.arange(len(order)) - np.searchsorted(sources, sources)
    order = order[(rank < maximum) & (score[order] > 0)]
    order = order[_shares(pairs.sources[order], score[order]) >= minimum]
    return pairs.sources[order], pairs.targets[order], _shares(pairs.sources[order], score[order])


def _shares(sources: Ids, score: Floats) -> Floats:
    """The scores of each source made to add up to 1."""
    shares: Floats = score / np.bincount(sources, score)[sources]
    return shares


def _entries(
    found: tuple[Ids, Ids, Floats], source: TokenizedTexts, target: TokenizedTexts
) -> Iterator[tuple[str, str, float]]:
    """Lines of a lexicon, by falling frequency of the source word, then by the word."""
    counts = np.bincount(source.ids, minlength=len(source.terms)).tolist()
    lines = zip(*(array.tolist() for array in found), strict=True)
    for word, translation, probability in sorted(lines, key=lambda line: (-counts[line[0]], source.terms[line[0]])):
        yield source.terms[word], target.terms[translation], probability
