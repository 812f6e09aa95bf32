"""Training of ``bridge``: the translation models, and the vectors of words, phrases and characters.

The translation model is trained on translated pages and a lexicon (:mod:`isogloss.translation.model`). The vectors
start from its probabilities, and are trained so that a window of a query-language page is nearest to the window of the
translated page at the same relative position (:mod:`isogloss.systems.bridge.contrastive`). The vector of a word is the
sum of its own and of its subwords' vectors. For documents in a script without spaces, the same is trained on texts with
a space around every character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.parallel import NoPagesError, translated_pages
from isogloss.systems.bridge.characters import CharacterModel, spaced, with_bigrams
from isogloss.systems.bridge.contrastive import SoftmaxAverage
from isogloss.systems.bridge.features import Phrases, Tables
from isogloss.systems.bridge.model import BridgeOptions
from isogloss.systems.bridge.text_vectors import encode
from isogloss.systems.glossers import OF_STARTER, lexicon_knowledge
from isogloss.systems.lexicons import fill_languages
from isogloss.text.batches import TokenizedTexts, tokenize_texts
from isogloss.text.compounds import COMPOUNDING, split_compounds
from isogloss.text.ids import TextIds
from isogloss.text.normalization import UNSPACED
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.forms import starter_forms, usual_forms, word_counts
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.model import (
    Compound,
    Floats,
    Knowledge,
    Numbered,
    Numbers,
    TrainedTranslation,
    TranslationModel,
    train_translation_model,
)
from isogloss.translation.starter import WordTable, load_starter
from isogloss.translation.word_alignment import align_words

_QUERY_WINDOW, _DOCUMENT_WINDOW = 15, 30
_SHORT = 20  # texts of so many words are one window
_NGRAMS = 3, 4  # letters
_LIKELY = 0.03  # less probable translations have no part in the start of a word vector
_LEAST = 1e-3  # pairs less probable in both directions are dropped
_MOST_WORDS = 3_000_000  # words of a side that are aligned
_WARM = 3  # epochs before similar texts are grouped
_GROUP = 16  # texts of a group
_BLOCK = 16_384  # texts among which similar ones are searched


def read_knowledge(options: BridgeOptions, tokenizers: tuple[Tokenizer, Tokenizer]) -> list[Knowledge]:
    """What the lexicon that the options name and the starter table tell, where there are such."""
    languages = str(tokenizers[0].language), str(tokenizers[1].language)
    found = []
    path = fill_languages(options.lexicon, *languages)
    if path and "lexicon" not in options.left_out:
        found.append(lexicon_knowledge(Lexicon.read(Path(path)), tokenizers))
    starter = load_starter(*languages) if options.stems and "starter" not in options.left_out else None
    if starter is not None:
        found.append(Knowledge(starter, OF_STARTER, starter_forms(languages[0])))
    return found


def find_compounds(texts: Sequence[str], tokenizer: Tokenizer) -> dict[str, Compound]:
    """The compounds of a collection, in languages that write them as one word: stems to stems of their parts."""
    if tokenizer.language not in COMPOUNDING:
        return {}
    words = tokenize_texts(texts)
    counts = dict(zip(words.terms, np.bincount(words.ids, minlength=len(words.terms)).tolist(), strict=True))
    found = {}
    for word, parts in split_compounds(counts, counts).items():
        (term,) = tokenizer.terms([word])
        stems = tuple(tokenizer.terms(parts))
        if term not in stems:
            found[term] = Compound(stems, min(1.0, counts[word] / max(counts[part] for part in parts)))
    return found


def page_pairs(training: Dataset, options: BridgeOptions) -> Sequence[tuple[str, str]]:
    """The translated pages of the train split and parallel text; none where there are none."""
    if "pages" in options.left_out or not (training.splits.get("train") or training.parallel):
        return []
    try:
        return translated_pages(training)
    except NoPagesError:
        return []


def query_forms(
    pairs: Sequence[tuple[str, str]], knowledge: Sequence[Knowledge], tokenizer: Tokenizer
) -> dict[str, str]:
    """The full forms of terms of the query language: those of the pages, then those of the lexicon and the starter."""
    found: dict[str, str] = {}
    for each in reversed(knowledge):
        found |= each.forms
    return found | usual_forms(word_counts(query for query, _ in pairs), tokenizer)


def train_words(
    pairs: Sequence[tuple[str, str]], knowledge: Sequence[Knowledge], tokenizers: tuple[Tokenizer, Tokenizer],
    options: BridgeOptions, compounds: Mapping[str, Compound],
) -> tuple[TranslationModel, Tables]:  # fmt: skip
    """A translation model and vectors of words."""
    left_out = options.left_out
    trained = train_translation_model(pairs, knowledge, tokenizers, "unknown" not in left_out, compounds)
    texts = windows(trained.queries, trained.documents)
    if "vectors" in left_out or len(texts[0]) < 2 or not options.epochs:
        words = trained.model.query_words, trained.model.document_words
        queries, documents = (np.zeros((len(each) + 1, 1), np.float32) for each in words)
        return trained.model, Tables(queries, documents, Phrases(len(queries)), Phrases(len(documents)))
    return trained.model, _train_vectors(trained, texts, options, SoftmaxAverage)


def train_characters(
    pairs: Sequence[tuple[str, str]], knowledge: Sequence[Knowledge], tokenizers: tuple[Tokenizer, Tokenizer],
    options: BridgeOptions,
) -> CharacterModel | None:  # fmt: skip
    """The same for characters; None where documents have spaces, or there is too little text to train vectors on."""
    if not written_without_spaces([document for _, document in pairs]) or not options.epochs:
        return None
    written = [(query, spaced(document)) for query, document in pairs]
    spelt = [Knowledge(_spelt_out(table), strength) for table, strength, _ in knowledge]
    trained = train_translation_model(written, spelt, tokenizers, "unknown" not in options.left_out)
    texts = windows(trained.queries, trained.documents)
    if len(texts[0]) < 2:
        return None
    tables = _train_vectors(trained, texts, options, NeighbourAverage)
    return CharacterModel(trained.model, _bigram_translation(trained, tables.document_phrases), tables)


def _train_vectors(
    trained: TrainedTranslation, texts: tuple[TextIds, TextIds], options: BridgeOptions, learner: type[SoftmaxAverage]
) -> Tables:
    start = start_vectors(trained, options.dimension, options.seed)
    phrases = [Phrases.of(side, len(table)) for side, table in zip(texts, start, strict=True)]
    names = trained.model.query_words, trained.model.document_words
    counts = trained.model.query_counts, trained.model.document_counts
    queries, documents = (
        spelling(words, seen[:-1] > 0, len(each)) for words, seen, each in zip(names, counts, phrases, strict=True)
    )
    average = learner(
        _with_rows(start[0], queries), _with_rows(start[1], documents),
        phrases[0].added_to(texts[0]), phrases[1].added_to(texts[1]),
        drop=0.0, seed=options.seed, spelling=(queries, documents),
    )  # fmt: skip
    return Tables(*average.learn(options.epochs), *phrases)


def spelling(words: Iterable[str], seen: Iterable[bool], phrases: int) -> TextIds:
    """The rows whose sum is the vector of each word, of *unknown* and of each phrase: its own, and its subwords'.

    Words that are not ``seen`` in the texts have no subwords: those have nothing to learn from. Subwords are character
    n-grams of several words: three and four letters, with the ends marked; of words written without spaces, characters
    and bigrams. So words of one stem, or with parts in common, are trained together.
    """
    subwords = [_subwords(word) if trained else [] for word, trained in zip(words, seen, strict=True)]
    counts = Counter(subword for own in subwords for subword in set(own))
    units = len(subwords) + 1 + phrases
    shared = sorted(subword for subword, count in counts.items() if count > 1)
    row_of = {subword: units + number for number, subword in enumerate(shared)}
    rows = [[number, *(row_of[subword] for subword in own if subword in row_of)] for number, own in enumerate(subwords)]
    rows += [[number] for number in range(len(subwords), units)]
    lengths = np.fromiter(map(len, rows), np.int64, units)
    return TextIds(np.fromiter(chain.from_iterable(rows), np.int32), np.append(0, np.cumsum(lengths)))


def _subwords(word: str) -> list[str]:
    if UNSPACED.search(word):
        return [*word, *map("".join, pairwise(word))]
    marked = f"<{word}>"
    return [
        marked[first : first + size]
        for size in _NGRAMS
        for first in range(len(marked) - size + 1)
        if size < len(marked)
    ]


def _with_rows(table: Floats, spelt: TextIds) -> Floats:
    """The table with rows of zeros for phrases and subwords."""
    more = int(spelt.ids.max()) + 1 - len(table)
    return np.concatenate([table, np.zeros((more, table.shape[1]), np.float32)])


def start_vectors(trained: TrainedTranslation, dimension: int, seed: int) -> tuple[Floats, Floats]:
    """Random vectors of document words; a query word starts at v(w) ~ sum_t g(w, t) v(t); both times their IDF.

    g(w, t) = sqrt(P(w | t) P(t | w)), as in :mod:`isogloss.translation.word_alignment`. *Unknown* has the vector 0
    where the texts have no unknown words.
    """
    translation = trained.model
    random = np.random.default_rng(seed)
    documents = random.normal(0, dimension**-0.5, (translation.unknown + 1, dimension)).astype(np.float32)
    queries = random.normal(0, 0.3 * dimension**-0.5, (len(translation.offsets) - 1, dimension)).astype(np.float32)
    both = np.sqrt(translation.query_probabilities * translation.document_probabilities)
    likely = both > _LIKELY
    word = np.repeat(np.arange(len(queries)), np.diff(translation.offsets))[likely]
    likelihood, terms = both[likely], translation.terms[likely]
    size = np.sqrt(np.bincount(word, likelihood**2, len(queries)))
    likelihood = (likelihood / size[word]).astype(np.float32)
    starts = np.flatnonzero(np.diff(word, prepend=-1))
    if len(starts):
        queries[word[starts]] = np.add.reduceat(likelihood[:, None] * documents[terms], starts, axis=0)
    queries[-1:] *= translation.query_counts[-1] > 0
    documents[-1:] *= translation.document_counts[-1] > 0
    return (
        queries * _idf(trained.queries, len(queries))[:, None],
        documents * _idf(trained.documents, len(documents))[:, None],
    )


def windows(queries: Numbered, documents: Numbered) -> tuple[TextIds, TextIds]:
    """Windows of the texts of one side, and longer windows at the same relative position of the other side."""
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
    """ln(1 + (N - n + .5) / (n + .5)), where n of N texts contain a word."""
    count = len(texts.offsets) - 1
    text = np.repeat(np.arange(count), np.diff(texts.offsets))
    frequency = np.bincount(
        np.unique(texts.ids.astype(np.int64) * max(1, count) + text) // max(1, count), minlength=words
    )
    idf: Floats = np.log1p((count - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    return idf


def written_without_spaces(texts: Sequence[str]) -> bool:
    """Whether most texts have characters of a script without spaces."""
    return sum(UNSPACED.search(text) is not None for text in texts) * 2 > len(texts)


def _spelt_out(table: WordTable) -> WordTable:
    """The table into characters: P(c | w) = sum_t P(t | w) n(c, t) / |t|; P(w | c) as if all words were as common."""
    spelling = [spaced(word).split() for word in table.document_words]
    characters = sorted({c for each in spelling for c in each}, key=lambda c: c.encode("utf-8", "surrogatepass"))
    number_of = {character: number for number, character in enumerate(characters)}
    lengths = np.fromiter(map(len, spelling), np.int64, len(spelling))
    flat = np.fromiter((number_of[c] for each in spelling for c in each), np.int64, int(lengths.sum()))
    starts = np.cumsum(lengths) - lengths
    of_pair = lengths[table.document_numbers]
    pair = np.repeat(np.arange(len(of_pair)), of_pair)
    position = np.arange(len(pair)) - np.repeat(np.cumsum(of_pair) - of_pair, of_pair)
    character = flat[starts[table.document_numbers][pair] + position]
    keys, each = np.unique(
        table.query_numbers[pair].astype(np.int64) * len(characters) + character, return_inverse=True
    )
    queries, documents = np.divmod(keys, max(1, len(characters)))
    joint = np.bincount(each, (table.query_probabilities / np.maximum(1, of_pair))[pair], len(keys))
    sums = np.bincount(queries, joint, len(table.query_words)), np.bincount(documents, joint, len(characters))
    seen = np.bincount(flat, np.repeat(table.document_counts, lengths), len(characters))
    return WordTable(
        table.query_words, characters, queries.astype(np.int32), documents.astype(np.int32),
        (joint / sums[0][queries]).astype(np.float32), (joint / sums[1][documents]).astype(np.float32),
        table.query_counts, seen.astype(np.float32),
    )  # fmt: skip


class NeighbourAverage(SoftmaxAverage):
    """Batches of similar texts, which are hard negatives of each other.

    After some epochs each document joins the nearest of a random sample of documents, and the groups are trained on one
    after the other.
    """

    def order(self, epoch: int) -> Numbers:
        """The order of the texts: groups of similar ones, one after the other."""
        order = super().order(epoch)
        if epoch < _WARM:
            return order
        vectors = encode(self._sides[1].vectors(), self._sides[1].texts)
        blocks = [order[first : first + _BLOCK] for first in range(0, len(order), _BLOCK)]
        return np.concatenate([order[:0], *(_grouped(texts, vectors) for texts in blocks)])


def _grouped(texts: Numbers, vectors: Floats) -> Numbers:
    sample = vectors[texts[: max(1, len(texts) // _GROUP)]]
    return texts[np.argsort(np.argmax(vectors[texts] @ sample.T, axis=1), kind="stable")]


def _bigram_translation(trained: TrainedTranslation, phrases: Phrases) -> TranslationModel:
    """A translation model into characters and bigrams; a bigram follows its first character in the texts."""
    translation = trained.model
    documents = with_bigrams_between(trained.documents, phrases)
    names = with_bigrams(translation.document_words, phrases)
    step = -(-max(len(trained.queries.ids), len(documents.ids)) // _MOST_WORDS) or 1
    source = _every(trained.queries, step, len(translation.query_words) + 1)
    found = align_words(source, _every(documents, step, len(names) + 1))
    kept = np.maximum(found.forward, found.backward) >= _LEAST
    return TranslationModel(
        translation.query_words, names,
        np.searchsorted(found.sources[kept], np.arange(len(translation.query_words) + 2)), found.targets[kept],
        found.backward[kept].astype(np.float32), found.forward[kept].astype(np.float32),
        translation.query_counts, np.bincount(documents.ids, minlength=len(names) + 1),
    )  # fmt: skip


def with_bigrams_between(texts: Numbered, phrases: Phrases) -> Numbered:
    """The texts with each bigram after its first character."""
    positions, numbers = phrases.find(TextIds(texts.ids, texts.offsets))
    begins = np.append(0, np.cumsum(np.bincount(positions, minlength=len(texts.ids))))
    return Numbered(np.insert(texts.ids, positions + 1, numbers), texts.offsets + begins[texts.offsets])


def _every(texts: Numbered, step: int, words: int) -> TokenizedTexts:
    """Every ``step``-th text."""
    taken = np.arange(0, len(texts.offsets) - 1, step)
    of_texts = TextIds(texts.ids, texts.offsets)
    return TokenizedTexts([""] * words, of_texts.words_of(taken), np.append(0, np.cumsum(of_texts.lengths[taken])))
