"""Pairs of words out of a lexicon: all of them, or the ad hoc paper's few thousand most frequent words.

The paper takes the 4,000 most frequent words of the source language with one translation each. A lexicon lists
several, so one has to be chosen.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from isogloss.vectors.lexicon import Lexicon, Phrase, Translation

Pair = tuple[str, str]
"""A word or phrase and one translation; the words of a phrase stand apart by one space."""


def lexicon_pairs(lexicon: Lexicon) -> list[Pair]:
    """Every phrase with every translation of it, in the lexicon's order.

    >>> lexicon_pairs(Lexicon([("ice cream", "glace", 0), ("cat", "chat", 0), ("cat", "minet", 0)]))
    [('ice cream', 'glace'), ('cat', 'chat'), ('cat', 'minet')]
    """
    return [(" ".join(phrase), " ".join(target)) for phrase in lexicon for target, _ in lexicon[phrase]]


def frequent_pairs(
    lexicon: Lexicon,
    counts: Mapping[str, int],
    n: int,
    target_counts: Mapping[str, int] | None = None,
    target_words: Container[str] | None = None,
) -> list[Pair]:
    """The ``n`` most frequent source words that the lexicon knows, one translation each, the most frequent first.

    Of several translations the most probable is taken, where the lexicon has probabilities; then one that is no copy
    of the word; then one whose words all are among ``target_words`` (those that have vectors); then the one most
    frequent by ``target_counts`` (a phrase is as frequent as its rarest word); then the first listed.

    >>> lexicon = Lexicon([("from", "from", 0), ("from", "de", 0), ("from", "desde", 0), ("cat", "gato", 0)])
    >>> frequent_pairs(lexicon, {"from": 9, "cat": 2, "utc": 5}, 2, {"desde": 7, "de": 3})
    [('from', 'desde'), ('cat', 'gato')]
    """
    known = [word for word, count in counts.items() if count > 0 and (word,) in lexicon]
    chosen = sorted(known, key=lambda word: (-counts[word], word))[: max(n, 0)]

    def best(word: str) -> Phrase:
        def worth(translation: Translation) -> tuple[float, bool, bool, int]:
            phrase, probability = translation
            return probability, phrase != (word,), _all_in(phrase, target_words), _frequency(phrase, target_counts)

        return max(lexicon[(word,)], key=worth).phrase  # of equals, max() takes the first

    return [(word, " ".join(best(word))) for word in chosen]


def _all_in(phrase: Phrase, words: Container[str] | None) -> bool:
    return words is None or all(word in words for word in phrase)


def _frequency(phrase: Phrase, counts: Mapping[str, int] | None) -> int:
    return min(counts.get(word, 0) for word in phrase) if counts else 0
