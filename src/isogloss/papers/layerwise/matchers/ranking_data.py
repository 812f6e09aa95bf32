"""Training data of matchers: vocabularies, (query, positive) pairs, hard negatives, dev lists.

All of it is arrays, which can be saved in one file, to train on a machine that cannot tokenise.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.papers.examples import Examples, RankedLists, graded_examples
from isogloss.papers.initial_vectors import (
    COLLECTION,
    RANDOM,
    SKIP_GRAM,
    collection_vectors,
    known_vectors,
    random_vectors,
    skip_gram_vectors,
    unit_vectors,
    vectors_from,
)
from isogloss.papers.layerwise.matchers.matcher import SIDES
from isogloss.papers.layerwise.triples import Triples
from isogloss.papers.word_vectors.training import query_language_texts
from isogloss.papers.word_vectors.weighted_average import idf, term_statistics
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.retrieval.bm25 import BM25, Concept
from isogloss.retrieval.postings import Postings
from isogloss.retrieval.ranking import top_k
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import save_packed
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.strings import StringTable
from isogloss.systems.lexicons import fill_languages
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.ids import Ids, TextIds, choose_words, in_order, text_ids
from isogloss.translation.translators import open_translator

QueryTexts = Callable[[Sequence[str]], Sequence[str]]
"""The texts that are read instead of the queries: their translations, say."""
_LISTED = ("query_of", "document_of", "grades", "ties")
_NEGATIVES = 40


def listed_examples(dataset: Dataset, split: str, most_queries: int = 0) -> tuple[Examples, int]:
    """The documents to rank for the queries of a split, as ``evaluate`` ranks them, and the grade of relevance.

    They are the candidate lists of the data, or else the judged documents and 40 random others. ``most_queries``: only
    so many, spread over the split (0: all).
    """
    if dataset.source.candidates(dataset.pair, split, Problems(stop_at_errors=False)) is None:
        return graded_examples(dataset, split, _NEGATIVES, 0, most_queries), dataset.judgments.top_grade
    lists = dataset.candidates(split)
    queries = [query for query in dataset.split(split) if query.id in lists]
    if most_queries and len(queries) > most_queries:
        queries = [queries[i] for i in np.linspace(0, len(queries) - 1, most_queries).astype(int)]
    return examples_of(dataset, queries, lists), lists.top_grade


def examples_of(dataset: Dataset, queries: Sequence[Query], lists: Judgments) -> Examples:
    """The lists of some queries: document and label, query by query."""
    row_of = dataset.documents.row_of
    counts = [len(lists[query.id]) for query in queries]
    listed = [(row_of[document], label) for query in queries for document, label in lists[query.id].items()]
    rows, labels = np.asarray(listed, np.int32).reshape(-1, 2).T
    query_of = np.repeat(np.arange(len(queries), dtype=np.int32), counts)
    return Examples(list(queries), query_of, rows.copy(), labels.copy(), np.zeros(len(rows), bool))


def lexical_neighbours(documents: TokenizedTexts, rows: NDArray[np.int32], number: int) -> NDArray[np.int32]:
    """Hard negatives: the ``number`` best other documents of BM25 for the text of each document in ``rows``.

    Rows are filled with -1. The candidate lists of the layer-wise paper come from BM25 in the documents' language, so
    these are negatives of the same kind.
    """
    bm25 = BM25(Postings.build(documents))
    order = np.arange(len(documents))
    found = np.full((len(rows), number), -1, np.int32)
    for i, row in enumerate(track(rows.tolist(), "searching hard negatives")):
        ids = documents.ids[documents.offsets[row] : documents.offsets[row + 1]]
        words, times = np.unique(ids, return_counts=True)
        concepts = [
            Concept(documents.terms[word], ((documents.terms[word], 1.0),), float(count))
            for word, count in zip(words.tolist(), times.tolist(), strict=True)
        ]
        scores = bm25.scores(concepts)
        scores[row] = 0.0
        best = top_k(scores, number, order, above=0.0).rows
        found[i, : len(best)] = best
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """How texts are read: the sizes of vocabularies and texts, and what else is needed.

    ``one_language``: queries and documents have one vocabulary. ``neighbours``: hard negatives of a query. Names of
    vector files may contain ``{pair}``, ``{query}`` and ``{document}``; ``collection`` (for both) means vectors of
    ``vector_dimension`` numbers that are trained on the collection, ``skip-gram`` such of each language for itself,
    ``random`` means none. ``weighted``: words have their IDF as weights, that of the query language from its documents
    where there are any; and words of these that have a vector are known too, not those of train queries alone.
    """

    vocabulary: int = 100_000
    minimum_count: int = 1
    query_words: int = 0
    document_words: int = 0
    one_language: bool = False
    neighbours: int = 0
    dev_queries: int = 0
    query_vectors: str = ""
    document_vectors: str = ""
    vector_dimension: int = 0
    weighted: bool = False


@dataclass(frozen=True)
class RankingData:
    """The vocabularies of both sides (one table if they have one language), the pairs of the train split, dev lists.

    ``neighbours`` has the hard negatives of each query, filled with -1; ``vectors`` the words of a side that have an
    initial vector, and the vectors; ``weights`` those of all words of a side, where they have any.
    """

    words: dict[str, StringTable]
    triples: Triples
    neighbours: Ids
    dev: RankedLists | None
    vectors: dict[str, tuple[NDArray[np.int64], Matrix]] = field(default_factory=dict)
    weights: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    @property
    def one_language(self) -> bool:
        """Whether queries and documents have one vocabulary."""
        return self.words["query"] is self.words["document"]

    def first_tables(self, dimension: int, seed: int) -> tuple[Matrix, Matrix | None]:
        """Initial word vectors, random where there are no others; one table where there is one language."""
        tables = []
        for number, side in enumerate(SIDES[: 2 - self.one_language]):
            table = random_vectors(len(self.words[side]), dimension, (seed, number))
            if side in self.vectors:
                rows, found = self.vectors[side]
                if found.shape[1] != dimension:
                    what = f"the {side} vectors have {found.shape[1]} dimensions, not {dimension}"
                    raise InputError(f"{what}; set dimension to match")
                table[rows] = found
            tables.append(table)
        return tables[0], tables[1] if len(tables) > 1 else None

    def save(self, path: Path, eight_bits: bool = False) -> None:
        """Write one ``.npz`` file; ``eight_bits``: vectors as whole numbers to 127, each with its scale."""
        triples, arrays = self.triples, dict[str, NDArray[Any]]()
        for side in SIDES[: 2 - self.one_language]:
            arrays[f"{side}_words"] = np.asarray(list(self.words[side]), dtype=np.str_)
        arrays |= _as_arrays("queries", triples.queries) | _as_arrays("documents", triples.documents)
        arrays |= {"query_of": triples.query_of, "positive_of": triples.positive_of, "neighbours": self.neighbours}
        if self.dev:
            arrays |= _as_arrays("dev", self.dev.queries)
            arrays |= {f"dev.{name}": getattr(self.dev, name) for name in _LISTED} | {
                "dev.top": np.asarray(self.dev.top)
            }
        for side, (rows, found) in self.vectors.items():
            scale = np.maximum(np.abs(found).max(axis=1, initial=0), 1e-30) / 127 if eight_bits else np.ones(len(rows))
            kept = np.rint(found / scale[:, None]).astype(np.int8) if eight_bits else found
            arrays |= {f"{side}_vectors.rows": rows, f"{side}_vectors": kept}
            arrays |= {f"{side}_vectors.scale": scale.astype(np.float32)}
        arrays |= {f"{side}_weights": weights for side, weights in self.weights.items()}
        save_packed(path, arrays)

    @classmethod
    def load(cls, path: Path) -> RankingData:
        try:
            with np.load(path, allow_pickle=False) as found:
                arrays = dict(found)
            named = [side for side in SIDES if f"{side}_words" in arrays]
            words = {side: StringTable.of(arrays[f"{side}_words"].tolist()) for side in named}
            words.setdefault("document", words["query"])
            texts = _as_texts("queries", arrays), _as_texts("documents", arrays)
            dev = None
            if "dev.grades" in arrays:
                listed = {name: arrays[f"dev.{name}"] for name in _LISTED}
                dev = RankedLists(_as_texts("dev", arrays), **listed, top=int(arrays["dev.top"]))
            triples = Triples(*texts, arrays["query_of"], arrays["positive_of"])
            vectors = {
                side: (
                    arrays[f"{side}_vectors.rows"],
                    arrays[f"{side}_vectors"] * arrays[f"{side}_vectors.scale"][:, None],
                )
                for side in SIDES
                if f"{side}_vectors" in arrays
            }
            weights = {side: arrays[f"{side}_weights"] for side in SIDES if f"{side}_weights" in arrays}
            return cls(words, triples, arrays["neighbours"], dev, vectors, weights)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: is not a file of training data ({error}); prepare it again") from error


def read_ranking_data(dataset: Dataset, reading: Reading, query_texts: QueryTexts = list) -> RankingData:
    """Read the train queries and all documents; choose words; every judged document of grade 1 and up is a positive."""
    examples = graded_examples(dataset, "train", 0, 0)
    relevant = examples.grades > 0
    if not relevant.any():
        what = "no query of the train split has a relevant document"
        raise InputError(f"{dataset.source.name}: {what} for {'-'.join(dataset.pair)}")
    queries, documents, words = _read(
        query_texts([query.text for query in examples.queries]), dataset.documents.texts(("text",)), reading
    )
    spaces = _spaces(dataset, reading)
    if reading.weighted and spaces and not reading.one_language:
        words["query"] = StringTable.of(in_order({*words["query"], *spaces[0].words}))
    triples = Triples(
        text_ids(queries, words["query"], reading.query_words),
        text_ids(documents, words["document"], reading.document_words),
        examples.query_of[relevant],
        examples.document_of[relevant],
    )
    neighbours = np.full((len(triples.queries), reading.neighbours), -1, np.int32)
    if reading.neighbours:  # those of the first positive of each query
        numbers, first = np.unique(triples.query_of, return_index=True)
        neighbours[numbers] = lexical_neighbours(documents, triples.positive_of[first], reading.neighbours)
    dev = None
    if reading.dev_queries and "dev" in dataset.splits:
        dev = read_lists(dataset, "dev", words["query"], reading, query_texts)
    weights = _weights(dataset, documents, words) if reading.weighted else {}
    return RankingData(words, triples, neighbours, dev, _vectors(dataset, reading, words, spaces), weights)


def read_lists(
    dataset: Dataset, split: str, words: Sequence[str], reading: Reading, query_texts: QueryTexts = list
) -> RankedLists | None:
    """The lists to rank for a split's queries, see ``listed_examples``; None where no query is judged."""
    examples, top = listed_examples(dataset, split, reading.dev_queries)
    if not examples.queries:
        return None
    tokenized = tokenize_texts(
        query_texts([query.text for query in examples.queries]), label=f"reading {split} queries"
    )
    ties = dataset.documents.id_order[examples.document_of].astype(np.int32)
    texts = text_ids(tokenized, words, reading.query_words)
    return RankedLists(texts, examples.query_of, examples.document_of, examples.grades, ties, top)


