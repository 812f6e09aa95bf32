"""Match statistics: the inverted lists and the second stage give the formulas of the docstring."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.matching import (
    _B,
    _COMMON,
    _K,
    _UNLIKELY,
    _VERBATIM,
    CollectionStatistics,
    PassageIndex,
    QueryTable,
)
from isogloss.text.batches import tokenize_texts
from isogloss.translation.model import LAMBDA, TranslationModel

QUERY_WORDS = ["bee", "honey", "sea"]
DOCUMENT_WORDS = ["abeille", "mer", "miel", "paris"]
UNSEEN = ["orlane", "zog", "zogs", "nobody"]  # no word of the translation model
STANDS_FOR = {"zogs": "zog"}  # two words of a query may be one term of the documents
QUERY = st.lists(st.sampled_from([*QUERY_WORDS, *UNSEEN, "paris"]), max_size=7)
TERMS = [*DOCUMENT_WORDS, "orlane", "zog", "rest", "honey"]  # "honey" has translations, and is verbatim here
TEXTS = st.lists(st.lists(st.sampled_from(TERMS), max_size=8), max_size=6)
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


class Slow:
    """The formulas of the docstring in double precision, word by word."""

    def __init__(self, given_, query, texts):
        self.tables, self.query, self.texts = given_, query, texts
        self.counts = Counter(term for text in texts for term in text)
        self.known = {t: sum(n for each, n in self.counts.items() if self.number(each) == t) for t in self.numbers}
        self.size = sum(self.known.values()) + len(self.known)
        terms = {word: STANDS_FOR.get(word, word) for word in query}
        self.verbatim = {w: t for w, t in terms.items() if t in self.counts and t not in DOCUMENT_WORDS}

    numbers = (*DOCUMENT_WORDS, UNKNOWN)

    def number(self, term):
        return term if term in DOCUMENT_WORDS else UNKNOWN

    def word(self, word):
        return word if word in QUERY_WORDS else UNKNOWN

    def term(self, term):
        return f"own {term}" if term in self.verbatim.values() else self.number(term)

    def chance(self, table, word, term, own=1.0):
        """That of a verbatim term is ``own``; a word that is no other than this has no translations."""
        if word in self.verbatim and self.term(term) == f"own {self.verbatim[word]}":
            return own
        if word in self.verbatim and word not in QUERY_WORDS:
            return 0.0
        return table.get((self.word(word), self.term(term)), 0.0)

    def forward_of(self, word, term):
        return self.chance(self.tables.forward, word, term)

    def reverse_of(self, word, term):
        return self.chance(self.tables.reverse, word, term, _VERBATIM if word in QUERY_WORDS else 1.0)

    def count(self, word, text, least=0.0):
        chances = [self.forward_of(word, term) for term in text]
        return sum(chance for chance in chances if chance > least)

    def share(self, term):
        """P(t)."""
        return (self.known[term] + 1) / self.size

    def odds(self, word):
        pairs = [(t, p) for (w, t), p in self.tables.forward.items() if w == self.word(word)]
        expected = max(1 / self.size, sum(p * self.share(t) for t, p in pairs))
        if word in self.verbatim:
            alone = (self.counts[self.verbatim[word]] + 1) / self.size
            expected = max(alone, expected) if word in QUERY_WORDS else alone
        return (1 - LAMBDA) / (LAMBDA * expected)

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
            share = sum(self.reverse_of(word, term) for word in self.query) / max(1, len(self.query))
            total += math.log1p((1 - LAMBDA) / (LAMBDA * self.share(self.number(term))) * share)
        return total

    def mean(self, word, values):
        """The mean of values of terms, weighted by g(w, t); those of the verbatim term too."""
        terms = {*DOCUMENT_WORDS, UNKNOWN, *self.verbatim.values()}
        weights = {t: math.sqrt(self.forward_of(word, t) * self.reverse_of(word, t)) for t in terms}
        return sum(weights[t] * values(t) for t in terms) / (sum(weights.values()) or 1)

    def idf(self, word):
        pairs = {
            t: math.sqrt(self.tables.forward[w, t] * self.tables.reverse[w, t])
            for w, t in self.tables.forward if w == self.word(word)
        }  # fmt: skip
        seen = sum(g * self.known[t] for t, g in pairs.items()) / (sum(pairs.values()) or 1)
        if word in self.verbatim:
            own = self.counts[self.verbatim[word]]
            seen = max(own, seen) if word in QUERY_WORDS else own
        seen = min(seen, len(self.texts))
        return math.log1p((len(self.texts) - seen + 0.5) / (seen + 0.5))

    def bm25(self, text):
        mean = max(1, sum(map(len, self.texts)) / max(1, len(self.texts)))
        own = Counter(self.term(term) for term in text)
        total = 0.0
        for word in self.query:
            found = self.mean(word, lambda t: own[self.term(t)])
            total += self.idf(word) * found * (_K + 1) / (found + _K * (1 - _B + _B * len(text) / mean))
        return total / max(1, len(self.query))


def texts_of(translation, texts):
    return PassageIndex.build(translation, tokenize_texts([" ".join(text) for text in texts]))


def ask(translation, query, found):
    return translation.query_statistics(Counter(query), found.count_of, STANDS_FOR)


def collection_of(found):
    return CollectionStatistics(found.translation, found.counts(), len(found), len(found))


def forward_of(found, query, pruned=False):
    return found.forward(query, collection_of(found).background.of(query), pruned)


def match_of(found, query, passages):
    return found.match(QueryTable(found.translation, query, collection_of(found)), query, passages)


@given(tables(), QUERY, TEXTS)
@settings(max_examples=80, deadline=None)
def test_the_inverted_lists_give_the_formula(given_, query, texts):
    translation = model_of(given_)
    found = texts_of(translation, texts)
    slow = Slow(given_, query, texts)
    forward = forward_of(found, ask(translation, query, found))
    np.testing.assert_allclose(forward, [slow.forward(text) for text in texts], rtol=1e-5, atol=1e-6)
    matched = [any(slow.count(word, text) for word in query) for text in texts]
    np.testing.assert_array_equal(forward > 0, matched)  # nothing is found by a rounding error


@given(tables(), QUERY, TEXTS, st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_a_pruned_first_stage_leaves_out_common_words_and_unlikely_translations(given_, query, texts, times):
    translation = model_of(given_)
    texts = texts * times
    found, slow = texts_of(translation, texts), Slow(given_, query, texts)
    forward = forward_of(found, ask(translation, query, found), pruned=True)
    np.testing.assert_allclose(forward, [slow.pruned(text) for text in texts], rtol=1e-5, atol=1e-6)


@given(tables(), QUERY, TEXTS, st.data())
@settings(max_examples=80, deadline=None)
def test_the_second_stage_gives_the_formulas_in_both_directions(given_, query, texts, data):
    translation = model_of(given_)
    found = texts_of(translation, texts)
    statistics, slow = ask(translation, query, found), Slow(given_, query, texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)) if texts else []
    table = QueryTable(translation, statistics, collection_of(found))
    matches = found.match(table, statistics, np.array(rows, np.int64))
    chosen = [texts[row] for row in rows]
    np.testing.assert_allclose(matches.forward.sum(axis=1), forward_of(found, statistics)[rows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(matches.reverse, [slow.reverse(text) for text in chosen], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(matches.lengths, [len(text) for text in chosen])
    counts = [[slow.count(word, text) for word in statistics.words] for text in chosen]
    np.testing.assert_allclose(matches.counts, np.reshape(counts, (len(rows), len(statistics.words))), rtol=1e-5)
    bm25 = table.bm25(matches.frequencies.T, matches.lengths, table.mean_length).sum(axis=0)
    np.testing.assert_allclose(bm25, [slow.bm25(text) for text in chosen], rtol=1e-4, atol=1e-5)


@given(tables(), QUERY, TEXTS, st.data())
@settings(max_examples=50, deadline=None)
def test_some_of_the_texts_score_as_if_they_were_indexed_alone(given_, query, texts, data):
    translation = model_of(given_)
    keep = np.array([data.draw(st.booleans()) for _ in texts], bool)
    found = texts_of(translation, texts)
    kept = PassageIndex.build(translation, found.only(keep))
    fresh = texts_of(translation, [text for text, stays in zip(texts, keep, strict=True) if stays])
    for word in [*TERMS, *UNSEEN]:
        assert found.count_of(word, keep) == kept.count_of(word) == fresh.count_of(word)
    np.testing.assert_array_equal(found.counts(keep), fresh.counts())
    np.testing.assert_array_equal(
        forward_of(kept, ask(translation, query, kept)), forward_of(fresh, ask(translation, query, fresh))
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
    forward = forward_of(found, ask(translation, ["orlane"], found))
    assert forward[0] > forward[2] > 0 == forward[1] == forward[3]
    beside = forward_of(found, ask(translation, ["orlane", "honey"], found))
    assert beside[0] == pytest.approx(forward[0] / 2)  # unknown words translate "honey", but "orlane" is verbatim here
    assert beside[1] > 0


def test_a_word_of_no_document_matches_any_unknown_word():
    translation = model_of(KNOWN)
    found = texts_of(translation, [["orlane"], ["mer"]])
    statistics = ask(translation, ["nobody"], found)
    assert not statistics.verbatim
    forward = forward_of(found, statistics)
    assert forward[0] > 0 == forward[1]


def test_a_word_with_translations_matches_its_verbatim_term_beside_them():
    pair = {("honey", "miel"): 0.6}
    translation = model_of(KNOWN._replace(forward=KNOWN.forward | pair, reverse=KNOWN.reverse | pair))
    found = texts_of(translation, [["honey"], ["miel"], ["rest"], ["mer"]])
    statistics = ask(translation, ["honey"], found)
    assert statistics.verbatim == {0: "honey"}
    forward = forward_of(found, statistics)
    assert forward[0] > forward[1] > forward[2] > 0 == forward[3]
    np.testing.assert_allclose(match_of(found, statistics, np.arange(4)).counts[:, 0], [1, 0.6, 0.1, 0], atol=1e-6)


def test_words_that_are_rare_in_the_collection_weigh_more():
    translation = model_of(KNOWN)
    found = texts_of(translation, [["mer"] * 9, ["abeille"], ["orlane", "rest"]])
    collection, query = collection_of(found), ask(translation, ["bee", "sea", "orlane"], found)
    bee, sea, orlane = collection.background.of(query)
    assert bee > sea
    assert orlane == pytest.approx((1 - LAMBDA) / LAMBDA / (2 / (12 + 5)))
    idf = collection.idf(query)
    assert idf[0] > idf[1] > 0
    assert idf[2] == pytest.approx(math.log1p((3 - 1 + 0.5) / 1.5))


def test_a_collection_without_words_has_statistics():
    translation = model_of(KNOWN)
    for texts in ([], [[]]):
        found = texts_of(translation, texts)
        collection, query = collection_of(found), ask(translation, ["bee", "honey", "nobody"], found)
        assert collection.mean_length == collection.mean_document == 1
        for values in (collection.background.of(query), collection.idf(query), *collection.background[:2]):
            assert np.isfinite(values).all()
            assert (values > 0).all()


def test_no_words_and_no_texts_say_nothing():
    translation = model_of(KNOWN)
    found = texts_of(translation, [[], ["mer"]])
    assert forward_of(found, ask(translation, [], found)).tolist() == [0, 0]
    assert forward_of(found, ask(translation, ["sea"], found))[0] == 0
    matches = match_of(found, ask(translation, [], found), np.arange(2))
    assert (matches.forward.shape, matches.reverse.tolist()) == ((2, 0), [0, 0])
    none = texts_of(translation, [])
    assert len(none) == len(forward_of(none, ask(translation, ["sea"], none))) == 0
    assert match_of(none, ask(translation, ["sea"], none), np.zeros(0, np.int64)).forward.shape == (0, 1)


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
        expected = ask(translation, query, found)
        np.testing.assert_array_equal(forward_of(again, statistics), forward_of(found, expected))
        matches = match_of(again, statistics, np.arange(3)), match_of(found, expected, np.arange(3))
        np.testing.assert_array_equal(matches[0].reverse, matches[1].reverse)


def test_the_translations_of_a_word_are_its_pairs():
    translation = model_of(KNOWN)
    terms, forward, reverse = translation.translations(0)
    assert [translation.document_words[term] for term in terms.tolist()] == ["abeille"]
    assert (forward.tolist(), reverse.tolist()) == ([pytest.approx(0.8)], [pytest.approx(0.9)])
    terms, _, _ = translation.translations(len(QUERY_WORDS))
    assert terms.tolist() == [translation.unknown]
