"""``layerwise`` explains its scores: by integrated gradients with the cosine, by leaving words out with the network."""

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.text.tokenizer import tokenize

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.system import Layerwise, LayerwiseOptions
from isogloss.systems.explanations import NO_WORD

QUICK = {
    "dimension": 8, "widths": "2,3", "kernels": 4, "k": 3, "hidden": 6, "epochs": 1, "batch": 64, "rate": 0.01,
    "query_words": 12, "document_words": 15, "critic_steps": 1, "critic_hidden": 4, "dropout": 0.0, "patience": 0,
    "dev_queries": 5,
}  # fmt: skip


PAPER = {"layers": 2, "mean": False, "weights": "none"}
KINDS = {"mean": {}, "cosine": PAPER, "feed-forward": {**PAPER, "scorer": "feed-forward"}}


@pytest.fixture(scope="module", params=KINDS)
def trained(request):
    data = load_dataset(Demo(), ("en", "fr"))
    system = Layerwise(LayerwiseOptions(**QUICK, **KINDS[request.param]), "en", "fr")
    system.fit(data)
    system.index(data.documents, ("text",))
    return system, data


def test_an_explanation_adds_up_to_the_score(trained):
    system, data = trained
    for number, query in enumerate(data.split("train")[:4]):
        row = 7 * number
        parts = system.explain(query.text, row, data.documents[row].text)
        assert sum(part.score for part in parts) == pytest.approx(system.scores(query.text)[row], abs=1e-4)
        assert [part.score for part in parts] == sorted((part.score for part in parts), reverse=True)
        said = {part.query_word for part in parts} - {NO_WORD}
        assert said <= set(tokenize(query.text)[:12])
        assert said
        met = {word for part in parts for word in part.document_words}
        assert met <= set(tokenize(data.documents[row].text)[:15])
        assert met


def test_no_word_made_the_score_of_a_query_of_unknown_words(trained):
    system, data = trained
    for text in (data.documents[0].text, ""):
        parts = system.explain("zzyzx", 0, text)
        assert {part.query_word for part in parts} <= {NO_WORD}
        assert sum(part.score for part in parts) == pytest.approx(system.scores("zzyzx")[0], abs=1e-6)


def test_a_text_of_unknown_words_names_none(trained):
    system, data = trained
    parts = system.explain(data.split("train")[0].text, 0, "zzyzx")
    assert all(part.document_words == () for part in parts)
    assert np.isfinite([part.score for part in parts]).all()
