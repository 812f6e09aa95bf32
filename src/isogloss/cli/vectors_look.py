"""What ``isogloss vectors nearest`` and ``translate`` show."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np

from isogloss.base.errors import InputError
from isogloss.cli.output import check_outputs, console, note, print_table, write_json
from isogloss.cli.vectors_files import open_vectors
from isogloss.text.tokenizer import tokenize
from isogloss.vectors.alignment import Alignment
from isogloss.vectors.retrieval import WordRetriever
from isogloss.vectors.word_vectors import Matrix, WordVectors

_SHORTLIST = 1_000

_Scored = list[tuple[str, float]]


def show_nearest(options: argparse.Namespace) -> None:
    """The nearest words of the same language; the word itself, or those of a phrase, are not among them."""
    check_outputs(options.overwrite, options.json)
    vectors = open_vectors(options.vectors, options)
    known = _look_up(options.words, vectors, options.vectors)
    retriever = WordRetriever(vectors.matrix)
    found = {}
    for word, rows in known.items():
        near = retriever.nearest_words(_vector(vectors, rows), vectors.words, options.k + len(rows))[0]
        itself = {vectors.words[row] for row in rows}
        found[word] = [scored for scored in near if scored[0] not in itself][: options.k]
    _show(options, found, "nearest", "cosine", options.vectors)


def show_translations(options: argparse.Namespace) -> None:
    """The nearest words of the other language."""
    check_outputs(options.overwrite, options.json)
    alignment = Alignment.load(options.alignment)
    source = _fitting(alignment, "source", options.query_vectors, options)
    target = _fitting(alignment, "target", options.document_vectors, options)
    known = _look_up(options.words, source, options.query_vectors)
    queries = {word: alignment.apply(_vector(source, rows), "source") for word, rows in known.items()}
    candidates = alignment.apply(target.matrix, "target")
    if options.cosine:
        retriever = WordRetriever(candidates)
        found = {word: retriever.nearest_words(query, target.words, options.k)[0] for word, query in queries.items()}
    else:
        background = alignment.apply(source.matrix, "source")
        found = _by_csls(queries, WordVectors(target.words, candidates), background, options.k)
    _show(options, found, "translations", "cosine" if options.cosine else "CSLS", options.query_vectors)


def _by_csls(queries: Mapping[str, Matrix], target: WordVectors, background: Matrix, k: int) -> dict[str, _Scored]:
    """The best by CSLS of the thousand nearest by cosine.

    How crowded it is around a word takes as long to find as a search; around every word of a large vocabulary, minutes.
    Those beyond the thousandth do not come in: on cppdocs en-es two hundred gave what all gave, 100 words of 100.
    """
    retriever = WordRetriever(target.matrix)
    found = {}
    for word, query in queries.items():
        near = np.sort(retriever.nearest(query, max(_SHORTLIST, 20 * k)).rows[0])
        words = [target.words[row] for row in near.tolist()]
        found[word] = WordRetriever(target.matrix[near], background).nearest_words(query, words, k)[0]
    return found


def _fitting(alignment: Alignment, side: str, path: str, options: argparse.Namespace) -> WordVectors:
    vectors = open_vectors(path, options)
    if vectors.dimension != (wanted := alignment.dimension(side)):
        what = f"has vectors of {vectors.dimension} dimensions, {options.alignment} takes {wanted} here"
        raise InputError(f"{path}: {what}; are these the vectors it was made of, in this order?")
    return vectors


def _look_up(words: Sequence[str], vectors: WordVectors, path: str) -> dict[str, list[int]]:
    """Words and phrases that have a vector, with the rows of their words."""
    rows = {word: _rows(word, vectors) for word in words}
    known = {word: found for word, found in rows.items() if found and _vector(vectors, found).any()}
    if not known:
        raise InputError(f"{path}: has no vector for {', '.join(map(repr, rows))}")
    return known


def _rows(word: str, vectors: WordVectors) -> list[int]:
    """The row of a word as it stands; otherwise the rows of its tokens, if all are known."""
    if word in vectors:
        return [vectors.row_of[word]]
    tokens = tokenize(word)
    rows = vectors.rows(tokens)
    return rows if len(rows) == len(tokens) else []


def _vector(vectors: WordVectors, rows: Sequence[int]) -> Matrix:
    """The mean of some words, as a matrix of one row."""
    mean: Matrix = vectors.matrix[rows].mean(axis=0, keepdims=True)
    return mean


def _show(options: argparse.Namespace, found: Mapping[str, _Scored], what: str, by: str, path: str) -> None:
    unknown = [word for word in dict.fromkeys(options.words) if word not in found]
    if options.json:
        words = [
            {"word": word, what: [{"word": other, "score": score} for other, score in scored]}
            for word, scored in found.items()
        ]
        write_json(options.json, {"by": by, "words": words, "unknown": unknown}, options.overwrite)
    if options.json != "-":
        out = console()
        for word, scored in found.items():
            print_table(out, word, ("", by), [(other, f"{score:.4f}") for other, score in scored])
    for word in unknown:
        note(f"{path}: has no vector for {word!r}", options.quiet)
