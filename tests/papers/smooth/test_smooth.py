"""``smooth``: options and recipes, what it learns, keeps, explains and refuses."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.papers.smooth.learners.reference import NumpyAverage
from isogloss.papers.smooth.model import SmoothOptions
from isogloss.papers.smooth.training_setup import make_learner, prepare
from isogloss.papers.word_vectors.files import write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.search.searcher import Searcher
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system

PAIR = ("en", "fr")
DOCUMENTS, WORDS = 80, 60
QUICK = {"epochs": "6", "negatives": "20", "dimension": "24"}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Waiting for other threads takes long where many programs run."""
    if importlib.util.find_spec("numba"):
        import numba

        numba.set_num_threads(1)


def toy(top=2, splits=("train", "dev")):
    """Documents of eight words; queries of four of a document's words, in the other language.

    A query's own document has the top grade, those that share most words with it the lower ones.
    """
    rng = np.random.default_rng(0)
    texts = [rng.permutation(WORDS)[:8].tolist() for _ in range(DOCUMENTS)]
    documents = [Document(f"d{n:02}", " ".join(f"mot{word}" for word in text), "Mot") for n, text in enumerate(texts)]
    queries, judgments = {}, []
    for number in range(3 * DOCUMENTS):
        own, name = number % DOCUMENTS, f"q{number:03}"
        asked = rng.permutation(texts[own])[:4].tolist()
        queries[name] = Query(name, " ".join(f"word{word}" for word in asked))
        shared = [(n != own, -len(set(asked) & set(text)), n) for n, text in enumerate(texts)]
        judgments += [Judgment(name, f"d{n:02}", top - rank) for rank, (_, _, n) in enumerate(sorted(shared)[:top])]
    names = rng.permutation(list(queries)).tolist()
    parts = dict(zip(("train", "dev"), (names[:180], names[180:]), strict=True))
    kept = {split: parts[split] for split in splits}
    return Dataset(Demo(), PAIR, Collection(documents, "fr"), queries, Judgments(judgments, top), kept)


@pytest.fixture(scope="module")
def data():
    return toy()


@pytest.fixture(scope="module")
def trained(data):
    """A system that was fitted to the toy, and has its documents indexed."""
    system = make_system("smooth", PAIR, QUICK)
    system.history = system.train(data).epochs
    system.index(data.documents, ("text",))
    return system


def fitted(data, **settings):
    system = make_system("smooth", PAIR, QUICK | settings)
    history = system.train(data).epochs
    return system, history


def tables(system):
    return [system.model.table(side) for side in ("query", "document")]


# Options


def test_the_papers_recipes_are_the_defaults_but_for_eps_and_thresholds():
    expected = {"average": (30, 128, 0.01, 1.0), "cnn": (30, 128, 0.001, 0.95), "lstm": (15, 64, 0.001, 0.95)}
    for encoder, values in expected.items():
        recipe = SmoothOptions(encoder=encoder).recipe()
        assert (recipe.epochs, recipe.batch, recipe.rate, recipe.decay) == values
        assert (recipe.shuffle, recipe.patience, recipe.seed) == (True, 0, 0)
    options = SmoothOptions()
    assert (options.dimension, options.eps, options.negatives, options.dropout) == (64, 0.1, 40, 0.4)
    assert (options.filters, options.window, options.hidden) == (300, 3, 64)
    lower, upper = options.make_loss(3).compiled()[1:3]
    np.testing.assert_allclose([*lower, *upper], [-1, 0.3, 0.98, 0.3, 0.98, 1])


def test_what_is_set_takes_the_recipes_place():
    recipe = SmoothOptions(
        encoder="lstm", epochs=3, batch=7, rate=0.5, decay=0.5, shuffle=False, patience=2, measure="MAP", seed=9
    ).recipe()
    values = (recipe.epochs, recipe.batch, recipe.rate, recipe.decay, recipe.shuffle, recipe.patience, recipe.seed)
    assert values == (3, 7, 0.5, 0.5, False, 2, 9)
    assert recipe.measure == "MAP"


