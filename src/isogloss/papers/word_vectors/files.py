"""Word vectors in and out: the format of a file is recognised, the format to write is named.

Read: word2vec text and binary, GloVe text, fastText ``.vec`` and ``.bin``, Polyglot pickles, each plain or gzipped, and
isogloss's own directories. Write: ``word2vec:FILE``, ``glove:FILE``, ``binary:FILE`` (gzipped where the name ends in
``.gz``), or a directory.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, TextIO, cast

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.formats import fasttext, polyglot, text, word2vec
from isogloss.papers.word_vectors.formats.gathering import unpacked
from isogloss.papers.word_vectors.formats.text import is_number
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import find_file


class _Format(Protocol):
    """What a module of :mod:`isogloss.papers.word_vectors.formats` offers."""

    NAME: str

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a file is of this format, by its name and its first bytes, unpacked."""

    def read(self, path: Path, limit: int | None, problems: Problems) -> WordVectors:
        """Read it."""


_FORMATS: tuple[_Format, ...] = (fasttext, polyglot, word2vec, text)  # text is what is left
_TARGETS = ("word2vec", "glove", "binary")
_HEAD_BYTES = 1 << 16


def read_vectors(path: Path | str, limit: int | None = None, problems: Problems | None = None) -> WordVectors:
    """Read the first ``limit`` words (all: None) of a file or directory in any of the formats.

    What is wrong goes to ``problems``: without one, or with one that stops at errors, the first bad line raises
    :class:`InputError`; otherwise bad lines are skipped and counted in ``problems.errors``. Of a word that occurs twice
    the first is kept, zero vectors are kept, both counted in ``problems.warnings`` ("duplicate word", "zero vector").
    isogloss's own directories were checked when they were made: they are mapped, not read.
    """
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} words: at least 1 is needed")
    path = Path(path)
    if path.is_dir():
        vectors = WordVectors.load(path)
        if limit is None or limit >= len(vectors):
            return vectors
        return WordVectors([vectors.words[row] for row in range(limit)], vectors.matrix[:limit])
    path = find_file(path)
    with unpacked(path) as file:
        head = file.read(_HEAD_BYTES)
    for form in _FORMATS:
        if form.recognises(path, head):
            return form.read(path, limit, problems or Problems())
    hint = "a zip archive: unpack it first" if head.startswith(b"PK\x03\x04") else "in no format known here"
    raise InputError(f"{path}: {hint} ({', '.join(form.NAME for form in _FORMATS)}, or a directory of isogloss)")


def write_vectors(vectors: WordVectors, target: str, overwrite: bool = False) -> None:
    """Write vectors to ``word2vec:FILE``, ``glove:FILE``, ``binary:FILE`` or, without a colon, our own directory."""
    form, colon, name = target.partition(":")
    if not colon or "/" in form:  # a path may hold a colon: ./a:b
        vectors.save(target, overwrite)
        return
    if form not in _TARGETS:
        raise InputError(f"{target}: unknown format {form!r}; known: {', '.join(_TARGETS)}, or a directory")
    if not name:
        raise InputError(f"{target}: a file name is needed after the colon")
    for word in vectors.words:
        _refuse_unreadable(word, form, target)
    with _bytes_of(Path(name), overwrite) as file:
        if form == "binary":
            word2vec.write(vectors, file)
        else:
            text.write(vectors, file, header=form == "word2vec")


def _refuse_unreadable(word: str, form: str, target: str) -> None:
    """A word that would not be read back as it is: spaces and line ends separate in these formats."""
    try:
        parts = word.encode().split()
    except UnicodeEncodeError as error:
        raise InputError(f"{target}: {word!r} cannot be written as UTF-8; write a directory instead") from error
    if not parts or b" ".join(parts) != word.encode():
        raise InputError(f"{target}: {word!r} is empty or holds white space that no reader keeps; write a directory")
    if len(parts) > 1 and (form != "glove" or is_number(parts[-1])):
        raise InputError(f"{target}: {word!r} holds a space, which ends a word in this format; write a directory")


@contextmanager
def _bytes_of(path: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    with atomic_file(path, overwrite) as opened:
        file = cast(TextIO, opened).buffer  # what lies under a text file; nothing is written to the text itself
        if not path.name.endswith(".gz"):
            yield cast(IO[bytes], file)
            return
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:  # no name, no time: same bytes
            yield cast(IO[bytes], packed)
