"""How ``bridge`` learns: translations from pages and a lexicon, vectors of words and phrases that start from these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.parallel import NoPagesError, translated_pages
from isogloss.systems.bridge.features import Phrases, Tables
from isogloss.systems.bridge.options import BridgeOptions
from isogloss.systems.lexicons import fill_languages
from isogloss.text.ids import TextIds
from isogloss.text.normalization import UNSPACED
from isogloss.text.tokenizer import Tokenizer
from isogloss.training.contrastive import SoftmaxAverage
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.model import (
    Floats,
    Numbered,
    Numbers,
    TrainedTranslation,
    TranslationModel,
    train_translation_model,
)

_QUERY_WINDOW, _DOCUMENT_WINDOW = 15, 30
_SHORT = 20  # texts of so many words are taken whole
_PIECES = 3, 4  # letters
_LIKELY = 0.03  # less probable translations have no part in where a word vector starts


def read_lexicon(options: BridgeOptions, query_language: str, document_language: str) -> Lexicon | None:
    """The lexicon that the options name, if any."""
    path = fill_languages(options.lexicon, query_language, document_language)
    return Lexicon.read(Path(path)) if path and "lexicon" not in options.left_out else None


def page_pairs(training: Dataset, options: BridgeOptions) -> Sequence[tuple[str, str]]:
    """The translated pages of the train split; none where there are none."""
    if "pages" in options.left_out or not training.splits.get("train"):
        return []
    try:
        return translated_pages(training)
    except NoPagesError:
        return []


def learn(
    pairs: Sequence[tuple[str, str]], lexicon: Lexicon | None, tokenizers: tuple[Tokenizer, Tokenizer],
    held: Iterable[str], options: BridgeOptions,
) -> tuple[TranslationModel, Tables]:  # fmt: skip
    """A channel and the word vectors that go with it; ``held`` are terms that documents have."""
    left_out = options.left_out
    learned = train_translation_model(pairs, lexicon, tokenizers, held, "unknown" not in left_out)
    start = start_vectors(learned, options.dimension, options.seed)
    texts = windows(learned.queries, learned.documents)
    if "vectors" in left_out or len(texts[0]) < 2 or not options.epochs:
        return learned.model, Tables(*start, *(Phrases(len(table)) for table in start))
    phrases = [Phrases.of(side, len(table)) for side, table in zip(texts, start, strict=True)]
    spelt = [
        spelling(words, len(each))
        for words, each in zip((learned.model.query_words, learned.model.document_words), phrases, strict=True)
    ]
    average = SoftmaxAverage(
        with_rows(start[0], spelt[0]), with_rows(start[1], spelt[1]),
        phrases[0].added_to(texts[0]), phrases[1].added_to(texts[1]),
        drop=0.0, seed=options.seed, spelling=(spelt[0], spelt[1]),
    )  # fmt: skip
    return learned.model, Tables(*average.learn(options.epochs), *phrases)


def spelling(words: Iterable[str], phrases: int) -> TextIds:
    """The rows that the vector of each word, of *unknown* and of each phrase is the sum of: its own, its pieces'.

    Pieces are those that several words have: runs of three and four letters, ends marked, and where words are written
    without spaces characters and pairs of them. So words of one stem, or of parts in common, learn together.
    """
    pieces = [_pieces(word) for word in words]
    counts = Counter(piece for own in pieces for piece in set(own))
    units = len(pieces) + 1 + phrases
    shared = sorted(piece for piece, count in counts.items() if count > 1)
    row_of = {piece: units + number for number, piece in enumerate(shared)}
    rows = [[number, *(row_of[piece] for piece in own if piece in row_of)] for number, own in enumerate(pieces)]
    rows += [[number] for number in range(len(pieces), units)]
    lengths = np.fromiter(map(len, rows), np.int64, units)
    return TextIds(np.fromiter(chain.from_iterable(rows), np.int32), np.append(0, np.cumsum(lengths)))


def _pieces(word: str) -> list[str]:
    if UNSPACED.search(word):
        return [*word, *map("".join, pairwise(word))]
    marked = f"<{word}>"
    return [
        marked[first : first + size]
        for size in _PIECES
        for first in range(len(marked) - size + 1)
        if size < len(marked)
    ]


def with_rows(table: Floats, spelt: TextIds) -> Floats:
    """The table with rows of zeros for all that words and phrases are made of beside words' own rows."""
    more = int(spelt.ids.max()) + 1 - len(table)
    return np.concatenate([table, np.zeros((more, table.shape[1]), np.float32)])


