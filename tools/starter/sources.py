"""The translated texts that starter tables are made of: program messages, names of CLDR, verses of the Bible."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tarfile
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from messages import clean

from isogloss.data.readers.gettext import read_mo
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track

LIST = Path(__file__).with_name("sources.toml")
_VERSION = "ARCHIVE"  # beside what came from it
_BATCH = 20  # packages asked for at once
_RENAMED = {"no": "nb", "fil": "tl", "iw": "he", "in": "id", "ak": "tw", "kmr": "ku"}
_LOCALE = re.compile(r"(?P<language>[a-z]{2,3})(_(?P<region>[A-Za-z]+))?(\.[\w-]+)?(@(?P<modifier>\w+))?")
_MODIFIERS = {None, "euro", "latin", "Latn", "ijekavian", "ijekavianlatin"}  # Serbian is written in both scripts


class Pair(NamedTuple):
    """An English text and its translation."""

    source: str
    english: str
    other: str


def listed() -> dict[str, Any]:
    """``sources.toml``: what is downloaded, with licences."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def _packages() -> list[str]:
    return sorted(name for part in listed()["debian"].values() for name in part)


def language_of(locale: str) -> str | None:
    """The language of a locale's messages; None for a variant that is left out.

    >>> [language_of(locale) for locale in ("pt_BR", "zh_CN", "zh_TW", "no", "sr@latin", "ca@valencia", "en_GB")]
    ['pt', 'zh', None, 'nb', 'sr', None, None]
    """
    found = _LOCALE.fullmatch(locale)
    if found is None or found["modifier"] not in _MODIFIERS or found["language"] == "en":
        return None
    if found["language"] == "zh" and found["region"] not in ("CN", "Hans"):
        return None
    return _RENAMED.get(found["language"], found["language"])


def fetch(work: Path) -> None:
    """Download what is missing and unpack the message catalogues; nothing is installed."""
    missing = [name for name in _packages() if not (work / "mo" / name).is_dir()]
    archives = work / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    batches = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
    for batch in track(batches, "downloading packages"):
        _run(["apt-get", "download", "-qq", *batch], archives)
        for name in batch:
            _unpack_package(archives, work / "mo", name)
    for name in track(listed()["npm"], "downloading CLDR"):
        if not (work / "npm" / name).is_dir():
            _run(["npm", "pack", "--silent", name], archives)
            _unpack_npm(archives, work / "npm", name)


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise InputError(f"{command[0]}: not installed; the tables are built on Debian with apt and npm") from error
    except subprocess.CalledProcessError as error:
        raise InputError(f"{' '.join(command[:3])}: failed; run apt-get update and look at sources.toml") from error


def _unpack_package(archives: Path, folder: Path, name: str) -> None:
    """Only the catalogues of a package; the folder appears when all are in it."""
    (archive,) = archives.glob(f"{name}_*.deb")
    partial = folder / f".{name}"
    partial.mkdir(parents=True, exist_ok=True)
    with (
        subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as content,
    ):
        for member in content:
            if member.name.endswith(".mo") and "/LC_MESSAGES/" in member.name and not member.issym():
                content.extract(member, partial, filter="data")
    (partial / _VERSION).write_text(archive.name.replace("%3a", ":"), encoding="utf-8")
    partial.rename(folder / name)
    archive.unlink()


def _unpack_npm(archives: Path, folder: Path, name: str) -> None:
    archive = max(archives.glob(f"{name}-[0-9]*.tgz"))
    partial = folder / f".{name}"
    with tarfile.open(archive) as content:
        content.extractall(partial, filter="data")
    (partial / _VERSION).write_text(archive.name, encoding="utf-8")
    partial.rename(folder / name)
    archive.unlink()


def versions(work: Path) -> dict[str, str]:
    """The archive that each listed package came from."""
    paths = [work / "mo" / name / _VERSION for name in _packages()]
    paths += [work / "npm" / name / _VERSION for name in listed()["npm"]]
    return {path.parent.name: path.read_text(encoding="utf-8") for path in paths if path.is_file()}


