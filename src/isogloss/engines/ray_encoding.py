"""Encoding documents on a Ray cluster: blocks out to workers, vector shards onto disk, and an index of the shards.

    documents ──> blocks ──> workers, one a core ──> shards on disk ──> one mapped matrix ──> index

Documents are streamed, and what is being encoded at any moment is all that is in memory. A shard is written whole or
not at all, so that a job that was killed goes on where it stopped, with the same bytes in the end: blocks are always
the same, and a block is encoded alike wherever that is.

One process encodes all documents in one go instead of block by block. For the average and weighted models that gives
the same bits; encoders that put texts of like length into one batch (cnn, lstm, pretrained) round differently in other
company, in the seventh digit.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from itertools import chain
from pathlib import Path

from isogloss.data.documents import Collection, Document, joined_fields
from isogloss.engines.ray_blocks import QUICK, SLOW, Block, cut
from isogloss.engines.ray_cluster import connected, cpus
from isogloss.engines.ray_encoded import count_words, dense_part, index_encoded, makes_vectors
from isogloss.engines.ray_encoding_pool import EncodingPool
from isogloss.engines.ray_shipping import ShippedSystem, ship
from isogloss.engines.ray_vector_shards import VectorShards
from isogloss.storage.progress import track
from isogloss.systems.base import System

Encode = Callable[[System, Collection, tuple[str, ...]], None]
"""Does what ``System.index`` does."""
_log = logging.getLogger("isogloss")


@contextmanager
def encoding_on_ray(output: Path, block: int | None = None) -> Iterator[Encode]:
    """What encodes on a cluster while an index is made: joined or started when there is work, left at the end.

    Shards are kept beside ``output`` until all has ended well. A system that makes no vectors indexes here.
    """
    folder = output.with_name(f".{output.name}.encoding")

    def encode(system: System, documents: Collection, fields: tuple[str, ...]) -> None:
        if makes_vectors(system):
            stack.enter_context(connected())
            index_on_ray(system, documents, fields, folder / system.document_language, block)
        else:
            _log.warning("%s makes no vectors: its documents are indexed here, not on Ray", system.name)
            system.index(documents, fields)

    with ExitStack() as stack:
        yield encode
    VectorShards(folder, "").remove()


def index_on_ray(
    system: System, documents: Collection, fields: tuple[str, ...], directory: Path, block: int | None = None
) -> None:
    """Do what ``system.index(documents, fields)`` does, encoding on the cluster. ``directory`` keeps the shards."""
    label = f"encoding {len(documents):,} documents"
    shards, paths = encode_on_ray(system, documents, fields, directory, block, label, len(documents))
    system.id_order = documents.id_order
    index_encoded(system, shards.join(paths))


def encode_on_ray(
    system: System, documents: Iterable[Document], fields: tuple[str, ...], directory: Path, block: int | None = None,
    label: str = "encoding", total: int | None = None,
) -> tuple[VectorShards, list[Path]]:  # fmt: skip
    """Encode documents from anywhere, in any number; the shards that hold them, in order.

    They are read twice where a system weighs words by all documents, so a list or the like is needed then. ``block`` is
    how many are encoded at once, by default what suits the system.
    """
    size = block or (QUICK if dense_part(system).is_quick else SLOW)
    paths: list[Path] = []
    with EncodingPool(cpus()) as pool:
        if dense_part(system).weighs:
            _weigh(system, pool, _blocks(documents, fields, size), total)
        shipped = ship(system)
        shards = VectorShards(directory, _name(shipped))
        pool.equip(shipped)
        _encode_missing(pool, _missing(_blocks(documents, fields, size), shards, paths), paths, label, total)
    return shards, paths


def _blocks(documents: Iterable[Document], fields: tuple[str, ...], size: int) -> Iterator[Block]:
    return cut((joined_fields(document, fields) for document in documents), size)


def _missing(blocks: Iterator[Block], shards: VectorShards, paths: list[Path]) -> Iterator[Block]:
    """Blocks that have no shard yet; the paths of all are noted as they pass."""
    for block in blocks:
        paths.append(shards.path(block))
        if not paths[-1].exists():
            yield block


def _encode_missing(
    pool: EncodingPool, missing: Iterator[Block], paths: Sequence[Path], label: str, total: int | None
) -> None:
    first = next(missing, None)
    if first is None:
        return
    sizes: deque[int] = deque()
    done = pool.run("encode", chain([first], missing))
    for block, arrays in track(done, f"{label} on {pool.workers} workers", total, iter(sizes.popleft, None)):
        VectorShards.write(paths[block.number], arrays)
        sizes.append(len(block.texts))


def _weigh(system: System, pool: EncodingPool, blocks: Iterator[Block], total: int | None) -> None:
    """Let the words weigh what all documents say; they are counted on the cluster too."""
    counts, texts = count_words(system, [])
    draft = copy(system)  # the weights of which nobody asks for
    dense_part(draft).weigh(counts, texts)
    pool.equip(ship(draft))
    sizes: deque[int] = deque()
    for block, (more, of_texts) in track(
        pool.run("count_words", blocks), "counting words", total, iter(sizes.popleft, None)
    ):
        counts, texts = counts + more, texts + of_texts
        sizes.append(len(block.texts))
    dense_part(system).weigh(counts, texts)


def _name(shipped: ShippedSystem) -> str:
    """Everything that decides what becomes of a text."""
    return json.dumps([shipped.name, shipped.fingerprint, shipped.pair, dict(shipped.options)], sort_keys=True)
