"""``bridge``: its scores are the sums of its features, for any query and any documents."""

from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection, Document
from isogloss.data.readers.demo import Demo
from isogloss.encoders import pretrained_encoder as pretrained
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.features import FEATURES
from isogloss.systems.bridge.model import DEFAULT_CALIBRATIONS, BridgeModel
from isogloss.systems.bridge.weights import Calibration
from isogloss.systems.registry import make_system
from isogloss.systems.trainable import load_model, save_model

PAIR = ("en", "fr")
QUICK = {"epochs": "2", "dimension": "16"}
QUERIES = (
    "why is the sea salty",
    "honey bees and flowers, flowers",
    "zzyzx",
    "the sea zzyzx Assurbanipal",
    "Ninive NINIVE 1840",
    "stars " * 30,
    "",
    "?!",
)
HOSTILE = (
    "\ud800\udfff\0",
    "\x00" * 50,
    "a\u0300" * 300,
    "𝒷ee \u202e mer",
    "mer " * 3000,
    "<b>" * 99,
    "\ufeff１９",
    "的的的",
)


class LetterCounts:
    """Stands in for a sentence encoder."""

    batch, version = 32, "1"

    def encode(self, texts, is_query):
        rows = [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]
        return np.array(rows, np.float32)


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), PAIR)


@pytest.fixture(scope="module")
def encoder():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(pretrained.ENCODERS, "letters", (LetterCounts, PAIR))
        yield "letters"


@pytest.fixture(scope="module")
def made(demo):
    """Systems by their settings, each trained once."""

    @cache
    def make(**settings):
        system = make_system("bridge", PAIR, QUICK | settings, Demo())
        system.fit(demo)
        system.index(demo.documents, ("text",))
        return system

    return make


@pytest.fixture(scope="module")
def fitted(made):
    return made()


@pytest.fixture(scope="module", params=["as it is", "whole texts", "pretrained", "no stems"])
def each(made, encoder, request):
    settings = {"whole texts": {"passages": "0"}, "pretrained": {"pretrained": encoder}, "no stems": {"stems": "no"}}
    return made(**settings.get(request.param, {}))


def first_stage(system, query, k=1000):
    statistics = system.retriever.query_features(query).statistics
    return system.documents.best(statistics, k, system.id_order, None)


@pytest.mark.parametrize("query", QUERIES)
def test_an_explanation_adds_up_to_the_score(each, demo, query):
    rows = {*each.search(query, 30).rows.tolist(), 0, 103}
    for row in rows:
        lines = each.explain(query, row, demo.documents[row].text)
        assert sum(line.score for line in lines) == pytest.approx(each.score(query, np.array([row]))[0], abs=1e-4)
        words = [line.score for line in lines if line.query_word not in ("(the whole query)", "(verbatim)")]
        assert words == sorted(words, reverse=True)
        assert len({line.query_word for line in lines}) == len(lines)


def test_an_explanation_names_words_lengths_and_the_encoder(demo, encoder, made, fitted):
    row = int(fitted.search("honey bees", 1).rows[0])
    lines = {line.query_word: line for line in fitted.explain("honey bees", row, demo.documents[row].text)}
    assert set(lines) - {"(the whole query)"} == {"honey", "bees", "(length)"}
    assert "miel" in lines["honey"].document_words
    assert lines["(length)"].document_words == ()
    lengths = [FEATURES.index(name) for name in ("passage length", "document length")]
    values = fitted.retriever.features("honey bees", np.array([row])).values[0]
    weighted = values * fitted.model.weights.of(2)
    assert lines["(length)"].score == pytest.approx(fitted.model.scale * weighted[lengths].sum())
    with_it = made(pretrained=encoder)
    lines = {line.query_word for line in with_it.explain("honey bees", row, demo.documents[row].text)}
    assert lines - {"(the whole query)"} == {"honey", "bees", "(length)", "(pretrained)"}


