"""Indexing documents on a Ray cluster with Ray Data: ``isogloss index … --on ray``.

    documents ──> blocks ──> map_batches on all cores ──> shards on disk ──> one part ──> index

A block is some consecutive documents, always the same ones of the same documents. The cluster indexes each block by
itself (``System.index_texts``, ``System.save_part``); this process writes what comes back into a folder, a shard, and
joins the shards at the end (``System.load_parts``): the files are those of one process, byte for byte. Of a system that
makes vectors a shard has the vectors, which are compressed when all are there.

A shard is named by its number, its model and its texts, and it is renamed into place when it is complete. So a job that
was killed indexes only what has no shard yet, and another model or a changed document never uses an old shard.

One process encodes all documents at once instead of block by block. For average and weighted encoders both give the
same bits; encoders that batch texts of similar length (cnn, lstm, pretrained) differ in the seventh digit.
"""

from __future__ import annotations

import gc
import json
import logging
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document, joined_fields
from isogloss.engines.ray.cluster import connected, import_ray, versions
from isogloss.engines.ray.mapping import aligning_on_ray, map_on_ray
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.checksums import write_checksums
from isogloss.storage.files import atomic_directory
from isogloss.storage.progress import track
from isogloss.systems.base import System
from isogloss.systems.dense import DenseSystem
from isogloss.systems.hybrid import Hybrid
from isogloss.systems.passages import Passages
from isogloss.systems.registry import as_settings, make_system

QUICK, SLOW = 4_096, 256
"""Documents in a block of a quick and of a slow system: Ray's overhead stays small, and a lost block is cheap."""
_CHARACTERS = 4_000_000  # in a block of long documents
_PARTS = 32  # that are joined at a time: each keeps some files open
_log = logging.getLogger("isogloss")

IndexDocuments = Callable[[System, Collection, tuple[str, ...]], None]
"""Does what ``System.index`` does."""
Files = dict[str, NDArray[np.uint8]]


@contextmanager
def indexing_on_ray(output: Path, block: int | None = None) -> Iterator[IndexDocuments]:
    """A function that indexes on a cluster while an index is made; the cluster is joined when there is work.

    Words are aligned there too. Shards stay beside ``output`` until the index is complete.
    """
    folder = output.with_name(f".{output.name}.shards")

    def index(system: System, documents: Collection, fields: tuple[str, ...]) -> None:
        if system.joins and not isinstance(system, Hybrid):  # which has vectors and words
            stack.enter_context(connected())
            index_on_ray(system, documents, fields, folder / system.query_language / system.document_language, block)
        else:
            _log.warning("%s cannot join parts: its documents are indexed here, not on Ray", system.name)
            system.index(documents, fields)

    with ExitStack() as stack, aligning_on_ray():
        yield index
    shutil.rmtree(folder, ignore_errors=True)


def index_on_ray(
    system: System, documents: Collection, fields: tuple[str, ...], directory: Path, block: int | None = None
) -> None:
    """Do what ``system.index(documents, fields)`` does, on the cluster; ``directory`` holds the shards."""
    shards = make_shards(system, documents, fields, directory, block)
    dense = dense_part(system)
    if dense is None:
        system.load_parts(_few(system, shards, directory), documents.id_order)
        return
    arrays = join_arrays(shards, directory)
    system.id_order = documents.id_order
    if isinstance(system, Passages):
        system.take(arrays["counts"], arrays["spans"])
    dense.index_vectors(arrays["vectors"])


def make_shards(
    system: System, documents: Sequence[Document], fields: tuple[str, ...], directory: Path, block: int | None = None
) -> list[Path]:
    """Index documents in blocks of so many, by default what suits the system; their shards, in order."""
    dense, total, directory = dense_part(system), len(documents), directory.absolute()
    size = block or (SLOW if dense and not dense.is_quick else QUICK)

    def blocks() -> Iterator[Block]:
        return cut((joined_fields(document, fields) for document in documents), size)

    if dense and dense.weighs:
        _weigh(system, dense, blocks())
    shipped, shards, missing, sizes = ship(system), list[Path](), deque[Path](), deque[int]()
    directory.mkdir(parents=True, exist_ok=True)

    def without_shard() -> Iterator[bytes]:
        for each in blocks():
            content = each.written()
            shards.append(directory / f"{each.number:06}-{digest(shipped.identity, content)}")
            if not shards[-1].exists():
                missing.append(shards[-1])
                sizes.append(len(each.texts))
                yield content

    made, label = map_on_ray(partial(_make_shard, shipped), without_shard()), f"indexing {total:,} documents on Ray"
    for files in track(made, label, total, iter(sizes.popleft, None)):
        write_shard(missing.popleft(), files)
    return shards


def join_arrays(shards: Sequence[Path], directory: Path) -> dict[str, NDArray[Any]]:
    """The arrays of all shards, one after the other, mapped from files in the directory and never all in memory."""
    joined = {}
    for name in sorted(path.name for path in shards[0].iterdir()):
        parts = [load_array(shard / name) for shard in shards]
        shape = (sum(map(len, parts)), *parts[0].shape[1:])
        whole, start = np.lib.format.open_memmap(directory / name, "w+", parts[0].dtype, shape), 0
        for part in parts:
            whole[start : start + len(part)] = part
            start += len(part)
        whole.flush()
        joined[name.removesuffix(".npy")] = load_array(directory / name)
    return joined


