"""One cell of ``scale.py``, in a process of its own: ``python scale_cells.py WHAT SYSTEM DOCUMENTS DIRECTORY``.

It prints what it measured as JSON. Times of one query are those of the processor, on one core, after queries that are
not timed. No query is asked twice. Memory is the peak of the process that builds; of the process that searches, it is
what is resident after all mapped files of the index have been read.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scale_documents import ScaleDocuments

from isogloss import Index

K, BATCH = 10, 256
UNTIMED, TIMED = 50, 400  # queries
UNTIMED_SECONDS, TIMED_SECONDS = 10.0, 60.0
PAGE = 4096

Measured = dict[str, float]


def main(what: str, system: str, count: int, directory: Path) -> None:
    made = ScaleDocuments(directory)
    if what != "batch":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    measure = {"build": build, "search": search, "batch": batch, "tantivy": tantivy, "warm": build}[what]
    print(json.dumps(measure(made, system, count)))


def build(made: ScaleDocuments, system: str, count: int) -> Measured:
    """Index the documents, as ``isogloss index`` does; its first run compiles."""
    documents, path = made.documents(count), index_path(made, system, count)
    name, options = system.partition(" ")[0], {}
    if name in ("psq", "bm25-dict"):
        options = {"lexicon": made.lexicon()}
    chosen = made.smooth() if name == "smooth" else name
    asked = "fr" if name == "bm25" else "en"
    started = time.process_time()
    Index.make(
        f"jsonl:{documents}", "fr", path=path, system=chosen, query_language=asked, overwrite=True, **options
    ).close()
    seconds = time.process_time() - started
    files = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {"build_s": seconds, "build_bytes": _peak(), "disk_bytes": files, **_contents(path)}


def search(made: ScaleDocuments, system: str, count: int) -> Measured:
    """Ask one query after the other, with explanations and without; then read all files."""
    started = time.perf_counter()
    index = Index.open(index_path(made, system, count))
    opened = time.perf_counter() - started
    _warm(index)
    asked = _queries(made, system)
    _times(index.search, asked[:UNTIMED], UNTIMED_SECONDS)
    explained = _times(index.search, asked[UNTIMED : UNTIMED + TIMED])
    others = asked[UNTIMED + TIMED : UNTIMED + 2 * TIMED]
    plain = _times(lambda query: index.search(query, K, explain=False), others)
    found: Measured = {"open_ms": 1e3 * opened, **_summary("explained", explained), **_summary("plain", plain)}
    _touch(index.path)
    found["resident_bytes"] = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    return found | _vectors(index)


def batch(made: ScaleDocuments, system: str, count: int) -> Measured:
    """256 queries in one call, on all cores that the process may use."""
    index, asked = Index.open(index_path(made, system, count)), _queries(made, system)
    _warm(index)
    index.search_many(asked[:BATCH], K)
    started = time.perf_counter()
    index.search_many(asked[BATCH : 2 * BATCH], K)
    return {"batch_ms": 1e3 * (time.perf_counter() - started), "cores": len(os.sched_getaffinity(0))}


def tantivy(made: ScaleDocuments, _: str, count: int) -> Measured:
    """BM25 of tantivy with the French words of the queries; it returns the ids of ten documents."""
    import tantivy as library

    builder = library.SchemaBuilder()
    builder.add_text_field("text", stored=True, tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    schema = builder.build()
    path = made.directory / f"tantivy-{count}"
    path.mkdir(exist_ok=True)
    index = library.Index(schema, path=str(path), reuse=False)
    started = time.process_time()
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    with made.documents(count).open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            writer.add_document(library.Document(id=document["id"], text=document["text"]))
    writer.commit()
    writer.wait_merging_threads()
    seconds = time.process_time() - started
    index.reload()
    searcher = index.searcher()

    def best(query: str) -> list[str]:
        words = [library.Query.term_query(schema, "text", each) for each in query.split()]
        asked = library.Query.boolean_query([(library.Occur.Should, each) for each in words])
        return [searcher.doc(address)["id"][0] for _, address in searcher.search(asked, K, count=False).hits]

    asked = [french for _, french in made.queries()]
    _times(best, asked[:UNTIMED], UNTIMED_SECONDS)
    disk = sum(file.stat().st_size for file in path.iterdir())
    times = _times(best, asked[UNTIMED : UNTIMED + TIMED])
    return {"build_s": seconds, "disk_bytes": disk, **_summary("explained", times)}


def index_path(made: ScaleDocuments, system: str, count: int) -> Path:
    return made.directory / f"index-{system.replace(' ', '-')}-{count}"


def _queries(made: ScaleDocuments, system: str) -> list[str]:
    return [french if system.partition(" ")[0] == "bm25" else english for english, french in made.queries()]


def _warm(index: Index) -> None:
    """Load compiled code, as a service does when it starts."""
    for language_index in index.searcher.languages.values():
        if hasattr(language_index.system, "warm"):
            language_index.system.warm()


def _times(way: Callable[[str], object], queries: list[str], most: float = TIMED_SECONDS) -> list[float]:
    """Milliseconds of each query, of as many as there is time for."""
    times: list[float] = []
    for query in queries:
        started = time.process_time()
        way(query)
        times.append(1e3 * (time.process_time() - started))
        if sum(times) > 1e3 * most:
            break
    return times


def _summary(name: str, times: list[float]) -> Measured:
    middle, late = np.quantile(times, [0.5, 0.99])
    return {f"{name}_ms": middle, f"{name}_p99_ms": late, f"{name}_queries": len(times)}


def _vectors(index: Index) -> Measured:
    """The recall of approximate search, where the index has vectors and estimates it."""
    about: Any = index.about().get("vectors") or {}
    for each in about.values() if isinstance(about, dict) else ():
        if isinstance(each, dict) and "recall" in each:
            return {"recall": each["recall"]}
    return {}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _touch(path: Path) -> None:
    """Read a byte of every mapped page of the files of an index."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) > 5 and "r" in fields[1] and Path(fields[5]).is_relative_to(path.resolve()):
            first, last = (int(each, 16) for each in fields[0].split("-"))
            memory = (ctypes.c_ubyte * (last - first)).from_address(first)
            np.frombuffer(memory, np.uint8)[::PAGE].max()


def _contents(path: Path) -> Measured:
    """Bytes of the texts of the documents, and, of bridge, postings."""
    found = {"text_bytes": 0, "postings": 0}
    for file in path.glob("segments/*/arrays.json"):
        for name, (_, shape, *_) in json.loads(file.read_text()).items():
            found["text_bytes"] += shape[0] if name == "pages.bytes.npy" else 0
            found["postings"] += shape[0] if name.endswith("impacts.documents.npy") else 0
    return {name: number for name, number in found.items() if number}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
