"""Making the scores of several languages comparable, so that their documents can stand in one list.

Raw scores do not compare: other lists, other frequencies, other lexicons. Each score of language L is divided by

    s(q, L) = bound(q, L)^a usual(L)^b        bound: the most any document of L could reach for the query
                                              usual: the mean of the best score / bound^a that sample queries find in L

times a constant of the query, the same for all languages, that makes it a share of the bound where all are alike.

With a = 1, b = 0 it would be just that share, and documents of a language with a poor lexicon would stand too low and
too high alike. The powers were chosen by ``benchmarks/languages.py`` on dev queries: a = .5, b = .25 lists the first
relevant document higher (MRR .539 for .527 on mdn fr + es + zh, .814 for .808 on bible fr + it + sw + tl, psq), and the
shares of the languages among the first ten are nearer to those among the relevant documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from isogloss.index.reader import OpenIndex
from isogloss.storage.progress import track
from isogloss.systems.base import System

BOUND_POWER = 0.5
USUAL_POWER = 0.25


def divisors(query: str, systems: Mapping[str, System], usual: Mapping[str, float]) -> dict[str, float]:
    """What the scores of each language are divided by; a language of which nothing usual is known is taken as such.

    Nothing where scores are comparable as they are.
    """
    if len(systems) < 2 or all(system.comparable for system in systems.values()):
        return dict.fromkeys(systems, 1.0)
    bounds = {language: system.best_possible(query) for language, system in systems.items()}
    means = {language: usual.get(language, 0.0) for language in systems}
    typical = _geometric_mean([mean for mean in means.values() if mean > 0])
    middle = _geometric_mean([bound for bound in bounds.values() if bound > 0])
    return {
        language: bound**BOUND_POWER
        * middle ** (1 - BOUND_POWER)
        * ((means[language] or typical) / typical) ** USUAL_POWER
        for language, bound in bounds.items()
    }


def _geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else 1.0


# How well the queries of an index usually do in each of its languages: what scores have to be compared with.
#
# Sample queries are the first sentences of documents in the language of the queries, where an index keeps some.

SAMPLES = 200
_LONGEST = 300
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


def usual_scores(index: OpenIndex) -> dict[str, float]:
    """For each language the mean over sample queries of  max_d score(q, d) / bound(q)^a;  nothing without samples.

    Nothing either where scores are comparable as they are.
    """
    systems = [shelf.system for shelf in index.languages.values()]
    if not all(system.searches for system in systems) or all(system.comparable for system in systems):
        return {}
    queries = list(_samples(index))
    found = {}
    for language, shelf in index.languages.items():
        answers = [(query, shelf.search(query, 1).found) for query in track(queries, "comparing languages")]
        best = [found[0].score / shelf.system.best_possible(query) ** BOUND_POWER for query, found in answers if found]
        if best and np.mean(best) > 0:
            found[language] = float(np.mean(best))
    return found


def _samples(index: OpenIndex) -> Iterator[str]:
    sources = index.sources
    if sources is None:
        return
    rows = np.unique(np.linspace(0, len(sources) - 1, SAMPLES).astype(int))
    for row in rows.tolist():
        sentence = _SENTENCE_END.split(sources[row].text.strip(), maxsplit=1)[0][:_LONGEST]
        if sentence:
            yield sentence
