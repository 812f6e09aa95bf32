"""Documents and vectors to try stores with, and what an exact search finds among them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.jsonl import Jsonl, write_jsonl
from isogloss.engines.base import EngineHit, IndexEngine, Matrix
from isogloss.storage.errors import InputError
from isogloss.systems.sparse import SparseVector

DIMENSION = 8
HOSTILE = [
    "a", "B", "b", "é", "e\u0301", "ß", "zz", "Z", "Ω", "中文", "🐝", "\u202eid",
    "'; DROP TABLE documents; --", '"', "%",
    "_", "\\", "\\x00", "{}", "a/b?c=d&e#f", "../../etc/passwd", "null", "None", "0", " ", " a", "a ", "a\tb", "a\nb",
    "x" * 700,
]  # fmt: skip


FAULTS = ["width", "nan", "infinite", "count", "twice", "no id", "no language", "unwritable"]
TOPICS = ("tea", "honey", "honeybee", "volcano", "earthquake", "salt", "bread", "butterfly", "desert", "chess")


def few_pages(folder: Path) -> Jsonl:
    """Some of the bundled pages, few enough to fit a system to them in no time: ten in each of three languages."""
    path = folder / "few-pages.jsonl"
    found = (page for language in ("en", "fr", "sw") for _, page in Demo().documents(language, Problems()))
    pages = (replace(page, links=()) for page in found)
    write_jsonl(path, (page for page in pages if page.id.partition("-")[2] in TOPICS), overwrite=True)
    return Jsonl(str(path))


class Opener(Protocol):
    """How a backend is made and reopened."""

    def create(self, dimension: int = DIMENSION, sparse: bool = False) -> IndexEngine:
        """A new and empty store for vectors of so many components (0: none), and for sparse ones if ``sparse``."""
        ...

    def reopen(self, store: IndexEngine) -> IndexEngine:
        """The same store after it was closed, or after its engine was started again."""
        ...


def page(id_: str, language: str = "fr", text: str = "", **fields: object) -> Document:
    return Document(id_, text or f"text of {id_}", language=language, fields=fields)


def unit(place: int, length: float = 1.0) -> Matrix:
    """A vector along one axis, as the only row of a matrix."""
    vector = np.zeros((1, DIMENSION), dtype=np.float32)
    vector[0, place] = length
    return vector


def exact(ids: Sequence[str], vectors: Matrix, query: np.ndarray, k: int) -> list[tuple[str, float]]:
    """What has to be found: all scores, sorted."""
    scores = vectors.astype(np.float64) @ query.astype(np.float64)
    return sorted(zip(ids, scores.tolist(), strict=True), key=lambda found: (-found[1], found[0]))[:k]


def sparse(weights: dict[int, float]) -> SparseVector:
    """A sparse vector of these dimensions."""
    dimensions = np.asarray(sorted(weights), np.uint32)
    return SparseVector(dimensions, np.asarray([weights[int(each)] for each in dimensions], np.float32))


def random_sparse(rng: np.random.Generator, count: int, dimensions: int = 40) -> list[SparseVector]:
    """Sparse vectors of small whole weights, so that sums are exact in any order, and many scores are equal."""
    rows = rng.integers(0, 3, (count, dimensions)) * (rng.random((count, dimensions)) < 0.2)
    spread = (np.arange(dimensions, dtype=np.uint64) * 107_374_182).astype(np.uint32)  # over all 32 bits
    return [sparse({int(spread[place]): float(row[place]) for place in np.flatnonzero(row)}) for row in rows]


def best_points(
    ids: Sequence[str], counts: Sequence[int], scores: np.ndarray, k: int, found: np.ndarray | None = None
) -> list[tuple[str, float]]:
    """What has to be found where documents have so many points each: the best score of each; only what is ``found``."""
    best: dict[str, float] = {}
    owners = [id_ for id_, count in zip(ids, counts, strict=True) for _ in range(count)]
    for place, (id_, score) in enumerate(zip(owners, scores.tolist(), strict=True)):
        if found is None or found[place]:
            best[id_] = max(score, best.get(id_, -np.inf))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


def ids_of(found: Sequence[EngineHit]) -> list[str]:
    return [hit.id for hit in found]


def faulty_batch(fault: str) -> tuple[list[Document], Matrix, type[Exception]]:
    """Documents of two languages with something wrong in the last, their vectors, and what is raised for it."""
    documents = [page("a", text="new"), page("b"), page("c", "it"), page("d")]
    vectors = np.ones((4, DIMENSION), np.float32)
    if fault == "width":
        vectors = vectors[:, 1:]
    elif fault == "count":
        vectors = vectors[1:]
    elif fault in ("nan", "infinite"):
        vectors[3, 2] = np.nan if fault == "nan" else np.inf
    else:
        last = {
            "twice": page("b"),
            "no id": page(""),
            "no language": page("d", ""),
            "unwritable": page("d", odd=object()),
        }
        documents[3] = last[fault]
    return documents, vectors, Exception if fault == "unwritable" else InputError
