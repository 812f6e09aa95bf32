"""``aligned``: weighted averages of word vectors, mapped between two languages by a matrix (the ad hoc paper).

    score(q, d) = cos( e(q), e(d) ),  e(.) the weighted average of word vectors (equation 3)

The vectors of query words are multiplied by M, which is fitted on word pairs; by default they are then moved towards
the vectors of their translations (``dictionary_share``).

Documents of both languages are weighted by TF-IDF. A query has no TF-IDF of its own. By default its words have their
IDF. The paper weights a word by its average TF-IDF "between all our collection": ``tfidf`` is the mean over the
query-language documents that hold the word (``method=paper``, a reading in the paper's favour), ``tfidf-all`` the mean
over all of them (its letter). Where the data have weights instead of texts, they replace TF-IDF.

M is fitted, and vectors are read from files or trained on the source's own documents, without judgments. The lexicon is
read, or induced from the translated pages of the train split.

``method=paper`` has the paper's vocabulary too: the words of the documents by frequency without the first 50, the
20,000 that follow, of these no stop words. Words outside of it have no vector when texts are encoded; the matrix is
fitted before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection
from isogloss.papers.adhoc.vocabulary import Vocabulary
from isogloss.papers.word_vectors.alignment import Alignment, AlignmentOptions
from isogloss.papers.word_vectors.files import read_vectors
from isogloss.papers.word_vectors.joint_space import DICTIONARY_SHARE, MATRIX_PAIRS, join_spaces
from isogloss.papers.word_vectors.nearest import WordRetriever
from isogloss.papers.word_vectors.training import SOURCE_WINDOW, count_terms, query_language_texts, train_on_source
from isogloss.papers.word_vectors.weighted_average import (
    WeightedAverage,
    encode_weights,
    idf,
    idf_weights,
    mean_tfidf,
    mean_weights,
    word_statistics,
)
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_checks import check_type
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import load_array, place_of, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.wording import way
from isogloss.systems.base import Contribution, SystemOptions, option
from isogloss.systems.dense import DenseSystem
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.normalization import normalize
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import tokenize
from isogloss.translation.lexicon import Lexicon

PAPER_SETTINGS: dict[str, Any] = {
    "alignment": "pinv", "normalise": False, "centre": False, "pairs": 4000, "query_weights": "tfidf",
    "remove_common": False, "dictionary_share": 0.0, "drop_frequent": 50, "vocabulary": 20_000, "drop_stop_words": True,
}  # fmt: skip
"""The paper's settings."""
_SHOWN = 5
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class AlignedOptions(SystemOptions):
    """Options of ``aligned``."""

    method: str = option("best", "best, or paper: as in the ad hoc paper; files, dimension and window still count")
    lexicon: str = option("", f"{LEXICON_HELP}, or induced")
    query_vectors: str = option("", "word vectors of the query language; default: trained on the source's documents")
    document_vectors: str = option("", "word vectors of the document language; default: trained on the documents")
    alignment: str = option("procrustes", "procrustes, ridge or pinv")
    normalise: bool = option(True, "vectors of unit length before the alignment")
    centre: bool = option(True, "subtract the mean vector before the alignment")
    ridge: float = option(1.0, "lambda of ridge", 1e-9, 1e9)
    pairs: int = option(MATRIX_PAIRS, "number of most frequent word pairs that the matrix is fitted on", 1, 10_000_000)
    query_weights: str = option(
        "idf", "of query words: idf; tfidf: mean TF-IDF over the documents that hold the word; tfidf-all: over all"
    )
    dictionary_share: float = option(
        DICTIONARY_SHARE,
        "share of a query word's vector that comes from the vectors of its translations, not from the matrix",
        0,
        1,
    )
    remove_common: bool = option(False, "subtract the mean vector of all documents, and that of all queries")
    drop_frequent: int = option(0, "so many of the most frequent words of each language are left out", 0, 10_000_000)
    vocabulary: int = option(0, "so many of the next frequent words of each language are kept; 0: all", 0, 10_000_000)
    drop_stop_words: bool = option(False, "leave stop words out of queries and documents")
    dimension: int = option(300, "of vectors that are trained", 1, 4096)
    window: int = option(SOURCE_WINDOW, "neighbours on each side that are counted in training", 1, 100)


