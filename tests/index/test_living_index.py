"""An index that changes answers like one that was made of the same documents at once, whatever was done to it."""

import random
from copy import copy

import pytest

from isogloss.data.documents import Collection, Document
from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher

QUERIES = ["why is the sea salty", "how bees make honey", "bread", "old ships and stars", "zebra", "fire and water"]
SYSTEMS = {
    "bm25": {},
    "bm25-dict": {},
    "psq": {},
    "aligned": {"lexicon": "induced", "dimension": "20"},
    "smooth": {"epochs": "1", "dimension": "8", "dev_queries": "0", "batch": "256"},
    "translation-lm": {},
    "topic": {"topics": "5", "rounds": "3"},
    "psq by passages": {"passages": "8"},
    "smooth by passages": {"epochs": "1", "dimension": "8", "dev_queries": "0", "batch": "256", "passages": "8"},
    "tree-kernel": {"training_questions": "4", "depth": "2"},
    "bridge": {"epochs": "1", "dimension": "8", "without": "weights"},
    "bridge by whole texts": {"epochs": "1", "dimension": "8", "passages": "0", "depth": "20", "without": "weights"},
    "hybrid": {"dense_options": "dimension=20"},
    "cntn": {"epochs": "1", "dev_queries": "0", "dimension": "8", "document_words": "20"},
    "layerwise": {
        "epochs": "1",
        "dev_queries": "0",
        "dimension": "8",
        "critic_steps": "0",
        "beta": "0",
        "scorer": "cosine",
    },
}
NEED_TORCH = ("cntn", "layerwise")


@pytest.fixture(scope="module")
def source():
    return Demo()


@pytest.fixture
def made(tmp_path, source, request):
    if request.param in NEED_TORCH:
        pytest.importorskip("torch").set_num_threads(1)
    make_index(tmp_path / "index", request.param.split(" ")[0], source, ["fr"], settings=SYSTEMS[request.param])
    return tmp_path / "index"


def assert_like_a_fresh_one(index, documents):
    language_index = index.languages["fr"]
    fresh = copy(index.systems["fr"]["en"])
    collection = Collection(sorted(documents.values(), key=lambda document: document.text), "fr")
    fresh.index(collection, index.manifest.fields)
    assert language_index.count == index.manifest.documents["fr"] == len(documents)
    for query in QUERIES:
        hits = Searcher(index).search(query, k=50, explain=False, exact=True)
        ranking = fresh.search(query, 50)
        assert [hit.document for hit in hits] == [collection[row] for row in ranking.rows.tolist()]
        assert [hit.score for hit in hits] == pytest.approx(ranking.scores.tolist(), rel=1e-5, abs=1e-6)
        assert language_index.system.best_possible(query) == pytest.approx(fresh.best_possible(query), rel=1e-6)


class Changes:
    """Random additions, replacements and deletions, done to an index and to a dictionary."""

    def __init__(self, documents, seed):
        self.rng = random.Random(seed)
        self.documents = dict(documents)
        self.words = sorted({word for document in documents.values() for word in document.text.split()})

    def new(self, id_):
        text = " ".join(self.rng.choices(self.words, k=self.rng.randrange(1, 30)))
        return Document(id_, text, self.rng.choice(self.words), "fr", fields={"kind": self.rng.choice("abc")})

    def step(self, writer):
        kind = self.rng.choice(["add", "replace", "delete", "commit", "commit"])
        if kind == "commit":
            writer.commit()
        elif kind == "delete":
            ids = self.rng.sample(sorted(self.documents), k=min(len(self.documents) - 5, self.rng.randrange(1, 8)))
            assert writer.delete([*ids, "nobody"]) == len(ids)
            for id_ in ids:
                del self.documents[id_]
        else:
            taken = sorted(self.documents)
            ids = [self.rng.choice(taken) if kind == "replace" else f"{self.rng.random()}" for _ in range(4)]
            added = [self.new(id_) for id_ in ids]
            writer.add(added)
            self.documents.update((document.id, document) for document in added)


@pytest.mark.parametrize("made", SYSTEMS, indirect=True)
def test_whatever_is_done_the_answers_are_those_of_a_fresh_index(made):
    index = open_index(made)
    store = index.languages["fr"].store
    changes = Changes({document.id: document for document in map(store.__getitem__, range(len(store)))}, 0)
    assert_like_a_fresh_one(index, changes.documents)
    with IndexWriter(made) as writer:
        for _ in range(4):
            for _ in range(5):
                changes.step(writer)
            writer.commit()
            index = index.refreshed()
            assert_like_a_fresh_one(index, changes.documents)
        writer.compact()
        assert_like_a_fresh_one(index.refreshed(), changes.documents)
        assert len(index.refreshed().commit.segments) == 1
    assert_like_a_fresh_one(open_index(made), changes.documents)
