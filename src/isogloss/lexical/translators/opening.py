"""A translator by what the user writes: ``lexicon:FILE``, ``apertium``, ``apertium:MODE``, ``file:FILE``."""

from __future__ import annotations

from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.lexical.translators.apertium import Apertium
from isogloss.lexical.translators.ready import ReadyTranslations
from isogloss.lexical.translators.translator import Translator
from isogloss.lexical.translators.word_by_word import LexiconTranslator
from isogloss.vectors.lexicon import Lexicon

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
    translations by Apertium are kept, if not the usual one.
    """
    kind, _, where = spec.partition(":")
    if kind == "apertium":
        return Apertium(where, cache) if where else Apertium.of(source_language, target_language, cache)
    if kind == "file" and where:
        return ReadyTranslations(Path(where), keep_missing)
    if kind == "lexicon" and (where or lexicon is not None):
        return LexiconTranslator(
            Lexicon.read(where) if where or lexicon is None else lexicon, source_language, target_language
        )
    if kind in ("lexicon", "file"):
        raise InputError(f"translator: {spec!r} names no file; write {kind}:FILE")
    raise InputError(f"translator: {spec!r} is none of {TRANSLATOR_HELP}")
