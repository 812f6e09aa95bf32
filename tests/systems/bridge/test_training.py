"""Training of ``bridge``: from pages and lexicons, without what is left out, never on held-out queries."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.judgments import Judgments
from isogloss.data.parallel import _source_pages
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError
from isogloss.systems.bridge import system as bridge
from isogloss.systems.bridge import training
from isogloss.systems.bridge.features import FEATURES
from isogloss.systems.bridge.model import (
    DEFAULT_CALIBRATIONS,
    DEFAULT_WEIGHTS,
    FEATURES_OF,
    INGREDIENTS,
    default_weights,
)
from isogloss.systems.bridge.training import windows
from isogloss.systems.bridge.weights import JudgedList, Weights, calibrate, fit_by_length
from isogloss.systems.registry import make_system
from isogloss.systems.trainable import hold_out
from isogloss.translation.model import Numbered

PAIR = ("en", "fr")
QUICK = {"epochs": "1", "dimension": "8"}
LEXICON = str(Demo().lexicon(PAIR))


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), PAIR)


@pytest.fixture(scope="module")
def few(demo):
    """Too few train queries for any to be held out."""
    return replace(demo, splits={**demo.splits, "train": demo.splits["train"][:29]})


@pytest.fixture(scope="module")
def unfitted():
    """The default weights, without those of an encoder."""
    return Weights(*(each * [name != "pretrained" for name in FEATURES] for each in default_weights()))


def trained(data, lexicon=LEXICON, **settings):
    system = make_system("bridge", PAIR, QUICK | {"lexicon": lexicon} | settings)
    system.fit(data)
    return system


def same(one, other):
    one, other = one.model, other.model
    for name in ("terms", "query_probabilities", "document_probabilities"):
        np.testing.assert_array_equal(getattr(one.translation, name), getattr(other.translation, name))
    np.testing.assert_array_equal(one.tables.query, other.tables.query)
    np.testing.assert_array_equal(one.tables.document, other.tables.document)
    np.testing.assert_array_equal(one.weights, other.weights)
    assert one.calibration == other.calibration
    return True


@pytest.fixture(scope="module")
def full(demo):
    return trained(demo)


def finds(system, data, query="honey of honeybees"):
    system.index(data.documents, ("text",))
    found = system.search(query, 5)
    assert np.isfinite(found.scores).all()
    return [data.documents[row].id for row in found.rows.tolist()]


def test_the_weights_are_fitted_on_queries_that_nothing_else_is_trained_on(demo, monkeypatch):
    """The translation model, and so the vectors, see no page of dev, test and held-out queries."""
    seen = []
    train = training.train_translation_model

    def watched(pairs, *arguments):
        seen.append({text for pair in pairs for text in pair})
        return train(pairs, *arguments)

    monkeypatch.setattr(training, "train_translation_model", watched)
    trained(demo)
    sources = _source_pages(demo)

    def texts(queries):
        pages = [page for query in queries for page in sources.get(query, ())]
        relevant = [id_ for query in queries for id_, grade in demo.judgments[query].items() if grade == 2]
        documents = [demo.documents[demo.documents.row_of[id_]] for id_ in relevant]
        return {each.text for each in (*pages, *documents, *(demo.queries[query] for query in queries))}

    later = texts([*demo.splits["dev"], *demo.splits["test"]])
    *folds, last = seen
    assert len(folds) == 5
    for fold, first in enumerate(folds):
        rest, held = hold_out(demo, fold, fewest=1)
        assert first and held
        assert not first & texts(held)
        assert not (first | last) & later
        assert last & texts(held)
        assert first <= last
        assert set(rest.splits) == {"train"}


def test_vectors_are_learned_from_what_the_channel_is_learned_from(demo):
    """Words of dev pages alone are unknown to the model."""
    marked = {query: replace(demo.queries[query], text="devword devword devword") for query in demo.splits["dev"]}
    system = trained(replace(demo, queries=demo.queries | marked))
    assert "devword" not in set(system.model.translation.query_words)


def test_weights_and_thresholds_are_fitted_where_queries_can_be_spared(full, few, unfitted):
    assert not np.array_equal(full.model.weights, unfitted)
    assert full.model.calibration != DEFAULT_CALIBRATIONS[False]
    assert len(full.thresholds()) == 2
    spared = trained(few)
    np.testing.assert_array_equal(spared.model.weights, unfitted)
    assert spared.model.calibration == DEFAULT_CALIBRATIONS[False]


@pytest.mark.parametrize(
    ("queries", "folds"), [(0, 0), (29, 0), (30, 5), (40, 5), (249, 5), (250, 4), (500, 2), (1000, 1), (5000, 1)]
)
def test_of_few_queries_all_are_held_out_in_turn_and_of_many_one_fifth(demo, monkeypatch, queries, folds):
    some = demo.splits["train"]
    data = replace(demo, splits={"train": [some[i % len(some)] for i in range(queries)]})
    system, held = make_system("bridge", PAIR, QUICK), []
    monkeypatch.setattr(
        system, "train_model", lambda rest, knowledge, characters: held.append(len(rest.splits["train"]))
    )
    monkeypatch.setattr(system, "index", lambda *arguments: None)
    judged = JudgedList(np.ones((2, len(FEATURES))), np.array([2, 0]))
    monkeypatch.setattr(system, "_judged", lambda text, grade_of: judged)
    lists = system._judged_lists(data, [])
    assert held == [queries - queries // 5] * folds
    texts = sum(1 + bool(demo.queries[query].title.strip()) for query in data.splits["train"]) if queries else 0
    assert len(lists) <= texts
    assert bool(lists) == bool(folds)


def test_the_fifths_are_disjoint_and_the_weights_are_fitted_on_titles_too(demo, monkeypatch):
    some = demo.splits["train"][:40]
    data = replace(
        demo, splits={"train": some}, queries={id_: replace(demo.queries[id_], title=f"title {id_}") for id_ in some}
    )
    system, asked = make_system("bridge", PAIR, QUICK), []
    monkeypatch.setattr(system, "train_model", lambda rest, knowledge, characters: None)
    monkeypatch.setattr(system, "index", lambda *arguments: None)
    judged = JudgedList(np.ones((2, len(FEATURES))), np.array([2, 0]))
    monkeypatch.setattr(system, "_judged", lambda text, grade_of: asked.append(text) or judged)
    system._judged_lists(data, [])
    known = [id_ for id_ in some if id_ in demo.judgments]
    assert sorted(asked) == sorted([demo.queries[id_].text for id_ in known] + [f"title {id_}" for id_ in known])


def test_the_same_seed_gives_the_same_model_and_another_seed_other_vectors(demo, full):
    assert same(full, trained(demo))
    other = trained(demo, seed="1")
    np.testing.assert_array_equal(
        other.model.translation.query_probabilities, full.model.translation.query_probabilities
    )
    assert not np.array_equal(other.model.tables.query, full.model.tables.query)


def test_the_order_of_the_queries_decides_only_who_is_held_out(few):
    turned = replace(few, splits={**few.splits, "train": few.splits["train"][::-1]})
    assert same(trained(few), trained(turned))


@pytest.mark.parametrize("name", INGREDIENTS)
def test_each_ingredient_can_be_left_out(demo, full, unfitted, name):
    system = trained(demo, without=name)
    assert "fr-honeybee" in finds(system, demo)
    unused = {"pretrained", *FEATURES_OF.get("vectors" if name == "pages" else name, ())}  # vectors need pages
    for fitted, default in zip(system.model.weights, DEFAULT_WEIGHTS, strict=True):
        expected = default if name == "weights" else FEATURES
        assert weighted(fitted) == {kind for kind in expected if kind not in unused}
    row = int(system.search("honey bees", 1).rows[0])
    lines = system.explain("honey bees", row, demo.documents[row].text)
    assert sum(line.score for line in lines) == pytest.approx(system.score("honey bees", np.array([row]))[0], abs=1e-4)
    translation = system.model.translation
    if name == "pages":
        assert translation.query_counts.sum() == 0
    if name == "lexicon":
        assert len(translation.query_words) < len(full.model.translation.query_words)
    if name == "unknown":
        assert translation.unknown not in translation.terms
        assert not system.model.tables.query[len(translation.query_words)].any()
        assert not system.model.tables.document[translation.unknown].any()
    if name == "weights":
        np.testing.assert_array_equal(system.model.weights, unfitted)
        assert system.model.calibration == DEFAULT_CALIBRATIONS[False]
    if name == "vectors":
        assert not same_vectors(system, full)


def weighted(weights):
    """The features that weigh something."""
    return {name for name, weight in zip(FEATURES, weights.tolist(), strict=True) if weight}


def same_vectors(one, other):
    return np.array_equal(one.model.tables.query, other.model.tables.query)


def test_several_ingredients_can_be_left_out(few):
    system = trained(few, without=" vectors , reverse,,length")
    assert weighted(system.model.weights.long) == {"passage forward", "passage bm25"}
    assert weighted(system.model.weights.short) == {"passage forward"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"without": "magic"}, "bridge.without: 'magic' is not one of lexicon, starter, pages, unknown, document"),
        ({"without": "vectors;pages"}, "bridge.without: 'vectors;pages' is not one of"),
        ({"without": "pages,lexicon,starter"}, "with neither pages nor a lexicon nor a starter table nothing is left"),
        ({"dimension": "1"}, "bridge.dimension: 1 is not between 2 and 4096"),
        ({"depth": "0"}, "bridge.depth: 0 is not between 1 and 100000"),
        ({"lexicons": "x"}, "bridge: has no option 'lexicons'"),
    ],
)
def test_wrong_options_are_refused_at_once(settings, message):
    with pytest.raises(InputError, match=message):
        make_system("bridge", PAIR, settings)


def test_an_encoder_that_does_not_know_a_language_is_refused_at_once():
    with pytest.raises(InputError, match="pretrained: use does not know 'sw'"):
        make_system("bridge", ("en", "sw"), {"pretrained": "use"})


@pytest.mark.parametrize("splits", [{}, {"train": []}, {"dev": ["en-honey.1"]}], ids=["none", "empty", "dev alone"])
def test_without_a_train_split_a_lexicon_is_enough(demo, unfitted, splits):
    system = trained(replace(demo, splits=splits))
    assert system.model.translation.query_counts.sum() == 0
    assert "fr-honeybee" in finds(system, demo)
    np.testing.assert_array_equal(system.model.weights, unfitted)


def test_documents_alone_and_a_lexicon_are_enough(demo):
    alone = replace(demo, queries={}, judgments=Judgments(), splits={"train": []})
    assert "fr-honeybee" in finds(trained(alone), demo)


def test_without_a_lexicon_pages_are_enough(demo):
    system = trained(demo, lexicon="")
    assert system.model.translation.query_counts.sum() > 0
    assert {"fr-honeybee", "fr-honey"} <= set(finds(system, demo))
    assert same(system, trained(demo, without="lexicon"))


@pytest.mark.parametrize(
    ("settings", "splits"),
    [
        ({"lexicon": ""}, {}),
        ({"lexicon": "", "without": "pages"}, None),
        ({"without": "lexicon"}, {"train": []}),
        ({"without": "lexicon,pages"}, None),
    ],
    ids=["no pages", "no pages wanted", "no lexicon wanted", "neither wanted"],
)
def test_with_neither_the_way_out_is_said_in_one_line(demo, settings, splits):
    data = demo if splits is None else replace(demo, splits=splits)
    with pytest.raises(
        InputError, match=r"^bridge: nothing to learn translations from: [^\n]*isogloss-starter[^\n]*='FILE'$"
    ):
        trained(data, **settings)


def test_pages_that_are_damaged_are_not_passed_over(tmp_path):
    """That a lexicon would do is no reason to learn less than the user believes."""
    (tmp_path / "splits").mkdir()
    files = {
        "wiki_fr.documents": "d1\t-\tla mer\n", "wiki_en.documents": "p1\t-\tthe sea\n",
        "wiki_en.queries": "q1\t-\tsea\n", "en2fr.rel": "q1\td1\t2\n", "en2en.rel": "q1\tnobody\t2\n",
        "splits/en.train": "q1\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"en2en\.rel:1: document id 'nobody' does not exist"):
        trained(load_dataset(open_source(f"wikiclir:{tmp_path}"), PAIR))


def test_a_lexicon_that_is_not_there_is_named(few, tmp_path):
    with pytest.raises(InputError, match=r"en-fr\.tsv: no such file"):
        trained(few, lexicon=str(tmp_path / "{pair}.tsv"))


def test_queries_that_find_nothing_relevant_leave_the_default_weights(demo, monkeypatch):
    """Partially relevant documents alone tell nothing of what is relevant; but scores are calibrated as they are."""
    seen = []

    def watched(lists, *arguments):
        seen.extend(lists)
        return fit_by_length(lists, *arguments)

    monkeypatch.setattr(bridge, "fit_by_length", watched)
    partial = [judgment._replace(grade=1) for judgment in demo.judgments]
    system = trained(replace(demo, judgments=Judgments(partial, 2)), without="reverse")
    unused = ("pretrained", *FEATURES_OF["reverse"])
    expected = [[0.0 if name in unused else each.get(name, 0.0) for name in FEATURES] for each in DEFAULT_WEIGHTS]
    np.testing.assert_array_equal(system.model.weights, expected)
    assert system.model.calibration == calibrate(seen, system.model.weights, DEFAULT_CALIBRATIONS[False])
    assert len(system.model.calibration.biases) == 1


def test_without_stems_words_are_taken_as_they_are(few):
    words = set(trained(few, stems="no").model.translation.document_words)
    assert "abeille" in words
    assert "abeil" in set(trained(few).model.translation.document_words)


def test_windows_are_paired_by_their_relative_position():
    lengths = [(40, 80), (2, 50), (5, 4), (18, 90), (0, 0)]
    offsets = [np.append(0, np.cumsum(side)) for side in zip(*lengths, strict=True)]
    texts = [Numbered(np.arange(side[-1], dtype=np.int32), side) for side in offsets]
    queries, documents = windows(*texts)
    found = [
        (queries.ids[queries.offsets[i]], queries.lengths[i], documents.ids[documents.offsets[i]], documents.lengths[i])
        for i in range(len(queries))
    ]
    assert found == [(0, 15, 0, 30), (15, 15, 30, 30), (30, 10, 55, 25), (42, 5, 130, 4), (47, 18, 134, 90)]


FITTED_TWICE = """
from isogloss import Index

for _ in range(2):
    with Index.make("demo", ["fr"]) as index:
        print([(hit.id, hit.score) for hit in index.search("why is the sea salty", 5)])
"""


def test_a_system_is_the_same_whatever_its_process_has_done_before():
    """Compiled code replaces numpy after much work: that must not happen in the midst of the fitting of weights."""
    one_thread = dict.fromkeys(("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [sys.executable, "-c", FITTED_TWICE]
    done = subprocess.run(command, env={**os.environ, **one_thread}, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == second != "[]"
