"""Documents of several languages in one list: the ways of making their scores comparable, measured.

    python benchmarks/languages.py wikiclir:mdn fr es zh --set 'lexicon=dictionaries/{pair}.gz'

For each way: MRR of the first relevant document in any language, over the dev queries that have one, and how far the
share of each language among the first ten hits is from its share of the relevant documents (the sum of the differences,
0 to 2). Sample queries, where a way needs them, are the first sentences of documents in the language of the queries.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.cli.options import settings_for
from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Query
from isogloss.data.readers.registry import open_source
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher

DEPTH = 100
SHOWN = 10


class Lists(NamedTuple):
    """What one language found for a query: ids and scores, and the most that the query could reach there."""

    ids: list[str]
    scores: np.ndarray
    bound: float


Found = dict[str, Lists]
Asked = tuple[Found, set[tuple[str, str]]]
Way = Callable[[Found], dict[str, np.ndarray]]


def find(searcher: Searcher, text: str) -> Found:
    found = {}
    for language, shelf in searcher.languages.items():
        ranking = shelf.system.search(text, DEPTH, shelf.live)
        ids = [shelf.store.id_of(row) for row in ranking.rows.tolist()]
        found[language] = Lists(ids, ranking.scores.astype(float), shelf.system.best_possible(text))
    return found


def scaled(bound_power: float, mean_power: float, samples: Sequence[Found]) -> Way:
    """Scores as score / bound^a / m^b, m the mean of the best score / bound^a that samples find in the language."""

    def part(lists: Lists) -> np.ndarray:
        return lists.scores / lists.bound**bound_power

    means = {
        language: float(np.mean([part(found[language])[0] for found in samples if found[language].ids]))
        for language in samples[0]
    }
    return lambda found: {name: part(lists) / means[name] ** mean_power for name, lists in found.items()}


def quantiles(samples: Sequence[Found]) -> Way:
    """The place of score / bound among the best ones that the samples find in the language."""
    tops = {
        language: np.sort([lists.scores[0] / lists.bound for found in samples if (lists := found[language]).ids])
        for language in samples[0]
    }

    def place(language: str, lists: Lists) -> np.ndarray:
        share = lists.scores / lists.bound
        return np.interp(share, tops[language], np.linspace(0, 1, len(tops[language]))) + 1e-3 * share

    return lambda found: {name: place(name, lists) for name, lists in found.items()}


def ways(samples: Sequence[Found]) -> dict[str, Way]:
    """The ways by name; those that learn anything of a language learn it from the samples."""
    made = {f"score / bound^{a} / mean^{b}": scaled(a, b, samples) for a in (0, 0.5, 1) for b in (0, 0.25, 0.5, 1)}
    made["quantile of score / bound"] = quantiles(samples)
    made["score / best found"] = lambda found: {
        name: lists.scores / (lists.scores[0] if lists.ids else 1.0) for name, lists in found.items()
    }
    return made


def merged(found: Found, scores: dict[str, np.ndarray]) -> list[tuple[str, str]]:
    listed = [
        (-float(score), id_, language)
        for language, lists in found.items()
        for id_, score in zip(lists.ids, scores[language].tolist(), strict=True)
    ]
    return [(language, id_) for _, id_, language in sorted(listed)]


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0][:300]


def judge(way: Way, asked: Sequence[Asked], languages: Sequence[str]) -> tuple[float, float]:
    reciprocal, shown, wanted = [], dict.fromkeys(languages, 0.0), dict.fromkeys(languages, 0.0)
    for found, relevant in asked:
        ranked = merged(found, way(found))
        place = next((rank for rank, hit in enumerate(ranked, start=1) if hit in relevant), None)
        reciprocal.append(1 / place if place else 0.0)
        for language, _ in ranked[:SHOWN]:
            shown[language] += 1 / len(ranked[:SHOWN]) / len(asked)
        for language, _ in relevant:
            wanted[language] += 1 / len(relevant) / len(asked)
    return float(np.mean(reciprocal)), sum(abs(shown[name] - wanted[name]) for name in languages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--system", default="psq")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    source = open_source(options.source)
    settings = settings_for(options.system, [options.system], options.settings)
    relevant: dict[str, set[tuple[str, str]]] = {}
    queries: dict[str, Query] = {}
    for language in options.languages:
        data = load_dataset(source, ("en", language))
        for query in data.split("dev"):
            queries[query.id] = query
            top = data.judgments.top_grade
            for document, grade in data.judgments[query.id].items():
                if grade >= top:
                    relevant.setdefault(query.id, set()).add((language, document))
    rng = random.Random(0)
    chosen = rng.sample(sorted(relevant), min(options.queries, len(relevant)))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "index"
        make_index(path, options.system, source, options.languages, fields=("text",), settings=settings)
        searcher = Searcher(open_index(path))
        texts = [
            searcher.source(str(rng.randrange(len(searcher.index.sources or ())) + 1)).text
            for _ in range(options.samples)
        ]
        samples = [find(searcher, first_sentence(text)) for text in texts]
        asked = [(find(searcher, queries[query].text), relevant[query]) for query in chosen]
    print(f"{options.source} {' '.join(options.languages)}, {options.system}: {len(asked)} queries")
    print(f"\n{'':28}    MRR  imbalance")
    for name, way in ways(samples).items():
        mrr, imbalance = judge(way, asked, options.languages)
        print(f"{name:28} {mrr:.4f}  {imbalance:.3f}")
    for language in options.languages:
        alone = [(found, {hit for hit in right if hit[0] == language}) for found, right in asked]
        alone = [({language: found[language]}, right) for found, right in alone if right]
        mrr, _ = judge(lambda found: {name: lists.scores for name, lists in found.items()}, alone, [language])
        print(f"{language + ' alone':28} {mrr:.4f}")


if __name__ == "__main__":
    main()
