"""Cross-Lingual ad hoc Semantic Retrieval: the paper's experiment and what goes beyond it.

*Mate retrieval*: every document of the query language searches the collection of the other; it has one mate there.
Documents of both languages are encoded by equation (3), with TF-IDF as weights. The paper's MAP is the mean of 1 / rank
of the mate. It names R-precision and gives no value; here it is the share of mates at rank 1.

*Queries*: the queries of a split search the collection. How their words are weighted: see
``isogloss.papers.adhoc.aligned``.

*Toy collection*: the paper searched chapters of three novels with words that are typical of one of them (``frodo sam
beast orc blue``) and checked whether the chapters at the first ranks belong to it. Here the query for each article is
its most typical words: those of the English article with the highest TF-IDF that are no stop words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
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
from isogloss.data.source import Source
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.significance import compare_systems
from isogloss.papers.adhoc.aligned import PAPER_SETTINGS, Aligned, AlignedOptions
from isogloss.papers.adhoc.tfidf_matrix import find_mates
from isogloss.papers.reproduction.figures import draw_lines
from isogloss.papers.reproduction.pages import write_csv
from isogloss.papers.word_vectors.alignment import METHODS
from isogloss.papers.word_vectors.files import read_vectors
from isogloss.papers.word_vectors.training import VectorTraining, train_on_source, train_on_tokens
from isogloss.papers.word_vectors.weighted_average import term_rows
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.retrieval.postings import Postings
from isogloss.storage.array_types import Matrix
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.progress import track
from isogloss.systems.base import FILE_OPTIONS, System
from isogloss.systems.evaluate import evaluate_system
from isogloss.systems.lexicons import INDUCED
from isogloss.systems.registry import build_system, make_system
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer

PAIR_COUNTS = (250, 500, 1000, 2000, 4000, 8000)
TOY_LANGUAGES = ("fr", "it", "es", "sw", "tl", "zh")
COMPARED = (("aligned", "bm25-dict"), ("psq, induced", "psq"))

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, header, rows."""


class Trial(NamedTuple):
    """A row of an item: its name, its values by column, and the options of its system."""

    name: str
    values: Mapping[str, float]
    options: Mapping[str, Any]


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
    """For each page the row of its best match and the rank of its mate; pairs and words without vectors."""

    options: AlignedOptions
    best: NDArray[np.int64]
    ranks: NDArray[np.int64]
    skipped: Mapping[str, float]

    @property
    def mean_average_precision(self) -> float:
        r"""MAP = (1/n) sum_i 1 / rank_i (equation 5)."""
        return float(np.mean(1.0 / self.ranks))

    @property
    def r_precision(self) -> float:
        """With one relevant document a query, the share of mates found first."""
        return float(np.mean(self.ranks == 1))

    def trial(self, name: str) -> Trial:
        """Its measures, and what was skipped."""
        found = float(np.mean(self.ranks <= 10))
        measures = {"MAP": self.mean_average_precision, "R-precision": self.r_precision, "first 10": found}
        return Trial(name, {**measures, **self.skipped}, self.options.without_files())


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
    """The paper's own settings, what changes them step by step, and the best."""
    best = replace(base, method="best")
    words = {name: PAPER_SETTINGS[name] for name in ("drop_frequent", "vocabulary", "drop_stop_words")}
    paper = replace(best, **PAPER_SETTINGS)
    plain = replace(best, dictionary_share=0.0, remove_common=False)
    return {
        "paper": paper,
        "paper, no limit of words": replace(paper, vocabulary=0),
        "paper, only frequent words dropped": replace(paper, vocabulary=0, drop_stop_words=False),
        "paper, only stop words dropped": replace(paper, vocabulary=0, drop_frequent=0),
        "paper, all words": replace(paper, vocabulary=0, drop_frequent=0, drop_stop_words=False),
        **{method: replace(plain, alignment=method) for method in METHODS},
        "procrustes, raw vectors": replace(plain, normalise=False, centre=False),
        "procrustes, paper's words": replace(plain, **words),
        "procrustes, common removed": replace(plain, remove_common=True),
        "best, paper's words": replace(best, **words),
        "best": best,
    }


def run_configuration(dataset: Dataset, mates: Mates, options: AlignedOptions) -> MateRun:
    """Fit, index, search."""
    system = Aligned(options, *dataset.pair)
    system.fit(dataset)
    system.index(dataset.documents, ("text",))
    queries = system.encode_mates(dataset.source_documents)[mates.sources]
    found = search_mates(queries, system.document_matrix, system.id_order, mates.targets)
    sides = zip(dataset.pair, system.spaces, (dataset.source_documents, dataset.documents), strict=True)
    words = {f"{language} skipped": skipped_words(vectors, side) for language, vectors, side in sides}
    return MateRun(system.settings, *found, {**pairs_of(system), **words})


