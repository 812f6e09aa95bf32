"""Several lexicons as one: a dictionary and what was induced from translated pages, say.

Each lexicon that knows a phrase has the same say about it, and p(t | s) is the mean of what they say:

    p(t | s) = 1/|K| sum_{k in K} p_k(t | s),    K: the lexicons that have a translation of s

Where a lexicon has translations without probabilities, their order says how likely they are: p_i ~ decay^i.
"""

from __future__ import annotations

from collections.abc import Iterator

from isogloss.vectors.lexicon import Lexicon, Phrase

_DECAY = 0.9  # what psq takes where a lexicon has no probabilities


def merge_lexicons(*lexicons: Lexicon) -> Lexicon:
    """All phrases of all lexicons, each with its translations, the best first (of equal ones those named first).

    >>> one, other = Lexicon([("sea", "mer", 1.0)]), Lexicon([("sea", "océan", 0.5), ("sea", "mer", 0.5)])
    >>> merge_lexicons(one, other)["sea",]
    (Translation(phrase=('mer',), probability=0.75), Translation(phrase=('océan',), probability=0.25))
    """
    return Lexicon(_entries(lexicons))


def _entries(lexicons: tuple[Lexicon, ...]) -> Iterator[tuple[str, str, float]]:
    for phrase in dict.fromkeys(phrase for lexicon in lexicons for phrase in lexicon):
        said = [_probabilities(lexicon, phrase) for lexicon in lexicons if phrase in lexicon]
        mean: dict[Phrase, float] = {}
        for probabilities in said:
            for translation, probability in probabilities.items():
                mean[translation] = mean.get(translation, 0.0) + probability / len(said)
        for translation, probability in sorted(mean.items(), key=lambda item: -item[1]):
            yield " ".join(phrase), " ".join(translation), min(1.0, probability)


def _probabilities(lexicon: Lexicon, phrase: Phrase) -> dict[Phrase, float]:
    translations = lexicon[phrase]
    raw = [translation.probability for translation in translations]
    if not any(raw):
        raw = [_DECAY**place for place in range(len(raw))]
    return {translation.phrase: value / sum(raw) for translation, value in zip(translations, raw, strict=True)}
