"""Translators of texts: Apertium, a file of ready translations, or a lexicon word by word.

A user names one as ``lexicon:FILE``, ``apertium``, ``apertium:MODE`` or ``file:FILE`` (:func:`open_translator`).
Translations by Apertium are cached in a file, so that no text is translated twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import product
from pathlib import Path

from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import find_file, read_lines
from isogloss.storage.progress import track
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.lexicon import Lexicon, Phrase
from isogloss.translation.queries import QueryTranslator


class Translator(ABC):
    """Translates texts of one language into another, many at once."""

    @abstractmethod
    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        """The translation of each text. ``ids`` are the names of the texts, where they have some."""


class TranslationCache:
    """A file of JSON lines ``[text, translation]`` that only grows.

    Each batch is added with one write, so that runs side by side lose nothing; a line that a killed run left half
    written is skipped. A cache is a convenience: that it cannot be read or written is no error.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._translations: dict[str, str] = {}
        with contextlib.suppress(OSError):
            for line in path.read_bytes().splitlines():
                self._read(line)

    def get(self, text: str) -> str | None:
        """The translation of a text, if it is known."""
        return self._translations.get(text)

    def add(self, translations: Mapping[str, str]) -> None:
        """Add some more."""
        self._translations.update(translations)
        lines = "".join(json.dumps(pair) + "\n" for pair in translations.items())
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a+b", buffering=0) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
                cut_off = file.read(1) not in (b"", b"\n")
                file.write(("\n" * cut_off + lines).encode())

    def _read(self, line: bytes) -> None:
        with contextlib.suppress(ValueError):
            pair = json.loads(line)
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
                self._translations[pair[0]] = pair[1]


def cache_directory() -> Path:
    """Where this user's translations are kept."""
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not caches.is_absolute():  # the XDG specification ignores such a path
        caches = Path.home() / ".cache"
    return caches / "isogloss" / "translations"


_BATCH = 200  # texts a call: what is lost when a run is killed
_NAMED = 3  # texts without a translation
_ABSENT = "is not installed"
_PARAGRAPH = "\n\n"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CODES = {
    "af": "afr", "an": "arg", "be": "bel", "bg": "bul", "bs": "hbs", "ca": "cat", "cy": "cym", "da": "dan", "en": "eng",
    "eo": "epo", "es": "spa", "eu": "eus", "fr": "fra", "gl": "glg", "hi": "hin", "hr": "hbs", "id": "ind", "is": "isl",
    "it": "ita", "mk": "mkd", "ms": "zlm", "nb": "nob", "nl": "nld", "nn": "nno", "no": "nob", "oc": "oci", "pl": "pol",
    "pt": "por", "ro": "ron", "ru": "rus", "sc": "srd", "sl": "slv", "sr": "hbs", "sv": "swe", "uk": "ukr", "ur": "urd",
}  # fmt: skip


class Apertium(Translator):
    """Apertium (Forcada et al. 2011), a free rule-based translator, through its command ``apertium -u MODE``.

    A mode is a direction such as ``eng-spa``. One call translates many texts, as paragraphs, which Apertium keeps
    apart. Its tagger reads over the end of a paragraph, so that about one text in a hundred is worded otherwise among
    other texts; the cache holds the first wording.
    """

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

    def uncached(self) -> Apertium:
        """The same, which remembers nothing."""
        made = copy(self)
        made._cache = TranslationCache(Path(os.devnull))
        return made

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        lines = [_one_line(text) for text in texts]
        new = [line for line in dict.fromkeys(lines) if any(map(str.isalpha, line)) and self._cache.get(line) is None]
        batches = [new[start : start + _BATCH] for start in range(0, len(new), _BATCH)]
        for batch in track(batches, f"translating with apertium {self.mode}", len(new), map(len, batches)):
            self._cache.add(dict(zip(batch, self._run(batch), strict=True)))
        return [self._cache.get(line) or line for line in lines]

    def _run(self, texts: Sequence[str]) -> Iterator[str]:
        """The translations of some texts; should paragraphs have run together, those of each half by itself."""
        translated = _call("-u", "-f", "txt", self.mode, text=_PARAGRAPH.join([*texts, ""])).split(_PARAGRAPH)
        if len(texts) == 1:
            yield _one_line(" ".join(translated))
        elif len(translated) == len(texts) + 1:
            yield from map(_one_line, translated[:-1])
        else:
            middle = len(texts) // 2
            yield from self._run(texts[:middle])
            yield from self._run(texts[middle:])


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


