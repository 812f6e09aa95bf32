"""Cross-Lingual ad hoc Semantic Retrieval: the paper's experiment and what goes beyond it.

*Mate retrieval*: every document of the query language searches the collection of the other; it has one mate there. The
paper's MAP is the mean of 1 / rank of the mate, its R-precision the share of mates in the first place.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset, load_collection
from isogloss.data.documents import Document
from isogloss.data.readers.platt import find_mates
from isogloss.data.source import Source
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.systems.aligned import Aligned, AlignedOptions
from isogloss.translation.vectors.training import VectorTraining, train_vectors
from isogloss.translation.vectors.word_vectors import WordVectors

PAIR_COUNTS = (250, 500, 1000, 2000, 4000, 8000)
WEIGHTS = ("tfidf", "idf")


@dataclass(frozen=True)
class Mates:
    """Documents of the query language, and the row of each one's mate in the collection."""

    documents: list[Document]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class MateRun:
    """For each document the row of its best match and the rank of its mate."""

    name: str
    best: NDArray[np.int64]
    ranks: NDArray[np.int64]

    @property
    def mean_average_precision(self) -> float:
        r"""MAP = (1/n) sum_i 1 / rank_i (equation 5)."""
        return float(np.mean(1.0 / self.ranks))

    @property
    def r_precision(self) -> float:
        """With one relevant document a query, the share of mates found first."""
        return float(np.mean(self.ranks == 1))


def known_mates(dataset: Dataset) -> Mates:
    """All pages whose mates the judgments show."""
    sources, targets = find_mates(dataset)
    if not len(sources):
        raise InputError(f"{dataset.source.name}: has no pages with known mates for {'-'.join(dataset.pair)}")
    return Mates(list(sources), np.asarray([dataset.documents.row_of[id_] for id_ in targets.ids]))


def search_mates(system: Aligned, mates: Mates, name: str) -> MateRun:
    """Every document searches with its whole text; equal scores are ordered by id."""
    by_id = np.argsort(system.id_order)
    targets, place = system.document_matrix[by_id], system.id_order[mates.rows]
    best, ranks = [], []
    for start in range(0, len(mates.documents), 256):
        queries = system.encode_queries([document.text for document in mates.documents[start : start + 256]])
        scores = queries @ targets.T
        mine = place[start : start + 256, None]
        right = np.take_along_axis(scores, mine, axis=1)
        before = (scores > right) | ((scores == right) & (np.arange(len(targets)) < mine))
        best.append(by_id[scores.argmax(axis=1)])
        ranks.append(1 + before.sum(axis=1))
    return MateRun(name, np.concatenate(best), np.concatenate(ranks))


def configurations(base: AlignedOptions) -> dict[str, AlignedOptions]:
    """The paper's letter, and alignments by weights beside it; last the best."""
    plain = replace(base, method="best", dictionary_share=0.0, remove_common=False)
    made = {"paper": replace(base, method="paper")}
    for method in ("pinv", "ridge", "procrustes"):
        for weights in WEIGHTS:
            made[f"{method}, {weights}"] = replace(plain, alignment=method, query_weights=weights)
    made["procrustes, idf, common removed"] = replace(plain, remove_common=True)
    made["best"] = replace(base, method="best")
    return made


def run_configuration(dataset: Dataset, mates: Mates, options: AlignedOptions, name: str) -> MateRun:
    """Fit, index, search."""
    system = Aligned(options, *dataset.pair)
    system.fit(dataset)
    system.index(dataset.documents, ("text",))
    return search_mates(system, mates, name)


def pair_curves(dataset: Dataset, mates: Mates, base: AlignedOptions) -> Iterator[tuple[str, int, float]]:
    """MAP of the paper's map and of Procrustes, learned from more and more pairs."""
    plain = replace(base, method="best", dictionary_share=0.0)
    for name, options in (
        ("pinv", replace(plain, alignment="pinv", normalise=False, centre=False)),
        ("procrustes", plain),
    ):
        before = 0
        for count in (*PAIR_COUNTS, 10_000_000):
            system = Aligned(replace(options, pairs=count), *dataset.pair)
            system.fit(dataset)
            assert system.alignment is not None
            pairs = system.alignment.pairs + system.alignment.skipped
            if pairs == before:
                break  # the lexicon knows no more
            before = pairs
            system.index(dataset.documents, ("text",))
            yield name, pairs, search_mates(system, mates, name).mean_average_precision


def prepare_vectors(
    dataset: Dataset, directory: Path, more: Sequence[Source] = (), how: VectorTraining | None = None
) -> tuple[Path, Path]:
    """Vectors of both languages from the documents of the data and of other sources; a second run reads them."""
    paths = []
    for language, own in ((dataset.pair[0], dataset.source_documents), (dataset.pair[1], dataset.documents)):
        path = directory / language
        paths.append(path)
        if path.exists():
            WordVectors.load(path)  # a damaged one is an error here, not later
            continue
        texts = own.texts(("text",))
        for source in more:
            texts += _texts_if_any(source, language)
        train_vectors(texts, how or VectorTraining(window=AlignedOptions.window)).save(path)
    return paths[0], paths[1]


def write_ranked(path: Path, run: MateRun, dataset: Dataset, mates: Mates) -> None:
    """``ranked.csv``: the document, its best match, 1 / rank as a fraction and as a decimal."""
    rows = (
        (document.id, dataset.documents.ids[best], str(Fraction(1, rank)), f"{1 / rank:.6f}")
        for document, best, rank in zip(mates.documents, run.best.tolist(), run.ranks.tolist(), strict=True)
    )
    write_csv(path, ("document", "best_match", "precision_fraction", "precision"), rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table as a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with atomic_file(path) as file:
        file.write(text.getvalue())


def as_table(runs: Mapping[str, MateRun]) -> list[tuple[str, str, str, str]]:
    """Name, MAP, R-precision and the share of mates among the first ten."""
    return [
        (name, f"{run.mean_average_precision:.4f}", f"{run.r_precision:.4f}", f"{float(np.mean(run.ranks <= 10)):.4f}")
        for name, run in runs.items()
    ]


def _texts_if_any(source: Source, language: str) -> list[str]:
    try:
        return load_collection(source, language).texts(("text",))
    except InputError:
        return []
