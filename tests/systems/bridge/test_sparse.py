"""``bridge`` as a sparse system: vectors, frozen statistics, and a second stage from texts alone."""

from copy import copy

import numpy as np
import pytest
from tests.systems.sparse_conformance import SparseConformance

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.systems.bridge.expansion import SCALE
from isogloss.systems.registry import make_system

PAIR = ("en", "fr")


@pytest.fixture(scope="module")
def fitted():
    system = make_system("bridge", PAIR, {"epochs": "1", "dimension": "8"}, Demo())
    system.fit(load_dataset(Demo(), PAIR))
    return system


class TestBridge(SparseConformance):
    @pytest.fixture
    def make(self, fitted):
        def made():
            system = copy(fitted)
            system._contexts = {}
            return system

        return made

    def test_one_document_alone_is_explained_by_the_frozen_statistics(self, make, frozen):
        """With the context of the query that the documents were fetched for."""
        files = self.in_files(make())
        for query in self.queries:
            rows = files.search(query, 6).rows
            frozen.rescore(query, [self.texts[row] for row in rows.tolist()])
            for row in rows.tolist():
                frozen.index_texts([self.texts[row]])
                parts = frozen.explain(query, 0, self.texts[row])
                score = float(files.score(query, np.asarray([row]))[0])
                assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-5, abs=1e-4)
                assert frozen.passage(query, 0) == files.passage(query, row)


def test_the_product_is_the_score_of_the_first_stage(fitted):
    demo = load_dataset(Demo(), PAIR)
    texts = demo.documents.texts(("text",))
    files, frozen = copy(fitted), copy(fitted)
    files.index(demo.documents, ("text",))
    frozen.observe(texts)
    frozen.freeze()
    vectors = frozen.sparse_documents(texts)
    for query in ("why is the sea salty", "honey bees", "Assurbanipal of Ninive", "the of and"):
        ranking = files.documents.best(files.query_features(query).statistics, 200, files.id_order, None)
        products = np.asarray([vector.product(frozen.sparse_query(query)) for vector in vectors])
        assert set(ranking.rows.tolist()) == set(np.flatnonzero(products).tolist())
        np.testing.assert_allclose(products[ranking.rows], ranking.scores / SCALE, rtol=1e-4, atol=1e-4)


def test_texts_are_re_scored_as_in_files(fitted):
    demo = load_dataset(Demo(), PAIR)
    texts = demo.documents.texts(("text",))
    files, frozen = copy(fitted), copy(fitted)
    files.index(demo.documents, ("text",))
    frozen.observe(texts)
    frozen.freeze()
    for query in ("why is the sea salty", "honey bees", "Assurbanipal of Ninive"):
        statistics = files.query_features(query).statistics
        order = files.documents.best(statistics, 200, files.id_order, None).rows.tolist()
        scores = frozen.rescore(query, [texts[row] for row in order])
        expected = files.search(query, 200)
        ranked = sorted(range(len(order)), key=lambda number: (-scores[number], files.id_order[order[number]]))
        assert [order[number] for number in ranked] == expected.rows.tolist()
        first = min(len(order), files.depth)
        assert sorted(scores, reverse=True)[:first] == pytest.approx(expected.scores[:first].tolist(), abs=1e-5)


def test_documents_that_are_added_later_are_weighed_by_the_same_statistics(fitted, tmp_path):
    frozen = copy(fitted)
    frozen.observe(["la mer est salée", "le miel des abeilles"])
    frozen.freeze()
    before = frozen.sparse_documents(["la mer Orlane"])[0]
    frozen.save_shared(tmp_path)
    loaded = copy(fitted).load_shared(tmp_path)
    after = loaded.sparse_documents(["le pain", "la mer Orlane"])[1]
    assert after.dimensions.tolist() == before.dimensions.tolist()
    assert after.weights.tolist() == before.weights.tolist()
    assert loaded.sparse_query("sea").weights.tolist() == frozen.sparse_query("sea").weights.tolist()
