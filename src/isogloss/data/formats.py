"""The formats of data by name: ``format:where`` to a source or a writer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from isogloss.data.dataset import Dataset
from isogloss.data.problems import Problems
from isogloss.data.readers.beir import Beir, write_beir
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.folder import Folder, LinkedFolder, OneFile, has_text
from isogloss.data.readers.irds import IrDatasets
from isogloss.data.readers.jsonl import Jsonl, write_jsonl
from isogloss.data.readers.line_aligned import Moses, Tsv, aligned_files
from isogloss.data.readers.messages import Messages
from isogloss.data.readers.platt import Platt, write_platt
from isogloss.data.readers.tmx import Tmx
from isogloss.data.readers.trec import Trec, write_trec
from isogloss.data.readers.wikiclir import WikiClir, write_wikiclir
from isogloss.data.source import Source
from isogloss.storage.errors import InputError

FORMATS: dict[str, type[Source]] = {
    source.format: source
    for source in (
        WikiClir,
        Beir,
        Trec,
        Jsonl,
        Folder,
        LinkedFolder,
        OneFile,
        Platt,
        IrDatasets,
        Demo,
        Messages,
        Tmx,
        Moses,
        Tsv,
    )
}

_SIGNS = (
    (WikiClir.format, "wiki_*.documents*"), (Beir.format, "corpus.jsonl*"), (Trec.format, "qrels*"),
    (Platt.format, "*.mtx*"),
)  # fmt: skip
"""A format, and a file by which its folders are recognised."""
_ENDINGS = {
    ".jsonl": Jsonl.format, ".ndjson": Jsonl.format, ".po": Messages.format, ".mo": Messages.format,
    ".gmo": Messages.format, ".tmx": Tmx.format, ".tsv": Tsv.format,
}  # fmt: skip
"""The formats of single files."""
_CATALOGUES = ("*.po", "*.mo", "*/LC_MESSAGES/*.po", "*/LC_MESSAGES/*.mo")


def open_source(source: str) -> Source:
    """Open a source as the user writes it: ``wikiclir:DIR``, ``jsonl:FILE``, …, ``demo``, or a path alone."""
    name, _, where = source.partition(":")
    if source == Demo.format:
        return Demo()
    if name in FORMATS and where and name != Demo.format:
        return FORMATS[name](where)
    path = Path(source)
    if source and not path.exists() and aligned_files(path):
        return Moses(source)
    if not source or not path.exists():
        known = ", ".join(f"{name}:…" for name in FORMATS if name != Demo.format)
        raise InputError(f"source: {source!r} is neither a folder, a file, nor one of {known} or demo")
    return FORMATS[recognise_format(path)](source)


def recognise_format(path: Path) -> str:
    """The format of a folder or a file, by the names of its files; any other folder is ``folder``."""
    if path.is_file():
        found = [_ENDINGS[suffix] for suffix in path.suffixes if suffix in _ENDINGS]
        if found or aligned_files(path):
            return found[-1] if found else Moses.format
        if has_text(path):
            return OneFile.format
        known = ", ".join(_ENDINGS)
        what = f"a single file is read by its ending ({known})"
        raise InputError(f"{path}: {what}; name its format (jsonl:FILE), or give its folder")
    for format_, pattern in _SIGNS:
        if any(path.glob(pattern)):
            return format_
    has_catalogues = any(True for pattern in _CATALOGUES for _ in path.glob(pattern))
    if (has_catalogues or aligned_files(path)) and not _has_documents(path):
        return Messages.format if has_catalogues else Moses.format
    return Folder.format


def _has_documents(path: Path) -> bool:
    return any(True for _ in Folder(str(path)).documents("", Problems(stop_at_errors=False)))


Writer = Callable[[Dataset, bool], None]
"""Writes a dataset; the flag says whether an existing output may be replaced."""


def find_writer(target: str) -> Writer:
    """``format:where`` to a function that writes a dataset there."""
    name, _, where = target.partition(":")
    path = Path(where)
    writers: dict[str, Writer] = {
        "wikiclir": lambda dataset, overwrite: write_wikiclir(path, [dataset], overwrite),
        "beir": lambda dataset, overwrite: write_beir(path, dataset, overwrite),
        "trec": lambda dataset, overwrite: write_trec(path, dataset, overwrite),
        "jsonl": lambda dataset, overwrite: write_jsonl(path, dataset.documents, overwrite),
        "platt": lambda dataset, overwrite: write_platt(path, dataset, overwrite=overwrite),
    }
    if name not in writers or not where:
        raise InputError(f"output: {target!r} is not one of {', '.join(f'{name}:…' for name in writers)}")
    return writers[name]
