"""What ``isogloss vectors train`` and ``convert`` do, and the reading of vectors for all of ``isogloss vectors``."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.cli.output import check_outputs, note
from isogloss.cli.vectors import FILE_FORMATS
from isogloss.corpus.dataset import load_collection
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import parse_fields
from isogloss.corpus.sources import open_source
from isogloss.vectors.files import read_vectors, write_vectors
from isogloss.vectors.training import VectorTraining, train_vectors
from isogloss.vectors.word_vectors import WordVectors


def train(options: argparse.Namespace) -> None:
    """Train vectors on the documents of some sources and write them."""
    target = _checked_target(options, options.documents)
    read = parse_fields(options.fields)
    sources = [open_source(name) for name in options.documents]
    problems = Problems(not options.skip_bad)
    texts = [text for source in sources for text in load_collection(source, options.language, problems).texts(read)]
    how = {field.name: getattr(options, field.name) for field in fields(VectorTraining)}
    vectors = train_vectors(texts, VectorTraining(**how))
    _write(vectors, target, options)
    if vectors.dimension < options.dimension:
        note(f"{vectors.dimension} dimensions are all that so few words allow", options.quiet)
    _note_problems("", problems, options.quiet)


def convert(options: argparse.Namespace) -> None:
    """Read vectors in one format, write them in another."""
    target = _checked_target(options, [f"vectors:{options.vectors}"])
    _write(open_vectors(options.vectors, options), target, options)


def open_vectors(path: str, options: argparse.Namespace) -> WordVectors:
    """Read vectors as --limit and --skip-bad say; what is odd about them is remarked."""
    problems = Problems(not options.skip_bad)
    vectors = read_vectors(path, options.limit, problems)
    _note_problems(f"{path}: ", problems, options.quiet)
    return vectors


def _checked_target(options: argparse.Namespace, sources: list[str]) -> str:
    """The target as ``write_vectors`` takes it, refused now, not after the work, where it cannot be written."""
    target = f"{options.format}:{options.output}" if options.format else options.output
    form, colon, where = target.partition(":")
    if colon and (form not in FILE_FORMATS or not where or ":" in where):
        known = ", ".join(f"{name}:FILE" for name in FILE_FORMATS)
        raise InputError(f"output: {target!r} is not one of {known}, or a directory (without a colon in its name)")
    path = Path(where if colon else target)
    for source in sources:
        check_outputs(options.overwrite, path, source=source)
    if colon and path.is_dir():
        raise InputError(f"{path}: is a directory, a file name is needed")
    if not colon and path.is_file():
        raise InputError(f"{path}: is a file, a directory is needed")
    return target


def _write(vectors: WordVectors, target: str, options: argparse.Namespace) -> None:
    write_vectors(vectors, target, options.overwrite)
    note(f"{target}: {len(vectors):,} words, {vectors.dimension} dimensions", options.quiet)


def _note_problems(name: str, problems: Problems, quiet: bool) -> None:
    for kind, times in (*problems.errors.items(), *problems.warnings.items()):
        note(f"{name}{times:,} x {kind}", quiet)