def start_vectors(learned: TrainedTranslation, dimension: int, seed: int) -> tuple[Floats, Floats]:
    """Random vectors of the documents' words; a query word starts at v(w) ~ sum_t g(w, t) v(t), both times their IDF.

    g(w, t) = sqrt(P(w | t) P(t | w)), as in :mod:`isogloss.translation.word_alignment`. Where nothing was learned of *unknown*
    words they have no vector.
    """
    channel = learned.model
    random = np.random.default_rng(seed)
    documents = random.normal(0, dimension**-0.5, (channel.unknown + 1, dimension)).astype(np.float32)
    queries = random.normal(0, 0.3 * dimension**-0.5, (len(channel.offsets) - 1, dimension)).astype(np.float32)
    both = np.sqrt(channel.query_probabilities * channel.document_probabilities)
    likely = both > _LIKELY
    word = np.repeat(np.arange(len(queries)), np.diff(channel.offsets))[likely]
    likelihood, terms = both[likely], channel.terms[likely]
    size = np.sqrt(np.bincount(word, likelihood**2, len(queries)))
    likelihood = (likelihood / size[word]).astype(np.float32)
    starts = np.flatnonzero(np.diff(word, prepend=-1))
    if len(starts):
        queries[word[starts]] = np.add.reduceat(likelihood[:, None] * documents[terms], starts, axis=0)
    queries[-1:] *= channel.query_counts[-1] > 0
    documents[-1:] *= channel.document_counts[-1] > 0
    return (
        queries * _idf(learned.queries, len(queries))[:, None],
        documents * _idf(learned.documents, len(documents))[:, None],
    )


def windows(queries: Numbered, documents: Numbered) -> tuple[TextIds, TextIds]:
    """Stretches of the texts of one side and where, by their place, the other side says the same, and some more."""
    begins: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    lengths = zip(np.diff(queries.offsets).tolist(), np.diff(documents.offsets).tolist(), strict=True)
    starts = zip(queries.offsets.tolist(), documents.offsets.tolist(), strict=False)
    for (query, document), (words, others) in zip(starts, lengths, strict=False):
        if min(words, others) < 3:
            continue
        step = _QUERY_WINDOW if words > _SHORT else words
        for first in range(0, max(1, words - step // 2), step):
            last = min(words, first + step)
            low, high = first * others // words, -(-last * others // words)
            more = max(0, _DOCUMENT_WINDOW - (high - low)) // 2 if others > _DOCUMENT_WINDOW else 0
            begins.append((query + first, document + max(0, low - more)))
            ends.append((query + last, document + min(others, high + more)))
    spans = np.asarray(begins, np.int64).reshape(-1, 2), np.asarray(ends, np.int64).reshape(-1, 2)
    return _cut(queries, spans[0][:, 0], spans[1][:, 0]), _cut(documents, spans[0][:, 1], spans[1][:, 1])


def _cut(texts: Numbered, begins: Numbers, ends: Numbers) -> TextIds:
    lengths = ends - begins
    offsets = np.append(0, np.cumsum(lengths))
    return TextIds(texts.ids[np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)], offsets)


def _idf(texts: Numbered, words: int) -> Floats:
    """ln(1 + (N - n + .5) / (n + .5)), n of N texts having a word."""
    count = len(texts.offsets) - 1
    text = np.repeat(np.arange(count), np.diff(texts.offsets))
    held = np.bincount(np.unique(texts.ids.astype(np.int64) * max(1, count) + text) // max(1, count), minlength=words)
    idf: Floats = np.log1p((count - held + 0.5) / (held + 0.5)).astype(np.float32)
    return idf
