"""Apertium (Forcada et al. 2011), a free rule-based translator, through its command line.

One call translates many texts: they are given as paragraphs, which Apertium keeps apart. Its tagger does look back
over the end of a paragraph, so that about one text in a hundred is worded otherwise in other company; what is kept in
the cache is what came first.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.progress import track
from isogloss.lexical.translators.cache import TranslationCache, cache_directory
from isogloss.lexical.translators.translator import Translator

_BATCH = 200  # texts a call: what is lost when a run is killed
_PARAGRAPH = "\n\n"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CODES = {
    "af": "afr", "an": "arg", "be": "bel", "bg": "bul", "bs": "hbs", "ca": "cat", "cy": "cym", "da": "dan", "en": "eng",
    "eo": "epo", "es": "spa", "eu": "eus", "fr": "fra", "gl": "glg", "hi": "hin", "hr": "hbs", "id": "ind", "is": "isl",
    "it": "ita", "mk": "mkd", "ms": "zlm", "nb": "nob", "nl": "nld", "nn": "nno", "no": "nob", "oc": "oci", "pl": "pol",
    "pt": "por", "ro": "ron", "ru": "rus", "sc": "srd", "sl": "slv", "sr": "hbs", "sv": "swe", "uk": "ukr", "ur": "urd",
}  # fmt: skip


class Apertium(Translator):
    """The command ``apertium -u MODE``; a mode is a direction such as ``eng-spa``. Translations are kept on disk."""

    def __init__(self, mode: str, cache: Path | None = None) -> None:
        modes = installed_modes()
        if mode not in modes:
            what = f"has no mode {mode!r}, only {', '.join(modes)}" if modes else _ABSENT
            raise InputError(f"apertium: {what}; {_install(mode)}")
        self.mode = mode
        self._cache = TranslationCache(cache or cache_directory() / f"apertium.{mode}.jsonl")

    @classmethod
    def of(cls, source_language: str, target_language: str, cache: Path | None = None) -> Apertium:
        """By languages (``en``, ``es``), if a mode for them is installed."""
        modes, named = installed_modes(), mode_names(source_language, target_language)
        found = next((mode for mode in named if mode in modes), None)
        if found is None:
            what = f"does not translate {source_language} to {target_language}" if modes else _ABSENT
            raise InputError(f"apertium: {what}; {_install(named[0])}")
        return cls(found, cache)

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        lines = [_one_line(text) for text in texts]
        new = [line for line in dict.fromkeys(lines) if _has_words(line) and self._cache.get(line) is None]
        batches = [new[start : start + _BATCH] for start in range(0, len(new), _BATCH)]
        sizes = map(len, batches)
        for batch in track(batches, f"translating with apertium {self.mode}", len(new), sizes):
            self._cache.add(dict(zip(batch, self._run(batch), strict=True)))
        return [self._cache.get(line) or line for line in lines]

    def _run(self, texts: Sequence[str]) -> Iterator[str]:
        """The translations of some texts; should paragraphs have run together, those of each half by itself."""
        translated = _call("-u", "-f", "txt", self.mode, given=_PARAGRAPH.join([*texts, ""])).split(_PARAGRAPH)
        if len(texts) == 1:
            yield _one_line(" ".join(translated))
        elif len(translated) == len(texts) + 1:
            yield from map(_one_line, translated[:-1])
        else:
            middle = len(texts) // 2
            yield from self._run(texts[:middle])
            yield from self._run(texts[middle:])


_ABSENT = "is not installed"


def installed_modes() -> list[str]:
    """The directions that can be translated; none where Apertium is not installed."""
    return _call("-l").split() if shutil.which("apertium") else []


def mode_names(source_language: str, target_language: str) -> list[str]:
    """What a mode for two languages may be called: by codes of three letters (the rule) or of two.

    >>> mode_names("en", "es")
    ['eng-spa', 'eng-es', 'en-spa', 'en-es']
    """
    codes = ([_CODES.get(code, code), code] for code in (source_language, target_language))
    return list(dict.fromkeys(f"{source}-{target}" for source, target in product(*codes)))


def _install(mode: str) -> str:
    other = "-".join(reversed(mode.split("-")))
    packages = f"the Debian packages apertium and apertium-{mode} (or apertium-{other})"
    return f"install {packages}; 'apt-cache search apertium-' lists the pairs there are"


def _call(*arguments: str, given: str = "") -> str:
    done = subprocess.run(["apertium", *arguments], input=given.encode(), capture_output=True, check=False)
    if done.returncode:
        said = _one_line((done.stderr or done.stdout).decode("utf-8", "replace"))
        raise InputError(f"apertium {' '.join(arguments)}: failed ({said or f'exit status {done.returncode}'})")
    return done.stdout.decode("utf-8", "replace")


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _has_words(text: str) -> bool:
    return any(map(str.isalpha, text))
