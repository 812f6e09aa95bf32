"""Searching with a translated query: ``psq`` and ``bm25-dict`` beside ``bm25`` and tantivy with one that needs none.

    python benchmarks/search_translated.py                        100,000 and 1,000,000 documents
    python benchmarks/search_translated.py 10000 --queries 100

Documents, queries and the lexicon (five translations a word) are those of ``served_documents``. Ours is all that
``Index.search`` does: documents and explanations of ten hits too. tantivy returns numbers of documents. Each query is
new: no two have the same words. The ways take turns, query by query. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from served_documents import MadeUp

from isogloss import Index
from isogloss.data.problems import Problems
from isogloss.index.making import make_index
from isogloss.retrieval.bm25 import compile_ahead

K = 10
SYSTEMS = ("psq", "bm25-dict", "bm25")
FIRST = 20  # queries that are not timed
Way = Callable[[str], object]


def main() -> None:
    parser = argparse.ArgumentParser(description="searches with translated queries")
    parser.add_argument("documents", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    compile_ahead()
    print("| documents | | median, ms | mean, ms | 99 %, ms | times tantivy | build, s | disk, MB |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    for count in options.documents:
        with tempfile.TemporaryDirectory() as folder:
            _compare(MadeUp(count, Path(folder)), options.queries)


def _compare(source: MadeUp, count: int) -> None:
    ways: dict[str, Way] = {}
    built: dict[str, tuple[float, float]] = {}
    for name in SYSTEMS:
        started, path = time.process_time(), source.folder / name
        make_index(path, name, source, ["fr"])
        built[name] = time.process_time() - started, _size(path)
        index = Index.open(path)
        ways[name] = partial(index.search, k=K) if name != "bm25" else partial(_in_french, index)
    started = time.process_time()
    if tantivy := _tantivy(source):
        ways["tantivy"] = tantivy
        built["tantivy"] = time.process_time() - started, _size(source.folder / "tantivy")
    queries = source.queries_of(FIRST + count)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for query in queries:
        for name, way in ways.items():
            started = time.process_time()
            way(query)
            times[name].append(1000 * (time.process_time() - started))
    medians = {name: float(np.median(each[FIRST:])) for name, each in times.items()}
    for name, each in times.items():
        mean, late = np.mean(each[FIRST:]), np.quantile(each[FIRST:], 0.99)
        ratio = f"{medians[name] / medians['tantivy']:.1f}" if "tantivy" in medians else ""
        seconds, disk = built[name]
        cells = [f"{source.count:,}", name, f"{medians[name]:.2f}", f"{mean:.2f}", f"{late:.2f}", ratio]
        print(f"| {' | '.join(cells)} | {seconds:.0f} | {disk / 1e6:,.0f} |", flush=True)


def _french(query: str) -> str:
    """The query in the language of the documents: words differ in their last letter."""
    return " ".join(f"{each.removesuffix('n')}x" for each in query.split())


def _in_french(index: Index, query: str) -> object:
    return index.search(_french(query), k=K)


def _tantivy(source: MadeUp) -> Way | None:
    try:
        import tantivy
    except ModuleNotFoundError:
        print("tantivy is not installed (extra bench): left out")
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", stored=True)
    schema = builder.build()
    path = source.folder / "tantivy"
    path.mkdir()
    index = tantivy.Index(schema, path=str(path))
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for row, (_, document) in enumerate(source.documents("fr", Problems())):
        writer.add_document(tantivy.Document(text=document.text, row=row))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[int]:
        words = [tantivy.Query.term_query(schema, "text", each) for each in _french(query).split()]
        asked = tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in words])
        return [searcher.doc(address)["row"][0] for _, address in searcher.search(asked, K, count=False).hits]

    return search


def _size(path: Path) -> float:
    return float(sum(file.stat().st_size for file in path.rglob("*") if file.is_file()))


if __name__ == "__main__":
    main()
