"""An engine for tests of indexes in stores: the embedded store under names in a folder, and it fails when told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.stores.embedded import EmbeddedStore
from isogloss.stores.opening import ENGINES, Engine
from isogloss.stores.store import Answer, StoreUnavailableError


class KeptStore(EmbeddedStore):
    """``kept:FOLDER``, after "?" anything."""

    additions_left: int | None = None
    """How many batches are taken before one fails, if any does."""
    missing: tuple[str, ...] = ()
    """What is said not to have answered."""
    is_down = False
    open_now = 0

    def __init__(self, url: str, name: str) -> None:
        super().__init__(_folder(url) / name)
        KeptStore.open_now += 1
        self._is_open = True

    @classmethod
    def create(cls, url, dimension, *, name):
        if (_folder(url) / name).exists():
            raise InputError(f"{name}: is there already")
        return cls(url, name)

    @classmethod
    def open(cls, url, *, name):
        if not (_folder(url) / name).exists():
            raise InputError(f"{name}: is not there")
        return cls(url, name)

    def add(self, documents, vectors):
        if self.additions_left is not None:
            if not self.additions_left:
                raise InputError("the engine is full")
            KeptStore.additions_left = self.additions_left - 1
        super().add(documents, vectors)

    def search(self, language, queries, k, filters=None):
        if self.is_down:
            raise StoreUnavailableError("the engine does not answer")
        return [Answer(answer.found, self.missing) for answer in super().search(language, queries, k, filters)]

    def close(self):
        super().close()
        KeptStore.open_now -= self._is_open
        self._is_open = False


@contextmanager
def kept_engine() -> Iterator[type[KeptStore]]:
    """The engine is known from here to the end, where all that was opened has to be closed."""
    ENGINES["kept"] = Engine("tests.stores.kept:KeptStore", "json", "none")
    KeptStore.additions_left, KeptStore.missing, KeptStore.is_down, KeptStore.open_now = None, (), False, 0
    try:
        yield KeptStore
    finally:
        del ENGINES["kept"]


def names_in(folder: Path) -> list[str]:
    """What is kept in a folder."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def _folder(url: str) -> Path:
    return Path(url.partition(":")[2].partition("?")[0])
