"""An index in a store, searched exactly or approximately: what an index in files decides by itself when it is made."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.indexing.reader import open_index
from isogloss.stores.opening import Approximating


def approximate_in_store(path: Path, how: str) -> dict[str, float]:
    """Let a store search approximately (``yes``; ``auto``: where it pays), or exactly (``no``).

    What is given is the recall@10 measured in each language that is searched approximately from now on.
    """
    with closing(open_index(path)) as index:
        if index.store is None:
            what = "its vectors are in files, which decide by themselves"
            raise InputError(f"{path}: {what}; --approximate is for an index in a store")
        if isinstance(index.store, Approximating):
            return index.store.approximate(how)
        if how == "yes":
            assert index.manifest.store is not None
            raise InputError(f"{index.manifest.store.url}: this engine searches exactly; leave --approximate out")
        return {}
