"""Several lexicons as one: a dictionary and what was induced from translated pages, say.

p(t | s) is the mean of what the lexicons that know s say of it:

    p(t | s) = sum_k w_k p_k(t | s) / sum_k w_k,    k: the lexicons that have a translation of s

A lexicon without probabilities only says in which order its translations come: p_k of the i-th is taken to be
proportional to decay^i. That is a guess, and where another lexicon has measured the same word it has a small say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isogloss.vectors.lexicon import Lexicon, Phrase, Translation

_DECAY = 0.9  # what psq takes where a lexicon has no probabilities
_GUESS_WEIGHT = 0.2  # to 1 of measured ones; on train queries 1 was worse, 0.1 to 0.25 much alike


def merge_lexicons(*lexicons: Lexicon) -> Lexicon:
    """All phrases of all lexicons, each with its translations, the best first (of equal ones those named first).

    >>> one, other = Lexicon([("sea", "mer", 1.0)]), Lexicon([("sea", "océan", 0.5), ("sea", "mer", 0.5)])
    >>> merge_lexicons(one, other)["sea",]
    (Translation(phrase=('mer',), probability=0.75), Translation(phrase=('océan',), probability=0.25))
    """
    return Lexicon(_entries(lexicons))


def _entries(lexicons: tuple[Lexicon, ...]) -> Iterator[tuple[str, str, float]]:
    for phrase in dict.fromkeys(phrase for lexicon in lexicons for phrase in lexicon):
        said = [_said(lexicon[phrase]) for lexicon in lexicons if phrase in lexicon]
        total = sum(weight for weight, _ in said)
        mean: dict[Phrase, float] = {}
        for weight, probabilities in said:
            for translation, probability in probabilities.items():
                mean[translation] = mean.get(translation, 0.0) + weight / total * probability
        for translation, probability in sorted(mean.items(), key=lambda item: -item[1]):
            yield " ".join(phrase), " ".join(translation), min(1.0, probability)  # sums may be off by a last bit


def _said(translations: Sequence[Translation]) -> tuple[float, dict[Phrase, float]]:
    """How much a lexicon is worth on a phrase, and its probabilities."""
    raw = [translation.probability for translation in translations]
    measured = any(raw)
    if not measured:
        raw = [_DECAY**place for place in range(len(raw))]
    shares = {found.phrase: value / sum(raw) for found, value in zip(translations, raw, strict=True)}
    return 1.0 if measured else _GUESS_WEIGHT, shares
