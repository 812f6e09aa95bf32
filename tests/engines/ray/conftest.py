"""One Ray cluster for all tests of a session: a head without cores, a node that stays, others that tests take away."""

import numpy as np
import pytest

from isogloss.data.documents import Collection, Document
from isogloss.papers.smooth.model import SmoothModel, SmoothOptions
from isogloss.papers.smooth.system import Smooth
from isogloss.storage.strings import StringTable

_MEMORY = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
_WORDS = [f"mot{number}" for number in range(200)]


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    from isogloss.engines.ray.cluster import connected, keep_quiet

    keep_quiet()
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **_MEMORY})
    try:
        made.add_node(num_cpus=1, **_MEMORY)
        with connected(made.address):
            yield made
    finally:
        made.shutdown()


@pytest.fixture
def node(cluster):
    """Another node, gone after the test if it is not gone by then."""
    added = cluster.add_node(num_cpus=1, **_MEMORY)
    cluster.wait_for_nodes()
    yield added
    if added in cluster.list_all_nodes():
        cluster.remove_node(added)


@pytest.fixture
def smooth():
    """A model that nobody has trained."""
    rng, words = np.random.default_rng(0), StringTable.of(sorted(_WORDS))
    options = SmoothOptions(dimension=16)
    tables = {f"{side}_table": rng.standard_normal((len(_WORDS), 16), np.float32) for side in ("query", "document")}
    system = Smooth(options, "en", "fr")
    system.model = SmoothModel(options, {"query": words, "document": words}, tables)
    return system


@pytest.fixture(scope="session")
def collection():
    """A thousand short documents; some are equal, some have no known word."""
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(_WORDS, rng.integers(0, 12))) for _ in range(1000)]
    return Collection((Document(f"d{row}", text, language="fr") for row, text in enumerate(texts)), "fr")
