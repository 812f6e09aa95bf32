"""Cross-Lingual ad hoc Semantic Retrieval: the paper's experiment and what goes beyond it.

*Mate retrieval*: every document of the query language searches the collection of the other; it has one mate there. The
paper's MAP is the mean of 1 / rank of the mate, its R-precision the share of mates at rank 1.

*Toy collection*: the paper searched chapters of three novels with words that are typical of one of them (``frodo sam
beast orc blue``) and checked whether the chapters at the first ranks belong to it. Here the query for each article is
its most typical words: those of the English article with the highest TF-IDF that are no stop words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset, load_collection, load_dataset
from isogloss.data.documents import Collection, Document
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.platt import find_mates
from isogloss.data.source import Source
from isogloss.reproduce.figures import draw_lines
from isogloss.reproduce.pages import write_csv
from isogloss.retrieval.postings import Postings
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.systems.aligned import Aligned, AlignedOptions
from isogloss.systems.base import System
from isogloss.systems.registry import make_system
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.vectors.training import VectorTraining, train_vectors
from isogloss.translation.vectors.word_vectors import WordVectors

PAIR_COUNTS = (250, 500, 1000, 2000, 4000, 8000)
WEIGHTS = ("tfidf", "idf")
TOY_LANGUAGES = ("fr", "it", "es", "sw", "tl", "zh")

Table = tuple[str, Sequence[str], Sequence[Sequence[str]], int]
"""Title, header, rows, and how many columns are aligned left."""


class Mates(NamedTuple):
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
    """The pages whose mates the judgments name."""
    sources, targets = find_mates(dataset)
    if not len(sources):
        raise InputError(f"{dataset.source.name}: has no pages with known mates for {'-'.join(dataset.pair)}")
    return Mates(list(sources), np.asarray([dataset.documents.row_of[id_] for id_ in targets.ids]))


def search_mates(system: Aligned, mates: Mates, name: str) -> MateRun:
    """Every document searches with its whole text; equal scores are ordered by id."""
    by_id = np.argsort(system.id_order)
    targets, position = system.document_matrix[by_id], system.id_order[mates.rows]
    best, ranks = [], []
    for start in range(0, len(mates.documents), 256):
        queries = system.encode_queries([document.text for document in mates.documents[start : start + 256]])
        scores = queries @ targets.T
        mine = position[start : start + 256, None]
        right = np.take_along_axis(scores, mine, axis=1)
        before = (scores > right) | ((scores == right) & (np.arange(len(targets)) < mine))
        best.append(by_id[scores.argmax(axis=1)])
        ranks.append(1 + before.sum(axis=1))
    return MateRun(name, np.concatenate(best), np.concatenate(ranks))


def configurations(base: AlignedOptions) -> dict[str, AlignedOptions]:
    """The paper's own settings, all alignments by all weights, and the best."""
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
    """MAP of the paper's map and of Procrustes, trained on more and more pairs."""
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
            with suppress(InputError):  # it has no documents in the language
                texts += load_collection(source, language).texts(("text",))
        train_vectors(texts, how or VectorTraining(window=AlignedOptions.window)).save(path)
    return paths[0], paths[1]


def write_ranked(path: Path, run: MateRun, dataset: Dataset, mates: Mates) -> None:
    """``ranked.csv``: the document, its best match, 1 / rank as a fraction and as a decimal."""
    rows = (
        (document.id, dataset.documents.ids[best], str(Fraction(1, rank)), f"{1 / rank:.6f}")
        for document, best, rank in zip(mates.documents, run.best.tolist(), run.ranks.tolist(), strict=True)
    )
    write_csv(path, ("document", "best_match", "precision_fraction", "precision"), rows)


@dataclass(frozen=True)
class ToyAnswer:
    """A query of typical words, the document found first, and the rank of the right one (0: not found)."""

    query: str
    wanted: str
    found: str
    rank: int


def typical_words(documents: Collection, count: int = 5) -> list[str]:
    """For each document its words with the highest tf ln(N / df), stop words left out, as a query."""
    tokens = tokenize_texts(documents.texts(("text",)), Tokenizer(documents.language, drop_stop_words=True))
    postings = Postings.build(tokens)
    idf = {term: float(np.log(len(documents) / len(postings[term].documents))) for term in tokens.terms}
    counts = (Counter(tokens.text(number)) for number in range(len(tokens)))
    return [" ".join(sorted(each, key=lambda word: (-each[word] * idf[word], word))[:count]) for each in counts]


