"""Measuring on arrays gives what evaluating a system gives."""

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.evaluation.measures import MEASURES
from isogloss.evaluation.protocols import make_task
from isogloss.papers.examples import graded_examples, measure_scores, ranked_gains
from isogloss.systems.base import System, SystemOptions
from isogloss.systems.evaluate import evaluate_system


class Guess(System):
    """Scores by chance, always the same for a query; many documents have equal scores."""

    name = "guess"
    options_type = SystemOptions

    def index_texts(self, texts):
        self.number = len(texts)

    def scores(self, query):
        return np.random.default_rng(list(query.encode())).integers(0, 5, self.number) / 4

    def save_part(self, directory, keep=None):
        raise NotImplementedError

    load_parts = save_part


@pytest.mark.parametrize("pair", [("en", "fr"), ("en", "zh")])
def test_measures_are_those_of_the_evaluation(pair):
    demo = load_dataset(open_source("demo"), pair)
    system = Guess(SystemOptions(), *pair)
    expected = evaluate_system(system, make_task(demo, "dev", "sampled", 40, 0), ("text",)).values
    examples = graded_examples(demo, "dev", 40, 0)
    pairs = zip(examples.query_of, examples.document_of, strict=True)
    scores = np.array([system.scores(examples.queries[query].text)[document] for query, document in pairs])
    ties = demo.documents.id_order[examples.document_of].astype(np.int32)
    found = measure_scores(examples.query_of, examples.grades, scores, ties, demo.judgments.top_grade)
    assert found.keys() == expected.keys() == MEASURES.keys()
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], atol=1e-12, err_msg=name)
    assert 0 < found["NDCG@5"].mean() < 0.5


def test_gains_are_ranked_within_each_query():
    query_of, grades, ties = np.array([[0, 0, 0, 1, 1], [0, 1, 2, 1, 0], [2, 1, 0, 0, 1]], np.int32)
    gains = ranked_gains(query_of, grades, np.array([0.5, 0.5, 0.1, 0.2, 0.3], np.float32), ties, 2)
    assert gains.gains.tolist() == [[1, 0, 2], [0, 1, 0]]
    assert gains.judged.tolist() == [[2, 1, 0], [1, 0, 0]]
    named = measure_scores(query_of, grades, np.zeros(5), ties, 2, ("MAP", "P_mr@1"))
    assert {name: values.tolist() for name, values in named.items()} == {"MAP": [1.0, 1.0], "P_mr@1": [1.0, 0.0]}