def pairs_of(system: Aligned) -> dict[str, int]:
    """How many pairs the matrix was to be fitted on, and how many have vectors on both sides."""
    assert system.alignment is not None
    fitted = system.alignment.pairs
    return {"pairs asked": fitted + system.alignment.skipped, "pairs fitted": fitted}


def skipped_words(vectors: WordVectors, documents: Collection | Sequence[str]) -> float:
    """The share of the words of texts or documents that have no vector; where these have weights, of their weights."""
    weights = documents.weights if isinstance(documents, Collection) else None
    if weights is not None:
        rows = term_rows(vectors, weights.vocabulary)[weights.columns]
    else:
        tokens = tokenize_texts(documents.texts(("text",)) if isinstance(documents, Collection) else documents)
        rows = term_rows(vectors, tokens.terms)[tokens.ids]
    return float(np.mean(rows < 0)) if len(rows) else 0.0


def pair_curves(dataset: Dataset, mates: Mates, base: AlignedOptions) -> Iterator[tuple[str, MateRun]]:
    """The paper's settings, the pseudo-inverse of prepared vectors and Procrustes, fitted on more and more pairs."""
    made = configurations(base)
    for name in ("paper", "pinv", "procrustes"):
        before = 0.0
        for count in (*PAIR_COUNTS, 10_000_000):
            run = run_configuration(dataset, mates, replace(made[name], pairs=count))
            if run.skipped["pairs asked"] == before:
                break  # the lexicon knows no more
            before = run.skipped["pairs asked"]
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
        tokens = tokenize_texts(texts)
        vectors = train_on_tokens(tokens, how) if how else train_on_source(tokens, AlignedOptions().dimension)
        vectors.save(path)
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


def publish(
    experiment: Experiment, item: str, title: str, trials: Sequence[Trial], columns: Sequence[str] = (), **more: Any
) -> Table:
    """``ITEM.csv`` and the table with the values of the columns (default: all), ``ITEM.json`` with all and options."""
    header = ("configuration", *(columns or trials[0].values))
    rows = [(trial.name, *(_cell(trial.values.get(column)) for column in header[1:])) for trial in trials]
    write_csv(experiment.output / f"{item}.csv", header, rows)
    kept = [trial._asdict() for trial in trials]
    write_json(experiment.output / f"{item}.json", experiment.dataset, experiment.base, {**more, "trials": kept})
    return title, header, rows


def _cell(value: float | None) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.4f}"