def catalogues(work: Path) -> dict[str, list[Path]]:
    """The message catalogues of each language, in the order of the packages."""
    found: dict[str, list[Path]] = {}
    for name in _packages():
        for path in sorted((work / "mo" / name).glob("**/LC_MESSAGES/*.mo")):
            language = language_of(path.parents[1].name)
            if language:
                found.setdefault(language, []).append(path)
    return found


_english = lru_cache(maxsize=None)(clean)  # a message is there in fifty languages


def message_pairs(paths: list[Path]) -> Iterator[Pair]:
    """The messages of catalogues, cleaned, each with its translation once."""
    seen = set()
    for path in paths:
        for message, translation in _messages(path):
            english, other = _english(message), clean(translation)
            key = english.lower(), other.lower()
            if english and other and key[0] != key[1] and key not in seen:
                seen.add(key)
                yield Pair("messages", english, other)


def _messages(path: Path) -> list[tuple[str, str]]:
    """The messages of a catalogue; none if they are not English or the file is damaged."""
    try:
        messages = list(read_mo(path))
    except InputError:
        return []
    return messages if sum(message.isascii() for message, _ in messages) > 0.8 * len(messages) else []


def cldr_pairs(work: Path, language: str) -> Iterator[Pair]:
    """The names of CLDR: texts at the same place of the English file and of that of the language."""
    codes = [language, *(code for code, renamed in _RENAMED.items() if renamed == language)]
    seen = set()
    for english_file in sorted((work / "npm").glob("*/package/*/en/*.json")):
        for file in (english_file.parents[1] / code / english_file.name for code in codes):
            for pair in _same_place(_content(english_file), _content(file)) if file.is_file() else ():
                english, other = clean(pair.english), clean(pair.other)
                if english and other and english.lower() != other.lower() and (english, other) not in seen:
                    seen.add((english, other))
                    yield Pair(pair.source, english, other)


def cldr_languages(work: Path) -> set[str]:
    """The languages that have annotations."""
    names = (path.name for path in work.glob("npm/cldr-annotations-full/package/annotations/*"))
    return {_RENAMED.get(name, name) for name in names if name.isalpha() and name not in ("en", "und")}


def _content(file: Path) -> Any:
    """What a file of CLDR has below the name of its language."""
    content = json.loads(file.read_text(encoding="utf-8"))
    return next(iter(content["main"].values())) if "main" in content else content


def _same_place(english: Any, other: Any) -> Iterator[Pair]:
    if isinstance(english, dict) and isinstance(other, dict):
        for key in sorted(english.keys() & other.keys() - {"identity"}):
            yield from _same_place(english[key], other[key])
    elif isinstance(english, list) and isinstance(other, list):  # one is a name, several are key words
        source = "cldr" if len(english) == len(other) == 1 else "cldr key words"
        yield Pair(source, ", ".join(english), ", ".join(other))
    elif isinstance(english, str) and isinstance(other, str):
        yield Pair("cldr", english, other)


def bible_languages(folder: Path | None) -> set[str]:
    """The languages whose Bible is there and listed."""
    return {language for language in listed()["bible"] if folder and (folder / f"{language}.gz").is_file()}


def bible_pairs(folder: Path | None, language: str) -> Iterator[Pair]:
    """The verses that both Bibles have."""
    if folder is None or language not in bible_languages(folder):
        return
    with (
        gzip.open(folder / "en.gz", "rt", encoding="utf-8") as english,
        gzip.open(folder / f"{language}.gz", "rt", encoding="utf-8") as other,
    ):
        for verse, translation in zip(english, other, strict=True):
            if verse.strip() and translation.strip() and "<range>" not in (verse.strip(), translation.strip()):
                yield Pair("bible", verse.strip(), translation.strip())
