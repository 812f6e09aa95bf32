"""BM25 beside tantivy and bm25s: indexing, single queries, and whether they find the same.

    python benchmarks/bm25.py [SOURCE LANGUAGE [COUNT]]

All get the same tokens (ours, already made), so that what is timed is the inverted index. Queries are the first ten
words of documents, in the language of the documents: the untranslated task every engine can do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from side_by_side import best_times, show, texts_of

from isogloss.retrieval.bm25 import BM25, Concept
from isogloss.retrieval.postings import Postings
from isogloss.retrieval.ranking import top_k
from isogloss.text.batches import tokenize_texts

K = 10
QUERIES = 300
Search = Callable[[list[str]], list[int]]


def main(arguments: list[str]) -> None:
    source, language = [*arguments, "demo", "fr"][:2]
    count = int(arguments[2]) if len(arguments) > 2 else 20_000
    texts = texts_of(source, language, count)
    batch = tokenize_texts(texts)
    tokens = [batch.text(number) for number in range(len(batch))]
    queries = [tokens[number][:10] for number in np.random.default_rng(0).integers(len(texts), size=QUERIES)]
    print(f"{source} {language}: {count:,} documents of {len(batch.ids) / count:.0f} words")

    builders = {"isogloss": partial(_isogloss, batch)} | _peers(tokens)
    built: dict[str, Search] = {}
    times = best_times({name: partial(_build, built, name, builder) for name, builder in builders.items()}, repeats=2)
    show("indexing (from tokens)", times, count, "documents", "isogloss")
    times = best_times({name: partial(_search, search, queries) for name, search in built.items()})
    show(f"single queries of 10 words, top {K}", times, QUERIES, "queries", "isogloss")
    for name, search in built.items():
        agreed = np.mean([len(set(search(query)) & set(built["isogloss"](query))) / K for query in queries[:100]])
        print(f"  {name}: {agreed:.1%} of isogloss's top {K} found (the rest are ties or its coarser lengths)")


def _build(built: dict[str, Search], name: str, builder: Callable[[], Search]) -> None:
    built[name] = builder()


def _search(search: Search, queries: list[list[str]]) -> None:
    for query in queries:
        search(query)


def _isogloss(batch: Any) -> Search:
    bm25 = BM25(Postings.build(batch))
    order = np.arange(len(batch))

    def search(query: list[str]) -> list[int]:
        scores = bm25.scores([Concept(word, ((word, 1.0),)) for word in query])
        return top_k(scores, K, order, above=0.0).rows.tolist()

    return search


def _peers(tokens: list[list[str]]) -> dict[str, Callable[[], Search]]:
    peers: dict[str, Callable[[], Search]] = {}
    for name, module, make in (("tantivy", "tantivy", _tantivy), ("bm25s", "bm25s", _bm25s)):
        try:
            __import__(module)
        except ModuleNotFoundError:
            print(f"{name} is not installed (extra bench): left out")
        else:
            peers[name] = partial(make, tokens)
    return peers


def _tantivy(tokens: list[list[str]]) -> Search:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    for row, words in enumerate(tokens):
        writer.add_document(tantivy.Document.from_dict({"text": " ".join(words), "row": row}, index.schema))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, schema = index.searcher(), index.schema

    def search(query: list[str]) -> list[int]:
        terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word)) for word in query]
        hits = searcher.search(tantivy.Query.boolean_query(terms), K, count=False).hits
        return [searcher.doc(address)["row"][0] for _, address in hits]

    return search


def _bm25s(tokens: list[list[str]]) -> Search:
    import bm25s

    model = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    model.index(tokens, show_progress=False)
    return lambda query: model.retrieve([query], k=K, show_progress=False)[0][0].tolist()


if __name__ == "__main__":
    main(sys.argv[1:])
