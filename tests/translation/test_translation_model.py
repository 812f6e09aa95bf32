"""The noisy channel: what is found through inverted lists, and what is looked at closely, is the formula."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.texts import _COMMON, _UNLIKELY, IndexedTexts
from isogloss.text.batches import tokenize_texts
from isogloss.translation.model import LAMBDA, TranslationModel

QUERY_WORDS = ["bee", "honey", "sea"]
DOCUMENT_WORDS = ["abeille", "mer", "miel", "paris"]
STRANGE = ["orlane", "zog", "zogs", "nobody"]  # in a query none is known; documents know "paris" of such words alone
STANDS_FOR = {"zogs": "zog"}  # two words of a query may stand for one term of the documents
ASKED = st.lists(st.sampled_from([*QUERY_WORDS, *STRANGE, "paris"]), max_size=7)
TEXTS = st.lists(st.lists(st.sampled_from([*DOCUMENT_WORDS, "orlane", "zog", "rest"]), max_size=8), max_size=6)
UNKNOWN = "<unknown>"


class Tables(NamedTuple):
    """P(w | t) and P(t | w) by (w, t), and how often each word was seen."""

    said: dict
    meant: dict
    query_counts: dict
    document_counts: dict


@st.composite
def tables(draw):
    queries, documents = [*QUERY_WORDS, UNKNOWN], [*DOCUMENT_WORDS, UNKNOWN]
    pairs = draw(st.sets(st.tuples(st.sampled_from(queries), st.sampled_from(documents)), max_size=12))
    chances = st.sampled_from([0.0, 0.001, 0.25, 0.7, 1.0])
    counts = [{word: draw(st.integers(0, 9)) for word in words} for words in (queries, documents)]
    return Tables({pair: draw(chances) for pair in pairs}, {pair: draw(chances) for pair in pairs}, *counts)


def channel_of(given_):
    queries, documents = [*QUERY_WORDS, UNKNOWN], [*DOCUMENT_WORDS, UNKNOWN]
    rows = sorted((queries.index(w), documents.index(t), (w, t)) for w, t in given_.said)
    return TranslationModel(
        StringTable.of(QUERY_WORDS),
        StringTable.of(DOCUMENT_WORDS),
        np.searchsorted([row[0] for row in rows], np.arange(len(queries) + 1)),
        np.array([row[1] for row in rows], np.int32),
        np.array([given_.said[pair] for _, _, pair in rows], np.float32),
        np.array([given_.meant[pair] for _, _, pair in rows], np.float32),
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
        strange = [word for word in query if word not in QUERY_WORDS]
        self.own = {word: term for word in strange if (term := STANDS_FOR.get(word, word)) in there}

    def word(self, word):
        return word if word in QUERY_WORDS or word in self.own else UNKNOWN

    def term(self, term):
        return f"own {term}" if term in self.own.values() else term if term in DOCUMENT_WORDS else UNKNOWN

    def chance(self, table, word, term):
        if word in self.own:
            return float(self.term(term) == f"own {self.own[word]}")
        return table.get((self.word(word), self.term(term)), 0.0)

    def count(self, word, text, least=0.0):
        chances = [self.chance(self.tables.said, word, term) for term in text]
        return sum(chance for chance in chances if chance > least)

    def odds(self, word):
        return odds(self.word(word), self.tables.query_counts)

    def said(self, text, words=None, least=0.0):
        words = self.query if words is None else words
        gains = [math.log1p(self.odds(word) * self.count(word, text, least) / max(1, len(text))) for word in words]
        return sum(gains) / max(1, len(self.query))

    def said_roughly(self, text):
        """Without common words, where there are others, and unlikely translations."""
        rare = [word for word in self.query if self.odds(word) >= _COMMON]
        return self.said(text, rare or self.query, _UNLIKELY)

    def meant(self, text):
        total = 0.0
        for term in text:
            number = UNKNOWN if self.term(term).startswith("own ") else self.term(term)
            share = sum(self.chance(self.tables.meant, word, term) for word in self.query) / max(1, len(self.query))
            total += math.log1p(odds(number, self.tables.document_counts) * share)
        return total


def texts_of(channel, texts):
    return IndexedTexts.build(channel, tokenize_texts([" ".join(text) for text in texts]))


def ask(channel, query, found):
    return channel.query_statistics(Counter(query), found.has, STANDS_FOR)


@given(tables(), ASKED, TEXTS)
@settings(max_examples=80, deadline=None)
def test_the_inverted_lists_give_the_formula(given_, query, texts):
    channel = channel_of(given_)
    found = texts_of(channel, texts)
    slow = Slow(given_, query, texts)
    said = found.said(ask(channel, query, found))
    np.testing.assert_allclose(said, [slow.said(text) for text in texts], rtol=1e-5, atol=1e-6)
    matched = [any(slow.count(word, text) for word in query) for text in texts]
    np.testing.assert_array_equal(said > 0, matched)  # what says nothing of a query is not found by a rounding error


@given(tables(), ASKED, TEXTS)
@settings(max_examples=40, deadline=None)
def test_a_rough_look_leaves_out_what_is_common_or_unlikely(given_, query, texts):
    counts = {**given_.query_counts, "bee": 500, UNKNOWN: 500}
    given_ = given_._replace(query_counts=counts)
    channel = channel_of(given_)
    found, slow = texts_of(channel, texts), Slow(given_, query, texts)
    said = found.said(ask(channel, query, found), rough=True)
    np.testing.assert_allclose(said, [slow.said_roughly(text) for text in texts], rtol=1e-5, atol=1e-6)


@given(tables(), ASKED, TEXTS, st.data())
@settings(max_examples=80, deadline=None)
def test_a_close_look_gives_the_same_and_the_other_way_round(given_, query, texts, data):
    channel = channel_of(given_)
    found = texts_of(channel, texts)
    asked, slow = ask(channel, query, found), Slow(given_, query, texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)) if texts else []
    heard = found.hear(asked, np.array(rows, np.int64))
    chosen = [texts[row] for row in rows]
    np.testing.assert_allclose(heard.said.sum(axis=1), found.said(asked)[rows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(heard.meant, [slow.meant(text) for text in chosen], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(heard.lengths, [len(text) for text in chosen])
    counts = [[slow.count(word, text) for word in asked.words] for text in chosen]
    np.testing.assert_allclose(heard.counts, np.reshape(counts, (len(rows), len(asked.words))), rtol=1e-5)


@given(tables(), ASKED, TEXTS, st.data())
@settings(max_examples=50, deadline=None)
def test_some_of_the_texts_are_as_if_the_others_had_never_been(given_, query, texts, data):
    channel = channel_of(given_)
    keep = np.array([data.draw(st.booleans()) for _ in texts], bool)
    kept = IndexedTexts.build(channel, texts_of(channel, texts).only(keep))
    fresh = texts_of(channel, [text for text, stays in zip(texts, keep, strict=True) if stays])
    assert all(kept.has(word) == fresh.has(word) for word in [*DOCUMENT_WORDS, *STRANGE, "rest"])
    np.testing.assert_array_equal(kept.said(ask(channel, query, kept)), fresh.said(ask(channel, query, fresh)))


KNOWN = Tables(
    {("bee", "abeille"): 0.8, ("sea", "mer"): 0.5, (UNKNOWN, UNKNOWN): 0.3, ("honey", UNKNOWN): 0.1},
    {("bee", "abeille"): 0.9, ("sea", "mer"): 0.4, (UNKNOWN, UNKNOWN): 0.2, ("honey", UNKNOWN): 0.1},
    {"bee": 4, "honey": 3, "sea": 9, UNKNOWN: 20},
    {"abeille": 4, "mer": 9, "miel": 2, "paris": 5, UNKNOWN: 30},
)


def test_a_word_of_its_own_says_itself_and_stands_for_no_other():
    channel = channel_of(KNOWN)
    found = texts_of(channel, [["orlane"], ["rest"], ["rest", "orlane"], ["mer"]])
    said = found.said(ask(channel, ["orlane"], found))
    assert said[0] > said[2] > 0 == said[1] == said[3]
    beside = found.said(ask(channel, ["orlane", "honey"], found))
    assert beside[0] == pytest.approx(said[0] / 2)  # "honey" is said by unknown words, but "orlane" is none here
    assert beside[1] > 0


def test_a_word_that_is_nowhere_is_any_unknown_word():
    channel = channel_of(KNOWN)
    found = texts_of(channel, [["orlane"], ["mer"]])
    asked = ask(channel, ["nobody"], found)
    assert not asked.verbatim
    said = found.said(asked)
    assert said[0] > 0 == said[1]


def test_the_rarer_a_word_the_more_it_says():
    channel = channel_of(KNOWN)
    assert channel.query_odds[0] > channel.query_odds[2]
    assert channel.verbatim_odds > channel.query_odds.max()


def test_no_words_and_no_texts_say_nothing():
    channel = channel_of(KNOWN)
    found = texts_of(channel, [[], ["mer"]])
    assert found.said(ask(channel, [], found)).tolist() == [0, 0]
    assert found.said(ask(channel, ["sea"], found))[0] == 0
    heard = found.hear(ask(channel, [], found), np.arange(2))
    assert (heard.said.shape, heard.meant.tolist()) == ((2, 0), [0, 0])
    none = texts_of(channel, [])
    assert len(none) == len(none.said(ask(channel, ["sea"], none))) == 0
    assert none.hear(ask(channel, ["sea"], none), np.zeros(0, np.int64)).said.shape == (0, 1)


def test_what_is_kept_says_the_same(tmp_path):
    channel = channel_of(KNOWN)
    texts = [["mer", "orlane", "rest"], [], ["abeille"] * 3]
    found = texts_of(channel, texts)
    channel.save(tmp_path)
    found.save(tmp_path)
    opened = TranslationModel.load(tmp_path)
    again = IndexedTexts.load(opened, tmp_path)
    assert list(opened.query_words) == QUERY_WORDS
    for query in (["sea", "orlane"], ["bee", "nobody", "bee"], []):
        asked = ask(opened, query, again)
        assert asked.verbatim == ask(channel, query, found).verbatim
        np.testing.assert_array_equal(again.said(asked), found.said(ask(channel, query, found)))
        np.testing.assert_array_equal(
            again.hear(asked, np.arange(3)).meant, found.hear(ask(channel, query, found), np.arange(3)).meant
        )


def test_the_translations_of_a_word_are_its_pairs():
    channel = channel_of(KNOWN)
    terms, said, meant = channel.translations(0)
    assert [channel.document_words[term] for term in terms.tolist()] == ["abeille"]
    assert (said.tolist(), meant.tolist()) == ([pytest.approx(0.8)], [pytest.approx(0.9)])
    terms, _, _ = channel.translations(len(QUERY_WORDS))
    assert terms.tolist() == [channel.unknown]
