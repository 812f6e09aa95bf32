"""Trees over the words of a text: read from the files of a parser, or made by a shallow rule.

A leaf is a word, every other node a label. Two kinds of files are read, plain or ``.gz``:

- bracketed, as in the Penn Treebank, the trees of one text a line: ``(S (NP (NN Tax)) (VP ...)) (S ...)``; a text
  before a tab at the beginning of the line is the text itself;
- CoNLL-U (Universal Dependencies): a word becomes a node labelled with its relation to its head; its children are, in
  the order of the text, its part of speech with the word itself, and its dependents (the grammatical relation centred
  tree of Croce et al. 2011). The sentences after a ``# newdoc`` are one text; without any, each sentence is one.

Trees are looked up by their text, without its spaces and capitals.

Texts without a parse have a shallow tree of clauses, phrases, tags and words:

    ROOT -> CLAUSE,    CLAUSE -> PHRASE | LINK,    PHRASE -> CONTENT | NUMBER,    LINK -> STOP,    a tag -> its word

Punctuation ends a clause. A phrase is a run of words that are no stop words, a link a run of stop words. The labels are
the same for all languages, so that trees of two languages can be compared. A language without a list of stop words has
one phrase a clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, read_lines
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans

ROOT = "ROOT"
_BRACKETS = re.compile(r"\(|\)|[^\s()]+")
_NAMES = {"(": "-LRB-", ")": "-RRB-"}
_SIGNS = {name: sign for sign, name in _NAMES.items()}
_COLUMNS = 10  # of CoNLL-U
_DEEPEST = 200  # no parser makes deeper trees; recursion is limited


class Tree(NamedTuple):
    """A node and its children; a node without children is a word."""

    label: str
    children: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        """The tree in brackets, on one line, as :func:`parse_trees` reads it.

        >>> str(Tree("NP", (Tree("D", (Tree("a"),)), Tree("N", (Tree("cat"),)))))
        '(NP (D a) (N cat))'
        """
        label = _escaped(self.label)
        return f"({label} {' '.join(map(str, self.children))})" if self.children else label

    def words(self) -> Iterator[str]:
        """The leaves, from left to right."""
        if not self.children:
            yield self.label
        for child in self.children:
            yield from child.words()


def parse_trees(brackets: str) -> list[Tree]:
    """The trees of a bracketed text; a ``ValueError`` says what is wrong with it.

    >>> parse_trees("(S (N Mary) (V slept))")[0].children[1]
    Tree(label='V', children=(Tree(label='slept', children=()),))
    """
    open_nodes: list[tuple[str | None, list[Tree]]] = [(None, [])]
    for token in _BRACKETS.findall(brackets):
        if token == "(":
            if len(open_nodes) > _DEEPEST:
                raise ValueError(f"brackets are nested more than {_DEEPEST} deep")
            open_nodes.append((None, []))
            continue
        label, children = open_nodes[-1]
        if token == ")":
            if len(open_nodes) == 1:
                raise ValueError("a bracket closes that was never opened")
            open_nodes.pop()
            open_nodes[-1][1].append(_closed(label, children))
        elif label is None and not children and len(open_nodes) > 1:
            open_nodes[-1] = (_plain(token), children)
        else:
            children.append(Tree(_plain(token)))
    if len(open_nodes) > 1:
        raise ValueError("a bracket is never closed")
    return open_nodes[0][1]


def join_trees(trees: Sequence[Tree]) -> Tree:
    """One tree of several: those of the sentences of a text."""
    return trees[0] if len(trees) == 1 and trees[0].children else Tree(ROOT, tuple(trees))


def read_trees(path: Path | str) -> dict[str, Tree]:
    """The trees of a file of either kind, by :func:`text_key`."""
    lines = read_lines(Path(path))
    first = next((entry for entry in lines if entry[1].strip()), None)
    if first is None:
        raise InputError(f"{path}: has no tree")
    rest = chain([first], lines)
    is_conllu = first[1].startswith("#") or first[1].count("\t") == _COLUMNS - 1
    return dict(_read_conllu(rest) if is_conllu else _read_bracketed(rest))


def text_key(text: str) -> str:
    """The key of a text's tree: the text without spaces and capitals."""
    return "".join(text.split()).casefold()


def _closed(label: str | None, children: list[Tree]) -> Tree:
    if label is None and not children:
        raise ValueError("a pair of brackets is empty")
    if label is not None and not children:
        raise ValueError(f"the node {label!r} has no word")
    return Tree(label if label is not None else ROOT, tuple(children))


def _escaped(label: str) -> str:
    return "".join(_NAMES.get(character, "_" if character.isspace() else character) for character in label) or "_"


def _plain(token: str) -> str:
    for name, sign in _SIGNS.items():
        token = token.replace(name, sign)
    return token


def _read_bracketed(lines: Iterable[tuple[Location, str]]) -> Iterator[tuple[str, Tree]]:
    for location, line in lines:
        if not line.strip():
            continue
        text, _, brackets = line.rpartition("\t")
        try:
            trees = parse_trees(brackets)
        except ValueError as error:
            raise InputError(f"{location}: {error}; one line has all brackets of a text's trees") from error
        if not trees:
            raise InputError(f"{location}: has no tree, only a text")
        tree = join_trees(trees)
        yield text_key(text or " ".join(tree.words())), tree


