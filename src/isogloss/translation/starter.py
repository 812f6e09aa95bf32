"""Starter tables: which words translate each other, for many languages, before anything of one's own is read.

The package ``isogloss-starter`` has one file a language, with English on the query side. P(w | t) and P(t | w) are
those of IBM model 1 over translated program messages, names of CLDR and, for some languages, verses of the Bible
(``tools/starter`` builds them). From a language to English the two sides are exchanged. Between two other languages the
way goes through English words e:

    P(w | t) = sum_e P(w | e) P(e | t)

The words are terms of ``Tokenizer(language, stems=True)``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isogloss.translation.word_tables import WordTable, best_pairs, read_table

__all__ = ["WordTable", "load_starter", "starter_file", "starter_folder", "starter_languages", "starter_name"]

_PACKAGE = "isogloss_starter"
_ENDING = ".words.xz"
_ALIASES = {"no": "nb", "nn": "nb", "fil": "tl", "iw": "he", "in": "id", "ak": "tw"}
_ENGLISH = "en"
_LEAST = 0.01  # a translation through English that is less probable in both directions is left out
_MOST = 10  # translations of a word, in each direction


def starter_languages(folder: Path | None = None) -> list[str]:
    """The languages that have a table with English; none where the package is not installed."""
    folder = folder or starter_folder()
    if folder is None or not folder.is_dir():
        return []
    return sorted(path.name.removesuffix(_ENDING) for path in folder.glob(f"*{_ENDING}"))


def starter_file(language: str, folder: Path | None = None) -> Path | None:
    """The file of a language, or None."""
    folder = folder or starter_folder()
    if folder is None:
        return None
    names = (language, starter_name(language))
    return next((path for name in names if (path := folder / f"{name}{_ENDING}").is_file()), None)


def starter_name(language: str) -> str:
    """The name that files have which are of a language."""
    return _ALIASES.get(language, language)


def load_starter(query_language: str, document_language: str, folder: Path | None = None) -> WordTable | None:
    """The table of two languages; None where there is none or the package ``isogloss-starter`` is not installed."""
    if query_language == document_language:
        return None
    query_file, document_file = starter_file(query_language, folder), starter_file(document_language, folder)
    if query_file == document_file:
        return None  # no table at all, or two names of one language
    if query_language == _ENGLISH:
        return read_table(document_file) if document_file else None
    if document_language == _ENGLISH:
        return _exchanged(read_table(query_file)) if query_file else None
    if query_file is None or document_file is None:
        return None
    return _joined(_exchanged(read_table(query_file)), read_table(document_file))


def starter_folder() -> Path | None:
    """The folder of the installed tables. The package itself is not imported."""
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0], "tables")


def _exchanged(table: WordTable) -> WordTable:
    """The table of the other direction."""
    order = np.lexsort((table.query_numbers, table.document_numbers))
    return WordTable(
        table.document_words,
        table.query_words,
        table.document_numbers[order],
        table.query_numbers[order],
        table.document_probabilities[order],
        table.query_probabilities[order],
        table.document_counts,
        table.query_counts,
    )


def _joined(first: WordTable, second: WordTable) -> WordTable:
    """From the query words of one table, through English, to the document words of the other."""
    left, right = _met(first, second)
    forward = first.query_probabilities[left] * second.query_probabilities[right]
    backward = first.document_probabilities[left] * second.document_probabilities[right]
    seen = np.maximum(forward, backward) >= _LEAST / 10  # the sums below it would be left out, and are most of the work
    left, right, forward, backward = left[seen], right[seen], forward[seen], backward[seen]
    keys = first.query_numbers[left].astype(np.int64) * len(second.document_words) + second.document_numbers[right]
    pairs, place = np.unique(keys, return_inverse=True)
    forward, backward = (np.bincount(place, part, len(pairs)).astype(np.float32) for part in (forward, backward))
    queries, documents = (part.astype(np.int32) for part in np.divmod(pairs, max(1, len(second.document_words))))
    kept = best_pairs(queries, forward, _MOST, _LEAST) | best_pairs(documents, backward, _MOST, _LEAST)
    smallest = np.finfo(
        np.float32
    ).tiny  # what was seen in one direction only is improbable in the other, not impossible
    return WordTable(
        first.query_words,
        second.document_words,
        queries[kept],
        documents[kept],
        np.maximum(forward[kept], smallest),
        np.maximum(backward[kept], smallest),
        first.query_counts,
        second.document_counts,
    )


def _met(first: WordTable, second: WordTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which pairs of one table meet which of the other in an English word."""
    number_of = {word: number for number, word in enumerate(second.query_words)}
    numbers = np.asarray([number_of.get(word, -1) for word in first.document_words], dtype=np.int64)
    row = numbers[first.document_numbers]
    lengths = np.bincount(second.query_numbers, minlength=len(second.query_words))
    known = np.flatnonzero(row >= 0)
    repeats, starts = lengths[row[known]], (np.cumsum(lengths) - lengths)[row[known]]
    left = np.repeat(known, repeats)
    return left, np.arange(len(left)) + np.repeat(starts - (np.cumsum(repeats) - repeats), repeats)
