"""Cross-Lingual ad hoc Semantic Retrieval: the paper's experiment and what goes beyond it.

*Mate retrieval*: every document of the query language searches the collection of the other; it has one mate there.
Documents of both languages are encoded by equation (3), with TF-IDF as weights. The paper's MAP is the mean of 1 / rank
of the mate, its R-precision the share of mates at rank 1.

*Queries*: the queries of a split search the collection. The paper weights a query word by its mean TF-IDF in the
documents of its language.

*Toy collection*: the paper searched chapters of three novels with words that are typical of one of them (``frodo sam
beast orc blue``) and checked whether the chapters at the first ranks belong to it. Here the query for each article is
its most typical words: those of the English article with the highest TF-IDF that are no stop words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import isogloss
from isogloss.data.dataset import Dataset, load_collection, load_dataset
from isogloss.data.documents import Collection
from isogloss.data.parallel import translated_pages
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.platt import find_mates
from isogloss.data.source import Source
from isogloss.evaluation.protocols import make_task
from isogloss.reproduce.figures import draw_lines
from isogloss.reproduce.pages import write_csv
from isogloss.retrieval.postings import Postings
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.progress import track
from isogloss.systems.aligned import PAPER_SETTINGS, Aligned, AlignedOptions
from isogloss.systems.base import FILE_OPTIONS, System
from isogloss.systems.evaluate import evaluate_system
from isogloss.systems.lexicons import INDUCED
from isogloss.systems.registry import build_system, make_system
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.vectors.files import read_vectors
from isogloss.translation.vectors.training import VectorTraining, train_vectors
from isogloss.translation.vectors.word_vectors import Matrix, WordVectors

PAIR_COUNTS = (250, 500, 1000, 2000, 4000, 8000)
TOY_LANGUAGES = ("fr", "it", "es", "sw", "tl", "zh")

Table = tuple[str, Sequence[str], Sequence[Sequence[str]], int]
"""Title, header, rows, and how many columns are aligned left."""


class Experiment(NamedTuple):
    """What items are made from; ``split``: whose queries are measured."""

    dataset: Dataset
    base: AlignedOptions
    output: Path
    split: str = "dev"


class Mates(NamedTuple):
    """The rows of pages among the documents of the query language, and those of their mates in the collection."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]


@dataclass(frozen=True)
class MateRun:
    """For each page the row of its best match and the rank of its mate, and the pairs that the matrix was fitted on."""

    options: AlignedOptions
    best: NDArray[np.int64]
    ranks: NDArray[np.int64]
    pairs: int = 0

    @property
    def mean_average_precision(self) -> float:
        r"""MAP = (1/n) sum_i 1 / rank_i (equation 5)."""
        return float(np.mean(1.0 / self.ranks))

    @property
    def r_precision(self) -> float:
        """With one relevant document a query, the share of mates found first."""
        return float(np.mean(self.ranks == 1))

    @property
    def measures(self) -> dict[str, float]:
        """By name."""
        found = float(np.mean(self.ranks <= 10))
        return {"MAP": self.mean_average_precision, "R-precision": self.r_precision, "found in the first 10": found}


def known_mates(dataset: Dataset) -> Mates:
    """The pages whose mates the judgments name."""
    sources, targets = find_mates(dataset)
    if not len(sources):
        raise InputError(f"{dataset.source.name}: has no pages with known mates for {'-'.join(dataset.pair)}")
    ours, theirs = dataset.source_documents.row_of, dataset.documents.row_of
    return Mates(np.asarray([ours[id_] for id_ in sources.ids]), np.asarray([theirs[id_] for id_ in targets.ids]))


