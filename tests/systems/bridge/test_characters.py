"""Features of characters for scripts without spaces: used where they help."""

import itertools
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.systems.bridge import system as bridge
from isogloss.systems.bridge.characters import CHARACTER_FEATURES, spaced, with_bigrams
from isogloss.systems.bridge.features import FEATURES, Phrases
from isogloss.systems.bridge.model import BridgeModel
from isogloss.systems.bridge.training import (
    NeighbourAverage,
    read_knowledge,
    with_bigrams_between,
    written_without_spaces,
)
from isogloss.systems.bridge.weights import JudgedList, features_help
from isogloss.systems.registry import make_system
from isogloss.text.ids import TextIds
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.model import Numbered

PAIR = ("en", "zh")
SETTINGS = {"epochs": "4", "dimension": "16"}
QUERIES = ("why is the sea salty", "honey bees and flowers, flowers", "zzyzx", "蜜蜂 honey", "stars " * 30, "", "?!")


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), PAIR)


def trained(demo, kept, **settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge, "features_help", lambda *arguments: kept)
        system = make_system("bridge", PAIR, SETTINGS | settings, Demo())
        system.fit(demo)
    system.index(demo.documents, ("text",))
    return system


@pytest.fixture(scope="module")
def kept(demo):
    return trained(demo, True)


@pytest.fixture(scope="module")
def without(demo):
    return trained(demo, True, without="characters")


def test_features_that_help_have_weights_and_change_scores(kept, without):
    assert kept.model.features == FEATURES + CHARACTER_FEATURES
    assert tuple(kept.about()["weights"]) == FEATURES + CHARACTER_FEATURES
    for weights in kept.model.weights:
        assert np.all(weights[len(FEATURES) :] != 0)
    assert not np.array_equal(kept.scores("honey bees"), without.scores("honey bees"))
    rows = np.arange(20)
    values, base = (system.retriever.features("honey bees", rows).values for system in (kept, without))
    np.testing.assert_array_equal(values[:, : len(FEATURES)], base)


def test_features_that_do_not_help_change_nothing(demo, without):
    dropped = trained(demo, False)
    assert dropped.model.characters is None
    for one, other in zip(dropped.model.calibration, without.model.calibration, strict=True):
        assert one == pytest.approx(other, rel=1e-9)
    np.testing.assert_allclose(dropped.model.weights, without.model.weights, rtol=1e-9, atol=1e-12)
    for query in QUERIES:
        np.testing.assert_allclose(dropped.scores(query), without.scores(query), rtol=1e-5)


def test_documents_with_spaces_have_no_character_model():
    pair = ("en", "fr")
    data = load_dataset(Demo(), pair)
    system = make_system("bridge", pair, SETTINGS | {"epochs": "1"}, Demo())
    assert system.train_model(data, [], characters=True).characters is None
    assert written_without_spaces(["属性", "CSS 属性", "CSS"])
    assert not written_without_spaces(["属性", "attribut"])
    assert not written_without_spaces([])


@pytest.mark.parametrize("query", QUERIES)
def test_an_explanation_adds_up_to_the_score(kept, demo, query):
    for row in {*kept.search(query, 10).rows.tolist(), 0}:
        lines = kept.explain(query, row, demo.documents[row].text)
        assert sum(line.score for line in lines) == pytest.approx(kept.score(query, np.array([row]))[0], abs=1e-4)


def test_what_is_kept_answers_the_same(kept, demo, tmp_path):
    kept.save(tmp_path)
    opened = make_system("bridge", PAIR, SETTINGS).load(tmp_path)
    assert opened.about() == kept.about()
    for query in QUERIES:
        np.testing.assert_array_equal(opened.scores(query), kept.scores(query))


def test_a_model_of_words_alone_is_read_as_such(without, tmp_path):
    without.save_model(tmp_path)
    again = BridgeModel.load(tmp_path)
    assert again.characters is None
    assert again.features == FEATURES
    np.testing.assert_array_equal(again.weights, without.model.weights)


def test_parts_joined_are_one_index(kept, demo, tmp_path):
    texts = [*demo.documents.texts(("text",))[:12], "", "CSS属性 Zzyzx"]
    folders = []
    for number, cut in enumerate((texts[:5], [], texts[5:])):
        (folder := tmp_path / str(number)).mkdir()
        made = copy(kept)
        made.index_texts(cut)
        made.save_part(folder)
        folders.append(folder)
    joined, whole = copy(kept).load_parts(folders, np.arange(len(texts))), copy(kept)
    whole.index_texts(texts)
    for query in QUERIES:
        np.testing.assert_allclose(joined.scores(query), whole.scores(query), rtol=1e-5, atol=1e-5)


