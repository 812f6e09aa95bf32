"""Match statistics and expansion: both stages give the formulas of the docstrings, compiled or not."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.strings import StringTable
from isogloss.systems.bridge import documents, expansion, matching
from isogloss.systems.bridge.documents import Documents, Part
from isogloss.systems.bridge.expansion import LEAST, SCALE, VALUES
from isogloss.systems.bridge.features import forward_parts
from isogloss.systems.bridge.matching import _B, _COMMON, _K, _VERBATIM, QueryTable
from isogloss.text.batches import tokenize_texts
from isogloss.text.passages import windows
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

    def __init__(self, given_, query, texts, words=0):
        self.tables, self.query, self.words = given_, query, words
        self.texts = [passage for text in texts for passage in self.passages(text)]
        self.counts = Counter(term for text in self.texts for term in text)
        self.known = {t: sum(n for each, n in self.counts.items() if self.number(each) == t) for t in self.numbers}
        self.size = sum(self.known.values()) + len(self.known)
        terms = {word: STANDS_FOR.get(word, word) for word in query}
        self.verbatim = {w: t for w, t in terms.items() if t in self.counts and t not in DOCUMENT_WORDS}

    numbers = (*DOCUMENT_WORDS, UNKNOWN)

    def passages(self, text):
        last = max(0, len(text) - self.words) if self.words else 0
        for first in [*range(0, last, max(1, self.words // 2)), last]:
            yield text[first : first + (self.words or len(text))]

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
        return self.forward(text, rare or self.query, LEAST)

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

    def bm25(self, text, mean):
        own = Counter(self.term(term) for term in text)
        total = 0.0
        for word in self.query:
            found = self.mean(word, lambda t: own[self.term(t)])
            total += self.idf(word) * found * (_K + 1) / (found + _K * (1 - _B + _B * len(text) / mean))
        return total / max(1, len(self.query))


class Compiling:
    """Stands in for what decides whether compiled code runs."""

    def __init__(self, compiled):
        from isogloss.systems.bridge import compiled as functions

        self.functions = lambda work: functions if compiled else None


@pytest.fixture(params=[False, True], ids=["numpy", "compiled"])
def compiled(request, monkeypatch):
    """Both ways to compute everything."""
    set_compiled(monkeypatch, request.param)
    return request.param


def set_compiled(patch, compiled):
    if compiled:
        pytest.importorskip("numba")
    for module in (matching, documents):
        patch.setattr(module, "COMPILED", Compiling(compiled))
    patch.setattr(expansion, "pays", lambda seconds: compiled)


def texts_of(translation, texts, words=0):
    tokens = tokenize_texts([" ".join(text) for text in texts])
    spans = np.zeros((int(windows(tokens.offsets, words).counts.sum()), 2), np.int32)
    return Documents([Part.of_tokens(translation, tokens, words, spans, None)])


def ask(translation, query, found):
    return translation.query_statistics(Counter(query), found.count_of, STANDS_FOR)


def table_of(found, query):
    return QueryTable(found.parts[0].translation, query, found.statistics)


def forward_of(found, query):
    """forward(q, p) of the best passage; it is the score where no word is too common."""
    table, rows = table_of(found, query), np.arange(len(found))
    scores, best = found.best_passages(table, query, rows)
    matches = found.match(table, query, rows, best)
    parts = forward_parts(table, matches.passage_counts, matches.lengths[:, 0])
    if table.rare.all():
        np.testing.assert_allclose(scores, parts.sum(axis=1), rtol=1e-9, atol=1e-12)
    else:
        assert (scores >= parts[:, table.rare].sum(axis=1) * (1 - 1e-9)).all()
    return parts.sum(axis=1)


def match_of(found, query, rows):
    table = table_of(found, query)
    return found.match(table, query, rows, found.best_passages(table, query, rows).numbers)


def first_stage(found, query):
    ranking = found.best(query, len(found), np.arange(len(found)), None)
    scores = np.zeros(len(found))
    scores[ranking.rows] = ranking.scores / SCALE
    return scores


BOTH = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "compiled"])


@BOTH
@given(given_=tables(), query=QUERY, texts=TEXTS)
@settings(max_examples=60, deadline=None)
def test_the_best_passage_has_the_likelihood_of_the_formula(fast, given_, query, texts):
    with pytest.MonkeyPatch.context() as patch:
        set_compiled(patch, fast)
        translation = model_of(given_)
        found, slow = texts_of(translation, texts), Slow(given_, query, texts)
        forward = forward_of(found, ask(translation, query, found))
    np.testing.assert_allclose(forward, [slow.forward(text) for text in texts], rtol=1e-5, atol=1e-6)
    matched = [any(slow.count(word, text) for word in query) for text in texts]
    np.testing.assert_array_equal(forward > 0, matched)  # nothing is found by a rounding error


@BOTH
@given(given_=tables(), query=QUERY, texts=TEXTS, times=st.integers(1, 40), words=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_the_first_stage_bounds_the_likelihood_of_rare_words(fast, given_, query, texts, times, words):
    """Without common words and unlikely translations; never below the best passage, and for one near to it."""
    texts = texts * times
    with pytest.MonkeyPatch.context() as patch:
        set_compiled(patch, fast)
        translation = model_of(given_)
        found = texts_of(translation, texts, words)
        scores = first_stage(found, ask(translation, query, found))
    slow = Slow(given_, query, texts, words)
    passages = [[*slow.passages(text)] for text in texts]
    exact = np.asarray([max(map(slow.pruned, own)) for own in passages])
    assert (scores >= exact - 1e-4 * (1 + exact)).all()
    verbatim = any(word in slow.verbatim and word in QUERY_WORDS for word in query)
    unknown = any(word in slow.verbatim for word in query) and (UNKNOWN in {t for _, t in given_.forward})
    alone = np.asarray([len(own) == 1 for own in passages], bool)
    if not verbatim and not unknown:  # those have dimensions of their own, so more is counted
        assert (scores[alone] <= exact[alone] + math.log(VALUES[2] / VALUES[1]) + 1e-4).all()


@BOTH
@given(given_=tables(), query=QUERY, texts=TEXTS, words=st.integers(0, 5), data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_second_stage_gives_the_formulas_in_both_directions(fast, given_, query, texts, words, data):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)) if texts else []
    with pytest.MonkeyPatch.context() as patch:
        set_compiled(patch, fast)
        translation = model_of(given_)
        found = texts_of(translation, texts, words)
        statistics = ask(translation, query, found)
        table, matches = table_of(found, statistics), match_of(found, statistics, np.array(rows, np.int64))
    slow = Slow(given_, query, texts, words)
    passages = [[*slow.passages(texts[row])] for row in rows]
    best = [own[number] for own, number in zip(passages, matches.best.tolist(), strict=True)]
    whole = [[term for passage in own for term in passage] for own in passages]
    for own, chosen in zip(passages, best, strict=True):
        assert slow.forward(chosen) == pytest.approx(max(map(slow.forward, own)), rel=1e-6)
    shape = len(rows), len(statistics.words)
    for texts_, counts, frequencies, reverse, lengths, mean in (
        (best, matches.passage_counts, matches.passage_frequencies, matches.passage_reverse, matches.lengths[:, 0],
         table.mean_length),
        (whole, matches.counts, matches.frequencies, matches.reverse, matches.lengths[:, 1], table.mean_document),
    ):  # fmt: skip
        assert lengths.tolist() == [*map(len, texts_)]
        expected = [[slow.count(word, text) for word in statistics.words] for text in texts_]
        np.testing.assert_allclose(counts, np.reshape(expected, shape), rtol=1e-5, atol=1e-9)
        forward = forward_parts(table, counts, lengths).sum(axis=1)
        np.testing.assert_allclose(forward, [slow.forward(text) for text in texts_], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(reverse.sum(axis=1), [slow.reverse(text) for text in texts_], rtol=1e-5, atol=1e-6)
        bm25 = table.bm25(frequencies, lengths, mean).sum(axis=1)
        np.testing.assert_allclose(bm25, [slow.bm25(text, mean) for text in texts_], rtol=1e-4, atol=1e-5)


@given(tables(), QUERY, TEXTS, st.integers(0, 5), st.data())
@settings(max_examples=30, deadline=None)
def test_some_of_the_texts_score_as_if_they_were_indexed_alone(given_, query, texts, words, data):
    translation = model_of(given_)
    keep = np.array([data.draw(st.booleans()) for _ in texts], bool)
    found = texts_of(translation, texts, words)
    living = Documents(found.parts, keep)
    kept = Documents([found.merged(translation, keep, words)])
    fresh = texts_of(translation, [text for text, stays in zip(texts, keep, strict=True) if stays], words)
    for word in [*TERMS, *UNSEEN]:
        assert living.count_of(word) == kept.count_of(word) == fresh.count_of(word)
        assert kept.rows_with(word, 9) == fresh.rows_with(word, 9)
    if len(fresh):
        np.testing.assert_array_equal(
            living.statistics.background.document_odds, fresh.statistics.background.document_odds
        )
    for one in (first_stage, forward_of):
        np.testing.assert_array_equal(
            one(kept, ask(translation, query, kept)), one(fresh, ask(translation, query, fresh))
        )


def test_compiled_expansion_gives_the_same_lists(monkeypatch):
    translation, random = model_of(KNOWN), np.random.default_rng(0)
    texts = [random.choice(TERMS, size).tolist() for size in random.integers(0, 90, 300)]
    parts = []
    for fast in (False, True):
        set_compiled(monkeypatch, fast)
        monkeypatch.setattr(expansion, "_AT_ONCE", 500)
        parts += texts_of(translation, texts, 30).parts
    one, other = (part.lists for part in parts)
    for name in ("lists", "chunks", "starts", "sizes", "tops", "documents", "levels"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(parts[0].times, parts[1].times)


KNOWN = Tables(
    {("bee", "abeille"): 0.8, ("sea", "mer"): 0.5, (UNKNOWN, UNKNOWN): 0.3, ("honey", UNKNOWN): 0.1},
    {("bee", "abeille"): 0.9, ("sea", "mer"): 0.4, (UNKNOWN, UNKNOWN): 0.2, ("honey", UNKNOWN): 0.1},
    {"bee": 4, "honey": 3, "sea": 9, UNKNOWN: 20},
    {"abeille": 4, "mer": 9, "miel": 2, "paris": 5, UNKNOWN: 30},
)


def test_a_verbatim_term_matches_itself_alone(compiled):
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
    collection, query = found.statistics, ask(translation, ["bee", "sea", "orlane"], found)
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
        collection, query = found.statistics, ask(translation, ["bee", "honey", "nobody"], found)
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
    assert (matches.counts.shape, matches.lengths.tolist()) == ((2, 0), [[0, 0], [1, 1]])
    none = texts_of(translation, [])
    assert len(none) == len(forward_of(none, ask(translation, ["sea"], none))) == 0
    assert match_of(none, ask(translation, ["sea"], none), np.zeros(0, np.int64)).counts.shape == (0, 1)


def test_what_is_kept_says_the_same(tmp_path):
    translation = model_of(KNOWN)
    texts = [["mer", "orlane", "rest"], [], ["abeille"] * 3]
    found = texts_of(translation, texts)
    translation.save(tmp_path)
    found.parts[0].save(tmp_path)
    opened = TranslationModel.load(tmp_path)
    again = Documents([Part.load(opened, tmp_path, 0)])
    assert list(opened.query_words) == QUERY_WORDS
    for query in (["sea", "orlane"], ["bee", "nobody", "bee"], []):
        statistics, expected = ask(opened, query, again), ask(translation, query, found)
        assert statistics.verbatim == expected.verbatim
        for one in (forward_of, first_stage):
            np.testing.assert_array_equal(one(again, statistics), one(found, expected))
        matches = match_of(again, statistics, np.arange(3)), match_of(found, expected, np.arange(3))
        np.testing.assert_array_equal(matches[0].reverse, matches[1].reverse)


def test_the_translations_of_a_word_are_its_pairs():
    translation = model_of(KNOWN)
    terms, forward, reverse = translation.translations(0)
    assert [translation.document_words[term] for term in terms.tolist()] == ["abeille"]
    assert (forward.tolist(), reverse.tolist()) == ([pytest.approx(0.8)], [pytest.approx(0.9)])
    terms, _, _ = translation.translations(len(QUERY_WORDS))
    assert terms.tolist() == [translation.unknown]
