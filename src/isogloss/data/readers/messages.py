"""Translated messages of programs as parallel text: catalogues of GNU gettext, ``.po`` and ``.mo``.

A catalogue translates messages into one language. Messages are in English by convention. Catalogues of two languages
are paired by their messages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from isogloss.data.parallel_text import NoTextError, ParallelText, same_language
from isogloss.data.problems import Problems
from isogloss.data.readers.gettext import read_mo, read_po
from isogloss.data.readers.walking import walk
from isogloss.data.source import TextPair
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, read_head

MESSAGES = "en"
"""The language of messages."""
_ENDINGS = (".po", ".po.gz", ".mo", ".gmo")
_LANGUAGE = re.compile(rb'["\n\0]Language:[ \t]*([A-Za-z]{2,3}(?:[_@-][A-Za-z0-9]+)*)[ \t]*[\\\n]')
_NAMED = re.compile(r"(?:.*[._-])?([a-z]{2}(?:[_-][A-Z][A-Za-z]{1,3})?(?:@\w+)?)")
_HEAD = 1 << 20  # bytes in which the header is looked for


class Messages(ParallelText):
    """A catalogue, or all catalogues below a folder. Its language is that of the header, or else of its path."""

    format = "po"
    can_sync = True
    file_endings = (".po", ".mo", ".gmo")

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = Path(where)
        if not self.path.exists():
            raise InputError(f"{self.path}: no such file or folder")
        if not self.catalogues:
            raise InputError(f"{self.path}: has no catalogues, files that end in .po or .mo")

    @cached_property
    def catalogues(self) -> list[tuple[str, Path]]:
        """The catalogues with their languages; of a catalogue and its compiled form the first."""
        if self.path.is_file():
            return [(_language(self.path, self.path), self.path)]
        paths = sorted(walk(self.path, _ENDINGS, Problems(stop_at_errors=False)))
        sources = {_bare(path) for path in paths if ".po" in path.suffixes}
        kept = (path for path in paths if ".po" in path.suffixes or _bare(path) not in sources)
        return [(_language(path, self.path), path) for path in kept]

    def units(self, languages: Sequence[str], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
        catalogues = {language: self._of(language) for language in languages}
        for language in languages:
            if language != MESSAGES and not catalogues[language]:
                there_are = ", ".join(sorted({code or "not said" for code, _ in self.catalogues}))
                raise NoTextError(f"{self.path}: has no catalogue in {language!r}; languages here: {there_are}")
        if len(languages) == 1:
            own = catalogues[languages[0]]
            for location, (message, text) in _read(own or [path for _, path in self.catalogues], problems):
                yield location, (text if own else message,)
            return
        query, document = languages
        if not catalogues[document]:  # its texts are the messages
            for location, (message, text) in _read(catalogues[query], problems):
                yield location, (text, message)
            return
        known = {message: text for _, (message, text) in _read(catalogues[query], problems)}
        for location, (message, text) in _read(catalogues[document], problems):
            yield location, (known.get(message, message if query == MESSAGES else ""), text)

    def _of(self, language: str) -> list[Path]:
        """The catalogues of a language; one that the user names and that does not say its own is not in English."""
        return [
            path
            for code, path in self.catalogues
            if (same_language(code, language) if code else path == self.path and language != MESSAGES)
        ]


def _read(paths: Sequence[Path], problems: Problems) -> Iterator[tuple[Location, TextPair]]:
    """Messages and their translations, without markup."""
    for path in paths:
        if ".po" in path.suffixes:
            found = read_po(path, problems)
        else:
            found = ((Location(path), texts) for texts in read_mo(path))
        for location, (message, translation) in found:
            yield location, (plain_message(message), plain_message(translation))


def _bare(path: Path) -> Path:
    """The path without its ending."""
    return path.with_name(path.name.partition(".po")[0].removesuffix(".mo").removesuffix(".gmo"))


def _language(path: Path, root: Path) -> str:
    """The language of a catalogue by its header, its name (``es.po``, ``app.es.po``) or its folder; empty if none."""
    header = _LANGUAGE.search(read_head(path, _HEAD))
    if header:
        return header[1].decode("ascii")
    parents = path.absolute().relative_to(root.absolute() if path != root else path.absolute().parent).parts[:-1]
    if path.parent.name == "LC_MESSAGES":
        return path.absolute().parent.parent.name
    for name in (_bare(path).name, *reversed(parents)):
        found = _NAMED.fullmatch(name)
        if found:
            return found[1]
    return ""


_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_ENTITY = re.compile(r"&#?\w{1,10};")
_DIRECTIVE = re.compile(r"%(?:\d++\$|\(\w+\))?[-+#0']*+\d*+(?:\.\d++)?(?:hh|h|ll|l|z|j|t|q|L)?[a-zA-Z]|%\d+|%%|\{\w*\}")
_APPENDED_KEY = re.compile(r"(?<!\s)\s*+\([_&]\w\)")
_KEY = re.compile(r"([_&])(?=\w)")


def plain_message(text: str) -> str:
    """A message without tags, places of values (``%s``, ``{name}``) and the mark of its accelerator key.

    >>> plain_message("<b>E_xit</b> without saving %d files?"), plain_message("開く(_O)")
    ('Exit without saving files?', '開く')
    """
    text = _TAG.sub(" ", text)
    text = _DIRECTIVE.sub(" ", _ENTITY.sub(lambda match: html.unescape(match[0]), text))
    text = _APPENDED_KEY.sub("", text)
    if len(_KEY.findall(text)) == 1:
        text = _KEY.sub("", text)
    return " ".join(text.split())
