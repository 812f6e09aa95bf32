"""Encoding documents on a Ray cluster with Ray Data: ``isogloss index … --on ray``.

    documents ──> blocks ──> map_batches on all cores ──> shards on disk ──> one mapped matrix ──> index

A block is some consecutive documents, always the same ones of the same documents. The cluster encodes blocks; this
process writes each encoded block into a file, a shard, as it arrives. A shard is named by its number, its model and its
texts, and it is renamed into place when it is complete. So a job that was killed encodes only what has no shard yet,
and another model or a changed document never uses an old shard. Ray Data repeats the blocks of a lost node elsewhere.
Blocks are encoded by tasks, whose processes keep the model: with actors a small index took 3.4 s instead of 0.5 s.

One process encodes all documents at once instead of block by block. For average and weighted encoders both give the
same bits; encoders that batch texts of similar length (cnn, lstm, pretrained) differ in the seventh digit.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection, Document, joined_fields
from isogloss.engines.ray.cluster import check_versions, connected, cpus, import_ray, versions
from isogloss.storage.arrays import load_array, read_tensors
from isogloss.storage.checksums import write_checksums
from isogloss.storage.errors import InputError
from isogloss.storage.files import write_bytes
from isogloss.storage.progress import track
from isogloss.systems.base import System
from isogloss.systems.dense import DenseSystem
from isogloss.systems.passages import Passages
from isogloss.systems.registry import build_system, parse_options, system_type

QUICK, SLOW = 4_096, 256
"""Documents in a block of a quick and of a slow encoder: Ray's overhead stays small, and a lost block is cheap."""
_CHARACTERS = 4_000_000  # in a block of long documents
_BLOCKS_PER_CORE = 64  # in Ray's object store at a time
_log = logging.getLogger("isogloss")

Work = Callable[[System, list[str]], dict[str, NDArray[Any]]]
Encode = Callable[[System, Collection, tuple[str, ...]], None]
"""Does what ``System.index`` does."""


@contextmanager
def encoding_on_ray(output: Path, block: int | None = None) -> Iterator[Encode]:
    """A function that encodes on a cluster while an index is made; the cluster is joined when there is work.

    Shards stay beside ``output`` until the index is complete. A system that makes no vectors indexes in this process.
    """
    folder = output.with_name(f".{output.name}.encoding")

    def index(system: System, documents: Collection, fields: tuple[str, ...]) -> None:
        if isinstance(_inner(system), DenseSystem):
            stack.enter_context(connected())
            index_on_ray(system, documents, fields, folder / system.query_language / system.document_language, block)
        else:
            _log.warning("%s makes no vectors: its documents are indexed here, not on Ray", system.name)
            system.index(documents, fields)

    with ExitStack() as stack:
        yield index
    shutil.rmtree(folder, ignore_errors=True)


def index_on_ray(
    system: System, documents: Collection, fields: tuple[str, ...], directory: Path, block: int | None = None
) -> None:
    """Do what ``system.index(documents, fields)`` does, but encode on the cluster; ``directory`` holds the shards."""
    paths = encode_on_ray(system, documents, fields, directory, block)
    arrays = join_shards(paths, directory)
    system.id_order = documents.id_order
    if isinstance(system, Passages):
        system.take(arrays["counts"], arrays["spans"])
    dense_part(system).index_vectors(arrays["vectors"])


def encode_on_ray(
    system: System, documents: Collection | Sequence[Document], fields: tuple[str, ...], directory: Path,
    block: int | None = None,
) -> list[Path]:  # fmt: skip
    """Encode documents in blocks of so many, by default what suits the system; their shards, in order."""
    size, total = block or (QUICK if dense_part(system).is_quick else SLOW), len(documents)

    def blocks() -> Iterator[Block]:
        return cut((joined_fields(document, fields) for document in documents), size)

    if dense_part(system).weighs:
        _weigh(system, blocks(), total)
    shipped, paths = ship(system), list[Path]()
    directory.mkdir(parents=True, exist_ok=True)

    def missing() -> Iterator[Block]:
        for each in blocks():
            paths.append(directory / f"{each.number:06}-{each.digest(shipped.identity)}.safetensors")
            if not paths[-1].exists():
                yield each

    label = f"encoding {total:,} documents on {cpus()} cores"
    for number, content in _run(encode, shipped, missing(), label, total):
        write_bytes(paths[number], content)
    return paths


def join_shards(paths: Sequence[Path], directory: Path) -> dict[str, NDArray[Any]]:
    """The arrays of all shards, one after the other, mapped from files in the directory and never all in memory."""
    from safetensors import safe_open

    def rows(path: Path, name: str) -> int:
        with safe_open(path, framework="numpy") as file:
            return int(file.get_slice(name).get_shape()[0])

    joined = {}
    for name, first in read_tensors(paths[0])[0].items():
        shape = (sum(rows(path, name) for path in paths), *first.shape[1:])
        whole, start = np.lib.format.open_memmap(directory / f"{name}.npy", "w+", first.dtype, shape), 0
        for path in paths:
            part = read_tensors(path)[0][name]
            whole[start : start + len(part)] = part
            start += len(part)
        whole.flush()
        joined[name] = load_array(directory / f"{name}.npy")
    return joined


