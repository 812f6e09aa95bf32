"""The sets of ``cold_start.py``: dev queries to measure by, samples of train pages to learn from, lexicons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Query
from isogloss.data.judgments import Judgments
from isogloss.evaluation.protocols import judged_queries
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import read_lines
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.dictionaries import find_dictionaries
from isogloss.translation.starter import load_starter

SPLIT = "dev"
MOST_QUERIES = 400
"""Dev queries of a set; where there are more they are sampled."""
ALL = -1
"""The size that stands for all train pages."""


@dataclass(frozen=True)
class SetName:
    """A set and the language of its documents; queries are English."""

    name: str
    language: str
    titled: bool

    @property
    def label(self) -> str:
        """As tables show it."""
        return f"{self.name} {self.language}"


SETS = tuple(
    SetName(*each)
    for each in (
        ("mdn", "fr", True), ("cppdocs", "es", True), ("lohelp", "de", True), ("lohelp", "fr", True),
        ("bible", "fr", False), ("insuranceqa", "zh", False), ("leetcode", "zh", False),
    )
)  # fmt: skip
"""One language a set; those that are ``titled`` are also asked by titles, and searched in titles."""


@lru_cache(maxsize=2)
def load_set(folder: Path, each: SetName) -> Dataset:
    """The whole set."""
    return load_dataset(f"wikiclir:{folder / each.name}", f"en-{each.language}")


def dev_queries(dataset: Dataset) -> list[Query]:
    """The judged dev queries, or a sample of them: the same in every run."""
    judged = sorted(judged_queries(dataset, SPLIT, dataset.judgments), key=lambda query: query.id)
    order = np.random.default_rng(0).permutation(len(judged))[:MOST_QUERIES]
    return [judged[i] for i in np.sort(order).tolist()]


def with_pages(dataset: Dataset, size: int, seed: int) -> Dataset:
    """The dataset as one who has only so many translated pages sees it; larger samples of a seed hold the smaller ones.

    Other train queries are dropped, with their judgments: their pages are documents like all others.
    """
    train = dataset.splits["train"]
    if size != ALL:
        judged = [query for query in train if query in dataset.judgments]
        order = np.random.default_rng(1000 + seed).permutation(len(judged))[:size]
        train = [judged[i] for i in np.sort(order).tolist()]
    dropped = set(dataset.splits["train"]) - set(train)
    kept = {id_: query for id_, query in dataset.queries.items() if id_ not in dropped}
    judgments = Judgments((line for line in dataset.judgments if line.query in kept), dataset.judgments.top_grade)
    made = replace(dataset, queries=kept, judgments=judgments, splits={"train": train})
    if size:
        with suppress(InputError):  # there are none
            vars(made)["source_documents"] = dataset.source_documents  # read once, not for every sample
    return made


def count_pages(folder: Path, each: SetName) -> int:
    """How many train pages a set has in all, without reading the whole of it."""
    directory = folder / each.name
    judged = {line.partition("\t")[0] for _, line in read_lines(directory / f"en2{each.language}.rel")}
    return sum(line.strip() in judged for _, line in read_lines(directory / "splits" / "en.train"))


def dictionary(each: SetName, folders: Sequence[Path]) -> str:
    """The dictionary of a set, as the option ``lexicon`` takes it."""
    for found in find_dictionaries("en", each.language, folders):
        return found.lexicon
    raise InputError(f"{each.label}: no dictionary; give a folder with --dictionaries")


def starter_lexicon(dataset: Dataset, queries: Iterable[Query], path: Path) -> str:
    """The starter table as a lexicon of words with P(w | t): the words of the set, whose stems the table has."""
    if not path.exists():
        table = load_starter(*dataset.pair)
        if table is None:
            raise InputError(f"starter: there is no table for {'-'.join(dataset.pair)}; install isogloss-starter")
        asked = _words(dataset.pair[0], (f"{query.title} {query.text}" for query in queries))
        found = _words(dataset.pair[1], dataset.documents.texts(("title", "text")))
        rows = zip(table.query_numbers.tolist(), table.document_numbers.tolist(), table.query_probabilities.tolist(),
                   strict=True)  # fmt: skip
        with atomic_file(path, overwrite=True) as file:
            for query, document, probability in rows:
                words = asked.get(table.query_words[query]), found.get(table.document_words[document])
                if all(words):
                    file.write(f"{words[0]}\t{words[1]}\t{min(1.0, probability)!r}\n")
    return str(path)


def _words(language: str, texts: Iterable[str]) -> dict[str, str]:
    """The stems of texts, each with a word that has it."""
    words = list({word for text in texts for word in tokenize(text)})
    return dict(zip(Tokenizer(language, stems=True).terms(words), words, strict=True))
