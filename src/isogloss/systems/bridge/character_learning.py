"""How ``bridge`` learns characters: as it learns words, but from texts with a space around every character."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from isogloss.nn.encoders.unit_sums import encode
from isogloss.systems.bridge.characters import Characters, spaced, with_pairs
from isogloss.systems.bridge.features import Phrases, Tables
from isogloss.systems.bridge.learning import spelling, start_vectors, windows, with_rows
from isogloss.systems.bridge.options import BridgeOptions
from isogloss.text.batches import TokenizedTexts
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
from isogloss.translation.word_alignment import align_words

_LEAST = 1e-3  # pairs less probable in both directions are dropped
_MOST_WORDS = 3_000_000  # of a side that are aligned
_WARM = 3  # rounds of learning before texts are compared
_GROUP = 16  # texts that are much alike
_STRETCH = 16_384  # texts among which those much alike are looked for


def written_without_spaces(texts: Sequence[str]) -> bool:
    """Whether most texts have characters of such a script."""
    return sum(UNSPACED.search(text) is not None for text in texts) * 2 > len(texts)


def learn_characters(
    pairs: Sequence[tuple[str, str]], lexicon: Lexicon | None, tokenizers: tuple[Tokenizer, Tokenizer],
    held: Iterable[str], options: BridgeOptions,
) -> Characters | None:  # fmt: skip
    """From the same as words; None where documents have spaces, or there is too little to learn vectors from."""
    if not written_without_spaces([document for _, document in pairs]) or not options.epochs:
        return None
    written = [(query, spaced(document)) for query, document in pairs]
    characters = {character for term in held for character in spaced(term).split()}
    learned = train_translation_model(
        written, _spelt_out(lexicon), tokenizers, characters, "unknown" not in options.left_out
    )
    texts = windows(learned.queries, learned.documents)
    if len(texts[0]) < 2:
        return None
    start = start_vectors(learned, options.dimension, options.seed)
    phrases = [Phrases.of(side, len(table)) for side, table in zip(texts, start, strict=True)]
    names = learned.model.query_words, learned.model.document_words
    spelt = [spelling(words, len(each)) for words, each in zip(names, phrases, strict=True)]
    average = NeighbourAverage(
        with_rows(start[0], spelt[0]), with_rows(start[1], spelt[1]),
        phrases[0].added_to(texts[0]), phrases[1].added_to(texts[1]),
        drop=0.0, seed=options.seed, spelling=(spelt[0], spelt[1]),
    )  # fmt: skip
    return Characters(
        learned.model, _pairs_channel(learned, phrases[1]), Tables(*average.learn(options.epochs), *phrases)
    )


def _spelt_out(lexicon: Lexicon | None) -> Lexicon | None:
    """Translations in characters."""
    if lexicon is None:
        return None
    return Lexicon(
        (" ".join(phrase), spaced(" ".join(translation.phrase)), translation.probability)
        for phrase in lexicon
        for translation in lexicon[phrase]
    )


class NeighbourAverage(SoftmaxAverage):
    """Batches of texts that are much alike: what tells them apart is what there is to learn.

    After some rounds each document goes to the nearest of some that are drawn at random, and groups are learned one
    after the other.
    """

    def order(self, epoch: int) -> Numbers:
        """Groups of texts that are much alike, one after the other."""
        order = super().order(epoch)
        if epoch < _WARM:
            return order
        vectors = encode(self._sides[1].vectors(), self._sides[1].texts)
        stretches = [order[first : first + _STRETCH] for first in range(0, len(order), _STRETCH)]
        return np.concatenate([order[:0], *(_grouped(texts, vectors) for texts in stretches)])


def _grouped(texts: Numbers, vectors: Floats) -> Numbers:
    drawn = vectors[texts[: max(1, len(texts) // _GROUP)]]
    return texts[np.argsort(np.argmax(vectors[texts] @ drawn.T, axis=1), kind="stable")]


def _pairs_channel(learned: TrainedTranslation, phrases: Phrases) -> TranslationModel:
    """Translations of words into characters and pairs, where a pair stands after its first character."""
    channel = learned.model
    documents = _interleaved(learned.documents, phrases)
    names = with_pairs(channel.document_words, phrases)
    step = -(-max(len(learned.queries.ids), len(documents.ids)) // _MOST_WORDS) or 1
    source = _every(learned.queries, step, len(channel.query_words) + 1)
    found = align_words(source, _every(documents, step, len(names) + 1))
    kept = np.maximum(found.forward, found.backward) >= _LEAST
    return TranslationModel(
        channel.query_words, names, np.searchsorted(found.sources[kept], np.arange(len(channel.query_words) + 2)),
        found.targets[kept], found.backward[kept].astype(np.float32), found.forward[kept].astype(np.float32),
        channel.query_counts, np.bincount(documents.ids, minlength=len(names) + 1),
    )  # fmt: skip


def _interleaved(texts: Numbered, phrases: Phrases) -> Numbered:
    places, numbers = phrases.places(TextIds(texts.ids, texts.offsets))
    begins = np.append(0, np.cumsum(np.bincount(places, minlength=len(texts.ids))))
    return Numbered(np.insert(texts.ids, places + 1, numbers), texts.offsets + begins[texts.offsets])


def _every(texts: Numbered, step: int, words: int) -> TokenizedTexts:
    """Every n-th text."""
    taken = np.arange(0, len(texts.offsets) - 1, step)
    of_texts = TextIds(texts.ids, texts.offsets)
    return TokenizedTexts([""] * words, of_texts.words_of(taken), np.append(0, np.cumsum(of_texts.lengths[taken])))
