"""How well the queries of an index usually do in each of its languages: what scores have to be compared with.

Sample queries are the first sentences of documents in the language of the queries, where an index keeps some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from isogloss.base.progress import track
from isogloss.search.engine import Engine
from isogloss.search.scales import BOUND_POWER

SAMPLES = 200
_LONGEST = 300
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


def usual_scores(engine: Engine) -> dict[str, float]:
    """For each language the mean over sample queries of  max_d score(q, d) / bound(q)^a;  nothing without samples.

    Nothing either where scores are comparable as they are.
    """
    systems = [shelf.system for shelf in engine.shelves.values()]
    if not all(system.searches for system in systems) or all(system.comparable for system in systems):
        return {}
    queries = list(_samples(engine))
    found = {}
    for language, shelf in engine.shelves.items():
        answers = [(query, shelf.search(query, 1).found) for query in track(queries, "comparing languages")]
        best = [found[0].score / shelf.system.best_possible(query) ** BOUND_POWER for query, found in answers if found]
        if best and np.mean(best) > 0:
            found[language] = float(np.mean(best))
    return found


def _samples(engine: Engine) -> Iterator[str]:
    sources = engine.sources
    if sources is None:
        return
    rows = np.unique(np.linspace(0, len(sources) - 1, SAMPLES).astype(int))
    for row in rows.tolist():
        sentence = _SENTENCE_END.split(sources[row].text.strip(), maxsplit=1)[0][:_LONGEST]
        if sentence:
            yield sentence