def search_mates(
    queries: Matrix, documents: Matrix, id_order: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row of the best match of each query and the rank of its target; equal scores are ordered by id."""
    by_id = np.argsort(id_order)
    sorted_documents, position = documents[by_id], id_order[targets]
    best, ranks = [], []
    for start in range(0, len(queries), 256):
        scores = queries[start : start + 256] @ sorted_documents.T
        mine = position[start : start + 256, None]
        right = np.take_along_axis(scores, mine, axis=1)
        before = (scores > right) | ((scores == right) & (np.arange(len(documents)) < mine))
        best.append(by_id[scores.argmax(axis=1)])
        ranks.append(1 + before.sum(axis=1))
    return np.concatenate(best), np.concatenate(ranks)


def configurations(base: AlignedOptions) -> dict[str, AlignedOptions]:
    """The paper's own settings, without its vocabulary, the alignments one by one, and the best."""
    every_word = {"drop_frequent": 0, "vocabulary": 0, "drop_stop_words": False}
    plain = replace(base, method="best", dictionary_share=0.0, remove_common=False)
    return {
        "paper": replace(base, method="paper"),
        "paper, all words": replace(plain, **{**PAPER_SETTINGS, **every_word}),
        **{method: replace(plain, alignment=method) for method in ("pinv", "ridge", "procrustes")},
        "procrustes, common removed": replace(plain, remove_common=True),
        "best": replace(base, method="best"),
    }


def run_configuration(dataset: Dataset, mates: Mates, options: AlignedOptions) -> MateRun:
    """Fit, index, search."""
    system = Aligned(options, *dataset.pair)
    system.fit(dataset)
    system.index(dataset.documents, ("text",))
    assert system.alignment is not None
    queries = system.encode_mates(dataset.source_documents)[mates.sources]
    found = search_mates(queries, system.document_matrix, system.id_order, mates.targets)
    return MateRun(system.settings, *found, system.alignment.pairs + system.alignment.skipped)


def pair_curves(dataset: Dataset, mates: Mates, base: AlignedOptions) -> Iterator[tuple[str, MateRun]]:
    """The paper's settings and Procrustes, the matrix fitted on more and more pairs."""
    plain = replace(base, method="best", dictionary_share=0.0)
    for name, options in (("paper", replace(plain, **PAPER_SETTINGS)), ("procrustes", plain)):
        before = 0
        for count in (*PAIR_COUNTS, 10_000_000):
            run = run_configuration(dataset, mates, replace(options, pairs=count))
            if run.pairs == before:
                break  # the lexicon knows no more
            before = run.pairs
            yield name, run


def prepare_vectors(
    dataset: Dataset, directory: Path, more: Sequence[Source] = (), how: VectorTraining | None = None,
    ready: tuple[str, str] = ("", ""),
) -> tuple[Path, Path]:  # fmt: skip
    """Vectors of both languages: from ``ready`` files, or trained; a second run reads those that were trained.

    They are trained on the documents of the data, where these are running text, and of other sources.
    """
    paths = []
    for language, own, file in zip(dataset.pair, (dataset.source_documents, dataset.documents), ready, strict=True):
        if file:
            paths.append(_converted(Path(file), directory / "ready" / language))
            continue
        path = directory / language
        paths.append(path)
        if path.exists():
            WordVectors.load(path)  # a damaged one is an error here, not later
            continue
        texts = own.texts(("text",)) if own.weights is None else []
        for source in more:
            with suppress(InputError):  # it has no documents in the language
                texts += load_collection(source, language).texts(("text",))
        if not texts:
            what = f"{dataset.source.name}: has weights of words in {language!r} and no text to train vectors on"
            raise InputError(f"{what}; give --query-vectors and --document-vectors, or --text")
        train_vectors(texts, how or VectorTraining(window=AlignedOptions.window)).save(path)
    first, second = (WordVectors.load(path).dimension for path in paths)
    if first != second and any(ready):
        raise InputError(f"vectors of {first} and of {second} dimensions; Procrustes needs equal ones, choose others")
    return paths[0], paths[1]


def _converted(path: Path, directory: Path) -> Path:
    """Vectors of a file, read once and written as a directory, which is mapped; a directory is used where it is."""
    if path.is_dir():
        WordVectors.load(path)
        return path
    read_vectors(path).save(directory, overwrite=True)
    return directory


def write_ranked(path: Path, run: MateRun, dataset: Dataset, mates: Mates) -> None:
    """``ranked.csv``: the document, its best match, 1 / rank as a fraction and as a decimal."""
    ours, theirs = dataset.source_documents.ids, dataset.documents.ids
    rows = (
        (ours[source], theirs[best], str(Fraction(1, rank)), f"{1 / rank:.6f}")
        for source, best, rank in zip(mates.sources.tolist(), run.best.tolist(), run.ranks.tolist(), strict=True)
    )
    write_csv(path, ("document", "best_match", "precision_fraction", "precision"), rows)


def write_trials(path: Path, dataset: Dataset, base: AlignedOptions, trials: Sequence[Mapping[str, Any]]) -> None:
    """Every trial of an item with its options and measures, and what they have in common: data, and hashes of files."""
    files = {name: Path(value) for name in FILE_OPTIONS if (value := getattr(base, name))}
    there = {name: file / "matrix.npy" if file.is_dir() else file for name, file in files.items()}
    about = {
        "data": dataset.source.name, "pair": "-".join(dataset.pair), "documents": len(dataset.documents),
        "files": {name: {"name": files[name].name, "hash": note_of(file).hash}
                  for name, file in there.items() if file.is_file()},
        "isogloss": isogloss.__version__, "trials": list(trials),
    }  # fmt: skip
    with atomic_file(path) as file:
        file.write(json.dumps(about, indent=1) + "\n")


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


def as_table(runs: Mapping[str, MateRun]) -> list[tuple[str, ...]]:
    """Name, MAP, R-precision and the share of mates among the first ten."""
    return [(name, *(f"{value:.4f}" for value in run.measures.values())) for name, run in runs.items()]


def table(experiment: Experiment) -> Table:
    """The paper's own settings first, others after; its ``ranked.csv`` and that of the best."""
    dataset, mates, output = experiment.dataset, known_mates(experiment.dataset), experiment.output
    runs = {
        name: run_configuration(dataset, mates, options)
        for name, options in track(list(configurations(experiment.base).items()), "searching mates")
    }
    header, rows = ("configuration", "MAP", "R-precision", "found in the first 10"), as_table(runs)
    write_csv(output / "table.csv", header, rows)
    write_ranked(output / "ranked.csv", runs["paper"], dataset, mates)
    write_ranked(output / "ranked.best.csv", runs["best"], dataset, mates)
    write_trials(output / "table.json", dataset, experiment.base, _mate_trials(runs.items()))
    pair = "-".join(dataset.pair)
    title = f"{dataset.source.name} {pair}: {len(mates.sources):,} documents search {len(dataset.documents):,}"
    return title, header, rows, 1


def figure(experiment: Experiment) -> Table:
    """MAP against the number of word pairs."""
    dataset, mates, output = experiment.dataset, known_mates(experiment.dataset), experiment.output
    runs = list(track(pair_curves(dataset, mates, experiment.base), "MAP by pairs"))
    points = [(name, run.pairs, run.mean_average_precision) for name, run in runs]
    header = ("configuration", "pairs", "MAP")
    write_csv(output / "map_by_pairs.csv", header, [(name, pairs, f"{value:.4f}") for name, pairs, value in points])
    write_trials(output / "map_by_pairs.json", dataset, experiment.base, _mate_trials(runs))
    curves = {
        name: ([p for n, p, _ in points if n == name], [v for n, _, v in points if n == name])
        for name in dict.fromkeys(name for name, _, _ in points)
    }
    draw_lines(output / "map_by_pairs.png", curves, "lexicon pairs", "MAP", "What the matrix gains from more pairs")
    return "MAP against the number of pairs", header, [(n, f"{p:,}", f"{v:.4f}") for n, p, v in points], 1


def _mate_trials(runs: Iterable[tuple[str, MateRun]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "documents": len(run.ranks), "pairs": run.pairs, "measures": run.measures,
         "options": run.options.without_files()}
        for name, run in runs
    ]  # fmt: skip


def queries(experiment: Experiment) -> Table:
    """The queries of a split over the whole collection: lexical systems, the paper's, ours."""
    dataset, base = experiment.dataset, experiment.base
    task = make_task(dataset, experiment.split, "full")
    lexical: dict[str, tuple[str, dict[str, str]]] = {"bm25": ("bm25", {})}
    if base.lexicon not in ("", INDUCED):
        lexical |= {name: (name, {"lexicon": base.lexicon}) for name in ("bm25-dict", "psq")}
    if base.lexicon == INDUCED or _has_pages(dataset):
        lexical["psq, induced"] = ("psq", {"lexicon": INDUCED})
    systems = {name: make_system(system, dataset.pair, own, dataset.source) for name, (system, own) in lexical.items()}
    aligned = {
        "aligned, paper": replace(base, method="paper"),
        "aligned, paper, idf": replace(base, method="best", **{**PAPER_SETTINGS, "query_weights": "idf"}),
        "aligned, tfidf": replace(base, method="best", query_weights="tfidf"),
        "aligned": replace(base, method="best"),
    }
    systems |= {name: build_system("aligned", options, dataset.pair) for name, options in aligned.items()}
    results = {name: evaluate_system(system, task, ("text",)) for name, system in track(systems.items(), "queries")}
    shown = ("MRR_mr", "R_mr@10")
    rows = [(name, *(f"{result.means()[measure]:.3f}" for measure in shown)) for name, result in results.items()]
    write_csv(experiment.output / "queries.csv", ("system", *shown), rows)
    trials = [
        {"name": name, "split": experiment.split, "queries": len(task.queries), "measures": result.means(),
         "options": {key: value for key, value in result.options.items() if key not in FILE_OPTIONS}}
        for name, result in results.items()
    ]  # fmt: skip
    write_trials(experiment.output / "queries.json", dataset, base, trials)
    title = f"{dataset.source.name} {'-'.join(dataset.pair)}: {len(task.queries):,} {experiment.split} queries"
    return f"{title} search {len(dataset.documents):,}", ("system", *shown), rows, 1


def _has_pages(dataset: Dataset) -> bool:
    """Whether a lexicon can be induced from translated pages of the train split."""
    try:
        return bool(translated_pages(dataset))
    except InputError:
        return False


def toy(experiment: Experiment) -> Table:
    """Queries of typical words over the bundled collection, with vectors trained on it."""
    source, output = Demo(), experiment.output
    how = VectorTraining(minimum_count=1, window=AlignedOptions.window)  # the system's own choice here
    rows, shown, trials = [], [], []
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
            measures = {"found first": first, "MAP": mean}
            trials.append({"name": method, "language": language, "queries": len(answers), "measures": measures})
    write_csv(output / "toy.csv", ("language", "method", "query", "wanted", "found", "rank"), rows)
    write_trials(output / "toy.json", load_dataset(source, ("en", TOY_LANGUAGES[0])), AlignedOptions(), trials)
    title = "Toy collection: every article searched by its five most typical English words"
    return title, ("language", "method", "found first", "MAP"), shown, 2


ITEMS = {"table": table, "figure": figure, "queries": queries, "toy": toy}