def write_json(path: Path, dataset: Dataset, base: AlignedOptions, content: Mapping[str, Any]) -> None:
    """The content of an item, and what its trials have in common: data, and hashes of files."""
    files = {name: Path(value) for name in FILE_OPTIONS if (value := getattr(base, name))}
    there = {name: file / "matrix.npy" if file.is_dir() else file for name, file in files.items()}
    about = {
        "data": dataset.source.name, "pair": "-".join(dataset.pair), "documents": len(dataset.documents),
        "files": {name: {"name": files[name].name, "hash": note_of(file).hash}
                  for name, file in there.items() if file.is_file()},
        "isogloss": isogloss.__version__, **content,
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


def table(experiment: Experiment) -> Table:
    """The paper's own settings first, others after; its ``ranked.csv`` and that of the best."""
    dataset, mates, output = experiment.dataset, known_mates(experiment.dataset), experiment.output
    runs = {
        name: run_configuration(dataset, mates, options)
        for name, options in track(list(configurations(experiment.base).items()), "searching mates")
    }
    write_ranked(output / "ranked.csv", runs["paper"], dataset, mates)
    write_ranked(output / "ranked.best.csv", runs["best"], dataset, mates)
    title = f"{_searched(dataset, len(mates.sources), 'documents')}; skipped: the share of words without a vector"
    return publish(experiment, "table", title, [run.trial(n) for n, run in runs.items()], pages=len(mates.sources))


def figure(experiment: Experiment) -> Table:
    """MAP against the number of word pairs."""
    dataset, mates = experiment.dataset, known_mates(experiment.dataset)
    trials = [run.trial(name) for name, run in track(pair_curves(dataset, mates, experiment.base), "MAP by pairs")]
    curves: dict[str, tuple[list[float], list[float]]] = {trial.name: ([], []) for trial in trials}
    for trial in trials:
        for numbers, column in zip(curves[trial.name], ("pairs fitted", "MAP"), strict=True):
            numbers.append(trial.values[column])
    labels = {t.values["pairs fitted"]: f"{t.values['pairs fitted']:,}\n({t.values['pairs asked']:,})" for t in trials}
    path = experiment.output / "map_by_pairs.png"
    draw_lines(path, curves, "word pairs fitted (asked for)", "MAP", "What the matrix gains from more pairs", labels)
    columns = ("pairs asked", "pairs fitted", "MAP")
    title = "MAP against the number of pairs"
    return publish(experiment, "map_by_pairs", title, trials, columns, pages=len(mates.sources))


def _searched(dataset: Dataset, count: int, what: str) -> str:
    pair = "-".join(dataset.pair)
    return f"{dataset.source.name} {pair}: {count:,} {what} search {len(dataset.documents):,} documents"


def queries(experiment: Experiment) -> Table:
    """The queries of a split over the whole collection: lexical systems, the paper's, ours."""
    dataset, base = experiment.dataset, replace(experiment.base, method="best")
    task = make_task(dataset, experiment.split, "full")
    lexical: dict[str, tuple[str, dict[str, str]]] = {"bm25": ("bm25", {})}
    if base.lexicon not in ("", INDUCED):
        lexical |= {name: (name, {"lexicon": base.lexicon}) for name in ("bm25-dict", "psq")}
    if pages := _pages(dataset):
        lexical["psq, induced"] = ("psq", {"lexicon": INDUCED})
    systems = {name: make_system(system, dataset.pair, own, dataset.source) for name, (system, own) in lexical.items()}
    made = configurations(base)
    aligned = {
        "aligned, paper": made["paper"],
        "aligned, paper, tfidf-all": replace(made["paper"], query_weights="tfidf-all"),
        "aligned, paper, idf": replace(made["paper"], query_weights="idf"),
        "aligned, paper, all words": made["paper, all words"],
        "aligned, tfidf": replace(base, query_weights="tfidf"),
        "aligned": base,
    }
    systems |= {name: build_system("aligned", options, dataset.pair) for name, options in aligned.items()}
    results, trials, texts = {}, [], [query.text for query in task.queries]
    for name, system in track(systems.items(), "queries"):
        results[name] = evaluate_system(system, task, ("text",))
        values = results[name].means()
        if isinstance(system, Aligned):
            values |= {**pairs_of(system), "words skipped": skipped_words(system.spaces[0], texts)}
        options = {key: value for key, value in results[name].options.items() if key not in FILE_OPTIONS}
        trials.append(Trial(name, values, options))
    compared = [
        asdict(comparison)
        for pair in COMPARED
        if set(pair) <= results.keys()
        for comparison in compare_systems({name: results[name].values for name in pair}, ["MRR_mr"])
    ]
    about = {"split": experiment.split, "queries": len(texts), "translated pages": pages, "comparisons": compared}
    title = _searched(dataset, len(texts), f"{experiment.split} queries")
    columns = ("MRR_mr", "R_mr@10", "pairs asked", "pairs fitted", "words skipped")
    return publish(experiment, "queries", title, trials, columns, **about)


def _pages(dataset: Dataset) -> int:
    """How many translated pages of the train split there are, to induce a lexicon from."""
    try:
        return len(translated_pages(dataset))
    except InputError:
        return 0


def toy(experiment: Experiment) -> Table:
    """Queries of typical words over the bundled collection, with vectors trained on it."""
    source, output = Demo(), experiment.output
    rows, trials = [], []
    for language in TOY_LANGUAGES:
        dataset = load_dataset(source, ("en", language))
        paths = map(str, prepare_vectors(dataset, output / "vectors" / "toy"))
        vectors = dict(zip(("query_vectors", "document_vectors"), paths, strict=True))
        for method in ("paper", "best"):
            system = make_system("aligned", dataset.pair, {"method": method, **vectors}, source)
            assert isinstance(system, Aligned)
            system.fit(dataset)
            system.index(dataset.documents, ("text",))
            answers = search_toy(system, dataset.source_documents, dataset.documents)
            rows += [(language, method, a.query, a.wanted, a.found, a.rank) for a in answers]
            values = {
                "found first": sum(answer.rank == 1 for answer in answers) / len(answers),
                "MAP": sum(1 / answer.rank for answer in answers if answer.rank) / len(answers),
                **pairs_of(system),
                "words skipped": skipped_words(system.spaces[0], [answer.query for answer in answers]),
            }
            trials.append(Trial(f"{language}, {method}", values, system.settings.without_files()))
    write_csv(output / "toy.answers.csv", ("language", "method", "query", "wanted", "found", "rank"), rows)
    title = "Toy collection: every article searched by its five most typical English words"
    bundled = experiment._replace(dataset=load_dataset(source, ("en", TOY_LANGUAGES[0])), base=AlignedOptions())
    return publish(bundled, "toy", title, trials)


ITEMS = {"table": table, "figure": figure, "queries": queries, "toy": toy}
