"""For plain terms our BM25 ranks as the libraries do that know plain terms only."""

import itertools
import random

import pytest

from isogloss.retrieval.bm25 import BM25, Concept

WORDS = ["sea", "salt", "river", "fish", "boat", "sail", "wind", "storm", "sand", "shell", "island", "wave"]
QUERIES = [
    ["sea"],
    ["salt", "river"],
    ["fish", "boat", "island"],
    ["storm", "absent"],
    ["wave", "sand", "shell", "sail"],
]


@pytest.fixture(scope="module")
def documents():
    rng = random.Random(7)  # short: tantivy rounds the lengths of documents of more than 39 words
    return [rng.choices(WORDS, weights=range(1, len(WORDS) + 1), k=rng.randint(3, 35)) for _ in range(60)]


@pytest.fixture(scope="module")
def ours(invert, documents):
    def score(query, k1):
        concepts = [Concept(term, ((term, 1.0),)) for term in query]
        return BM25(invert([" ".join(document) for document in documents]), k1=k1, b=0.75).scores(concepts).tolist()

    return score


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_scores_and_ranking_are_those_of_tantivy(documents, ours, query):
    tantivy = pytest.importorskip("tantivy")
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("row", stored=True)
    builder.add_text_field("text", tokenizer_name="whitespace")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(num_threads=1)
    for row, document in enumerate(documents):
        writer.add_document(tantivy.Document.from_dict({"row": row, "text": " ".join(document)}, schema))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(index.parse_query(" ".join(query), ["text"]), len(documents)).hits
    theirs = {searcher.doc(address)["row"][0]: score for score, address in hits}
    mine = ours(query, k1=1.2)
    assert {row for row, score in enumerate(mine) if score > 0} == set(theirs)
    for row, score in theirs.items():
        assert score == pytest.approx(mine[row] * 2.2, rel=1e-4)  # tantivy keeps the constant k1 + 1
    in_order = [mine[row] for row in theirs]
    assert all(left >= right - 1e-5 for left, right in itertools.pairwise(in_order))


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_scores_are_those_of_bm25s(documents, ours, query):
    bm25s = pytest.importorskip("bm25s")
    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    peer.index(documents, show_progress=False)
    known = [term for term in query if term in WORDS]
    assert ours(query, k1=1.5) == pytest.approx(peer.get_scores(known).tolist(), rel=1e-4, abs=1e-6)
