"""Which words of two texts say the same, and trees that show it.

A word of the query matches a word of the document that is one of its translations (or, without a lexicon, has its
stem). As in Da San Martino et al. 2017 (Cross-language question re-ranking) and the systems it builds on, the two nodes
above a matched word are marked in both trees: ``(PHRASE (CONTENT tax))`` becomes ``(REL-PHRASE (REL-CONTENT tax))``.
Parts of trees then tell not only what stands in a text but what of it the other text answers to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from isogloss.lexical.translation import QueryTranslator
from isogloss.text.tokenizer import tokenize
from isogloss.text.trees import Tree
from isogloss.vectors.lexicon import Phrase

MARK = "REL-"
_MARKED_LEVELS = 2


class Match(NamedTuple):
    """A word of the query and a word of the document that say the same, by their places."""

    query: int
    document: int


class WordMatcher:
    """Finds the words of two texts that say the same, through a translator's lexicon and its number of translations."""

    def __init__(self, translator: QueryTranslator) -> None:
        self._translator, self._terms = translator, translator.tokenizer
        self._known: dict[Phrase, frozenset[str]] = {}

    def __call__(self, query: Sequence[str], document: Sequence[str]) -> list[Match]:
        """The matches of tokens (of :func:`~isogloss.text.tokenizer.tokenize`), ordered by place."""
        places: dict[str, list[int]] = {}
        for place, term in enumerate(self._terms.terms(document)):
            places.setdefault(term, []).append(place)
        found, start = set(), 0
        for phrase in self._translator.lexicon.cut(query):
            matched = [place for term in self.targets(phrase) for place in places.get(term, ())]
            found |= {Match(own, place) for own in range(start, start + len(phrase)) for place in matched}
            start += len(phrase)
        return sorted(found)

    def targets(self, phrase: Phrase) -> frozenset[str]:
        """The terms that a phrase of the query may match: those of its best translations, or its own without any."""
        if phrase not in self._known:
            best = sorted(self._translator.translate(phrase), key=lambda translation: -translation.probability)
            words = [word for translation in best[: self._translator.translations] for word in translation.phrase]
            self._known[phrase] = frozenset(self._terms.terms(words or phrase))
        return self._known[phrase]


def leaf_tokens(tree: Tree) -> list[str]:
    """The words of a tree as tokens of the house, one a leaf; a leaf that is none is kept as it is."""
    return ["".join(tokenize(word)) or word for word in tree.words()] if tree.children else []


def mark(tree: Tree, matched: Collection[int]) -> Tree:
    """The tree with the parents and grandparents of some leaves marked; the root never is.

    >>> print(mark(Tree("S", (Tree("NP", (Tree("N", (Tree("tax"),)), Tree("P", (Tree("on"),)))),)), {0}))
    (S (REL-NP (REL-N tax) (P on)))
    """
    marked, _ = _marked(tree, matched, count())
    return marked._replace(label=tree.label)


def beginning(tree: Tree, words: int) -> Tree:
    """The tree of so many words of the beginning.

    >>> print(beginning(Tree("S", (Tree("N", (Tree("tax"), Tree("on"))), Tree("N", (Tree("income"),)))), 1))
    (S (N tax))
    """
    return _cut(tree, words)[0]


def without_words(tree: Tree, words: Collection[str]) -> Tree:
    """The tree without some words, and without the nodes that have nothing left beneath them; its root stays.

    >>> print(without_words(Tree("S", (Tree("N", (Tree("Tax"),)), Tree("P", (Tree("on"),)))), {"tax"}))
    (S (P on))
    """
    return _thinned(tree, words) or Tree(tree.label)


def _thinned(tree: Tree, words: Collection[str]) -> Tree | None:
    if not tree.children:
        return None if "".join(tokenize(tree.label)) in words else tree
    children = [child for child in (_thinned(each, words) for each in tree.children) if child is not None]
    return Tree(tree.label, tuple(children)) if children else None


def _cut(tree: Tree, words: int) -> tuple[Tree, int]:
    """The tree without the leaves after so many, and how many it has left."""
    if not tree.children:
        return tree, 1
    children: list[Tree] = []
    taken = 0
    for child in tree.children:
        if taken == words:
            break
        kept, leaves = _cut(child, words - taken)
        children.append(kept)
        taken += leaves
    return Tree(tree.label, tuple(children)), taken


def _marked(tree: Tree, matched: Collection[int], places: Iterator[int]) -> tuple[Tree, int]:
    """The tree, and for how many levels above it the mark goes on."""
    if not tree.children:
        return tree, _MARKED_LEVELS if next(places) in matched else 0
    children, levels = zip(*(_marked(child, matched, places) for child in tree.children), strict=True)
    reach = max(levels)
    return Tree(MARK + tree.label if reach else tree.label, children), max(0, reach - 1)