@pytest.mark.parametrize("query", QUERIES)
def test_calibrated_scores_are_log_odds_given_the_context_of_the_query(demo, fitted, query, monkeypatch):
    plain, shown = copy(fitted), copy(fitted)
    plain.model = replace(fitted.model, calibration=None)
    shown.model = replace(fitted.model, calibration=Calibration(2.0, (1.4, 0.3, -0.2), (0.0, 1.0), -2.0))
    for system in (plain, shown):
        system.index(demo.documents, ("text",))
        monkeypatch.setattr(system.retriever, "rare_words", lambda *arguments: [])
    total = np.logaddexp.reduce(plain.search(query, 100).scores.astype(float))
    context = np.array([total if np.isfinite(total) else 0.0, *shown.retriever.known_of(query)])
    log_odds = 2 * plain.scores(query) - context @ [1.4, 0.3, -0.2] - 1
    np.testing.assert_allclose(shown.scores(query), log_odds, atol=1e-4)
    allowed = np.arange(len(demo.documents)) % 2 == 0
    for found in (shown.search(query, 3), shown.search(query, 100), shown.search(query, 3, allowed)):
        np.testing.assert_allclose(found.scores, shown.score(query, found.rows), atol=1e-5)
    assert shown.search(query, 9).rows.tolist() == plain.search(query, 9).rows.tolist()
    lines = shown.explain(query, 7, demo.documents[7].text)
    assert sum(line.score for line in lines) == pytest.approx(shown.score(query, np.array([7]))[0], abs=1e-4)
    assert "(the whole query)" in {line.query_word for line in lines}


def test_in_a_small_collection_the_best_document_is_not_right_just_for_being_best(fitted):
    """By the default calibration, which takes a hundred documents for granted; a fitted one knows what it is."""
    small, query = copy(fitted), "honey at night"
    scores = np.array([3.0, 1.0])
    fitted_context = fitted.retriever.context(query, scores)
    assert fitted_context[0] == pytest.approx(np.logaddexp(3, 1))
    small.model = replace(fitted.model, calibration=DEFAULT_CALIBRATIONS[False])
    small.index_texts(["le miel", "la mer", "le pain"])
    assert small.retriever.context(query, scores)[0] > np.logaddexp(3, 1) + 0.1
    many = np.zeros(100)
    assert small.retriever.context(query, many)[0] == pytest.approx(np.log(100))


@pytest.mark.parametrize("query", [query for query in QUERIES if query.strip("?!")])
def test_what_is_known_of_a_query_is_its_information_and_its_length(fitted, query):
    statistics = fitted.retriever.query_features(query).statistics
    odds = fitted.documents.statistics.background.of(statistics)
    information = sum(times * np.log1p(each) for times, each in zip(statistics.times, odds, strict=True))
    expected = information / statistics.length, np.log(statistics.length)
    assert fitted.retriever.known_of(query) == pytest.approx(expected, rel=1e-4)


def test_two_words_of_one_verbatim_term_share_it(fitted):
    """English has two words of what French has one stem of."""
    system = copy(fitted)
    system.index_texts(["zogueriez loin", "zoguerions loin", "loin loin"])
    query = "zogueriez zoguerions"
    statistics = system.retriever.query_features(query).statistics
    assert (len(statistics.verbatim), len(statistics.verbatim_terms)) == (2, 1)
    lines = system.explain(query, 0, "zogueriez loin")
    own = [line for line in lines if line.query_word[0] != "("]
    assert [line.document_words for line in own] == [("zogu",), ("zogu",)]
    assert own[0].score == own[1].score > 0
    assert sum(line.score for line in lines) == pytest.approx(system.score(query, np.array([0]))[0], abs=1e-4)


