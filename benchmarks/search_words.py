"""The lexical part of ``search.py``: BM25 over our inverted lists beside tantivy, on texts whose words follow Zipf.

    python benchmarks/search.py --dimensions "" --documents 200000          this part alone

All get the same words. Queries are four words of a document, the ten most frequent words of all left out. All but the
last way skip documents that cannot come first, ours also for concepts of several words. The best round counts.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from search_times import Clock, best_times_by

from isogloss.retrieval.bm25 import BM25, BM25Search, Concept, compile_ahead, compile_later
from isogloss.retrieval.postings import Postings
from isogloss.retrieval.ranking import Ranking, top_k
from isogloss.text.batches import TokenizedTexts

K = 10
QUERIES = 64
WORDS = 60  # a document, on average
VOCABULARY = 200_000
Search = Callable[[list[str]], list[int]]
Way = tuple[Search, float, int]


def compare_words(documents: int, clock: Clock) -> None:
    texts = zipf_texts(documents)
    queries = _queries(texts)
    ways = _isogloss(texts) | _tantivy(texts)
    times = best_times_by(clock, {name: partial(_ask, way[0], queries) for name, way in ways.items()})
    found = {name: [set(way[0](query)) for query in queries] for name, way in ways.items()}
    print(f"\n## BM25: {documents:,} documents of {WORDS} words, queries of 4 words, top {K}\n")
    print("| | queries/s | ratio | same documents | build, s | disk, MB |\n|---|---|---|---|---|---|")
    for name, (_, seconds, disk) in ways.items():
        same = np.mean([len(one & other) / K for one, other in zip(found[name], found["isogloss"], strict=True)])
        rates = f"{QUERIES / times[name]:,.0f} | {times['isogloss'] / times[name]:.2f}"
        print(f"| {name} | {rates} | {same:.2f} | {seconds:.1f} | {disk / 1e6:,.0f} |", flush=True)


def _ask(search: Search, queries: list[list[str]]) -> None:
    for query in queries:
        search(query)


def zipf_texts(documents: int, seed: int = 0) -> TokenizedTexts:
    """Texts of words w1, w2, ... where the r-th most frequent has a share of 1 / r."""
    random = np.random.default_rng(seed)
    lengths = random.poisson(WORDS, size=documents)
    shares = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    ids = np.empty(int(lengths.sum()), dtype=np.int32)
    for start in range(0, len(ids), 1_000_000):
        part = ids[start : start + 1_000_000]
        part[:] = np.searchsorted(shares, random.random(len(part)) * shares[-1])
    return TokenizedTexts([f"w{number}" for number in range(VOCABULARY)], ids, np.concatenate([[0], lengths.cumsum()]))


def _queries(texts: TokenizedTexts) -> list[list[str]]:
    random = np.random.default_rng(1)
    queries = []
    for number in random.integers(len(texts), size=QUERIES):
        words = texts.ids[texts.offsets[number] : texts.offsets[number + 1]]
        rare: NDArray[np.int32] = np.unique(words[words >= 10])
        queries.append([texts.terms[word] for word in random.permutation(rare)[:4]])
    return queries


def _isogloss(texts: TokenizedTexts) -> dict[str, Way]:
    started = time.perf_counter()
    postings = Postings.build(texts)
    seconds = time.perf_counter() - started
    bm25, order = BM25(postings), np.arange(len(texts))
    with tempfile.TemporaryDirectory() as directory:
        postings.save(Path(directory))
        disk = sum(file.stat().st_size for file in Path(directory).iterdir())
    compile_ahead()
    compiled, in_numpy = BM25Search(bm25), BM25Search(bm25, compile_later(math.inf))

    def all_scores(concepts: list[Concept]) -> Ranking:
        return top_k(bm25.scores(concepts), K, order, above=0.0)

    finds: dict[str, Callable[[list[Concept]], Ranking]] = {
        "isogloss": lambda concepts: compiled.best(concepts, K, order),
        "isogloss, without numba": lambda concepts: in_numpy.best(concepts, K, order),
        "isogloss, all documents scored": all_scores,
    }
    return {name: (partial(_find, find), seconds, disk) for name, find in finds.items()}


def _find(find: Callable[[list[Concept]], Ranking], query: list[str]) -> list[int]:
    rows: list[int] = find([Concept(word, ((word, 1.0),)) for word in query]).rows.tolist()
    return rows


def _tantivy(texts: TokenizedTexts) -> dict[str, Way]:
    try:
        import tantivy
    except ModuleNotFoundError:
        print("tantivy is not installed (extra bench): left out")
        return {}
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", stored=True)
    schema = builder.build()
    with tempfile.TemporaryDirectory() as directory:
        started = time.perf_counter()
        index = tantivy.Index(schema, path=directory)
        writer = index.writer(heap_size=500_000_000)
        for row in range(len(texts)):
            writer.add_document(tantivy.Document.from_dict({"text": " ".join(texts.text(row)), "row": row}, schema))
        writer.commit()
        writer.wait_merging_threads()
        seconds = time.perf_counter() - started
        disk = sum(file.stat().st_size for file in Path(directory).iterdir())
        index.reload()
        searcher = index.searcher()  # its files stay mapped when they are removed

    def search(query: list[str]) -> list[int]:
        terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word)) for word in query]
        hits = searcher.search(tantivy.Query.boolean_query(terms), K, count=False).hits
        return [searcher.doc(address)["row"][0] for _, address in hits]

    return {"tantivy": (search, seconds, disk)}
