"""Scales that make the scores of several languages comparable, so that their documents can be ranked together.

Raw scores do not compare: collections, frequencies and lexicons differ. Each score of language L is divided by

    s(q, L) = bound(q, L)^a usual(L)^b        bound: the highest score that any document of L could have for the query
                                              usual: the mean over sample queries of the best score in L / bound^a

times a constant of the query, the same for all languages, so that a score is a share of the bound where languages are
alike. Sample queries are first sentences of documents in the language of the queries, where an index has some.

With a = 1, b = 0 a score is just that share, which ranks documents of a language with a poor lexicon too low or too
high. The powers were chosen by ``benchmarks/languages.py`` on dev queries: a = .5, b = .25 ranks the first relevant
document higher (MRR .539 for .527 on mdn fr + es + zh, .814 for .808 on bible fr + it + sw + tl, psq), and the shares
of the languages among the first ten hits are nearer to those among the relevant documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from isogloss.index.reader import OpenIndex, Sources
from isogloss.storage.progress import track
from isogloss.systems.base import System

BOUND_POWER = 0.5
USUAL_POWER = 0.25
STANDARD_DEPTH = 50
SAMPLES = 200
_MOST_CHARACTERS = 300
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


def divisors(query: str, systems: Mapping[str, System], usual: Mapping[str, float]) -> dict[str, float]:
    """The scale of each language; 1 where scores are comparable as they are.

    A language without a usual score has the geometric mean of the others.
    """
    if len(systems) < 2 or all(system.comparable for system in systems.values()):
        return dict.fromkeys(systems, 1.0)
    bounds = {language: system.best_possible(query) for language, system in systems.items()}
    means = {language: max(usual.get(language, 0.0), 0.0) for language in systems}
    typical = _geometric_mean([mean for mean in means.values() if mean > 0])
    middle = _geometric_mean([bound for bound in bounds.values() if bound > 0])
    return {
        language: bound**BOUND_POWER
        * middle ** (1 - BOUND_POWER)
        * ((means[language] or typical) / typical) ** USUAL_POWER
        for language, bound in bounds.items()
    }


def by_system(systems: Mapping[str, System]) -> list[dict[str, System]]:
    """The languages in groups that are searched by the same system: documents in the language of a query by another."""
    names = dict.fromkeys(system.name for system in systems.values())
    return [{language: each for language, each in systems.items() if each.name == name} for name in names]


def standard_scores(scores: Sequence[float]) -> list[float]:
    """How far each of the falling scores of one system stands out, by which lists of different systems are merged.

        z = (s - mean) / deviation        of the best 50 documents; those that are not found have 0 or the lowest score

    On dev queries of the bundled collection (documents in en by bm25, in fr, es and zh by bridge; all but one document
    on the topic left out) the mean reciprocal rank of that document is .78 in en and .54 in the others. The scales
    above give .66 and .65 if bridge is not calibrated, but .81 and .33 if it is; taking turns gives .80 and .43.
    """
    best = np.asarray(scores[:STANDARD_DEPTH], dtype=np.float64)
    rest = np.full(STANDARD_DEPTH - len(best), min(0.0, best.min(initial=0.0)))
    every = np.concatenate([best, rest])
    deviation = float(every.std()) or 1.0
    return [(score - float(every.mean())) / deviation for score in scores]


def _geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else 1.0


def usual_scores(index: OpenIndex) -> dict[str, dict[str, float]]:
    """For each language of the queries, and each of the documents: the mean over samples of max_d s(q, d) / bound(q)^a.

    Empty without samples, and where scores are comparable as they are.
    """
    found = {language: _usual_scores(index, language) for language in index.manifest.sources}
    return {language: usual for language, usual in found.items() if usual}


def _usual_scores(index: OpenIndex, query_language: str) -> dict[str, float]:
    indexes = index.by_query_language[query_language]
    systems = [language_index.system for language_index in indexes.values()]
    if not all(system.searches for system in systems) or all(system.comparable for system in systems):
        return {}
    queries = list(_samples(index.sources[query_language]))
    usual = {}
    for language, language_index in indexes.items():
        found = [(query, language_index.search(query, 1)) for query in track(queries, "comparing languages")]
        bound = language_index.system.best_possible
        best = [hits[0].score / bound(query) ** BOUND_POWER for query, hits in found if hits]
        if best and np.mean(best) > 0:
            usual[language] = float(np.mean(best))
    return usual


def _samples(sources: Sources) -> Iterator[str]:
    rows = np.unique(np.linspace(0, len(sources) - 1, SAMPLES).astype(int))
    for row in rows.tolist():
        sentence = _SENTENCE_END.split(sources[row].text.strip(), maxsplit=1)[0][:_MOST_CHARACTERS]
        if sentence:
            yield sentence
