"""A file of ready translations: how people use a translation service from outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.lines import find_file, read_lines
from isogloss.lexical.translators.translator import Translator

_NAMED = 3


class ReadyTranslations(Translator):
    """Lines ``text<TAB>translation`` or ``id<TAB>translation``, plain or ``.gz``; spaces in a text may differ.

    A text that has no translation is an error, which says how many there are and names the first; with
    ``keep_missing`` it stays as it is.
    """

    def __init__(self, path: Path, keep_missing: bool = False) -> None:
        self.path = find_file(path)
        self._keep_missing = keep_missing
        self._translations = _read(self.path)

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        names = list(ids) if len(ids) else [""] * len(texts)
        found = [self._find(text, name) for text, name in zip(texts, names, strict=True)]
        missing = [name or text for text, name, ready in zip(texts, names, found, strict=True) if ready is None]
        if missing and not self._keep_missing:
            first = ", ".join(f"{text[:60]!r}" for text in missing[:_NAMED])
            more = ", …" if len(missing) > _NAMED else ""
            what = f"{self.path}: has no translation of {len(missing):,} of {len(texts):,} texts ({first}{more})"
            raise InputError(f"{what}; add lines 'text or id<TAB>translation', or set missing=keep")
        return [text if ready is None else ready for text, ready in zip(texts, found, strict=True)]

    def _find(self, text: str, name: str) -> str | None:
        ready = self._translations.get(name) if name else None
        return self._translations.get(_one_line(text)) if ready is None else ready


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, line in read_lines(path):
        if not line.strip():
            continue
        name, tab, translation = line.partition("\t")
        name, translation = _one_line(name), translation.strip()
        if not tab or not name or "\t" in translation:
            raise InputError(f"{place}: expected a text or id, a tab and the translation, got {line[:60]!r}")
        if found.setdefault(name, translation) != translation:
            raise InputError(f"{place}: {name[:60]!r} was translated otherwise before; keep one of the lines")
    if not any(found.values()):
        raise InputError(f"{path}: holds no translation")
    return {name: translation for name, translation in found.items() if translation}


def _one_line(text: str) -> str:
    return " ".join(text.split())
