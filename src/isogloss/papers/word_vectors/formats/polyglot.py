"""Polyglot's embeddings (Al-Rfou et al. 2013): a pickled pair of words and a matrix, written by Python 2.

A pickle is a program. This reader runs it with nothing at hand: the only names it may use are the four that an array
is made of, and they lead to stand-ins that note their arguments. numpy itself never sees the content of the pickle
before it has been checked (the state of a forged array or type can make it read memory that is not its own).
"""

from __future__ import annotations

import io
import pickle
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.formats.gathering import Gathering, unpacked
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError

NAME = "Polyglot pickle"

_WANTED = "Polyglot's pickles hold a pair of words and a matrix of floats"


def recognises(path: Path, head: bytes) -> bool:
    """The opening of a pickle of protocol 2 or later, or the usual suffix (the older protocols have no sign)."""
    if head[:1] == b"\x80":
        return head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    return path.name.removesuffix(".gz").endswith((".pkl", ".pickle"))


def read(path: Path, limit: int | None, problems: Problems) -> WordVectors:
    """Read vectors up to the limit; a pickle that holds or does anything else is an :class:`InputError`."""
    with unpacked(path) as file:
        data = io.BytesIO(file.read())
    try:
        # Strings of Python 2 stay bytes: the numbers are bytes, and words that are not unicode are UTF-8, not Latin-1.
        words, matrix = _pair(_Unpickler(data, encoding="bytes").load())
    except _RefusedError as error:
        raise InputError(f"{path}: {error}; {_WANTED}, and nothing else is read") from error
    except Exception as error:  # whatever a damaged or forged pickle leads to, the file is at fault
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{path}: a damaged pickle ({reason[:100]})") from error
    gathering = Gathering(path, matrix.shape[1], limit, problems)
    start = 0
    while size := gathering.room(len(words) - start):
        gathering.add(words[start : start + size], matrix[start : start + size])
        start += size
    return gathering.vectors()


class _RefusedError(Exception):
    """The pickle asks for, or holds, what no word vectors need."""


class _Type:
    """Stands in for ``numpy.dtype``: a name ("f4") and, set later, the order of the bytes."""

    __slots__ = ("name", "order")

    def __init__(self, name: object, *_: object) -> None:
        self.name, self.order = _text(name), "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = _text(state[1])

    def real(self) -> np.dtype[Any]:
        """The type itself, if it is one of floats."""
        if self.name not in ("f4", "f8") or self.order not in ("<", ">", "="):
            raise _RefusedError(f"holds an array of the type {self.order + self.name!r}")
        return np.dtype(self.order + self.name)


class _Array:
    """Stands in for ``numpy.ndarray``, which is made empty and then told its state."""

    __slots__ = ("state",)

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def matrix(self) -> Matrix:
        """The array itself, if it has two dimensions of floats and as many bytes as those need."""
        _, shape, kind, by_columns, data = self.state
        if not isinstance(kind, _Type) or not isinstance(data, bytes):
            raise _RefusedError("holds an array of something else than numbers")
        if len(shape) != 2 or not all(isinstance(size, int) and size > 0 for size in shape):
            raise _RefusedError(f"holds an array of the shape {str(shape)[:60]}")
        if prod(shape) * kind.real().itemsize != len(data):
            raise _RefusedError(f"holds an array of {len(data)} bytes, not of the shape {shape}")
        values = np.frombuffer(data, dtype=kind.real()).reshape(shape, order="F" if by_columns else "C")
        with np.errstate(over="ignore"):
            return values.astype(np.float32)


_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
}

_GREEDY = (*pickle.BYTEARRAY8, *pickle.NEXT_BUFFER)  # steps of the newest protocol; the first takes memory unseen


class _Unpickler(pickle._Unpickler):
    """Knows four names; every other way out of a pickle (extensions, persistent objects) leads here or is shut.

    It is the one in Python, not the one in C, which sets aside as much memory as a few forged bytes tell it to.
    """

    dispatch: ClassVar[dict[int, Any]] = {
        code: step for code, step in pickle._Unpickler.dispatch.items() if code not in _GREEDY
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise _RefusedError(f"a pickle that asks for {f'{module}.{name}'[:100]!r}")
        return _ADMITTED[module, name]


def _pair(content: object) -> tuple[list[bytes], Matrix]:
    if not isinstance(content, tuple | list) or len(content) != 2:
        raise _RefusedError(f"a pickle of {_kind(content)}")
    words, array = content
    if not isinstance(words, tuple | list) or not all(isinstance(word, str | bytes) for word in words):
        raise _RefusedError(f"a pickle whose first part, {_kind(words)}, are not words")
    if not isinstance(array, _Array) or not array.state:
        raise _RefusedError(f"a pickle whose second part is {_kind(array)}")
    matrix = array.matrix()
    if len(words) != len(matrix):
        raise _RefusedError(f"a pickle of {len(words)} words and {len(matrix)} vectors")
    return [word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass") for word in words], matrix


def _kind(thing: object) -> str:
    return f"the type {type(thing).__name__.lstrip('_').lower()}"


def _text(name: object) -> str:
    return name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