def _few(system: System, shards: Sequence[Path], directory: Path) -> Sequence[Path]:
    """Few parts with the documents of all shards: each part that is mapped keeps some files open."""
    if len(shards) <= _PARTS:
        return shards
    joined = []
    for start in range(0, len(shards), _PARTS):
        joined.append(Path(mkdtemp(prefix="joined-", dir=directory)))
        part = copy(system).load_parts(shards[start : start + _PARTS], np.zeros(0, np.int64))
        part.save_part(joined[-1])
        del part
        gc.collect()  # systems that cache refer to themselves; their files are closed now
    return _few(system, joined, directory)


class Block(NamedTuple):
    """Some consecutive texts, and the block's number."""

    number: int
    texts: list[str]

    def written(self) -> bytes:
        """The texts as JSON."""
        return json.dumps(self.texts, ensure_ascii=False).encode("utf-8", "surrogatepass")


def digest(model: str, texts: bytes) -> str:
    """A hash of the model and the texts."""
    return blake2b(f"{model}\n".encode() + texts, digest_size=12).hexdigest()


def cut(texts: Iterable[str], documents: int = QUICK, characters: int = _CHARACTERS) -> Iterator[Block]:
    """Blocks of so many texts, or of fewer where they are long.

    >>> [block.texts for block in cut("abcde", documents=2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    number, gathered, size = 0, list[str](), 0
    for text in texts:
        gathered.append(text)
        size += len(text)
        if len(gathered) == documents or size >= characters:
            yield Block(number, gathered)
            number, gathered, size = number + 1, [], 0
    if gathered:
        yield Block(number, gathered)


@dataclass(frozen=True)
class ShippedSystem:
    """A system without documents; ``files`` is a reference to its files in Ray's object store.

    Two are equal if they index alike.
    """

    name: str
    pair: tuple[str, str]
    options: Mapping[str, Any] = field(hash=False)
    identity: str
    """Everything that decides what becomes of a text."""
    files: Any = field(compare=False)

    def load(self) -> System:
        """The system, in another process."""
        system = make_system(self.name, self.pair, as_settings(self.options))
        with TemporaryDirectory(prefix="isogloss-") as scratch:
            _write_files(Path(scratch), import_ray().get(self.files))
            return system.load_shared(Path(scratch))


def ship(system: System) -> ShippedSystem:
    """Put a system's shared files into Ray's object store, from where each node fetches them once."""
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        system.save_shared(Path(scratch))
        fingerprint, files = write_checksums(Path(scratch)).hash, _read_files(Path(scratch))
    pair, options = (system.query_language, system.document_language), system.options.without_files()
    identity = json.dumps([system.name, fingerprint, pair, options, versions()], sort_keys=True)
    return ShippedSystem(system.name, pair, options, identity, import_ray().put(files))


@lru_cache(maxsize=1)
def _loaded(shipped: ShippedSystem) -> System:
    """The system, loaded once in each process."""
    return shipped.load()


def _make_shard(shipped: ShippedSystem, texts: bytes) -> bytes:
    """In a process of the cluster: the files of a shard."""
    from safetensors.numpy import save

    with TemporaryDirectory(prefix="isogloss-") as scratch:
        index_block(_loaded(shipped), json.loads(texts), Path(scratch))
        return bytes(save(_read_files(Path(scratch))))


def write_shard(shard: Path, files: bytes) -> None:
    """Write what ``_make_shard`` made; it appears when it is complete."""
    from safetensors.numpy import load

    with atomic_directory(shard) as partial_shard:
        _write_files(partial_shard, load(files))


def index_block(system: System, texts: Sequence[str], folder: Path) -> None:
    """Write the part of some texts into a folder; of a system that makes vectors, these.

    Vectors of passages have the counts and spans of the passages in each document beside them.
    """
    dense = dense_part(system)
    if dense is None:
        system.id_order = np.arange(len(texts))
        system.index_texts(texts)
        system.save_part(folder)
        return
    if isinstance(system, Passages):
        counts, spans, texts = system.cut(texts)
        save_array(folder / "counts.npy", counts)
        save_array(folder / "spans.npy", spans)
    save_array(folder / "vectors.npy", dense.encode_documents(texts))


def _count_words(shipped: ShippedSystem, texts: bytes) -> bytes:
    """In a process of the cluster: how many texts, or passages of texts, have each word; and how many there are."""
    from safetensors.numpy import save

    system, counted = _loaded(shipped), json.loads(texts)
    dense = dense_part(system)
    assert dense is not None
    if isinstance(system, Passages):
        counted = system.cut(counted).passages
    return bytes(save({"counts": dense.count_words(counted), "texts": np.asarray(len(counted))}))


def _weigh(system: System, dense: DenseSystem, blocks: Iterator[Block]) -> None:
    """Weigh words by all documents, for systems that do; the cluster counts the words."""
    from safetensors.numpy import load

    unweighted, counts, texts = copy(system), dense.count_words([]), 0
    inner = dense_part(unweighted)
    assert inner is not None
    inner.weigh(counts, 0)
    found = map_on_ray(partial(_count_words, ship(unweighted)), (block.written() for block in blocks))
    for more in track(map(load, found), "counting words"):
        counts, texts = counts + more["counts"], texts + int(more["texts"])
    dense.weigh(counts, texts)


def _read_files(folder: Path) -> Files:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): np.fromfile(path, dtype=np.uint8) for path in paths}


def _write_files(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content.tofile(path)


def dense_part(system: System) -> DenseSystem | None:
    """The system that makes the vectors, if one does."""
    found = system.inner if isinstance(system, Passages) else system
    return found if isinstance(found, DenseSystem) else None