def _read(
    queries: Sequence[str], documents: Sequence[str], reading: Reading
) -> tuple[TokenizedTexts, TokenizedTexts, dict[str, StringTable]]:
    """Both sides, tokenised, and their vocabularies."""
    if reading.one_language:
        both = tokenize_texts([*queries, *documents], label="reading queries and documents")
        parts = _part(both, 0, len(queries)), _part(both, len(queries), len(both))
        return *parts, dict.fromkeys(SIDES, _chosen(both, reading))
    parts = tokenize_texts(queries, label="reading queries"), tokenize_texts(documents, label="reading documents")
    return *parts, {side: _chosen(texts, reading) for side, texts in zip(SIDES, parts, strict=True)}


def _part(texts: TokenizedTexts, first: int, last: int) -> TokenizedTexts:
    begin, end = texts.offsets[first], texts.offsets[last]
    return TokenizedTexts(texts.terms, texts.ids[begin:end], texts.offsets[first : last + 1] - begin)


def _chosen(texts: TokenizedTexts, reading: Reading) -> StringTable:
    return StringTable.of(choose_words(texts, reading.vocabulary, reading.minimum_count))


def _spaces(dataset: Dataset, reading: Reading) -> tuple[WordVectors, WordVectors] | None:
    """Vectors of both languages, where they are trained here; None, with a warning, where there is nothing to align by.

    Skip-gram is what the paper has, so a model that cannot have it is not made with something else instead.
    """
    if reading.query_vectors != reading.document_vectors:
        return None
    if reading.query_vectors == SKIP_GRAM:
        return skip_gram_vectors(dataset, reading.vector_dimension)
    if reading.query_vectors != COLLECTION:
        return None
    try:
        return collection_vectors(dataset, reading.vector_dimension)
    except InputError as error:
        logging.getLogger("isogloss").warning("word vectors start at random: %s", error)
        return None


