"""Compounds split into the words they are made of, learned from how often words occur (Koehn and Knight 2003).

A compound is its parts one after the other, with a linking element between them: Tabelle-n-ansicht, Datei-fenster. Of
all ways to write a term as parts that are terms themselves, and of leaving it whole, the best is

    argmax over p_1 ... p_n of (count(p_1) ... count(p_n))^(1/n)

So a compound that is more frequent than its parts stays whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

COMPOUNDING = ("da", "de", "fi", "hu", "is", "nb", "nl", "nn", "sv")
"""Languages that write compounds as one word."""
LINKS = ("", "s", "es", "n", "en", "er", "e")
SHORTEST_PART = 4  # letters of a part
_MOST = 3  # parts


def split_compounds(terms: Iterable[str], counts: Mapping[str, int]) -> dict[str, list[str]]:
    """The parts of those terms that are compounds; ``counts`` of the terms of a collection.

    >>> counts = {"tabelle": 50, "ansicht": 30, "tabellenansicht": 2, "daten": 9, "bank": 2, "datenbank": 80}
    >>> split_compounds(counts, counts)
    {'tabellenansicht': ['tabelle', 'ansicht']}
    """
    found = {}
    for term in terms:
        ways = [[term], *(way for way in _ways(term, counts, _MOST) if len(way) > 1)]
        best = max(ways, key=lambda way: prod(counts.get(part, 0) for part in way) ** (1 / len(way)))
        if len(best) > 1:
            found[term] = best
    return found


def _ways(term: str, counts: Mapping[str, int], most: int) -> Iterator[list[str]]:
    if counts.get(term, 0) > 0:
        yield [term]
    if most == 1:
        return
    for end in range(SHORTEST_PART, len(term) - SHORTEST_PART + 1):
        head, rest = term[:end], term[end:]
        if counts.get(head, 0) > 0:
            for link in LINKS:
                if rest.startswith(link) and len(rest) - len(link) >= SHORTEST_PART:
                    yield from ([head, *parts] for parts in _ways(rest[len(link) :], counts, most - 1))
