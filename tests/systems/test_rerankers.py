"""Re-rankers from runs: they score texts as the system that was trained would score them in an index."""

import numpy as np
import pytest

from isogloss.base.errors import InputError
from isogloss.corpus.dataset import load_dataset
from isogloss.corpus.formats.demo import Demo
from isogloss.systems.model_directory import save_model
from isogloss.systems.registry import make_system
from isogloss.systems.rerankers import load_reranker

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
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_texts_are_scored_as_in_an_index(name, tmp_path):
    data = load_dataset(Demo(), PAIR)
    system = make_system(name, PAIR, SMALL | SYSTEMS[name])
    system.fit(data)
    save_model(system, tmp_path / "run", {})
    reranker = load_reranker(tmp_path / "run")
    assert reranker.languages == PAIR
    system.index(data.documents, ("text",))
    texts = [document.text for document in data.documents][:9]
    query = data.split("train")[0].text
    np.testing.assert_allclose(reranker.score(query, texts), system.scores(query)[:9], rtol=1e-4, atol=1e-6)
    assert len(reranker.score(query, [])) == 0


def test_what_is_no_run_is_named(tmp_path):
    with pytest.raises(InputError, match="neither a model nor a run"):
        load_reranker(tmp_path)
