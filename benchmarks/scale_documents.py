"""Documents of any number, queries, a lexicon and an untrained model, made of the words of the starter table en-fr.

A document has 70 words. A word is drawn by its frequency, P(rank r) ~ 1 / (3 + r), or, one time in three, from the 60
words of the document's topic. A query translates 12 consecutive words of a document: t becomes w with probability
P(w | t) of the table. The first documents are the same whatever their number, and the queries are made of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.files import atomic_file
from isogloss.translation.starter import load_starter
from isogloss.translation.word_tables import WordTable

LENGTH, ASKED, QUERIES = 70, 12, 2_100
_WORDS, _TOPICS, _OF_TOPIC, _SHARE = 40_000, 2_000, 60, 0.35
_CHUNK, _TRANSLATIONS, _DIMENSION = 10_000, 10, 64

Numbers = NDArray[np.int64]


class ScaleDocuments:
    """What is made, in files of a directory; a file that is there is not made again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def documents(self, count: int, first: int = 0) -> Path:
        """JSON lines: ``count`` documents, from number ``first``, a multiple of 10,000 unless it is 0."""
        path = self.directory / (f"documents-{first}-{count}.jsonl" if first else f"documents-{count}.jsonl")
        if not path.exists():
            words, number = np.array(self._table.document_words, dtype=object), first
            with atomic_file(path) as file:
                for chunk in self._chunks(first, first + count):
                    for row in words[chunk]:
                        file.write(f'{{"id": "d{number:08}", "text": "{" ".join(row)}"}}\n')
                        number += 1
        return path

    def queries(self) -> list[tuple[str, str]]:
        """Each query in English, and the French words that it translates."""
        path = self.directory / "queries.tsv"
        if not path.exists():
            with atomic_file(path) as file:
                file.writelines(f"{english}\t{french}\n" for english, french in self._asked())
        lines = path.read_text(encoding="utf-8").splitlines()
        return [(english, french) for english, _, french in (line.partition("\t") for line in lines)]

    def lexicon(self) -> Path:
        """The likeliest translations of every English word, ten at most."""
        path = self.directory / "lexicon.tsv"
        if not path.exists():
            table = self._table
            order = np.lexsort((-table.query_probabilities, table.query_numbers))
            ends = np.searchsorted(table.query_numbers[order], np.arange(len(table.query_words) + 1))
            with atomic_file(path) as file:
                for word, start, end in zip(table.query_words, ends, ends[1:], strict=False):
                    for entry in order[start : min(end, start + _TRANSLATIONS)]:
                        translation = table.document_words[table.document_numbers[entry]]
                        file.write(f"{word}\t{translation}\t{table.query_probabilities[entry]:.5f}\n")
        return path

    def smooth(self) -> Path:
        """``smooth`` with random vectors of all words."""
        from isogloss.papers.smooth.model import SmoothModel, SmoothOptions
        from isogloss.papers.smooth.system import Smooth
        from isogloss.storage.strings import StringTable
        from isogloss.systems.trainable import save_model

        path = self.directory / "smooth"
        if not path.exists():
            words = {"query": sorted(self._table.query_words), "document": sorted(self._table.document_words)}
            random = np.random.default_rng(0)
            tables = {
                f"{side}_table": random.standard_normal((len(each), _DIMENSION), np.float32)
                for side, each in words.items()
            }
            system = Smooth(SmoothOptions(encoder="average", dimension=_DIMENSION), "en", "fr")
            named = {side: StringTable.of(each) for side, each in words.items()}
            system.model = SmoothModel(system.options, named, tables)
            save_model(system, path, {})
        return path

    @cached_property
    def _table(self) -> WordTable:
        table = load_starter("en", "fr")
        if table is None:
            raise SystemExit("starter tables: not installed; pip install isogloss-starter")
        return table

    @cached_property
    def _ranked(self) -> Numbers:
        """The numbers of the most frequent words, of letters alone."""
        words = self._table.document_words
        order = np.argsort(-self._table.document_counts.astype(np.int64), kind="stable").tolist()
        return np.array([number for number in order if words[number].isalpha()][:_WORDS])

    def _chunks(self, first: int, last: int) -> Iterator[Numbers]:
        """The words of documents, 10,000 documents at a time."""
        size = len(self._ranked)
        shares = np.cumsum(1 / (3.0 + np.arange(size)))
        rarer = 1 / (200.0 + np.arange(size))
        topics = np.random.default_rng(0).choice(size, (_TOPICS, _OF_TOPIC), p=rarer / rarer.sum())
        for start in range(first, last, _CHUNK):
            random = np.random.default_rng([1, start])
            shape = _CHUNK, LENGTH
            common = np.minimum(np.searchsorted(shares, random.random(shape) * shares[-1]), size - 1)
            own = topics[random.integers(_TOPICS, size=(_CHUNK, 1)), random.integers(_OF_TOPIC, size=shape)]
            yield self._ranked[np.where(random.random(shape) < _SHARE, own, common)][: last - start]

    def _asked(self) -> Iterator[tuple[str, str]]:
        table, random = self._table, np.random.default_rng(2)
        order = np.argsort(table.document_numbers, kind="stable")
        ends = np.searchsorted(table.document_numbers[order], np.arange(len(table.document_words) + 1))
        texts = next(self._chunks(0, _CHUNK))
        for row in random.choice(len(texts), QUERIES, replace=False):
            start = random.integers(LENGTH - ASKED)
            asked = texts[row][start : start + ASKED]
            english = []
            for number in asked:
                entries = order[ends[number] : ends[number + 1]]
                if len(entries):
                    likely = table.document_probabilities[entries].astype(float)
                    drawn = random.choice(entries, p=likely / likely.sum())
                    english.append(table.query_words[table.query_numbers[drawn]])
            yield " ".join(english), " ".join(table.document_words[number] for number in asked)
