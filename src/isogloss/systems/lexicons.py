"""The lexicon of a system: a file, the bundled one, one found on this machine, or one induced from translated pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from isogloss.data.dataset import Dataset
from isogloss.data.parallel import translated_pages
from isogloss.data.source import Pair, Source
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.storage.wording import way
from isogloss.systems.base import AUTO, FILE_OPTIONS, System
from isogloss.translation.dictionaries import find_dictionaries
from isogloss.translation.lexicon import Lexicon, lexicon_file
from isogloss.translation.starter import starter_file
from isogloss.translation.word_alignment import induce_lexicon

INDUCED = "induced"
BUNDLED = "bundled"
LEXICON_HELP = (
    "bilingual lexicon: tab-separated, MUSE, FreeDict or EDICT (reversed:FILE: one of the other direction); "
    "{pair} is replaced by the languages, like en-fr; "
    f"{INDUCED}: from the translated pages of the train split; {BUNDLED}: some 500 words, for trying out; "
    f"{AUTO}: that of the data, or the best that 'isogloss languages' finds, or none; default: that of the data, if any"
)
_FEW_PAGES = 200
_ENDINGS = ("", ".gz", ".dict.dz", ".dict")  # of files that may be named without them


def fill_languages(path: str, query_language: str, document_language: str) -> str:
    """A path with ``{pair}``, ``{query}`` and ``{document}`` replaced by the languages.

    ``bundled`` becomes its path, ``auto`` that of the best dictionary found on this machine, empty if there is none.
    """
    if path == AUTO:
        return auto_lexicon((query_language, document_language))[0]
    if path == BUNDLED:
        return bundled_lexicon(query_language, document_language)
    path = path.replace("{pair}", f"{query_language}-{document_language}")
    return path.replace("{query}", query_language).replace("{document}", document_language)


def auto_lexicon(pair: Pair, source: Source | None = None) -> tuple[str, str]:
    """What ``auto`` takes, and that in words: the lexicon of the data, the best dictionary of this machine, or none.

    A dictionary of this direction is better than one of the other, a larger one better than a smaller one.
    """
    own = source.lexicon(pair) if source is not None else None
    if own is not None:
        return str(own), "the lexicon of the data"
    for found in find_dictionaries(*pair):
        way = ", read backwards" if found.reverse else ""
        return found.lexicon, f"the dictionary {found.path} ({found.entries:,} lines{way})"
    return "", ""


def with_auto_lexicon(system: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a system for an index: ``lexicon=auto`` where it takes a lexicon and none is named."""
    from isogloss.systems.registry import is_system, system_type

    takes_one = is_system(system) and "lexicon" in system_type(system).options_type.__dataclass_fields__
    return {**({"lexicon": AUTO} if takes_one else {}), **settings}


def knowledge_note(pair: Pair, uses_starter: bool = True, source: Source | None = None) -> str:
    """What an index with ``lexicon=auto`` uses before it reads documents, in words; empty for nothing."""
    starter = "the starter table" if uses_starter and starter_files(*pair) else ""
    parts = [part for part in (starter, auto_lexicon(pair, source)[1]) if part]
    return " and ".join(parts)


def starter_files(query_language: str, document_language: str) -> dict[str, Path]:
    """The starter tables of two languages, by the language that each is of; none where one is missing."""
    others = [language for language in (query_language, document_language) if language != "en"]
    files = {language: starter_file(language) for language in others}
    found = {language: path for language, path in files.items() if path is not None}
    return found if len(found) == len(files) and query_language != document_language else {}


def file_hashes(system: System) -> dict[str, str]:
    """The hash of every file that a system reads beside its data: a run records them, to repeat its numbers."""
    pair: Pair = (system.query_language, system.document_language)
    files = {f"starter_{language}": path for language, path in starter_files(*pair).items() if system.uses_starter}
    options: dict[str, Any] = asdict(system.options)
    for name in FILE_OPTIONS:
        path = lexicon_file(fill_languages(str(options.get(name) or ""), *pair))
        there = [each for ending in _ENDINGS if (each := Path(f"{path}{ending}")).is_file()]
        if there:
            files[name] = there[0]
    return {name: note_of(path).hash for name, path in files.items()}


def bundled_lexicon(query_language: str, document_language: str) -> str:
    """The path of the small lexicon that is part of isogloss."""
    from isogloss.data.readers.demo import DEMO_LANGUAGES, Demo

    path = Demo().lexicon((query_language, document_language))
    if path is None:
        known = ", ".join(f"en-{language}" for language in DEMO_LANGUAGES if language != "en")
        raise InputError(f"lexicon: none is bundled for {query_language}-{document_language}; there are {known}")
    return str(path)


def induce_from(training: Dataset, system: str) -> Lexicon:
    """Induce a lexicon; an error names what the system needs instead."""
    try:
        pages = translated_pages(training)
    except InputError as error:
        what = f"needs a lexicon ({way('--set lexicon=FILE', 'lexicon=')}); none can be induced"
        raise InputError(f"{system}: {what}: {error}") from error
    return induce_lexicon(pages, minimum_count=2 if len(pages) > _FEW_PAGES else 1)
