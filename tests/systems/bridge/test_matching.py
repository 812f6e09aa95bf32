"""Match statistics: the inverted lists and the second stage give the formulas of the docstring."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.matching import _COMMON, _UNLIKELY, PassageIndex
from isogloss.text.batches import tokenize_texts
from isogloss.translation.model import LAMBDA, TranslationModel

QUERY_WORDS = ["bee", "honey", "sea"]
DOCUMENT_WORDS = ["abeille", "mer", "miel", "paris"]
UNSEEN = ["orlane", "zog", "zogs", "nobody"]  # unknown in a query; documents contain only "paris" of them
STANDS_FOR = {"zogs": "zog"}  # two words of a query may be one term of the documents
QUERY = st.lists(st.sampled_from([*QUERY_WORDS, *UNSEEN, "paris"]), max_size=7)
TEXTS = st.lists(st.lists(st.sampled_from([*DOCUMENT_WORDS, "orlane", "zog", "rest"]), max_size=8), max_size=6)
UNKNOWN = "<unknown>"


class Tables(NamedTuple):
    """P(w | t) and P(t | w) by (w, t), and how often each word was seen."""

    forward: dict
    reverse: dict
    query_counts: dict
    document_counts: dict


@st.composite
def tables(draw):
    queries, documents = [*QUERY_WORDS, UNKNOWN], [*DOCUMENT_WORDS, UNKNOWN]
    pairs = draw(st.sets(st.tuples(st.sampled_from(queries), st.sampled_from(documents)), max_size=12))
    chances = st.sampled_from([0.0, 0.001, 0.25, 0.7, 1.0])
    counts = [{word: draw(st.integers(0, 9)) for word in words} for words in (queries, documents)]
    return Tables({pair: draw(chances) for pair in pairs}, {pair: draw(chances) for pair in pairs}, *counts)


def model_of(given_):
    queries, documents = [*QUERY_WORDS, UNKNOWN], [*DOCUMENT_WORDS, UNKNOWN]
    rows = sorted((queries.index(w), documents.index(t), (w, t)) for w, t in given_.forward)
    return TranslationModel(
        StringTable.of(QUERY_WORDS),
        StringTable.of(DOCUMENT_WORDS),
        np.searchsorted([row[0] for row in rows], np.arange(len(queries) + 1)),
        np.array([row[1] for row in rows], np.int32),
        np.array([given_.forward[pair] for _, _, pair in rows], np.float32),
        np.array([given_.reverse[pair] for _, _, pair in rows], np.float32),
        np.array([given_.query_counts[word] for word in queries]),
        np.array([given_.document_counts[word] for word in documents]),
    )


def odds(word, counts):
    seen = counts.get(word, 0) + 1
    total = sum(counts.values()) + len(counts) + (word not in counts)
    return (1 - LAMBDA) / (LAMBDA * seen / total)


class Slow:
    """The formulas of the docstring in double precision, word by word."""

    def __init__(self, given_, query, texts):
        self.tables, self.query = given_, query
        there = {term for text in texts for term in text}
        unseen = [word for word in query if word not in QUERY_WORDS]
        self.verbatim = {word: term for word in unseen if (term := STANDS_FOR.get(word, word)) in there}

    def word(self, word):
        return word if word in QUERY_WORDS or word in self.verbatim else UNKNOWN

    def term(self, term):
        return f"own {term}" if term in self.verbatim.values() else term if term in DOCUMENT_WORDS else UNKNOWN

    def chance(self, table, word, term):
        if word in self.verbatim:
            return float(self.term(term) == f"own {self.verbatim[word]}")
        return table.get((self.word(word), self.term(term)), 0.0)

    def count(self, word, text, least=0.0):
        chances = [self.chance(self.tables.forward, word, term) for term in text]
        return sum(chance for chance in chances if chance > least)

    def odds(self, word):
        return odds(self.word(word), self.tables.query_counts)

    def forward(self, text, words=None, least=0.0):
        words = self.query if words is None else words
        gains = [math.log1p(self.odds(word) * self.count(word, text, least) / max(1, len(text))) for word in words]
        return sum(gains) / max(1, len(self.query))

    def pruned(self, text):
        """Without common words, where there are others, and unlikely translations."""
        rare = [word for word in self.query if self.odds(word) >= _COMMON]
        return self.forward(text, rare or self.query, _UNLIKELY)

    def reverse(self, text):
        total = 0.0
        for term in text:
            number = UNKNOWN if self.term(term).startswith("own ") else self.term(term)
            share = sum(self.chance(self.tables.reverse, word, term) for word in self.query) / max(1, len(self.query))
            total += math.log1p(odds(number, self.tables.document_counts) * share)
        return total


def texts_of(translation, texts):
    return PassageIndex.build(translation, tokenize_texts([" ".join(text) for text in texts]))


def ask(translation, query, found):
    return translation.query_statistics(Counter(query), found.has, STANDS_FOR)


@given(tables(), QUERY, TEXTS)
@settings(max_examples=80, deadline=None)
def test_the_inverted_lists_give_the_formula(given_, query, texts):
    translation = model_of(given_)
    found = texts_of(translation, texts)
    slow = Slow(given_, query, texts)
    forward = found.forward(ask(translation, query, found))
    np.testing.assert_allclose(forward, [slow.forward(text) for text in texts], rtol=1e-5, atol=1e-6)
    matched = [any(slow.count(word, text) for word in query) for text in texts]
    np.testing.assert_array_equal(forward > 0, matched)  # nothing is found by a rounding error


@given(tables(), QUERY, TEXTS)
@settings(max_examples=40, deadline=None)
def test_a_pruned_first_stage_leaves_out_common_words_and_unlikely_translations(given_, query, texts):
    counts = {**given_.query_counts, "bee": 500, UNKNOWN: 500}
    given_ = given_._replace(query_counts=counts)
    translation = model_of(given_)
    found, slow = texts_of(translation, texts), Slow(given_, query, texts)
    forward = found.forward(ask(translation, query, found), pruned=True)
    np.testing.assert_allclose(forward, [slow.pruned(text) for text in texts], rtol=1e-5, atol=1e-6)


@given(tables(), QUERY, TEXTS, st.data())
@settings(max_examples=80, deadline=None)
def test_the_second_stage_gives_the_formulas_in_both_directions(given_, query, texts, data):
    translation = model_of(given_)
    found = texts_of(translation, texts)
    statistics, slow = ask(translation, query, found), Slow(given_, query, texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)) if texts else []
    matches = found.match(statistics, np.array(rows, np.int64))
    chosen = [texts[row] for row in rows]
    np.testing.assert_allclose(matches.forward.sum(axis=1), found.forward(statistics)[rows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(matches.reverse, [slow.reverse(text) for text in chosen], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(matches.lengths, [len(text) for text in chosen])
    counts = [[slow.count(word, text) for word in statistics.words] for text in chosen]
    np.testing.assert_allclose(matches.counts, np.reshape(counts, (len(rows), len(statistics.words))), rtol=1e-5)


@given(tables(), QUERY, TEXTS, st.data())
@settings(max_examples=50, deadline=None)
def test_some_of_the_texts_score_as_if_they_were_indexed_alone(given_, query, texts, data):
    translation = model_of(given_)
    keep = np.array([data.draw(st.booleans()) for _ in texts], bool)
    kept = PassageIndex.build(translation, texts_of(translation, texts).only(keep))
    fresh = texts_of(translation, [text for text, stays in zip(texts, keep, strict=True) if stays])
    assert all(kept.has(word) == fresh.has(word) for word in [*DOCUMENT_WORDS, *UNSEEN, "rest"])
    np.testing.assert_array_equal(
        kept.forward(ask(translation, query, kept)), fresh.forward(ask(translation, query, fresh))
    )


KNOWN = Tables(
    {("bee", "abeille"): 0.8, ("sea", "mer"): 0.5, (UNKNOWN, UNKNOWN): 0.3, ("honey", UNKNOWN): 0.1},
    {("bee", "abeille"): 0.9, ("sea", "mer"): 0.4, (UNKNOWN, UNKNOWN): 0.2, ("honey", UNKNOWN): 0.1},
    {"bee": 4, "honey": 3, "sea": 9, UNKNOWN: 20},
    {"abeille": 4, "mer": 9, "miel": 2, "paris": 5, UNKNOWN: 30},
)


def test_a_verbatim_term_matches_itself_alone():
    translation = model_of(KNOWN)
    found = texts_of(translation, [["orlane"], ["rest"], ["rest", "orlane"], ["mer"]])
    forward = found.forward(ask(translation, ["orlane"], found))
    assert forward[0] > forward[2] > 0 == forward[1] == forward[3]
    beside = found.forward(ask(translation, ["orlane", "honey"], found))
    assert beside[0] == pytest.approx(forward[0] / 2)  # unknown words translate "honey", but "orlane" is verbatim here
    assert beside[1] > 0


def test_a_word_of_no_document_matches_any_unknown_word():
    translation = model_of(KNOWN)
    found = texts_of(translation, [["orlane"], ["mer"]])
    statistics = ask(translation, ["nobody"], found)
    assert not statistics.verbatim
    forward = found.forward(statistics)
    assert forward[0] > 0 == forward[1]


def test_rare_words_weigh_more():
    translation = model_of(KNOWN)
    assert translation.query_odds[0] > translation.query_odds[2]
    assert translation.verbatim_odds > translation.query_odds.max()


def test_no_words_and_no_texts_say_nothing():
    translation = model_of(KNOWN)
    found = texts_of(translation, [[], ["mer"]])
    assert found.forward(ask(translation, [], found)).tolist() == [0, 0]
    assert found.forward(ask(translation, ["sea"], found))[0] == 0
    matches = found.match(ask(translation, [], found), np.arange(2))
    assert (matches.forward.shape, matches.reverse.tolist()) == ((2, 0), [0, 0])
    none = texts_of(translation, [])
    assert len(none) == len(none.forward(ask(translation, ["sea"], none))) == 0
    assert none.match(ask(translation, ["sea"], none), np.zeros(0, np.int64)).forward.shape == (0, 1)


def test_what_is_kept_says_the_same(tmp_path):
    translation = model_of(KNOWN)
    texts = [["mer", "orlane", "rest"], [], ["abeille"] * 3]
    found = texts_of(translation, texts)
    translation.save(tmp_path)
    found.save(tmp_path)
    opened = TranslationModel.load(tmp_path)
    again = PassageIndex.load(opened, tmp_path)
    assert list(opened.query_words) == QUERY_WORDS
    for query in (["sea", "orlane"], ["bee", "nobody", "bee"], []):
        statistics = ask(opened, query, again)
        assert statistics.verbatim == ask(translation, query, found).verbatim
        np.testing.assert_array_equal(again.forward(statistics), found.forward(ask(translation, query, found)))
        np.testing.assert_array_equal(
            again.match(statistics, np.arange(3)).reverse,
            found.match(ask(translation, query, found), np.arange(3)).reverse,
        )


def test_the_translations_of_a_word_are_its_pairs():
    translation = model_of(KNOWN)
    terms, forward, reverse = translation.translations(0)
    assert [translation.document_words[term] for term in terms.tolist()] == ["abeille"]
    assert (forward.tolist(), reverse.tolist()) == ([pytest.approx(0.8)], [pytest.approx(0.9)])
    terms, _, _ = translation.translations(len(QUERY_WORDS))
    assert terms.tolist() == [translation.unknown]