class Aligned(DenseSystem):
    """The matrix maps queries into the space of the documents."""

    name = "aligned"
    paper = "Altaweel, Sadova, Barni and Takieddin, Cross-Lingual ad hoc Semantic Retrieval"
    summary = "word vectors of both languages joined by one matrix, TF-IDF weighted texts, cosine"
    options_type = AlignedOptions
    options: AlignedOptions
    learns = True
    is_quick = True
    _document_encoder: WeightedAverage

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        assert isinstance(options, AlignedOptions)
        options.require(self.name, {"method": ("best", "paper"), "query_weights": ("idf", "tfidf", "tfidf-all")})
        s = self.settings = replace(options, **PAPER_SETTINGS) if options.method == "paper" else options
        self._how = AlignmentOptions(s.alignment, s.normalise, s.centre, s.ridge)
        self.alignment: Alignment | None = None
        self._weighed = False

    def fit(self, training: Dataset) -> None:
        """Read or induce a lexicon, read or train vectors, fit the matrix, weight the query words."""
        s, lexicon = self.settings, self._lexicon(training)
        sources, documents = query_language_texts(training), tokenize_texts(training.documents.texts(("text",)))
        weights = training.source_documents.weights if training.documents.weights is not None else None
        texts_to_train_on = (sources, documents) if weights is None else (None, None)
        queries, targets = self._spaces(*texts_to_train_on)
        self._weighed = False
        mapped, targets, self.alignment = join_spaces(
            queries, targets, lexicon, training.pair, query_texts=sources, document_texts=documents,
            options=self._how, matrix_pairs=s.pairs, dictionary_share=s.dictionary_share,
        )  # fmt: skip
        mapped = self._kept(mapped, self.query_language, sources if weights is None else None)
        self._document_vectors = self._kept(targets, self.document_language, documents if weights is None else None)
        over_all = s.query_weights == "tfidf-all"
        if s.query_weights == "idf":
            own = idf_weights(mapped, sources)
        elif weights is None:
            own = mean_tfidf(mapped, sources, over_all)
        else:
            own = mean_weights(mapped, weights, over_all)
        self._query_encoder = WeightedAverage(mapped, own)
        self._query_common = self._common(self._query_encoder.encode_tokens(sources))

    @property
    def spaces(self) -> tuple[WordVectors, WordVectors]:
        """The word vectors of queries and documents, in one space."""
        return self._query_encoder.vectors, self._document_vectors

    def index(self, documents: Collection, fields: tuple[str, ...]) -> None:
        """Documents that have weights are encoded by them; later ones, which are texts, by TF-IDF."""
        if documents.weights is None:
            super().index(documents, fields)
            return
        self.id_order = documents.id_order
        if not self._weighed:
            tokens = tokenize_texts(documents.texts(("text",)))
            self._weigh(word_statistics(self._document_vectors, tokens)[0], len(documents))
        encoded = encode_weights(self._document_vectors, documents.weights)
        if not self._weighed:
            self._document_common = self._common(encoded)
        self.index_vectors(_unit(encoded, self._document_common))

    def index_texts(self, texts: Sequence[str]) -> None:
        tokens = tokenize_texts(texts, label=f"indexing {len(texts):,} documents")
        if not self._weighed:
            self._weigh(word_statistics(self._document_vectors, tokens)[0], len(texts))
        encoded = self._document_encoder.encode_tokens(tokens)
        if not self._weighed:
            self._document_common = self._common(encoded)
        self.index_vectors(_unit(encoded, self._document_common))

    @property
    def weighs(self) -> bool:
        return not self._weighed

    def count_words(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The document frequency of each word."""
        return word_statistics(self._document_vectors, tokenize_texts(texts))[0]

    def weigh(self, counts: NDArray[np.int64], texts: int) -> None:
        if self.settings.remove_common:
            raise InputError("aligned: remove_common needs all documents at once; leave it out, or do without Ray")
        self._weigh(counts, texts)
        self._document_common = np.zeros(self._document_vectors.dimension, dtype=np.float32)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return _unit(self._query_encoder.encode(texts), self._query_common)

    def encode_mates(self, documents: Collection) -> Matrix:
        """All documents of the query language, one row each, by equation (3): w_i is the TF-IDF in the document.

        In contrast to a query, whose words have no TF-IDF of their own. Mates search with these rows.
        """
        vectors = self._query_encoder.vectors
        if documents.weights is not None:
            encoded = encode_weights(vectors, documents.weights)
        else:
            tokens = tokenize_texts(documents.texts(("text",)))
            encoded = WeightedAverage(vectors, idf_weights(vectors, tokens)).encode_tokens(tokens)
        return _unit(encoded, self._common(encoded))

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        return _unit(self._document_encoder.encode(texts), self._document_common)

    def unknown_words(self, query: str) -> list[str]:
        return self._query_encoder.unknown(query)

    def translations(self, query: str) -> list[tuple[str, list[str]]]:
        """The nearest words of the document language to each word of the query."""
        words = [word for word in dict.fromkeys(tokenize(query)) if word in self._query_encoder.vectors]
        if not words:
            return []
        vectors = np.stack([self._query_encoder.vectors[word] for word in words])
        found = self._retriever.nearest_words(vectors, self._document_vectors.words, _SHOWN)
        return [(word, [near for near, _ in nearest]) for word, nearest in zip(words, found, strict=True)]

    def explain_vector(self, query: str, text: str, vector: Matrix, score: float) -> list[Contribution]:
        """The score as a sum over query words: each contributes w_i <v(t_i), e(d)> / (|e(q)| |e(d)|).

        Common vectors that are subtracted have a line of their own.
        """
        encoded = self._query_encoder.encode([query])[0]
        length, vectors = float(np.linalg.norm(encoded)), self._query_encoder.vectors
        known = [word for word in tokenize(query) if word in vectors]
        if not length or not vector.any():
            return []
        rows = vectors.rows(known)
        weights = self._query_encoder.weights[rows] / max(float(self._query_encoder.weights[rows].sum()), 1e-12)
        common = self._query_common
        rest = max(float(np.linalg.norm(encoded / length - common)), 1e-12) if common.any() else 1.0
        parts: dict[str, float] = {}
        for word, weight in zip(known, weights.tolist(), strict=True):
            parts[word] = parts.get(word, 0.0) + weight * float(vectors[word] @ vector) / (length * rest)
        lines = [Contribution(word, self._nearest_in(word, text), score) for word, score in parts.items()]
        if common.any():
            lines.append(Contribution("(common to all queries)", (), -float(common @ vector) / rest))
        return sorted(lines, key=lambda contribution: -contribution.score)

    def _nearest_in(self, word: str, text: str) -> tuple[str, ...]:
        """The words of a text that are nearest to a query word, weighted as in the text."""
        words = [term for term in dict.fromkeys(tokenize(text)) if term in self._document_vectors]
        if not words:
            return ()
        rows = self._document_vectors.rows(words)
        matrix = self._document_vectors.matrix[rows] * self._document_encoder.weights[rows][:, None]
        best = np.argsort(-(matrix @ self._query_encoder.vectors[word]))[:3]
        return tuple(words[i] for i in best)

    @cached_property
    def _retriever(self) -> WordRetriever:
        return WordRetriever(np.asarray(self._document_vectors.matrix))

    def save_shared(self, directory: Path) -> None:
        document = "document", self._document_encoder, self._document_common
        for side, encoder, common in (("query", self._query_encoder, self._query_common), document):
            encoder.vectors.save(directory / side)
            save_array(directory / f"{side}.weights.npy", encoder.weights)
            save_array(directory / f"{side}.common.npy", common)

    def load_shared(self, directory: Path) -> Self:
        """Later documents are weighted by the statistics of those that were indexed first."""
        self._query_encoder, self._query_common = _load_side(directory, "query")
        self._document_encoder, self._document_common = _load_side(directory, "document")
        self._document_vectors = self._document_encoder.vectors
        self._weighed = True
        return self

    def _weigh(self, frequencies: NDArray[np.int64], texts: int) -> None:
        self._document_encoder = WeightedAverage(self._document_vectors, idf(frequencies, texts))

    def _kept(self, vectors: WordVectors, language: str, texts: TokenizedTexts | None) -> WordVectors:
        """The vectors of the words of the vocabulary; data with weights, without ``texts``, have theirs already."""
        s, words = self.settings, set(vectors.words)
        if texts is not None and len(texts.ids) and (s.drop_frequent or s.vocabulary):
            ranked = Vocabulary.from_counts(count_terms(texts)).words[s.drop_frequent :]
            words &= set(ranked[: s.vocabulary or None])
        if s.drop_stop_words:
            words = {word for word in words if normalize(word) not in stop_words(language)}
        if len(words) == len(vectors):
            return vectors
        if not words:
            what = f"no word of the {language!r} texts is left without the {s.drop_frequent} most frequent"
            raise InputError(f"aligned: {what} and the stop words; choose method=best and drop fewer")
        rows = [row for row, word in enumerate(vectors.words) if word in words]
        return WordVectors([vectors.words[row] for row in rows], vectors.matrix[rows])

    def _spaces(
        self, sources: TokenizedTexts | None, documents: TokenizedTexts | None
    ) -> tuple[WordVectors, WordVectors]:
        """The vectors of both languages. Little text gives short vectors: trained ones are cut to the shorter."""
        queries = self._vectors("query_vectors", self.query_language, sources)
        targets = self._vectors("document_vectors", self.document_language, documents)
        least = min(queries.dimension, targets.dimension)
        if not self.settings.query_vectors:
            queries = WordVectors(queries.words, queries.matrix[:, :least])
        if not self.settings.document_vectors:
            targets = WordVectors(targets.words, targets.matrix[:, :least])
        return queries, targets

    def _vectors(self, option: str, language: str, texts: TokenizedTexts | None) -> WordVectors:
        path: str = getattr(self.settings, option)
        if path:
            return read_vectors(Path(fill_languages(path, self.query_language, self.document_language)))
        if texts is None or not len(texts.ids):
            needed = way(f"--set {option}=FILE", f"{option}=FILE")
            raise InputError(f"aligned: no text in {language!r} to train word vectors on; give {needed}")
        return train_on_source(texts, self.settings.dimension, self.settings.window)

    def _lexicon(self, training: Dataset) -> Lexicon:
        if self.settings.lexicon not in ("", INDUCED):
            return Lexicon.read(fill_languages(self.settings.lexicon, self.query_language, self.document_language))
        return induce_from(training, self.name)

    def _common(self, encoded: Matrix) -> Vector:
        """The mean of unit vectors, or zeros where it is not subtracted."""
        if not self.settings.remove_common or not len(encoded):
            return np.zeros(encoded.shape[1], dtype=np.float32)
        return np.asarray(_unit(encoded, np.zeros(encoded.shape[1], np.float32)).mean(axis=0))


def _unit(encoded: Matrix, common: Vector) -> Matrix:
    """Rows of unit length, without the common vector; a text without a known word stays zero."""
    known = encoded.any(axis=1, keepdims=True)
    unit = encoded / np.maximum(np.linalg.norm(encoded, axis=1, keepdims=True), 1e-12)
    if common.any():
        unit -= common
        unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    return np.where(known, unit, np.float32(0))


def _load_side(directory: Path, side: str) -> tuple[WeightedAverage, Vector]:
    vectors = WordVectors.load(directory / side)
    weights, common = (load_array(directory / f"{side}.{name}.npy") for name in ("weights", "common"))
    for array, name, size in ((weights, "weights", len(vectors)), (common, "common", vectors.dimension)):
        check_type(array, array.dtype, place_of(directory / f"{side}.{name}.npy"), size)
    return WeightedAverage(vectors, weights), common
