"""Documents into the tables: copied in bulk into a table of the session, and from there merged into the store.

COPY is the fastest door of PostgreSQL, but it can neither replace rows nor make words of a text; so a stretch of rows
is copied beside the store, and one statement a table does both. However long a stream is, a stretch of it is all that
is held in memory.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.base.errors import InputError
from isogloss.corpus.formats.jsonl import page_object
from isogloss.corpus.records import Document
from isogloss.index.field_lists import field_keys
from isogloss.stores.pgvector_connection import Connection
from isogloss.stores.pgvector_layout import Layout
from isogloss.stores.store import Matrix
from isogloss.text.tokenizer import tokenize

_ROWS, _BYTES = 2_000, 2**23  # of a stretch
_LONGEST_ID = 2_000  # bytes; an index of PostgreSQL takes 2,704
_WORD_BYTES = 300_000  # of a document: PostgreSQL keeps a megabyte of words and places
_BEGIN, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_TEXT_OID = 25
_NULL = struct.pack(">i", -1)


def write_batch(connection: Connection, layout: Layout, documents: Sequence[Document], vectors: Matrix) -> None:
    """Add or replace documents whose batch was checked; whoever calls has begun a transaction."""
    _make_stage(connection, layout)
    for start in range(0, len(documents), _ROWS):
        part = documents[start : start + _ROWS]
        kept, longest = _keepable(part, vectors[start : start + _ROWS], layout)
        _lengthen(connection, layout, longest)
        for rows in _stretches(_rows(layout, part, kept)):
            with connection.cursor().copy("COPY pg_temp.isogloss_stage FROM STDIN (FORMAT binary)") as copy:
                copy.write(rows)
            _merge(connection, layout)


def sayable(text: str) -> bool:
    r"""Whether PostgreSQL can hold a text: NUL and halves of characters it cannot.

    >>> sayable("été"), sayable("nul\0"), sayable("\ud800")
    (True, False, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _keepable(documents: Sequence[Document], vectors: Matrix, layout: Layout) -> tuple[Matrix, float]:
    """The vectors as they will be kept, and the length of the longest; refused where a product could be infinite."""
    kept = layout.kind.rounded(vectors)
    squares = np.einsum("rd,rd->r", kept, kept, dtype=np.float64)
    fine = squares <= float(np.finfo(np.float32).max)
    if not fine.all():
        which = documents[int(fine.argmin())].id
        raise InputError(f"document: {which!r} has a vector that is far too long to be kept as {layout.storage}")
    return kept, float(np.sqrt(squares.max()))


def _lengthen(connection: Connection, layout: Layout, longest: float) -> None:
    """Remember the length of the longest vector, which says how near two scores may be."""
    connection.execute(
        layout.statement("UPDATE {settings} SET longest = %(longest)s WHERE longest < %(longest)s"),
        {"longest": longest},
    )


def _make_stage(connection: Connection, layout: Layout) -> None:
    connection.execute(
        layout.statement(
            "CREATE TEMPORARY TABLE IF NOT EXISTS isogloss_stage ("
            'language text COLLATE "C", id text COLLATE "C", page json, words text, keys text[], vector {type}'
            ") ON COMMIT DELETE ROWS"
        )
    )


def _merge(connection: Connection, layout: Layout) -> None:
    """Take a stretch over. In the order of ids, so that two writers wait for each other and not in a circle."""
    connection.execute(
        layout.statement(
            "INSERT INTO {documents} (language, id, page, words)"
            " SELECT language, id, page, to_tsvector(configuration::regconfig, words)"
            " FROM pg_temp.isogloss_stage JOIN {languages} USING (language) ORDER BY language, id"
            " ON CONFLICT (language, id) DO UPDATE SET page = excluded.page, words = excluded.words"
        )
    )
    connection.execute(
        layout.statement(
            "INSERT INTO {vectors} (language, vector, id, keys)"
            " SELECT language, vector, id, keys FROM pg_temp.isogloss_stage ORDER BY language, id"
            " ON CONFLICT (language, id) DO UPDATE SET vector = excluded.vector, keys = excluded.keys"
        )
    )
    connection.execute("TRUNCATE pg_temp.isogloss_stage")


def _stretches(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Rows in binary files of PostgreSQL, each of a bounded size."""
    stretch, count = bytearray(_BEGIN), 0
    for row in rows:
        stretch += row
        count += 1
        if count == _ROWS or len(stretch) > _BYTES:
            yield bytes(stretch + _END)
            stretch, count = bytearray(_BEGIN), 0
    if count:
        yield bytes(stretch + _END)


def _rows(layout: Layout, documents: Sequence[Document], kept: Matrix) -> Iterator[bytes]:
    """Documents as rows of such a file: the number of columns, then each with its size before it."""
    for document, vector in zip(documents, layout.kind.packed(kept), strict=True):
        words = _sized(_words(document)) if layout.full_text else _NULL
        yield b"".join((
            struct.pack(">h", 6), _sized(document.language.encode()), _sized(_id(document)), _sized(_page(document)),
            words, _sized(_keys(document)), _sized(vector),
        ))  # fmt: skip


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _id(document: Document) -> bytes:
    if not sayable(document.id):
        raise InputError(f"document: {document.id!r} has a character in its id that PostgreSQL cannot keep")
    data = document.id.encode()
    if len(data) > _LONGEST_ID:
        raise InputError(
            f"document: {document.id[:40]!r}… has an id of {len(data):,} bytes; the most is {_LONGEST_ID:,}"
        )
    return data


def _page(document: Document) -> bytes:
    page = page_object(document)
    try:
        return json.dumps(page, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # halves of characters: JSON can say them in ASCII
        return json.dumps(page, allow_nan=False).encode()
    except ValueError as error:
        what = "has a field that is not a finite number, which JSON has no word for"
        raise InputError(f"document: {document.id!r} {what}; leave it out") from error


def _keys(document: Document) -> bytes:
    """The fields as PostgreSQL reads an array of texts from binary input."""
    keys = field_keys(document)
    if not all(map(sayable, keys)):
        raise InputError(f"document: {document.id!r} has a character in a field that PostgreSQL cannot filter by")
    if not keys:
        return struct.pack(">iii", 0, 0, _TEXT_OID)
    return struct.pack(">iiiii", 1, 0, _TEXT_OID, len(keys), 1) + b"".join(_sized(key.encode()) for key in keys)


def _words(document: Document) -> bytes:
    """The words of a document, cut by the house's tokeniser: PostgreSQL's own knows no Chinese."""
    words = " ".join(tokenize(f"{document.title} {document.text}"))
    return words.encode()[:_WORD_BYTES].decode(errors="ignore").encode()