def _weights(
    dataset: Dataset, documents: TokenizedTexts, words: dict[str, StringTable]
) -> dict[str, NDArray[np.float32]]:
    """The IDF of the words of both sides."""
    found = {"document": _idf(words["document"], documents)}
    one_language = words["query"] is words["document"]
    queries = found["document"] if one_language else _idf(words["query"], query_language_texts(dataset))
    return {"query": queries, **found}


def _idf(words: Sequence[str], texts: TokenizedTexts) -> NDArray[np.float32]:
    number_of = {term: number for number, term in enumerate(texts.terms)}
    holding, _ = term_statistics(texts)
    return idf(np.asarray([holding[number_of[word]] if word in number_of else 0 for word in words]), len(texts))


def _vectors(
    dataset: Dataset, reading: Reading, words: dict[str, StringTable], spaces: tuple[WordVectors, WordVectors] | None
) -> dict[str, tuple[NDArray[np.int64], Matrix]]:
    """Initial vectors, trained here or from files; where there is one language, either file will do."""
    paths = {"query": reading.query_vectors, "document": reading.document_vectors}
    if spaces:
        own = spaces[1:] if reading.one_language else spaces  # the one language is that of the documents
        found = {side: known_vectors(space, words[side]) for side, space in zip(SIDES, own, strict=False)}
    else:
        paths = {side: path for side, path in paths.items() if path not in (RANDOM, COLLECTION, SKIP_GRAM)}
        if reading.one_language:
            paths = {"query": next(filter(None, paths.values()), "")}
        filled = {side: fill_languages(path, *dataset.pair) for side, path in paths.items() if path}
        found = {side: vectors_from(Path(path), words[side]) for side, path in filled.items()}
    return {side: (numbers, unit_vectors(vectors)) for side, (numbers, vectors) in found.items()}