def test_the_characters_of_an_indexed_text_are_those_of_its_words(kept):
    system, translation = copy(kept), kept.model.characters.translation
    texts = ["CSS属性，蜂蜜 Zzyzx", "", "蜜蜂"]
    system.index_texts(texts)
    (part,) = system.documents.parts
    found = system.retriever.characters.passages_of(part, np.arange(3), np.zeros(3, np.int64))
    known = [*translation.document_words, "?"]
    read = [[known[unit] for unit in found.ids[begin:end]] for begin, end in itertools.pairwise(found.offsets)]
    written = [[unit if unit in known else "?" for unit in tokenize(spaced(text))] for text in texts]
    assert read == written
    again = system.retriever.characters.passages_of(part, np.array([2, 0]), np.zeros(2, np.int64))
    assert again.ids.tolist() == [*found.ids[found.offsets[2] :], *found.ids[: found.offsets[1]]]


def test_a_bigram_follows_its_first_character():
    phrases = Phrases(4, np.array([0 * 4 + 1, 2 * 4 + 0]))
    texts = Numbered(np.array([0, 1, 2, 2, 0, 1], np.int32), np.array([0, 3, 3, 6]))
    found = with_bigrams_between(texts, phrases)
    assert found.ids.tolist() == [0, 4, 1, 2, 2, 5, 0, 4, 1]
    assert found.offsets.tolist() == [0, 4, 4, 9]


def test_bigrams_are_named_by_their_characters(kept):
    characters = kept.model.characters
    names = [*with_bigrams(characters.translation.document_words, characters.tables.document_phrases)]
    assert names == [*characters.bigrams.document_words]
    known = [*characters.translation.document_words, ""]
    keys = characters.tables.document_phrases.keys.tolist()
    assert names[len(known) :] == [known[key // len(known)] + known[key % len(known)] for key in keys]


def test_similar_texts_are_trained_together():
    ids = np.repeat(np.arange(8, dtype=np.int32), 50)
    texts = TextIds(ids, np.arange(401))
    tables = [np.random.default_rng(seed).normal(size=(8, 16)).astype(np.float32) for seed in (0, 1)]
    average = NeighbourAverage(*tables, texts, texts, drop=0.0)
    for epoch in (0, 3):
        assert sorted(average.order(epoch).tolist()) == list(range(400))
    changes = [np.count_nonzero(np.diff(ids[average.order(epoch)])) for epoch in (0, 3)]
    assert changes[0] > 300
    assert changes[1] < 30


def judged(rng, tells, queries):
    """Lists whose second feature ``tells`` so much about relevance, and the first something."""
    lists = []
    for _ in range(queries):
        grades = np.zeros(10, np.int64)
        grades[rng.integers(10)] = 2
        lists.append(JudgedList(rng.normal(size=(10, 2)) + (grades > 0)[:, None] * [1.0, tells], grades))
    return lists


@pytest.mark.parametrize(("tells", "queries", "expected"), [(1.0, 200, True), (0.0, 200, False), (1.0, 9, False)])
def test_features_help_where_held_out_queries_say_so(tells, queries, expected):
    lists = judged(np.random.default_rng(0), tells, queries)
    added = np.array([False, True])
    assert features_help(lists, 2, np.ones(2, bool), np.zeros(2), added) is expected
    silent = [each._replace(grades=each.grades * 0) for each in lists]
    assert features_help(silent, 2, np.ones(2, bool), np.zeros(2), added) is False


def test_characters_are_learned_without_what_is_left_out(demo):
    system = make_system("bridge", PAIR, SETTINGS | {"epochs": "1", "without": "unknown"}, Demo())
    knowledge = read_knowledge(system.options, (Tokenizer("en", stems=True), Tokenizer("zh", stems=True)))
    assert len(knowledge) == 1
    translation = system.train_model(demo, knowledge, characters=True).characters.translation
    assert translation.unknown not in translation.terms
    few = replace(demo, splits={**demo.splits, "train": demo.splits["train"][:29]})
    assert trained(few, True).model.characters is None


def test_more_short_documents_are_re_scored(kept, without, tmp_path):
    short, long = ["海"] * 900, ["海 " * 400] * 5
    for texts, depth in ((short, 300), (long, 100), (short + long, 300 * 905 // (900 + 5 * 26))):
        system = copy(kept)
        system.index_texts(texts)
        assert int(system.documents.passages.sum()) in (900, 5 * 26, 900 + 5 * 26)
        assert system.retriever.depth == depth
        live = np.arange(len(texts)) < 900
        system.count_only(live)
        assert system.retriever.depth == (300 if len(texts) > 5 else 100)
    assert without.retriever.depth == 100
    assert copy(kept).retriever.depth == 100
