"""Word vectors by skip-gram with negative sampling (Mikolov et al. 2013), trained by gensim."""

from __future__ import annotations

import numpy as np

from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError, import_extra
from isogloss.text.batches import TokenizedTexts


def skip_gram(
    texts: TokenizedTexts, dimension: int = 300, window: int = 5, minimum_count: int = 3, epochs: int = 5, seed: int = 0
) -> WordVectors:
    """Vectors of the words that occur ``minimum_count`` times, the most frequent first."""
    import_extra("gensim", "papers", "skip-gram")
    from gensim.models import Word2Vec

    if np.bincount(texts.ids).max(initial=0) < minimum_count:
        raise InputError(f"skip-gram: no word of the texts occurs {minimum_count} times; choose other word vectors")
    model = Word2Vec(
        [texts.text(number) for number in range(len(texts))], sg=1, negative=5, vector_size=dimension, window=window,
        min_count=minimum_count, epochs=epochs, seed=seed, workers=1,
    )  # fmt: skip
    return WordVectors(model.wv.index_to_key, model.wv.vectors)