def _as_arrays(name: str, texts: TextIds) -> dict[str, NDArray[Any]]:
    return {f"{name}.ids": texts.ids, f"{name}.offsets": texts.offsets}


def _as_texts(name: str, arrays: dict[str, NDArray[Any]]) -> TextIds:
    return TextIds(arrays[f"{name}.ids"], arrays[f"{name}.offsets"])


def monolingual(training: Dataset) -> Dataset:
    """The same train queries in the documents' language; they have the same ids."""
    language = training.pair[1]
    found = load_dataset(training.source, (language, language), problems=training.problems)
    return replace(found, splits={"train": [query for query in training.splits["train"] if query in found.queries]})


def translated_pairs(training: Dataset, translator: str) -> Dataset:
    """The same dataset, with translations of the train queries of the documents' language (the layer-wise paper).

    So a cross-lingual system can be trained on question-answer pairs of one language. ``translator`` goes from the
    documents' language to that of the queries. Queries of other splits stay, and are in no language trained on.
    """
    query_language, language = training.pair
    found = load_dataset(training.source, (language, language), problems=training.problems)
    others = {query for name, queries in training.splits.items() if name != "train" for query in queries}
    ids = [query for query in found.splits["train"] if query not in others and query in found.judgments]
    if not ids:
        raise InputError(f"{training.source.name}: has no train queries in {language!r} whose answers are known")
    spec = fill_languages(translator, language, query_language)
    texts = open_translator(spec, language, query_language).translate([found.queries[id_].text for id_ in ids], ids)
    kept = {id_: query for id_, query in training.queries.items() if id_ in others}
    made = {id_: Query(id_, text) for id_, text in zip(ids, texts, strict=True)}
    judged = (
        *(each for each in training.judgments if each.query in kept),
        *(each for each in found.judgments if each.query in made),
    )
    judgments = Judgments(judged, found.judgments.top_grade)
    splits = {**training.splits, "train": ids}
    return replace(training, queries={**kept, **made}, judgments=judgments, splits=splits)