def search_toy(system: System, sources: Collection, targets: Collection) -> list[ToyAnswer]:
    """Search a fitted and indexed system for the translation of every source document by its typical words."""
    answers = []
    for document, query in zip(sources, typical_words(sources), strict=True):
        wanted = document.translations.get(targets.language, "")
        ids = [targets.ids[row] for row in system.search(query, len(targets)).rows.tolist()]
        answers.append(ToyAnswer(query, wanted, ids[0] if ids else "", ids.index(wanted) + 1 if wanted in ids else 0))
    return answers


def as_table(runs: Mapping[str, MateRun]) -> list[tuple[str, str, str, str]]:
    """Name, MAP, R-precision and the share of mates among the first ten."""
    return [
        (name, f"{run.mean_average_precision:.4f}", f"{run.r_precision:.4f}", f"{float(np.mean(run.ranks <= 10)):.4f}")
        for name, run in runs.items()
    ]


def table(dataset: Dataset, mates: Mates, base: AlignedOptions, output: Path) -> Table:
    """Alignments by weights, the paper's own first; its ``ranked.csv`` and that of the best."""
    runs = {
        name: run_configuration(dataset, mates, options, name)
        for name, options in track(list(configurations(base).items()), "searching mates")
    }
    header, rows = ("configuration", "MAP", "R-precision", "found in the first 10"), as_table(runs)
    write_csv(output / "table.csv", header, rows)
    write_ranked(output / "ranked.csv", runs["paper"], dataset, mates)
    write_ranked(output / "ranked.best.csv", runs["best"], dataset, mates)
    pair = "-".join(dataset.pair)
    title = f"{dataset.source.name} {pair}: {len(mates.documents):,} documents search {len(dataset.documents):,}"
    return title, header, rows, 1


def figure(dataset: Dataset, mates: Mates, base: AlignedOptions, output: Path) -> Table:
    """MAP against the number of word pairs."""
    points = list(track(pair_curves(dataset, mates, base), "MAP by pairs"))
    header = ("configuration", "pairs", "MAP")
    write_csv(output / "map_by_pairs.csv", header, [(name, pairs, f"{value:.4f}") for name, pairs, value in points])
    curves = {
        name: ([p for n, p, _ in points if n == name], [v for n, _, v in points if n == name])
        for name in dict.fromkeys(name for name, _, _ in points)
    }
    draw_lines(output / "map_by_pairs.png", curves, "lexicon pairs", "MAP", "What the matrix gains from more pairs")
    return "MAP against the number of pairs", header, [(n, f"{p:,}", f"{v:.4f}") for n, p, v in points], 1


def toy(dataset: Dataset, mates: Mates, base: AlignedOptions, output: Path) -> Table:
    """Queries of typical words over the bundled collection."""
    source = Demo()
    how = VectorTraining(minimum_count=1, window=AlignedOptions.window)  # the system's own choice here
    rows, shown = [], []
    for language in TOY_LANGUAGES:
        pair_data = load_dataset(source, ("en", language))
        paths = map(str, prepare_vectors(pair_data, output / "vectors" / "toy", how=how))
        vectors = dict(zip(("query_vectors", "document_vectors"), paths, strict=True))
        for method in ("paper", "best"):
            system = make_system("aligned", pair_data.pair, {"method": method, **vectors}, source)
            system.fit(pair_data)
            system.index(pair_data.documents, ("text",))
            answers = search_toy(system, pair_data.source_documents, pair_data.documents)
            rows += [(language, method, a.query, a.wanted, a.found, a.rank) for a in answers]
            first = sum(answer.rank == 1 for answer in answers) / len(answers)
            mean = sum(1 / answer.rank for answer in answers if answer.rank) / len(answers)
            shown.append((language, method, f"{first:.3f}", f"{mean:.3f}"))
    write_csv(output / "toy.csv", ("language", "method", "query", "wanted", "found", "rank"), rows)
    title = "Toy collection: every article searched by its five most typical English words"
    return title, ("language", "method", "found first", "MAP"), shown, 2


ITEMS = {"table": table, "figure": figure, "toy": toy}