def _call(*arguments: str, text: str = "") -> str:
    done = subprocess.run(["apertium", *arguments], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        message = _one_line((done.stderr or done.stdout).decode("utf-8", "replace"))
        raise InputError(f"apertium {' '.join(arguments)}: failed ({message or f'exit status {done.returncode}'})")
    return done.stdout.decode("utf-8", "replace")


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


class ReadyTranslations(Translator):
    """A file of lines ``text<TAB>translation`` or ``id<TAB>translation``, plain or ``.gz``; spaces may differ.

    A text that has no translation is an error, which says how many there are and names the first; with
    ``keep_missing`` it stays as it is.
    """

    def __init__(self, path: Path, keep_missing: bool = False) -> None:
        self.path = find_file(path)
        self._keep_missing = keep_missing
        self._translations = _read(self.path)

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        names = list(ids) if len(ids) else [""] * len(texts)
        ready = self._translations
        found = [ready.get(name) or ready.get(_collapsed(text)) for text, name in zip(texts, names, strict=True)]
        missing = [name or text for text, name, each in zip(texts, names, found, strict=True) if each is None]
        if missing and not self._keep_missing:
            first = ", ".join(f"{text[:60]!r}" for text in missing[:_NAMED])
            more = ", …" if len(missing) > _NAMED else ""
            what = f"{self.path}: has no translation of {len(missing):,} of {len(texts):,} texts ({first}{more})"
            raise InputError(f"{what}; add lines 'text or id<TAB>translation', or set missing=keep")
        return [each or text for text, each in zip(texts, found, strict=True)]

    def save(self, path: Path) -> None:
        """Write a file of the same translations."""
        with atomic_file(path) as file:
            file.writelines(f"{text}\t{translation}\n" for text, translation in self._translations.items())


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for location, line in read_lines(path):
        if not line.strip():
            continue
        name, tab, translation = line.partition("\t")
        name, translation = _collapsed(name), translation.strip()
        if not tab or not name or "\t" in translation:
            raise InputError(f"{location}: expected a text or id, a tab and the translation, got {line[:60]!r}")
        if found.setdefault(name, translation) != translation:
            raise InputError(f"{location}: {name[:60]!r} was translated otherwise before; keep one of the lines")
    if not any(found.values()):
        raise InputError(f"{path}: holds no translation")
    return {name: translation for name, translation in found.items() if translation}


def _collapsed(text: str) -> str:
    return " ".join(text.split())


class LexiconTranslator(Translator):
    """The likeliest translation of each word (the first listed, where the lexicon has no probabilities), in order.

    The longest phrases the lexicon knows are translated as one, and a word it lacks is looked up by its stem. A word
    without a translation stays as it is: it may be a name. A stop word without one is left out: it is no name, and in
    a text of another language it would pass for a rare and telling word.

    Words are joined by spaces in every script: the tokeniser cuts the translation back into them.

    >>> lexicon = Lexicon([("life", "人寿", 0), ("life", "生活", 0), ("insurance", "保险", 0)])
    >>> LexiconTranslator(lexicon, "en", "zh").translate(["What is MetLife's life insurance?"])
    ['metlife 人寿 保险']
    """

    def __init__(self, lexicon: Lexicon, source_language: str, target_language: str) -> None:
        self.lexicon = lexicon
        self._find = QueryTranslator(lexicon, source_language, Tokenizer(target_language)).translate
        self._stop_words = stop_words(source_language)
        self._known: dict[Phrase, str] = {}

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        return [" ".join(translation for _, translation in self.phrases(text)) for text in texts]

    def phrases(self, text: str) -> list[tuple[str, str]]:
        """The words and phrases of a text, each with what it becomes; without those that are left out."""
        phrases = list(self.lexicon.cut(tokenize(text)))
        for phrase in phrases:
            if phrase not in self._known:
                self._known[phrase] = self._best(phrase)
        return [(" ".join(phrase), self._known[phrase]) for phrase in phrases if self._known[phrase]]

    def _best(self, phrase: Phrase) -> str:
        found = self._find(phrase)
        if found:  # of equals, max() takes the first
            return " ".join(max(found, key=lambda translation: translation.probability).phrase)
        return " ".join(word for word in phrase if word not in self._stop_words)


TRANSLATOR_HELP = (
    "lexicon:FILE (word by word; without FILE the one of the option lexicon), apertium or apertium:MODE "
    "(a mode such as eng-spa), or file:FILE (ready translations: text or id, tab, translation)"
)


def open_translator(
    spec: str,
    source_language: str,
    target_language: str,
    *,
    lexicon: Lexicon | None = None,
    keep_missing: bool = False,
    cache: Path | None = None,
) -> Translator:
    """A translator. ``lexicon`` is the one that ``lexicon:`` without a file means.

    ``keep_missing``: texts that a file of ready translations lacks stay as they are. ``cache``: the file in which
    translations by Apertium are cached, if not the default one.
    """
    kind, _, where = spec.partition(":")
    if kind == "apertium":
        return Apertium(where, cache) if where else Apertium.of(source_language, target_language, cache)
    if kind == "file" and where:
        return ReadyTranslations(Path(where), keep_missing)
    if kind == "lexicon" and (where or lexicon is not None):
        used = Lexicon.read(where) if where or lexicon is None else lexicon
        return LexiconTranslator(used, source_language, target_language)
    if kind in ("lexicon", "file"):
        raise InputError(f"translator: {spec!r} names no file; write {kind}:FILE")
    raise InputError(f"translator: {spec!r} is none of {TRANSLATOR_HELP}")
