"""The full forms of stems: a reader is shown words, and translation models have stems.

The form of a stem is the shortest of its words that is not much rarer than the most frequent: "select" rather than
"selected", though not "analys". ``isogloss-starter`` has the forms of its languages (``LANGUAGE.forms.xz``: lines
``stem<TAB>form``).
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from isogloss.storage.errors import InputError
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.starter import starter_folder, starter_name

ENDING = ".forms.xz"
_SHARE = 0.2  # of the most frequent form's count
_LARGEST = 1 << 26  # bytes of a table


def word_counts(texts: Iterable[str]) -> dict[str, int]:
    """How often texts have each word."""
    words = tokenize_texts(list(texts))
    return dict(zip(words.terms, np.bincount(words.ids, minlength=len(words.terms)).tolist(), strict=True))


def usual_forms(counts: Mapping[str, float], tokenizer: Tokenizer) -> dict[str, str]:
    """The form of each stem, by the counts of words; without words that are their own stems.

    >>> usual_forms({"selected": 9, "select": 3, "analysis": 2}, Tokenizer("en", stems=True))
    {'select': 'select', 'analysi': 'analysis'}
    """
    forms: dict[str, list[tuple[float, str]]] = {}
    for (word, count), term in zip(counts.items(), tokenizer.terms(list(counts)), strict=True):
        forms.setdefault(term, []).append((count, word))
    found = {}
    for term, of_term in forms.items():
        most = max(count for count, _ in of_term)
        likely = [(len(word), -count, word) for count, word in of_term if count >= _SHARE * most]
        found[term] = min(likely)[2]
    return found


def write_forms(path: Path, forms: Mapping[str, str]) -> None:
    """Write forms that differ from their stems; the same forms give the same bytes."""
    from isogloss.storage.files import write_bytes

    lines = "".join(f"{term}\t{form}\n" for term, form in sorted(forms.items()) if form != term)
    write_bytes(path, lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))


def starter_forms(language: str, folder: Path | None = None) -> dict[str, str]:
    """The forms that ``isogloss-starter`` has of a language; none where it has none."""
    folder = folder or starter_folder()
    path = folder / f"{starter_name(language)}{ENDING}" if folder else None
    if path is None or not path.is_file():
        return {}
    try:
        content = lzma.LZMADecompressor(memlimit=2 * _LARGEST).decompress(path.read_bytes(), _LARGEST)
        lines = (line.split("\t") for line in content.decode().splitlines())
        return {term: form for term, form in lines}
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise InputError(f"{path}: a damaged table of forms ({error}); install isogloss-starter anew") from error
