"""Translated messages of programs, in the files of GNU gettext."""

from __future__ import annotations

import codecs
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, read_head, read_lines

_MAGIC = 0x950412DE
_CHARSET = re.compile(rb"charset=([\w.:-]+)", re.IGNORECASE)
_NOT_OF_TEXT = frozenset({"idna", "punycode", "raw_unicode_escape", "unicode_escape"})  # the first two are slow
_HEAD = 1 << 16  # bytes in which the header of a catalogue is looked for
_KEYWORD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d+)\])?[ \t]*(?=\")")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def read_mo(path: Path) -> Iterator[tuple[str, str]]:
    """The messages of a compiled catalogue (``.mo``): each with its translation, a plural form as one more message.

    The context of a message is left out, and so is what has no translation.
    """
    content = path.read_bytes()
    entries = list(_entries(path, content))
    header = next((translation for message, translation in entries if not message), b"")
    charset = _charset(path, header)
    for message, translation in entries:
        if message:
            yield from _forms(message.decode(charset, "replace"), translation.decode(charset, "replace"))


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
    if any(sum(table[::2]) > len(content) for table in spans):  # many long texts out of a small file
        raise InputError(f"{path}: a damaged message catalogue (its texts overlap); make it anew")
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


def read_po(path: Path, problems: Problems) -> Iterator[tuple[Location, tuple[str, str]]]:
    """The messages of a catalogue (``.po``), each with its translation, as in :func:`read_mo`.

    Fuzzy and obsolete entries are left out, and so is what has no translation.
    """
    entry = _Entry()
    for location, line in read_lines(path, problems.broken_text, _charset(path, read_head(path, _HEAD))):
        text = line.strip()
        if entry.is_complete and not text.startswith(('"', "msgstr", "#~")):
            yield from entry.forms()
            entry = _Entry()
        wrong = entry.take(location, text)
        if wrong:
            problems.error(location, "malformed entry", wrong)
            entry = _Entry(skips=True)
    if entry.has_text and not entry.is_complete:
        what = "the file ends before the translation of this message; it is cut off"
        problems.error(entry.location or Location(path), "malformed entry", what)
    else:
        yield from entry.forms()


def _charset(path: Path, header: bytes) -> str:
    found = _CHARSET.search(header)
    name = found[1].decode("ascii") if found else "UTF-8"
    if name.upper() in ("UTF-8", "UTF8", "CHARSET", "ASCII", "US-ASCII"):  # CHARSET: of a template
        return "UTF-8"
    try:
        "".encode(name)
        is_known = codecs.lookup(name).name.replace("-", "_") not in _NOT_OF_TEXT
    except (LookupError, UnicodeError):
        is_known = False
    if not is_known:
        raise InputError(f"{path}: the character set {name!r} is not known; convert the file to UTF-8")
    return name


class _Entry:
    """An entry of a catalogue while it is read: keyword to lines; ``skips`` the rest of one that is malformed."""

    def __init__(self, skips: bool = False) -> None:
        self._lines: dict[str, list[str]] = {}
        self.location: Location | None = None
        self._fuzzy, self._skips, self._last = False, skips, ""

    @property
    def has_text(self) -> bool:
        """Whether a message has begun."""
        return bool(self._lines)

    @property
    def is_complete(self) -> bool:
        """Whether there is a translation, which comes last."""
        return "msgstr" in self._last or self._skips

    def take(self, location: Location, line: str) -> str:
        """Read a line; what is wrong with it, or an empty text."""
        if line.startswith("#"):
            self._fuzzy |= line.startswith("#,") and "fuzzy" in line
        if not line or line.startswith("#") or (self._skips and line.startswith(('"', "msgstr"))):
            return ""
        keyword = _KEYWORD.match(line)
        if keyword:
            line = line[keyword.end() :]
            name = keyword[1] + (keyword[2] or "")
            if name in self._lines or (keyword[1] == "msgstr" and "msgid" not in self._lines):
                return f"{keyword[1]} where none is expected"
            self._last = name
            self.location = self.location or location
        elif not line.startswith('"') or not self._last:
            return f"expected msgid, msgstr or a comment, got {line[:40]!r}"
        quoted = _QUOTED.fullmatch(line)
        if quoted is None:
            return f"the text in quotes does not end: {line[:40]!r}"
        self._lines.setdefault(self._last, []).append(_ESCAPE.sub(_unescape, quoted[1]))
        return ""

    def forms(self) -> Iterator[tuple[Location, tuple[str, str]]]:
        """The message with its translation, and its plural; nothing of the header."""
        texts = {name: "".join(lines) for name, lines in self._lines.items()}
        message = texts.get("msgid")
        if not message or self._fuzzy or self.location is None:
            return
        plural = texts.get("msgid_plural")
        translations = [text for name, text in texts.items() if name.startswith("msgstr")]
        for pair in _forms(message if plural is None else f"{message}\0{plural}", "\0".join(translations)):
            yield self.location, pair


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code.isdecimal() else _ESCAPES.get(code, code)
