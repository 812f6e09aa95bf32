"""How fast word vectors are read, beside gensim: random vectors, as text and as word2vec's binary format.

python benchmarks/vectors.py                   5,000 words of 100 dimensions
python benchmarks/vectors.py 100000 300        as many and as long as is usual
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from side_by_side import best_times, show

from isogloss.papers.word_vectors.files import read_vectors, write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors


def main(arguments: list[str]) -> None:
    count, dimension = map(int, arguments or ["5000", "100"])
    matrix = np.random.default_rng(0).normal(0, 0.3, (count, dimension)).astype(np.float32)
    vectors = WordVectors([f"word{row}" for row in range(count)], matrix)
    with tempfile.TemporaryDirectory() as directory:
        rounded, exact, binary = (Path(directory, name) for name in ("glove.txt", "vectors.vec", "vectors.bin"))
        write_vectors(WordVectors(vectors.words, matrix.round(5)), f"word2vec:{rounded}")
        write_vectors(vectors, f"word2vec:{exact}")
        write_vectors(vectors, f"binary:{binary}")
        for title, path in (("text, 5 decimals", rounded), ("text, 9 digits", exact), ("binary", binary)):
            ways = {"isogloss read_vectors": partial(read_vectors, path)} | _peers(path)
            times = best_times(ways)
            show(
                f"{title}: {count:,} x {dimension}",
                times,
                count,
                "words",
                "gensim" if "gensim" in ways else next(iter(ways)),
            )


def _peers(path: Path) -> dict[str, Callable[[], object]]:
    peers: dict[str, Callable[[], object]] = {}
    if path.suffix != ".bin":
        peers["numpy.fromstring, no checks"] = partial(_fromstring, path)
    try:
        from gensim.models import KeyedVectors
    except ModuleNotFoundError:
        print("gensim is not installed (extra bench): left out")
    else:
        peers["gensim"] = partial(KeyedVectors.load_word2vec_format, path, binary=path.suffix == ".bin")
    return peers


def _fromstring(path: Path) -> tuple[list[bytes], np.ndarray]:
    words, blocks = [], []
    with open(path, "rb") as file:
        count, dimension = map(int, file.readline().split())
        while lines := file.readlines(1 << 20):
            pairs = [line.partition(b" ") for line in lines]
            words += [word for word, _, _ in pairs]
            blocks.append(np.fromstring(b"".join([rest for _, _, rest in pairs]), dtype=np.float32, sep=" "))
    return words, np.concatenate(blocks).reshape(count, dimension)


if __name__ == "__main__":
    main(sys.argv[1:])
