"""Vectors like those of a real collection: topics of very unequal size, texts that speak of two, and few directions.

    topic t:   centre m_t, popularity ~ 1 / rank^0.8, eight directions B_t of its own, of falling size
    document:  v = (1 - u) m_t + u m_s + B_t z + noise,    u uniform up to a half, s another topic
    query:     a document's v, pushed along its topic's directions and by noise
    both:      scaled by 1 / (|v| + eps), as the smooth cosine does

Centres lie in areas, twenty to each, so that topics have neighbours. The sizes of the noises were chosen so that these
are about as hard to search as passages of real French pages (averages of word vectors): of 1.6 sqrt(n) lists of near
rows, 28 had to be looked into for a recall@10 of .98 at 52,000 real passages and 31 at 105,000; of these vectors 24 at
50,000 and 32 at 200,000. Uniform noise, the usual stuff of benchmarks, has no near neighbours to speak of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_EPS = 0.25
_NOISE, _QUERY_NOISE = 0.25, 0.5
_SPREAD, _QUERY_SPREAD = 0.5, 0.3
_MIX = 0.5
_DIRECTIONS = 8
_ROWS_A_TOPIC, _TOPICS_AN_AREA = 200, 20
_CHUNK = 50_000


class Topics:
    """Topics to draw vectors from."""

    def __init__(self, count: int, dimension: int, random: np.random.Generator) -> None:
        areas = random.standard_normal((max(count // _TOPICS_AN_AREA, 1), dimension), dtype=np.float32)
        self.centres = areas[random.integers(len(areas), size=count)]
        self.centres += np.float32(0.7) * random.standard_normal((count, dimension), dtype=np.float32)
        self.centres *= np.linspace(1.5, 0.5, dimension, dtype=np.float32)  # some components say more than others
        sizes = 1 / np.arange(1, count + 1) ** 0.8
        self.shares = sizes / sizes.sum()
        spread = np.float32(_SPREAD) / np.sqrt(np.arange(1, _DIRECTIONS + 1, dtype=np.float32))
        shape = (_DIRECTIONS, count, dimension)
        self.directions = random.standard_normal(shape, dtype=np.float32) * spread[:, np.newaxis, np.newaxis]
        self.random = random

    def draw(self, count: int) -> NDArray[np.int64]:
        """Topics by their popularity."""
        return self.random.choice(len(self.shares), size=count, p=self.shares)

    def around(self, places: Floats, topics: NDArray[np.int64], noise: float, along: float) -> Floats:
        """Vectors near some places of some topics."""
        drawn = places + np.float32(noise) * self.random.standard_normal(places.shape, dtype=np.float32)
        for directions in self.directions:
            weights = self.random.standard_normal((len(places), 1), dtype=np.float32) * np.float32(along)
            drawn += weights * directions[topics]
        return drawn


def clustered(rows: int, dimension: int, queries: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Document vectors and query vectors."""
    random = np.random.default_rng(seed)
    topics = Topics(max(rows // _ROWS_A_TOPIC, 2), dimension, random)
    topic_of = topics.draw(rows)
    matrix = np.empty((rows, dimension), dtype=np.float32)
    for start in range(0, rows, _CHUNK):
        first = topic_of[start : start + _CHUNK]
        share = np.float32(_MIX) * random.random((len(first), 1), dtype=np.float32)
        places = (1 - share) * topics.centres[first] + share * topics.centres[topics.draw(len(first))]
        matrix[start : start + _CHUNK] = topics.around(places, first, _NOISE, 1.0)
    asked = random.choice(rows, size=queries, replace=False)
    questions = topics.around(matrix[asked], topic_of[asked], _QUERY_NOISE, _QUERY_SPREAD)
    return _scaled(matrix), _scaled(questions)


def _scaled(vectors: Floats) -> Floats:
    for start in range(0, len(vectors), _CHUNK):
        part = vectors[start : start + _CHUNK]
        part /= np.linalg.norm(part, axis=1, keepdims=True) + np.float32(_EPS)
    return vectors
