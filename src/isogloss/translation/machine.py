"""Machine translators of what readers see: Apertium, a CTranslate2 or Argos model, or an HTTP service.

A user names one by an option or in the environment variable ISOGLOSS_TRANSLATOR, as ``apertium``, ``apertium:MODE``,
``ctranslate2:DIR``, ``argos:DIR``, or by the address of a service. No index can name one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from isogloss.storage.errors import InputError
from isogloss.translation.translators import Apertium, Translator

VARIABLE = "ISOGLOSS_TRANSLATOR"
MACHINE_HELP = (
    "apertium or apertium:MODE (a mode such as fra-eng), ctranslate2:DIR (a model with its SentencePiece files), "
    "argos:DIR (a package of Argos Translate), or the http address of a service with LibreTranslate's protocol"
)
_KINDS = ("ctranslate2", "argos", "http", "https")
_KEPT = 8  # translators that stay loaded
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class MachineTranslator(Translator):
    """A translator with a ``name`` that readers are told."""

    name: str


class ApertiumForReaders(MachineTranslator):
    """Apertium without its cache: what readers see is not kept on disk."""

    def __init__(self, mode: str, source_language: str, target_language: str) -> None:
        nowhere = Path(os.devnull)
        self._apertium = Apertium(mode, nowhere) if mode else Apertium.of(source_language, target_language, nowhere)
        self.name = f"Apertium {self._apertium.mode}"

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        return list(map(plain_line, self._apertium.uncached().translate(texts)))


def checked_translator(spec: str | None) -> str:
    """The translator that an option names, or else the environment; empty for none. It is opened at its first use."""
    spec = os.environ.get(VARIABLE, "").strip() if spec is None else spec
    kind, _, where = spec.partition(":")
    if spec and not (kind == "apertium" or (kind in _KINDS and where)):
        raise InputError(f"translator: {spec!r} is none of {MACHINE_HELP}")
    return spec


def plain_line(text: str) -> str:
    """A text in one line without control characters: it comes from outside, and goes to terminals."""
    return " ".join(_CONTROL.sub(" ", text).split())


@lru_cache(_KEPT)
def open_machine_translator(spec: str, source_language: str, target_language: str) -> MachineTranslator:
    """The translator that a user names, from one language into another."""
    kind, _, where = checked_translator(spec).partition(":")
    if kind in ("http", "https"):
        from isogloss.translation.http_translator import HttpTranslator

        return HttpTranslator(spec, source_language, target_language)
    if kind == "apertium":
        return ApertiumForReaders(where, source_language, target_language)
    from isogloss.translation.ctranslate2_translator import CTranslate2Translator, argos_translator

    folder = Path(where.replace("{source}", source_language).replace("{target}", target_language))
    if kind == "argos":
        return argos_translator(folder, source_language, target_language)
    return CTranslate2Translator(folder)