@pytest.mark.parametrize("query", QUERIES)
def test_hits_have_their_scores_whatever_was_searched_for(each, demo, query):
    scores = each.scores(query)
    everything, first = each.search(query, 1000), each.search(query, each.retriever.depth)
    assert len(everything.rows) == len(set(everything.rows.tolist())) <= len(demo.documents)
    np.testing.assert_allclose(first.scores, scores[first.rows], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(each.score(query, first.rows), first.scores, rtol=1e-6, atol=1e-6)
    places = zip((-everything.scores).tolist(), demo.documents.id_order[everything.rows].tolist(), strict=True)
    assert (ordered := list(places)) == sorted(ordered)
    few = each.search(query, 3)
    allowed = np.arange(len(scores)) % 3 > 0
    some = each.search(query, 5, allowed)
    assert allowed[some.rows].all()
    for found in (few, some):
        np.testing.assert_allclose(found.scores, scores[found.rows], rtol=1e-5, atol=1e-5)
    assert some.rows.tolist() == [row for row in everything.rows.tolist() if allowed[row]][:5]
    assert each.search(query, 5, np.zeros(len(scores), bool)).rows.tolist() == []


@pytest.mark.parametrize("query", QUERIES)
def test_the_ranking_is_one_however_much_of_it_is_asked_for(made, query):
    system = made(depth="7")
    allowed = np.arange(len(system.documents)) % 2 == 0
    for mask in (None, allowed):
        everything = system.search(query, 1000, mask)
        assert (np.diff(everything.scores) <= 0).all()
        for k in (0, 1, 3, 7, 8, 20):
            found = system.search(query, k, mask)
            assert found.rows.tolist() == everything.rows[:k].tolist()
            assert found.scores.tolist() == everything.scores[:k].tolist()
        for row, score in list(zip(everything.rows.tolist(), everything.scores.tolist(), strict=True))[5:9]:
            system.search(query, 1000, mask)
            lines = system.explain(query, row, "")
            assert sum(line.score for line in lines) == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("query", ["", "?!", "\0"])
def test_a_query_without_words_finds_nothing(each, query):
    assert len(each.search(query, 10).rows) == 0
    assert np.isfinite(each.scores(query)).all()
    assert each.unknown_words(query) == each.translations(query) == []
    assert each.best_possible(query) > 0


def test_only_the_first_are_re_scored(made):
    system = made(depth="2")
    fetched = first_stage(system, "sea", 10).rows
    forward = system.retriever.features("sea", fetched).values[:, 0]
    best = fetched[np.lexsort((system.id_order[fetched], -forward))[:2]]
    assert sorted(system.search("sea", 2).rows.tolist()) == sorted(best.tolist())
    assert len(system.search("sea", 7).rows) == 7


def test_ties_go_by_id(fitted):
    texts = ["la mer salée", "le pain", "la mer salée", "la mer salée"]
    system = copy(fitted)
    system.index(Collection([Document(id_, text) for id_, text in zip("dbca", texts, strict=True)], "fr"), ("text",))
    found = system.search("sea", 3)
    assert [system.id_order[row] for row in found.rows.tolist()] == sorted(system.id_order[[0, 2, 3]])
    assert len(set(found.scores.tolist())) == 1


def test_empty_documents_and_none_at_all(fitted):
    system = copy(fitted)
    system.index_texts(["", "la mer", "…"])
    assert system.search("sea", 5).rows.tolist() == [1]
    assert np.isfinite(system.scores("sea")).all()
    assert system.passage("sea", 0) == (0, 0)
    assert system.explain("", 0, "") is not None
    system.index_texts([])
    assert len(system.scores("sea")) == len(system.search("sea", 5).rows) == 0
    assert len(system.score("sea", np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_texts_are_indexed_and_searched(fitted, text, tmp_path):
    system = copy(fitted)
    system.index_texts([text, "la mer", text])
    for query in (text[:2000], f"sea {text[:50]}"):
        found = system.search(query, 3)
        assert np.isfinite(found.scores).all()
        for row in found.rows.tolist():
            lines = system.explain(query, row, "")
            assert sum(line.score for line in lines) == pytest.approx(system.score(query, np.array([row]))[0], abs=1e-3)
            begin, end = system.passage(query, row)
            assert 0 <= begin <= end
    system.save(tmp_path)
    again = make_system("bridge", PAIR, QUICK).load(tmp_path)
    np.testing.assert_array_equal(again.scores(text[:2000]), system.scores(text[:2000]))


def test_a_passage_lies_in_its_text_and_whole_texts_have_none(demo, made, fitted):
    for row in fitted.search("king of Nineveh", 5).rows.tolist():
        begin, end = fitted.passage("king of Nineveh", row)
        text = demo.documents[row].text
        assert 0 <= begin < end <= len(text)
        assert len(text[begin:end].split()) <= 30
    assert made(passages="0").passage("sea", 0) is None


def test_what_it_knows_of_words(fitted):
    assert fitted.unknown_words("The sea ZZYZX, Assurbanipal") == ["zzyzx"]
    known = dict(fitted.translations("sea zzyzx honey"))
    assert list(known) == ["sea", "honey"]
    assert known["sea"][0] == "mer"
    assert fitted.term_of("abeilles") == "abeil"
    about = fitted.about()
    assert set(about["weights"]) == set(FEATURES)
    assert about["translations"] > 500


def test_thresholds_rise_and_relevant_documents_pass_them_more_often_than_others(demo, fitted):
    low, high = fitted.thresholds()
    assert low < high
    passed = {0: [], 1: [], 2: []}
    for query in demo.split("train"):
        grades = demo.judgments[query.id]
        for row, score in zip(*fitted.search(query.text, 20), strict=True):
            passed[grades.get(demo.documents[int(row)].id, 0)].append(score >= low)
    assert np.mean(passed[2]) > 0.3 > 0.05 > np.mean(passed[0])


def test_a_copy_is_given_other_documents_without_touching_the_first(fitted):
    before = fitted.scores("sea")
    other = copy(fitted)
    assert len(other.scores("sea")) == 0
    other.index_texts(["la mer", "Ninive"])
    assert len(other.scores("sea")) == 2
    np.testing.assert_array_equal(fitted.scores("sea"), before)


@pytest.mark.parametrize("each", ["as it is", "whole texts", "pretrained"], indirect=True)
def test_what_is_kept_answers_the_same(each, demo, tmp_path):
    save_model(each, tmp_path / "model", {"trained on": "demo"})
    assert "# bridge: en to fr" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    trained = load_model(tmp_path / "model")
    assert trained.options == each.options
    trained.index(demo.documents, ("text",))
    each.save(tmp_path)
    opened = make_system(
        "bridge", PAIR, {"passages": str(each.options.passages), "pretrained": each.options.pretrained}
    )
    opened.load(tmp_path)
    for again in (trained, opened):
        assert again.thresholds() == each.thresholds()
        assert again.about() == each.about()
        for query in QUERIES:
            np.testing.assert_array_equal(again.scores(query), each.scores(query))
            assert again.search(query, 7).rows.tolist() == each.search(query, 7).rows.tolist()
        assert again.passage("sea", 3) == each.passage("sea", 3)


def test_weights_of_long_and_of_short_queries_are_kept(fitted, tmp_path):
    long, short = fitted.model.weights
    assert not np.array_equal(long, short)
    fitted.save_model(tmp_path)
    again = BridgeModel.load(tmp_path)
    np.testing.assert_array_equal(again.weights.long, long)
    np.testing.assert_array_equal(again.weights.short, short)
    shown = fitted.about()["weights"]["passage forward"]
    assert shown == pytest.approx([long[0], short[0]], abs=1e-4)


def test_a_damaged_model_is_named(fitted, tmp_path):
    save_model(fitted, tmp_path / "model", {})
    (tmp_path / "model" / "bridge.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="the model is damaged"):
        load_model(tmp_path / "model")


def test_nothing_is_scored_before_anything_was_learned():
    system = make_system("bridge", PAIR, QUICK, Demo())
    for use in (lambda: system.index_texts(["mer"]), lambda: system.search("sea", 3), system.thresholds):
        with pytest.raises(InputError, match="bridge: has to be trained before it can search"):
            use()
