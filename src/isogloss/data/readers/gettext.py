"""Translated messages of programs, in the files of GNU gettext."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from isogloss.storage.errors import InputError

_MAGIC = 0x950412DE
_CHARSET = re.compile(rb"charset=([\w.:-]+)", re.IGNORECASE)


def read_mo(path: Path) -> Iterator[tuple[str, str]]:
    """The messages of a compiled catalogue (``.mo``): each with its translation, a plural form as one more message.

    The context of a message is left out, and so is what has no translation.
    """
    content = path.read_bytes()
    entries = list(_entries(path, content))
    header = next((translation for message, translation in entries if not message), b"")
    found = _CHARSET.search(header)
    charset = found[1].decode("ascii") if found else "utf-8"
    try:
        for message, translation in entries:
            if message:
                yield from _forms(message.decode(charset, "replace"), translation.decode(charset, "replace"))
    except LookupError as error:
        raise InputError(f"{path}: the character set {charset!r} is not known; convert the file to UTF-8") from error


def _entries(path: Path, content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The strings of a file whose header is: magic, revision, N, where the N messages and the N translations are."""
    order = next((order for order in "<>" if content[:4] == struct.pack(order + "I", _MAGIC)), None)
    if order is None or len(content) < 20:
        raise InputError(f"{path}: not a compiled message catalogue; make one with msgfmt")
    count, *tables = struct.unpack_from(order + "3I", content, 8)
    try:
        spans = [struct.unpack_from(f"{order}{2 * count}I", content, table) for table in tables]
    except (struct.error, MemoryError, OverflowError) as error:
        raise InputError(f"{path}: a damaged message catalogue (it ends before its tables); make it anew") from error
    messages, translations = (zip(table[::2], table[1::2], strict=True) for table in spans)
    for (length, start), (other_length, other_start) in zip(messages, translations, strict=True):
        if max(start + length, other_start + other_length) > len(content):
            raise InputError(f"{path}: a damaged message catalogue (a text goes past its end); make it anew")
        yield content[start : start + length], content[other_start : other_start + other_length]


def _forms(message: str, translation: str) -> Iterator[tuple[str, str]]:
    """The singular with the first form of the translation, the plural with the last."""
    forms, translated = message.rpartition("\x04")[2].split("\0"), translation.split("\0")
    pairs = [(forms[0], translated[0]), (forms[-1], translated[-1])]
    for source, target in pairs[: len(forms)]:
        if source.strip() and target.strip():
            yield source, target
