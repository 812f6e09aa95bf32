"""What a search costs in every direction, with nothing but documents: English, other languages, and through English.

    python benchmarks/directions.py wikiclir:lohelp de fr it es zh

The queries are first sentences of the pages in one language, the documents all pages in another. Pages translate each
other where they are relevant for the same English dev query. ``bridge`` has the starter tables only; between two
languages other than English they are joined through English. MRR of the translated page, at most 300 queries.
"""

from __future__ import annotations

import argparse
import re
from itertools import permutations

import numpy as np

from isogloss.data.dataset import Dataset, load_dataset, load_training
from isogloss.data.documents import Collection
from isogloss.data.in_memory import as_source
from isogloss.storage.progress import set_quiet
from isogloss.systems.registry import make_system

_QUERIES = 300
_SENTENCE = re.compile(r".{20,}?[.!?。！？](?=\s|$)|.{20,}?[。！？]", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("languages", nargs="+")
    arguments = parser.parse_args()
    set_quiet(True)
    pages, collections = {}, {}
    for language in ["en", *arguments.languages]:
        dataset = load_dataset(arguments.data, f"en-{language}")
        collections[language] = dataset.documents
        pages[language] = _relevant(dataset)
    print("| queries in | " + " | ".join(collections) + " |")
    print("|---|" + "--:|" * len(collections))
    found = {pair: _mrr(*pair, pages[pair[0]], pages[pair[1]], collections) for pair in permutations(collections, 2)}
    for query in collections:
        print(f"| {query} | " + " | ".join(found.get((query, each), "") for each in collections) + " |")


def _relevant(dataset: Dataset) -> dict[str, str]:
    """The page of each dev query."""
    top = dataset.judgments.top_grade
    best = {
        query.id: [id_ for id_, grade in dataset.judgments[query.id].items() if grade >= top]
        for query in dataset.split("dev")
    }
    return {query: ids[0] for query, ids in best.items() if ids}


def _mrr(
    query: str, document: str, sources: dict[str, str], targets: dict[str, str], collections: dict[str, Collection]
) -> str:
    documents = collections[document]
    system = make_system("bridge", (query, document), {}, None)
    system.fit(load_training(as_source(documents), (query, document)))
    system.index(documents, ("text",))
    asked = sorted(sources.keys() & targets.keys())
    chosen = np.random.default_rng(0).permutation(len(asked))[:_QUERIES]
    ranks = []
    for number in chosen.tolist():
        page = collections[query][collections[query].row_of[sources[asked[number]]]]
        sentence = _SENTENCE.match(page.text.strip())
        rows = system.search(sentence[0] if sentence else page.text[:150], 100).rows.tolist()
        row = documents.row_of[targets[asked[number]]]
        ranks.append(1 / (rows.index(row) + 1) if row in rows else 0.0)
    return f"{np.mean(ranks):.3f}"


if __name__ == "__main__":
    main()