@pytest.mark.parametrize("grades", [2, 3, 4, 7])
def test_losses_take_as_many_grades_as_the_data_have(grades):
    for loss in ("sosl", "mse", "po", "po-open"):
        assert SmoothOptions(loss=loss).make_loss(grades).grades == grades


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoder": "transformer"}, "smooth.encoder: 'transformer' is not one of average, cnn, lstm"),
        ({"loss": "hinge"}, "smooth.loss: 'hinge' is not one of sosl, 3part, mse, po, po-open"),
        ({"device": "tpu"}, "smooth.device: 'tpu' is not one of auto, cpu, cuda"),
        ({"measure": "NDCG@7"}, "smooth.measure: 'NDCG@7' is not one of P_mr@1"),
        ({"thresholds": "low,high"}, "smooth.thresholds: 'low,high' is not a list of numbers like 0.3,0.98"),
        ({"thresholds": "0.7,0.2"}, "thresholds 0.7,0.2 do not rise"),
        ({"loss": "3part", "thresholds": "0.1,0.2"}, "3part"),
        ({"frozen": "yes"}, "smooth.frozen: average has only word vectors; choose encoder=cnn or lstm"),
        ({"shared": "yes"}, "smooth.shared: average has only word vectors"),
        ({"eps": "-1"}, "smooth.eps: -1 is not between 0 and 100"),
        ({"eps": "nan"}, "smooth.eps: nan is not between"),
        ({"dimension": "0"}, "smooth.dimension: 0 is not between 1 and 4096"),
        ({"epochs": "many"}, "smooth.epochs: 'many' is not a whole number"),
        ({"depth": "3"}, "smooth: has no option 'depth'"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_read(settings, message):
    with pytest.raises(InputError) as caught:
        make_system("smooth", PAIR, settings)
    assert message in str(caught.value)


# Learning


def test_it_learns_which_words_go_together(data, trained):
    task = make_task(data, "dev", "sampled", 40, 0)
    found = evaluate_run(task.run(trained), task).means()
    random = make_system("smooth", PAIR, QUICK)
    random.prepare(data)
    random.adopt(make_learner(random.options, prepare(random.options, data), PAIR).parameters())
    random.index(data.documents, ("text",))
    chance = evaluate_run(task.run(random), task).means()
    assert found["NDCG@5"] > 0.6 > 0.3 > chance["NDCG@5"]
    words = trained.translations("word7 word30 word7")
    assert [word for word, _ in words] == ["word7", "word30"]
    assert all(f"mot{word[4:]}" in near for word, near in words)


def test_what_is_measured_while_training_is_what_evaluating_gives(data, trained):
    task = make_task(data, "dev", "sampled", 40, 0)
    found = evaluate_run(task.run(trained), task).means()
    assert trained.history[-1].keys() >= {"epoch", "loss", "NDCG@5", "MRR_mr", "MAP", "P_mr@1"}
    for name in ("NDCG@5", "MRR_mr", "MAP", "P_mr@1"):
        assert trained.history[-1][name] == pytest.approx(found[name], abs=1e-9)


def test_the_demo_collection_is_learned_by_heart():
    demo = load_dataset(Demo(), PAIR)
    system, _ = fitted(demo, epochs="8")
    system.index(demo.documents, ("text",))
    task = make_task(demo, "train", "sampled", 40, 0)
    assert evaluate_run(task.run(system), task).means()["NDCG@5"] > 0.6


def test_the_same_seed_gives_the_same_model_and_another_another(data, trained):
    again, _ = fitted(data)
    other, _ = fitted(data, seed="1")
    for one, same, different in zip(tables(trained), tables(again), tables(other), strict=True):
        np.testing.assert_array_equal(one, same)
        assert not np.isclose(one, different).any(axis=1).all()


def test_a_second_fit_forgets_the_first(data, trained):
    system, _ = fitted(data, seed="1", epochs="1")
    system.translations("word7")
    system.options = trained.options
    system.fit(data)
    assert system.translations("word7 word8") == trained.translations("word7 word8")


@pytest.mark.parametrize("top", [1, 3])
def test_data_of_two_and_of_four_grades_are_learned(top):
    data = toy(top)
    for loss in ("sosl", "po-open"):
        _, history = fitted(data, loss=loss)
        assert history[-1]["NDCG@5"] > 0.5
    _, history = fitted(data, loss="po")
    assert history[-1]["loss"] < history[0]["loss"]
    with pytest.raises(InputError, match=rf"smooth.thresholds: the data have grades 0 to {top}, the loss knows 0 to 4"):
        fitted(data, thresholds="0.1,0.2,0.3,0.4")
    with pytest.raises(InputError, match=r"smooth.loss: the data have .* choose another loss, like sosl"):
        fitted(data, loss="3part")


def test_data_without_a_dev_split_are_trained_on_and_not_measured(data):
    without = toy(splits=("train",))
    system, history = fitted(without, epochs="2")
    assert [sorted(entry) for entry in history] == [
        ["batches", "epoch", "examples_per_second", "loss", "rate", "seconds"]
    ] * 2
    assert len(tables(system)[0]) == WORDS
    unjudged = replace(data, judgments=Judgments([j for j in data.judgments if j.query in data.splits["train"]], 2))
    assert "NDCG@5" not in fitted(unjudged, epochs="1")[1][0]
    assert "NDCG@5" not in fitted(data, epochs="1", dev_queries="0")[1][0]
    with pytest.raises(InputError, match="early stopping needs judged dev queries"):
        fitted(without, patience="2")


def test_data_without_judged_train_queries_are_refused(data):
    with pytest.raises(InputError, match="no query of the train split is judged for en-fr"):
        fitted(replace(data, judgments=Judgments([], 2)))


def test_early_stopping_keeps_the_best_epoch(data):
    system, history = fitted(data, epochs="30", patience="1", rate="0.03", measure="MRR_mr")
    values = [entry["MRR_mr"] for entry in history]
    assert len(values) < 30
    assert np.argmax(values) == len(values) - 2
    shorter, _ = fitted(data, epochs=str(len(values) - 1), rate="0.03")
    for one, other in zip(tables(system), tables(shorter), strict=True):
        np.testing.assert_array_equal(one, other)


def test_negatives_drawn_anew_each_epoch_make_a_difference(data, trained):
    one, history = fitted(data, fresh_negatives="yes")
    again, _ = fitted(data, fresh_negatives="yes")
    np.testing.assert_array_equal(tables(one)[1], tables(again)[1])
    assert not np.array_equal(tables(one)[1], tables(trained)[1])
    assert history[-1]["NDCG@5"] > 0.6


def test_words_are_those_of_train_queries_and_all_documents_as_far_as_they_are_read(data):
    vague = prepare(SmoothOptions(vocabulary=10, minimum_count=1, query_words=2, document_words=3), data)
    assert {side: len(words) for side, words in vague.words.items()} == {"query": 10, "document": 10}
    assert vague.pairs.queries.lengths.max() <= 2
    assert vague.documents.lengths.max() <= 3
    rare = prepare(SmoothOptions(minimum_count=1000), data)
    assert len(rare.words["query"]) == 0
    one = replace(data, splits={"train": data.splits["train"][:1]})
    words = prepare(SmoothOptions(), one).words["query"]
    assert sorted(words) == sorted(data.split("train")[0].text.split())


def test_training_works_without_any_known_word(data):
    system, history = fitted(data, minimum_count="1000", epochs="1")
    assert np.isfinite(history[0]["loss"])
    system.index(data.documents, ("text",))
    assert len(system.search("word1", 5).rows) == 0


def test_training_works_without_numba(data, trained, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "numba" else real(name, *more))
    system = make_system("smooth", PAIR, QUICK)
    learner, _ = system.prepare(data)
    assert type(learner) is NumpyAverage
    history = system.train(data).epochs
    for expected, found in zip(trained.history, history, strict=True):
        assert found["loss"] == pytest.approx(expected["loss"], abs=1e-4)
        assert found["NDCG@5"] == pytest.approx(expected["NDCG@5"], abs=0.02)
    system.index(data.documents, ("text",))
    np.testing.assert_allclose(system.scores("word1 word2"), trained.scores("word1 word2"), atol=0.02)


def test_dense_adam_by_torch_learns_the_same(data, trained):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    dense, history = fitted(data, optimizer="dense", device="cpu")
    for expected, found in zip(trained.history, history, strict=True):
        assert found["loss"] == pytest.approx(expected["loss"], abs=1e-4)
    for mine, its in zip(tables(dense), tables(trained), strict=True):
        np.testing.assert_allclose(mine, its, atol=0.02)


@pytest.mark.parametrize("encoder", ["cnn", "lstm"])
def test_other_encoders_are_trained_and_kept(data, encoder, tmp_path):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    settings = {"encoder": encoder, "filters": "8", "hidden": "4", "negatives": "4", "dev_queries": "5", "rate": "0.01"}
    system, history = fitted(data, **settings, epochs="3", device="cpu")
    assert history[-1]["loss"] < history[0]["loss"]
    system.index(data.documents, ("text",))
    system.save(tmp_path)
    loaded = make_system("smooth", PAIR, QUICK | settings).load(tmp_path)
    np.testing.assert_array_equal(loaded.scores("word1 word2 yak"), system.scores("word1 word2 yak"))
    assert loaded.unknown_words("word1 yak") == ["yak"]
    _explains(loaded, "word1 word2 yak word1", data)
    assert loaded.translations("word1") == []
    fresh, _ = fitted(data, **settings, epochs="1", fresh_negatives="yes", device="cpu")
    fixed, _ = fitted(data, **settings, epochs="1", device="cpu")
    assert not np.array_equal(tables(fresh)[1], tables(fixed)[1])


# First vectors


@pytest.fixture
def vectors(tmp_path):
    """Writes vectors for some words and gives the setting's value."""

    def write(words, matrix, name="some.vec"):
        write_vectors(WordVectors(list(words), np.asarray(matrix, np.float32)), f"word2vec:{tmp_path / name}")
        return str(tmp_path / name)

    return write


def test_training_starts_from_given_vectors(data, vectors):
    given = np.arange(12, dtype=np.float32).reshape(3, 4) / 10
    path = vectors(["mot5", "rien", "mot2"], given, "fr.vec")
    options = SmoothOptions(dimension=4, document_vectors=path.replace("fr", "{document}"), spread=0.5)
    made = prepare(options, data)
    first = make_learner(options, made, PAIR).parameters()["document_table"]
    words = made.words["document"]
    np.testing.assert_allclose(first[words.find("mot5")], given[0], atol=1e-6)
    np.testing.assert_allclose(first[words.find("mot2")], given[2], atol=1e-6)
    others = [row for row, word in enumerate(words) if word not in ("mot5", "mot2")]
    assert 0.3 < first[others].std() < 0.7
    random = make_learner(replace(options, document_vectors=""), made, PAIR).parameters()["document_table"]
    np.testing.assert_array_equal(random[others], first[others])


def test_vectors_that_do_not_fit_are_refused(data, vectors):
    path = vectors(["word1", "word2"], np.ones((2, 3)))
    with pytest.raises(InputError, match="has 3 dimensions, not 24; set dimension to match"):
        fitted(data, query_vectors=path)
    with pytest.raises(InputError, match="has none of the 60 words of the texts; is it the right language"):
        fitted(data, document_vectors=path, dimension="3")
    with pytest.raises(InputError, match=r"absent\.vec"):
        fitted(data, query_vectors=path.replace("some", "absent"))


# Keeping and searching


def test_a_saved_system_scores_the_same(data, trained, tmp_path):
    trained.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {"model.safetensors", "index"}
    loaded = make_system("smooth", PAIR, QUICK).load(tmp_path)
    for query in data.split("dev")[:20]:
        np.testing.assert_array_equal(loaded.scores(query.text), trained.scores(query.text))


def test_a_saved_model_indexes_other_documents(data, trained, tmp_path):
    trained.save_model(tmp_path)
    system = make_system("smooth", PAIR, QUICK)
    system.load_model(tmp_path)
    texts = data.documents.texts(("text",))[:7]
    system.index_texts(texts)
    query = data.split("dev")[0].text
    np.testing.assert_array_equal(system.scores(query), trained.scores(query)[:7])


@pytest.mark.parametrize("how", ["cut", "other words", "other encoder"])
def test_a_model_that_is_not_whole_is_refused(trained, tmp_path, how):
    trained.save_model(tmp_path)
    path = tmp_path / "model.safetensors"
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-5])
    elif how == "other words":
        parameters, _ = read_tensors(path)
        write_tensors(path, parameters | {"query_table": parameters["query_table"][1:]})
    encoder = "cnn" if how == "other encoder" else "average"
    with pytest.raises(ValueError, match=r"model\.safetensors (is not whole|does not fit)"):
        make_system("smooth", PAIR, QUICK | {"encoder": encoder}).load_model(tmp_path)