class Block(NamedTuple):
    """Some consecutive texts, and the block's number."""

    number: int
    texts: list[str]

    def digest(self, encoder: str) -> str:
        """A hash of the encoder and the texts."""
        made = blake2b(encoder.encode(), digest_size=12)
        for text in self.texts:
            content = text.encode("utf-8", "surrogatepass")
            made.update(len(content).to_bytes(8, "little"))
            made.update(content)
        return made.hexdigest()


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

    Two are equal if they encode alike.
    """

    name: str
    options: Mapping[str, Any] = field(hash=False)
    pair: tuple[str, str]
    identity: str
    """Everything that decides how a text is encoded."""
    files: Any = field(compare=False)

    def load(self) -> System:
        """The system, in another process."""
        told = {name: str(value) for name, value in self.options.items()}
        options = parse_options(self.name, system_type(self.name).options_type, told)
        system = build_system(self.name, options, self.pair)
        with TemporaryDirectory(prefix="isogloss-") as scratch:
            for name, content in import_ray().get(self.files).items():
                path = Path(scratch) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                content.tofile(path)
            return system.load_shared(Path(scratch))


def ship(system: System) -> ShippedSystem:
    """Put a system's shared files into Ray's object store, from where each node fetches them once."""
    with TemporaryDirectory(prefix="isogloss-") as scratch:
        folder = Path(scratch)
        system.save_shared(folder)
        fingerprint = write_checksums(folder).hash
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        files = {path.relative_to(folder).as_posix(): np.fromfile(path, dtype=np.uint8) for path in paths}
    pair, options = (system.query_language, system.document_language), asdict(system.options)
    identity = json.dumps([system.name, fingerprint, pair, options], sort_keys=True)
    return ShippedSystem(system.name, options, pair, identity, import_ray().put(files))


def _apply(
    batch: dict[str, NDArray[Any]], work: Work, shipped: ShippedSystem, told: dict[str, str]
) -> dict[str, list[Any]]:
    """In a process of the cluster: what ``work`` makes of the block of a batch, as safetensors; or an error's text."""
    from safetensors.numpy import save

    texts: list[str] = json.loads(batch["texts"][0])
    content, error = b"", ""
    try:
        check_versions(told)
        content = save({**work(_loaded(shipped), texts)})
    except InputError as sentence:  # as a result: Ray would wrap it into a traceback of its own
        error = str(sentence)
    return {"number": batch["number"].tolist(), "size": [len(texts)], "content": [content], "error": [error]}


@lru_cache(maxsize=1)
def _loaded(shipped: ShippedSystem) -> System:
    """The system, loaded once in each process."""
    return shipped.load()


def encode(system: System, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The vectors of documents; of passages, with their counts and spans in each document, where those are indexed."""
    if not isinstance(system, Passages):
        return {"vectors": dense_part(system).encode_documents(texts)}
    counts, spans, passages = system.cut(texts)
    return {"vectors": dense_part(system).encode_documents(passages), "counts": counts, "spans": spans}


def _count_words(system: System, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """How many of the texts, or of their passages, have each word; and how many texts there are."""
    counted = system.cut(texts).passages if isinstance(system, Passages) else texts
    return {"counts": dense_part(system).count_words(counted), "texts": np.array(len(counted))}


def _weigh(system: System, blocks: Iterator[Block], total: int) -> None:
    """Weigh words by all documents, for systems that do; the cluster counts the words."""
    from safetensors.numpy import load

    counted, unweighted = _count_words(system, []), copy(system)
    dense_part(unweighted).weigh(counted["counts"], 0)
    for _, content in _run(_count_words, ship(unweighted), blocks, "counting words", total):
        more = load(content)
        counted = {name: value + more[name] for name, value in counted.items()}
    dense_part(system).weigh(counted["counts"], int(counted["texts"]))


def _run(
    work: Work, shipped: ShippedSystem, blocks: Iterator[Block], label: str, total: int
) -> Iterator[tuple[int, bytes]]:
    """The number of each block and its arrays as safetensors, in the order in which they are finished."""
    import ray.data

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    cores, sizes = max(1, cpus()), deque[int]()

    def results() -> Iterator[tuple[int, bytes]]:
        while window := list(islice(blocks, _BLOCKS_PER_CORE * cores)):
            rows = [{"number": block.number, "texts": json.dumps(block.texts)} for block in window]
            dataset: Any = ray.data.from_items(rows, override_num_blocks=len(rows))
            arguments = (work, shipped, versions())
            for row in dataset.map_batches(_apply, batch_size=1, num_cpus=1, fn_args=arguments).iter_rows():
                if row["error"]:
                    raise InputError(row["error"])
                sizes.append(row["size"])
                yield row["number"], row["content"]

    return track(results(), label, total, iter(sizes.popleft, None))


def _inner(system: System) -> System:
    return system.inner if isinstance(system, Passages) else system


def dense_part(system: System) -> DenseSystem:
    """The system that makes the vectors."""
    found = _inner(system)
    assert isinstance(found, DenseSystem), f"{system.name} makes no vectors"
    return found
