"""Re-rankers from runs: they score texts as the system that was trained would score them in an index."""

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Document
from isogloss.data.readers.demo import Demo
from isogloss.search.hits import Hit
from isogloss.search.reranking import load_reranker
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system
from isogloss.systems.trainable import save_model

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

PAIR = ("en", "fr")
SMALL = {
    "dimension": "8", "epochs": "1", "query_words": "10", "document_words": "12", "dev_queries": "0", "batch": "64",
}  # fmt: skip
SYSTEMS = {
    "smooth": {"negatives": "4"},
    "layerwise": {"kernels": "4", "widths": "2", "critic_steps": "0", "beta": "0", "scorer": "feed-forward"},
    "cntn": {"filters": "4", "outputs": "4", "slices": "2"},
    "cntn-mt": {"filters": "4", "outputs": "4", "slices": "2", "lexicon": "induced"},
    "dssm": {"hidden": "8", "outputs": "4"},
}
COSINE = {"kernels": "4", "widths": "2", "critic_steps": "0", "beta": "0", "scorer": "cosine"}


@pytest.fixture(scope="module", params=[*SYSTEMS.items(), ("layerwise", COSINE)], ids=lambda each: "-".join(each[:1]))
def made(request, tmp_path_factory):
    """A system over the bundled documents, and the re-ranker of its run."""
    name, settings = request.param
    data = load_dataset(Demo(), PAIR)
    system = make_system(name, PAIR, SMALL | settings)
    system.fit(data)
    folder = tmp_path_factory.mktemp("runs") / "run"
    save_model(system, folder, {})
    system.index(data.documents, ("text",))
    return system, load_reranker(folder), data


def test_texts_are_scored_as_in_an_index(made):
    system, reranker, data = made
    assert (reranker.languages, reranker.name) == (PAIR, system.name)
    texts = [document.text for document in data.documents][:9]
    query = data.split("train")[0].text
    np.testing.assert_allclose(reranker.score(query, texts), system.scores(query)[:9], rtol=1e-4, atol=1e-6)
    assert len(reranker.score(query, [])) == 0


def test_texts_are_explained_as_in_an_index(made):
    system, reranker, data = made
    row, query = 3, data.split("train")[1].text
    document = data.documents[row]
    ours, theirs = reranker.explain(query, document), system.explain(query, row, document.text)
    assert [part[:2] for part in ours] == [part[:2] for part in theirs]
    assert [part.score for part in ours] == pytest.approx([part.score for part in theirs], rel=1e-3, abs=1e-5)
    assert any(part.document_words for part in ours)
    (score,) = reranker.score(query, [document.text])
    assert sum(part.score for part in ours) == pytest.approx(score, abs=1e-5)
    assert reranker.explains_quickly == system.explains_quickly


def test_a_query_of_unknown_words_is_explained_by_none(made):
    _, reranker, data = made
    for query, document in (("zzyzx", data.documents[0]), ("honey", Document("d", "zzyzx"))):
        parts = reranker.explain(query, document)
        assert sum(part.score for part in parts) == pytest.approx(reranker.score(query, [document.text])[0], abs=1e-5)
        assert not any(part.document_words for part in parts)


def test_hits_are_of_the_classes_of_a_system_that_has_some(made):
    system, reranker, data = made
    hits = [Hit(rank, 1.0, "fr", data.documents[rank], (), None, "relevant") for rank in range(1, 6)]
    found = reranker.reorder(data.split("train")[0].text, hits)
    assert reranker.thresholds == system.thresholds()
    assert {hit.relevance is None for hit in found} == {system.name != "smooth"}


def test_what_is_no_run_is_named(tmp_path):
    with pytest.raises(InputError, match="is not a model: it has neither safetensors nor an"):
        load_reranker(tmp_path)
