"""Made-up documents of any number, to serve: pseudo-words in topics, with a lexicon and word vectors that fit them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.lines import Location

WORDS, TOPICS, LENGTH, TRANSLATIONS = 20_000, 400, 40, 5
_SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "chu", "tra")
_CHUNK = 10_000


def word(number: int, language: str) -> str:
    """A word of a language; the same number means the same in all of them."""
    text = ""
    for _ in range(4):
        text += _SYLLABLES[number % len(_SYLLABLES)]
        number //= len(_SYLLABLES)
    return f"{text}{'n' if language == 'en' else 'x'}"


class MadeUp(Source):
    """So many documents of forty words: half of their topic's fifty words, half of all words, frequent ones first."""

    format = "made-up"

    def __init__(self, count: int, folder: Path, seed: int = 0) -> None:
        super().__init__(str(count))
        self.count, self.folder, self.seed = count, folder, seed

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        words = [word(number, language) for number in range(WORDS)]
        done = 0
        for numbers in self._texts():
            for row in numbers:
                yield (
                    Location(self.name, done + 1),
                    Document(f"d{done:08}", " ".join(words[n] for n in row), language=language),
                )
                done += 1

    def queries_of(self, count: int) -> list[str]:
        """Queries of three words each, two of one topic."""
        random = np.random.default_rng(self.seed + 1)
        own = random.integers(50, size=(count, 2)) + 50 * random.integers(TOPICS, size=(count, 1))
        numbers = np.hstack([own, _common(random, (count, 1))])
        return [" ".join(word(int(n), "en") for n in row) for row in numbers]

    def lexicon(self, pair: Pair) -> Path | None:
        """Five translations a word, its own first; the others are about as frequent."""
        random = np.random.default_rng(self.seed + 3)
        ranks = np.arange(1, WORDS + 1)[:, None] * 2 ** random.uniform(-1, 1, size=(WORDS, TRANSLATIONS - 1))
        others = np.minimum(ranks, WORDS - 1).astype(int)
        path = self.folder / "words.tsv"
        with open(path, "w", encoding="utf-8") as file:
            for number, row in enumerate(others.tolist()):
                file.writelines(f"{word(number, pair[0])}\t{word(each, pair[1])}\n" for each in (number, *row))
        return path

    def vectors(self, language: str) -> Path:
        """Vectors of the words: those of a topic are near each other."""
        random = np.random.default_rng(self.seed + 2)
        matrix = random.standard_normal((WORDS, 64), dtype=np.float32)
        matrix += np.repeat(random.standard_normal((TOPICS, 64), dtype=np.float32), WORDS // TOPICS, axis=0)
        path = self.folder / f"vectors-{language}"
        WordVectors([word(number, language) for number in range(WORDS)], matrix).save(path, overwrite=True)
        return path

    def _texts(self) -> Iterator[np.ndarray]:
        random = np.random.default_rng(self.seed)
        for start in range(0, self.count, _CHUNK):
            rows = min(_CHUNK, self.count - start)
            own = random.integers(50, size=(rows, LENGTH // 2)) + 50 * random.integers(TOPICS, size=(rows, 1))
            yield np.hstack([own, _common(random, (rows, LENGTH // 2))])


def _common(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Words by Zipf's law."""
    return np.minimum(WORDS * random.random(shape) ** 3, WORDS - 1).astype(int)
