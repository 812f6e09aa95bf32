"""How well tables find the translation of texts they were not made of.

python tools/starter/check.py --work DIR --language xx

Held out are 500 program messages and 500 names of CLDR. Each is asked among 5,000 (messages) or all (names) of its
kind, with BM25 of the document words that translate the query's words (probabilistic structured queries):

    tf(t, d) = sum_w P(w | t) n(w, d),    df(t) = sum_w P(w | t) df(w)
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from build import read_pairs
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from sources import Pair
from tables import make_table

from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.word_tables import WordTable

_ASKED, _AMONG = 500, 5_000
_K1, _B = 1.2, 0.75


def held_out(pairs: Sequence[Pair], source: str) -> list[Pair]:
    """Up to 5,000 pairs of a source with at least three words (names: any), in an order of their own."""
    fewest = 3 if source == "messages" else 1
    some = [pair for pair in pairs if pair.source == source and len(pair.english.split()) >= fewest]
    return sorted(some, key=lambda pair: blake2b(pair.english.encode()).digest())[:_AMONG]


def reciprocal_rank(table: WordTable, pairs: Sequence[Pair], language: str) -> float:
    """The mean reciprocal rank of the first 500 translations among all."""
    english = tokenize_texts([pair.english for pair in pairs[:_ASKED]], Tokenizer("en", stems=True), processes=1)
    other = tokenize_texts([pair.other for pair in pairs], Tokenizer(language, stems=True), processes=1)
    documents = _counts(other, table.document_words)
    queries = _counts(english, table.query_words)
    shape = (len(table.query_words), len(table.document_words))
    translations = csr_matrix((table.query_probabilities, (table.query_numbers, table.document_numbers)), shape)
    lengths = np.diff(other.offsets)
    weight = translations @ np.asarray((documents > 0).sum(0)).ravel()
    idf = np.log(1 + (len(pairs) - weight + 0.5) / (weight + 0.5))
    frequency = (translations @ documents.T).tocoo()
    norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
    value = idf[frequency.row] * frequency.data * (_K1 + 1) / (frequency.data + norm[frequency.col])
    scores = (queries @ csr_matrix((value, (frequency.row, frequency.col)), frequency.shape)).toarray()
    own = scores[np.arange(len(scores)), np.arange(len(scores))][:, None]
    ranks = 1 + (scores > own).sum(1) + ((scores == own).sum(1) - 1) / 2
    return float((1 / ranks).mean())


def _counts(texts: TokenizedTexts, words: list[str]) -> csr_matrix:
    number_of = {word: number for number, word in enumerate(words)}
    numbers = np.asarray([number_of.get(term, len(words)) for term in texts.terms], dtype=np.int64)
    matrix = csr_matrix((np.ones(len(texts.ids)), numbers[texts.ids], texts.offsets), (len(texts), len(words) + 1))
    return matrix[:, : len(words)]


def main() -> None:
    """Build a table without the held-out texts and ask for them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--language", required=True)
    arguments = parser.parse_args()
    pairs = read_pairs(arguments.work / "pairs" / f"{arguments.language}.tsv")
    asked = {source: held_out(pairs, source) for source in ("messages", "cldr")}
    hidden = {text.lower() for some in asked.values() for pair in some[:_ASKED] for text in (pair.english, pair.other)}
    rest = [pair for pair in pairs if pair.english.lower() not in hidden and pair.other.lower() not in hidden]
    table = make_table(rest, arguments.language)
    for source, some in asked.items():
        print(f"{arguments.language} {source}: {reciprocal_rank(table, some, arguments.language):.3f}")


if __name__ == "__main__":
    main()
