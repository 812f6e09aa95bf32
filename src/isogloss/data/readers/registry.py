"""The registry of readers: ``format:where``, or a path alone, to a source or a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.data.problems import Problems
from isogloss.data.readers.files.kinds import kind_of
from isogloss.data.source import Source
from isogloss.storage.errors import InputError
from isogloss.storage.plugins import PluginGroup, missing_text, name_fault, subclass_fault

if TYPE_CHECKING:
    from isogloss.data.dataset import Dataset


def _find_fault(name: str, reader: Any) -> str:
    return (
        subclass_fault(reader, Source)
        or missing_text(reader, ("format",))
        or name_fault(name, reader.format)
        or _endings_fault(reader.file_endings)
    )


def _endings_fault(endings: Any) -> str:
    are_endings = isinstance(endings, tuple) and all(isinstance(one, str) and one.startswith(".") for one in endings)
    return "" if are_endings else f"has file_endings = {endings!r}, which is not a tuple like ('.csv',)"


READERS = PluginGroup(
    "isogloss.readers",
    "format",
    {
        "wikiclir": "isogloss.data.readers.wikiclir:WikiClir",
        "beir": "isogloss.data.readers.beir:Beir",
        "trec": "isogloss.data.readers.trec:Trec",
        "jsonl": "isogloss.data.readers.jsonl:Jsonl",
        "folder": "isogloss.data.readers.folder:Folder",
        "folder+links": "isogloss.data.readers.folder:LinkedFolder",
        "file": "isogloss.data.readers.folder:OneFile",
        "irds": "isogloss.data.readers.irds:IrDatasets",
        "demo": "isogloss.data.readers.demo:Demo",
        "po": "isogloss.data.readers.messages:Messages",
        "tmx": "isogloss.data.readers.tmx:Tmx",
        "moses": "isogloss.data.readers.line_aligned:Moses",
        "tsv": "isogloss.data.readers.line_aligned:Tsv",
    },
    _find_fault,
)
"""The readers by the name of their format; a reader is imported when it is used."""
_DEMO = "demo"
_FOLDER = "folder"
_SINGLE_FILE = "file"
_MESSAGES = "po"
_LINE_ALIGNED = "moses"
_CATALOGUES = ("*.po", "*.mo", "*/LC_MESSAGES/*.po", "*/LC_MESSAGES/*.mo")


def open_source(source: str) -> Source:
    """Open a source as the user writes it: ``wikiclir:DIR``, ``jsonl:FILE``, …, ``demo``, or a path alone."""
    if source == _DEMO:
        return reader_type(_DEMO)("")
    name, _, where = source.partition(":")
    if where and name != _DEMO and name in READERS:
        return reader_type(name)(where)
    path = Path(source)
    if source and not path.exists() and _is_line_aligned(path):
        return reader_type(_LINE_ALIGNED)(source)
    if not source or not path.exists():
        formats = ", ".join(f"{name}:…" for name in READERS.names() if name != _DEMO)
        raise InputError(f"source: {source!r} is neither a folder, a file, nor one of {formats} or demo")
    return reader_type(recognise_format(path))(source)


def reader_type(name: str) -> type[Source]:
    """The class that reads a format."""
    reader: type[Source] = READERS.load(name)
    return reader


def recognise_format(path: Path) -> str:
    """The format of a folder or a file, by the names of its files; any other folder is ``folder``.

    Readers of other packages are asked only about files of a kind that isogloss does not read.
    """
    return _format_of_file(path) if path.is_file() else _format_of_folder(path)


def _format_of_file(path: Path) -> str:
    core_endings = _endings(_core_readers())
    for suffix in reversed(path.suffixes):
        if suffix in core_endings:
            return core_endings[suffix]
    if _is_line_aligned(path):
        return _LINE_ALIGNED
    if kind_of(path) is not None:
        return _SINGLE_FILE
    plugins = _plugin_readers()
    for suffix in reversed(path.suffixes):
        formats = [reader.format for reader in plugins if suffix in reader.file_endings]
        if len(formats) > 1:
            choices = " or ".join(f"{format_}:{path}" for format_ in formats)
            raise InputError(f"{path}: several packages read files that end with {suffix}; name the format: {choices}")
        if formats:
            return formats[0]
    endings = ", ".join(dict.fromkeys([*core_endings, *_endings(plugins)]))
    reason = f"a single file is read by its ending ({endings})"
    raise InputError(f"{path}: {reason}; name its format (jsonl:FILE), or give its folder")


def _format_of_folder(path: Path) -> str:
    for reader in _core_readers():
        if _has_sign(reader, path):
            return reader.format
    has_catalogues = any(True for pattern in _CATALOGUES for _ in path.glob(pattern))
    if (has_catalogues or _is_line_aligned(path)) and not _has_documents(path):
        return _MESSAGES if has_catalogues else _LINE_ALIGNED
    if _has_unknown_files(path):
        for reader in _plugin_readers():
            if _has_sign(reader, path):
                return reader.format
    return _FOLDER


def _core_readers() -> list[type[Source]]:
    return [reader_type(name) for name in READERS.core]


def _plugin_readers() -> list[type[Source]]:
    return [reader for _, reader in READERS.load_plugins()]


def _endings(readers: Iterable[type[Source]]) -> dict[str, str]:
    """Ending of single files to the name of their format."""
    return {ending: reader.format for reader in readers for ending in reader.file_endings}


def _has_sign(reader: type[Source], path: Path) -> bool:
    return bool(reader.folder_sign) and any(path.glob(reader.folder_sign))


def _has_unknown_files(path: Path) -> bool:
    """Whether a folder itself holds a visible file of a kind that isogloss does not read."""
    files = (entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
    return any(kind_of(file) is None for file in files)


def _is_line_aligned(path: Path) -> bool:
    from isogloss.data.readers.line_aligned import aligned_files

    return bool(aligned_files(path))


def _has_documents(path: Path) -> bool:
    documents = reader_type(_FOLDER)(str(path)).documents("", Problems(stop_at_errors=False))
    return any(True for _ in documents)


Writer = Callable[["Dataset", bool], None]
"""Writes a dataset; the flag says whether an existing output may be replaced."""


def find_writer(target: str) -> Writer:
    """``format:where`` to a function that writes a dataset there."""
    name, _, where = target.partition(":")
    reader = reader_type(name) if where and name in READERS else None
    if reader is None or not reader.can_write:
        writable = [reader.format for reader in (*_core_readers(), *_plugin_readers()) if reader.can_write]
        raise InputError(f"output: {target!r} is not one of {', '.join(f'{name}:…' for name in writable)}")
    path = Path(where)

    def write(dataset: Dataset, overwrite: bool) -> None:
        reader.write(dataset, path, overwrite)

    return write
