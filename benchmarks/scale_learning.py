"""Encoding against the number of documents, training against the number of pairs: one process, one thread.

Documents are generated text of 150 words, encoded by the average model of ``smooth`` (64 components) from text to
vectors, block by block. Training is one epoch of the same model: queries of 20 words, documents of 199, batches of 128,
two vocabularies of 100,000 words, ids drawn evenly, which is the worst for the processor's caches.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scale_memory import own_peak
from scale_texts import blocks, made_up_pages, repeated, untrained

from isogloss.nn.losses import make_loss
from isogloss.text.ids import TextIds
from isogloss.training.examples import Pairs
from isogloss.training.word_average.cpu import NumbaAverage

_WORDS, _SIZE, _BATCH, _QUERY, _DOCUMENT = 100_000, 64, 128, 20, 199


def measure_encoding(documents: int) -> dict[str, Any]:
    words, pages = made_up_pages()
    system = untrained("average", words)
    system.encode_documents(pages[:10])
    begun = time.perf_counter()
    for block in blocks(system, lambda: repeated(pages, documents)):
        system.encode_documents(block.texts)
    return {"seconds": time.perf_counter() - begun, "memory": own_peak()}


def measure_training(count: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    queries, documents = (_texts(random, count, length) for length in (_QUERY, _DOCUMENT))
    numbers, grades = np.arange(count, dtype=np.int32), random.integers(3, size=count, dtype=np.int32)
    tables = [random.standard_normal((_WORDS, _SIZE), dtype=np.float32) for _ in range(2)]
    pairs = Pairs(queries, documents, numbers, numbers, grades)
    learner = NumbaAverage(tables[0], tables[1], pairs, make_loss("sosl").compiled(), 1.0, 1.0)
    learner.advance(np.arange(min(count, 3 * _BATCH)), _BATCH, 0.01)
    begun = time.perf_counter()
    learner.advance(np.arange(count), _BATCH, 0.01)
    return {"seconds": time.perf_counter() - begun, "memory": own_peak()}


def _texts(random: np.random.Generator, count: int, length: int) -> TextIds:
    ids = random.integers(_WORDS, size=count * length, dtype=np.int32)
    return TextIds(ids, np.arange(count + 1, dtype=np.int64) * length)