def test_many_texts_are_encoded_as_one_by_one(data, trained):
    for encode, texts in (
        (trained.encode_queries, [query.text for query in data.queries.values()] * 5),
        (trained.encode_documents, [*data.documents.texts(("text",)), "", "mot1 rien", "rien"] * 6),
    ):
        many = encode(texts)
        assert many.dtype == np.float32
        np.testing.assert_allclose(many, np.vstack([encode([text]) for text in texts]), atol=1e-7)
    assert not trained.encode_documents(["rien"]).any()


def test_scores_are_smooth_cosines(trained):
    query, document = (
        np.tanh(np.mean([trained.model.table(side)[trained.model.words[side].find(word)] for word in words], axis=0))
        for side, words in (("query", ["word1", "word1", "word2"]), ("document", ["mot1", "mot2"]))
    )
    eps = trained.options.eps
    expected = query @ document / ((np.linalg.norm(query) + eps) * (np.linalg.norm(document) + eps))
    found = trained.encode_queries(["Word1 word1, yak, WORD2"]) @ trained.encode_documents(["mot1 mot2"]).T
    assert found[0, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("query", ["word1 word2 word3", "word7 yak word7 WORD8", "word5"])
def test_an_explanation_sums_to_the_score(data, trained, query):
    assert _explains(trained, query, data) == set(query.lower().split()) - {"yak"}
    best = trained.search(query, 1).rows[0]
    parts = trained.explain(query, best, data.documents[best].text)
    assert any(part.query_word[4:] == word[3:] for part in parts for word in part.document_words)


def _explains(system, query, data):
    """Every explanation sums to the score and names pairs of words; the query words that are named."""
    named = set()
    for row, document in enumerate(data.documents):
        parts = system.explain(query, row, document.text)
        assert sum(part.score for part in parts) == pytest.approx(system.scores(query)[row], abs=3e-6)
        assert [part.score for part in parts] == sorted((part.score for part in parts), reverse=True)
        assert {word for part in parts for word in part.document_words} <= set(document.text.split())
        named |= {part.query_word for part in parts}
    return named


def test_an_explanation_reads_no_more_than_the_encoder(data):
    system, _ = fitted(data, epochs="1", query_words="2", document_words="3", eps="0")
    system.index(data.documents, ("text",))
    parts = system.explain("word1 yak word2", 0, data.documents[0].text)
    assert {part.query_word for part in parts} == {"word1"}
    assert sum(part.score for part in parts) == pytest.approx(system.scores("word1 yak word2")[0], abs=3e-6)
    assert {word for part in parts for word in part.document_words} <= set(data.documents[0].text.split()[:3])


def test_words_it_does_not_know_are_said_and_bring_nothing(trained):
    assert trained.unknown_words("word1 yak Word2 yak zebu") == ["yak", "zebu"]
    assert trained.translations("yak") == []
    assert trained.explain("yak", 0, "mot1") == []
    assert trained.explain("word1", 0, "rien")[0].document_words == ()
    assert len(trained.search("yak", 5).rows) == 0
    assert not trained.scores("yak").any()


def test_an_index_is_made_and_searched(tmp_path):
    manifest = make_index(tmp_path / "index", "smooth", Demo(), ["fr"], "en", settings=QUICK)
    assert manifest.options["dimension"] == 24
    index = open_index(tmp_path / "index")
    opened, searcher = index.manifest, Searcher(index)
    assert opened == manifest
    demo = load_dataset(Demo(), PAIR)
    hits = 0
    for query in demo.split("train")[:20]:
        found = searcher.search(query.text, 5)
        assert all(better.score >= worse.score for better, worse in pairwise(found))
        hits += any(demo.judgments[query.id].get(each.document.id) == 2 for each in found)
    assert hits >= 10


def test_a_query_is_answered_without_torch_and_numba(tmp_path):
    make_index(tmp_path / "index", "smooth", Demo(), ["fr"], "en", settings=QUICK | {"epochs": "1"})
    program = """
import json, sys
from pathlib import Path
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
searcher = Searcher(open_index(Path(sys.argv[1])))
found = searcher.search("honey bees", 3)
searcher.translations("honey bees")
print(json.dumps({"found": len(found), "loaded": [name for name in ("torch", "numba") if name in sys.modules]}))
"""
    command = [sys.executable, "-c", program, tmp_path / "index"]
    made = subprocess.run(command, capture_output=True, check=True, text=True)
    assert json.loads(made.stdout) == {"found": 3, "loaded": []}