class _Row(NamedTuple):
    """A word of a sentence in CoNLL-U: its number, itself, its part of speech, its head's number, its relation."""

    number: int
    word: str
    tag: str
    head: int
    relation: str


def _read_conllu(lines: Iterable[tuple[Location, str]]) -> Iterator[tuple[str, Tree]]:
    """The sentences of a document joined, from one ``# newdoc`` to the next; each on its own where there is none."""
    texts: list[str] = []
    trees: list[Tree] = []
    in_document = False
    for starts_document, text, tree in _sentences(lines):
        if trees and (starts_document or not in_document):
            yield text_key("".join(texts)), join_trees(trees)
            texts, trees = [], []
        in_document = in_document or starts_document
        texts.append(text)
        trees.append(tree)
    if trees:
        yield text_key("".join(texts)), join_trees(trees)


def _sentences(lines: Iterable[tuple[Location, str]]) -> Iterator[tuple[bool, str, Tree]]:
    """The sentences: whether a document starts with it, its text, its tree."""
    rows: list[_Row] = []
    text, starts_document, location = "", False, Location(Path())
    for location, line in lines:
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            starts_document = starts_document or name.split()[:1] == ["newdoc"]
            text = value if name.strip() == "text" else text
        elif line.strip():
            rows += _row(location, line)
        elif rows:
            yield starts_document, text or " ".join(row.word for row in rows), _dependencies(location, rows)
            rows, text, starts_document = [], "", False
    if rows:
        yield starts_document, text or " ".join(row.word for row in rows), _dependencies(location, rows)


def _row(location: Location, line: str) -> list[_Row]:
    """A word; nothing for a span of several (``1-2``) and for a word that is not in the text (``1.1``)."""
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise InputError(f"{location}: expected the {_COLUMNS} columns of CoNLL-U, got {len(columns)}")
    number, word, _, tag, _, _, head, relation = columns[:8]
    if "-" in number or "." in number:
        return []
    if not number.isdecimal() or not head.isdecimal():
        raise InputError(f"{location}: the number {number!r} or the head {head!r} of a word is not a number")
    return [_Row(int(number), word, tag, int(head), relation)]


def _dependencies(location: Location, rows: Sequence[_Row]) -> Tree:
    """The tree of the words whose head is 0."""
    dependents_of: dict[int, list[_Row]] = {}
    for row in rows:
        dependents_of.setdefault(row.head, []).append(row)
    reached: set[int] = set()
    trees = tuple(_relation(row, dependents_of, reached) for row in dependents_of.get(0, ()))
    if len(reached) != len(rows):
        apart = len(rows) - len(reached)
        what = f"the heads of the sentence that ends here do not make a tree at most {_DEEPEST} deep"
        raise InputError(f"{location}: {what} ({apart} of its words are apart)")
    return Tree(ROOT, trees)


def _relation(row: _Row, dependents_of: Mapping[int, Sequence[_Row]], reached: set[int], depth: int = 1) -> Tree:
    reached.add(row.number)
    word = Tree(row.tag, (Tree(row.word),))
    dependents = dependents_of.get(row.number, ()) if depth < _DEEPEST else ()
    trees = [(other.number, _relation(other, dependents_of, reached, depth + 1)) for other in dependents]
    parts = sorted([(row.number, word), *trees], key=lambda part: part[0])
    return Tree(row.relation, tuple(tree for _, tree in parts))


class _Word(NamedTuple):
    """A word, the number of its clause, and whether it is a stop word."""

    token: str
    clause: int
    is_stop: bool


def shallow_tree(text: str, language: str | None) -> Tree:
    """The shallow tree of a text.

    >>> print(shallow_tree("What is life insurance, 50 years on?", "en"))
    (ROOT (CLAUSE (LINK (STOP what) (STOP is)) (PHRASE (CONTENT life) (CONTENT insurance)))
     (CLAUSE (PHRASE (NUMBER 50) (CONTENT years)) (LINK (STOP on))))
    """
    words = _words(text, language)
    clauses = (tuple(map(_phrase, _runs(clause))) for _, clause in groupby(words, key=lambda word: word.clause))
    return Tree(ROOT, tuple(Tree("CLAUSE", clause) for clause in clauses))


def _runs(words: Iterable[_Word]) -> Iterator[list[_Word]]:
    return (list(run) for _, run in groupby(words, key=lambda word: word.is_stop))


def _phrase(words: list[_Word]) -> Tree:
    label = "LINK" if words[0].is_stop else "PHRASE"
    return Tree(label, tuple(Tree(_tag(word), (Tree(word.token),)) for word in words))


def _tag(word: _Word) -> str:
    if word.is_stop:
        return "STOP"
    return "NUMBER" if word.token[0].isdecimal() else "CONTENT"


def _words(text: str, language: str | None) -> Iterator[_Word]:
    stops, clause, last = stop_words(language), 0, 0
    for start, end, token in token_spans(text):
        clause += any(not character.isspace() for character in text[last:start])
        last = max(last, end)
        yield _Word(token, clause, token in stops)
