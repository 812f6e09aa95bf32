"""An engine for tests of indexes in stores: documents and vectors in one file, and it fails when told to."""

import pickle
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from isogloss.engines.base import EngineHit, EngineUnavailableError, Points, checked_points
from isogloss.engines.registry import ENGINES
from isogloss.storage.errors import InputError
from isogloss.systems.sparse import SparseVector


class KeptEngine:
    """``kept:FOLDER``, after "?" anything."""

    additions_left: int | None = None
    """How many batches are taken before one fails, if any does."""
    is_down = False
    open_now = 0

    def __init__(self, url: str, name: str) -> None:
        self._folder = _folder(url) / name
        self._folder.mkdir(parents=True, exist_ok=True)
        KeptEngine.open_now += 1
        self._is_open = True

    @classmethod
    def create(cls, url, dimension, *, name, sparse=False):
        if (_folder(url) / name).exists():
            raise InputError(f"{name}: is there already")
        return cls(url, name)

    @classmethod
    def open(cls, url, *, name):
        if not (_folder(url) / name).exists():
            raise InputError(f"{name}: is not there")
        return cls(url, name)

    def add(self, documents, points):
        if self.additions_left is not None:
            if not self.additions_left:
                raise InputError("the engine is full")
            KeptEngine.additions_left = self.additions_left - 1
        is_sparse = isinstance(points, Points) and points.sparse is not None
        is_dense = not isinstance(points, Points) or points.dense is not None
        points = checked_points(documents, points, None if is_dense else 0, is_sparse)
        added = {
            (page.language, page.id): (
                page,
                points.dense[start:end] if is_dense else [],
                points.sparse[start:end] if is_sparse else [],
            )
            for page, start, end in zip(documents, points.starts, points.starts[1:], strict=False)
        }
        self._write({**self._read(), **added})

    def delete(self, language, ids):
        kept = self._read()
        gone = [kept.pop((language, id_), None) for id_ in set(ids)]
        self._write(kept)
        return len(gone) - gone.count(None)

    def search(self, language, queries, k, filters=None, ids=None):
        if self.is_down:
            raise EngineUnavailableError("the engine does not answer")
        wanted = (filters or {}).items()
        kept = [each for each in self._of(language) if wanted <= each[0].fields.items()]
        kept = [each for each in kept if ids is None or each[0].id in ids]
        found = [sorted((-_score(query, *each[1:]), each[0].id) for each in kept) for query in queries]
        is_sparse = not isinstance(queries, np.ndarray)
        return [[EngineHit(id_, -score) for score, id_ in ranked if score or not is_sparse][:k] for ranked in found]

    def get(self, language, ids):
        kept = self._read()
        return [kept.get((language, id_), (None,))[0] for id_ in ids]

    def documents(self, language):
        return (page for page, *_ in self._of(language))

    def counts(self):
        return dict(Counter(language for language, _ in self._read()))

    def about(self):
        return {"engine": "kept", "search": "exact"}

    def close(self):
        KeptEngine.open_now -= self._is_open
        self._is_open = False

    def drop(self):
        self.close()
        shutil.rmtree(self._folder)

    def _of(self, language):
        return [pair for (spoken, _), pair in self._read().items() if spoken == language]

    def _read(self):
        path = self._folder / "documents"
        return pickle.loads(path.read_bytes()) if path.exists() else {}

    def _write(self, documents):
        (self._folder / "documents").write_bytes(pickle.dumps(documents))


def _score(query, dense, sparse):
    """Of the best point."""
    if isinstance(query, SparseVector):
        return max(vector.product(query) for vector in sparse)
    return float((dense @ query).max())


@contextmanager
def kept_engine() -> Iterator[type[KeptEngine]]:
    """The engine is known from here to the end, where all that was opened has to be closed."""
    ENGINES.core["kept"] = "tests.engines.kept:KeptEngine"
    KeptEngine.additions_left, KeptEngine.is_down, KeptEngine.open_now = None, False, 0
    try:
        yield KeptEngine
    finally:
        del ENGINES.core["kept"]


def names_in(folder: Path) -> list[str]:
    """What is kept in a folder."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def _folder(url: str) -> Path:
    return Path(url.partition(":")[2].partition("?")[0])
