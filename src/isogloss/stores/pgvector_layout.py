"""What a store is in the database: a schema of its own, its tables, and the kind of its vectors.

    languages   a row a language: the text search configuration, what HNSW reaches there
    documents   (language, id), all of the document as JSON, its words for the full-text search
    vectors     (language, id), the vector, the fields that filters ask for
    settings    one row: dimension, kind of the vectors, the length of the longest
    migrations  which steps have made these tables

Documents and vectors have a partition each for every language. They are two tables, since an exact search reads all
vectors of a language and nothing of the texts: that is twice as fast as one table where texts are short, and more where
they are long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from isogloss.base.errors import InputError
from isogloss.stores.store import Matrix

MOST_COMPONENTS = 16_000
_INLINE_BYTES = 6_000  # of a page of 8 kB: longer vectors go to the side table, where a search is slower
_TABLES = ("settings", "languages", "documents", "vectors", "migrations")
_LONGEST_NAME = 63
_HEADER = 4  # bytes before the components: their number, and two that are free


@dataclass(frozen=True)
class Kind:
    """How pgvector keeps a vector: its type, the type of its components, and how many an HNSW index takes."""

    type_name: LiteralString
    component: str
    most_indexed: int

    def packed(self, matrix: Matrix) -> list[bytes]:
        """Each row as PostgreSQL reads it from binary input."""
        header = np.asarray([matrix.shape[1], 0], dtype=">u2").tobytes()
        return [header + row.tobytes() for row in matrix.astype(self.component)]

    def unpacked(self, rows: list[bytes], dimension: int) -> NDArray[np.float64]:
        """Rows as PostgreSQL sends them, widened."""
        width = _HEADER + dimension * np.dtype(self.component).itemsize
        whole = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), width)
        return np.ascontiguousarray(whole[:, _HEADER:]).view(self.component).astype(np.float64)

    def rounded(self, matrix: Matrix) -> Matrix:
        """The vectors as they will be kept."""
        with np.errstate(over="ignore"):
            return matrix.astype(self.component).astype(np.float32)


KINDS = {"float32": Kind("vector", ">f4", 2_000), "float16": Kind("halfvec", ">f2", 4_000)}


@dataclass(frozen=True)
class Layout:
    """A store's schema and what is fixed when it is made."""

    name: str
    dimension: int
    storage: str = "float32"
    full_text: bool = True

    @property
    def kind(self) -> Kind:
        """How vectors are kept."""
        return KINDS[self.storage]

    def statement(self, text: LiteralString, **parts: sql.Composable) -> sql.Composed:
        """A statement with the names of the store's tables in place of ``{vectors}`` and the like.

        ``{type}`` is the type of a vector, ``{wide}`` a vector as float32, ``{sent}`` as bytes.
        """
        half = self.storage == "float16"
        return sql.SQL(text).format(
            **{table: sql.Identifier(self.name, table) for table in _TABLES},
            schema=sql.Identifier(self.name),
            type=sql.SQL("{}({})").format(sql.SQL(self.kind.type_name), sql.Literal(self.dimension)),
            wide=sql.SQL("vector::vector" if half else "vector"),
            sent=sql.SQL("halfvec_send(vector)" if half else "vector_send(vector)"),
            **parts,
        )

    def partition(self, table: str, language: str) -> sql.Identifier:
        """The name of the part of a table that holds a language."""
        return sql.Identifier(self.name, f"{table}_{language}")

    @property
    def is_inline(self) -> bool:
        """Whether a vector is short enough to stand in the table itself."""
        return self.dimension * np.dtype(self.kind.component).itemsize <= _INLINE_BYTES

    def checked(self) -> Layout:
        """Raise unless PostgreSQL can hold such a store."""
        if not self.name or {"\0", "%"} & set(self.name) or len(self.name.encode()) > _LONGEST_NAME:
            raise InputError(f"name: {self.name!r} cannot name a schema; take up to {_LONGEST_NAME} letters and digits")
        if self.storage not in KINDS:
            raise InputError(f"storage: {self.storage!r} is not one of {', '.join(KINDS)}")
        if not 1 <= self.dimension <= MOST_COMPONENTS:
            most = f"pgvector keeps 1 to {MOST_COMPONENTS:,}"
            raise InputError(f"dimension: vectors of {self.dimension:,} components, but {most}; use a smaller model")
        return self
