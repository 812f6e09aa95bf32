"""Documents whose languages nobody named: each has its own, where the data say it, or the one that is detected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from isogloss.data.dataset import checked_documents
from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.index.reader import OpenIndex
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.progress import track
from isogloss.text.detection import (
    BEYOND_DOUBT,
    Clue,
    detect_languages,
    detectable_languages,
    language_parts,
    language_shares,
    sample,
)  # fmt: skip

Located = tuple[Location, Document]
_COMPARED = 1_000  # documents that are looked up at a time in an index


class Detected(NamedTuple):
    """A source of which each document has a language, and the number of documents in each, the most first."""

    source: Source
    counts: dict[str, int]


def with_languages(source: Source, problems: Problems | None = None, index: OpenIndex | None = None) -> Detected:
    """Read all documents of a source, and detect the language of those that have none.

    ``index``: that which they are added to. A document that it has already has the language that it has there.
    """
    problems = problems or Problems()
    found = list(track(_read(source, problems, index), "reading documents"))
    if not found:
        skipped = problems.told_skipped()
        raise InputError(f"{source.name}: has no documents{f'; {skipped}' if skipped else source.about_documents}")
    marked = Counter(document.language for _, document in found if document.language)
    found = detect_each(source, found, None if index is None else index.manifest.documents)
    counts = marked + (Counter(document.language for _, document in found) - marked)
    return Detected(_with_documents(source, found), dict(counts.most_common()))


def detect_each(
    source: Source, found: Sequence[Located], known: Mapping[str, int] | None = None,
    nearby: Mapping[str, Mapping[str, int]] | None = None,
) -> list[Located]:  # fmt: skip
    """The documents with their languages; that of a document without one is detected.

    ``known``: how many documents an index has in each language; ``nearby``: how many of them are in each folder.
    """
    found = list(_in_parts(source, found))
    clues = [_clue(source, document) for _, document in found if not document.language]
    if not clues:
        return found
    marked = Counter(document.language for _, document in found if document.language)
    folders = {folder: Counter(counts) for folder, counts in (nearby or {}).items()}
    for _, document in found:
        if document.language:
            folders.setdefault(source.place(document)[0], Counter())[document.language] += 1
    try:
        languages = iter(detect_languages(clues, Counter(known or {}) + marked, folders))
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from error
    return [
        (location, document if document.language else replace(document, language=next(languages)))
        for location, document in found
    ]


def only_languages(
    source: Source, languages: Sequence[str], problems: Problems | None = None, index: OpenIndex | None = None
) -> Source:
    """A folder with the documents in some languages that the user has named; other sources are as they are.

    ``index``: that which they are added to. A document that it has already in one of them stays in it.
    """
    if not (source.may_mix_languages and can_tell(languages)):
        return source
    problems = problems or Problems()
    found = _read(source, problems, index, languages)
    return _with_documents(source, in_languages(source, found, languages, problems))


def can_tell(languages: Sequence[str]) -> bool:
    """Whether it can be detected that a text is in none of the languages."""
    return set(languages) <= set(detectable_languages())


def in_languages(
    source: Source, documents: Iterable[Located], languages: Sequence[str], problems: Problems
) -> list[Located]:
    """The documents in some languages, of which each has the likeliest.

    One that is beyond doubt in another language is left out; a file of which nothing is left is skipped.
    """
    found, others = [], []
    for location, document in _in_parts(source, documents):
        language = document.language or _likeliest(_clue(source, document), languages)
        if language in languages:
            found.append((location, replace(document, language=language)))
        else:
            others.append((location, language))
    kept = {location.path for location, _ in found}
    for location, language in others:
        if location.path not in kept:
            problems.skip(location, "in other languages", f"is in {language!r}, which is not asked for")
    return found


def languages_to_index(detected: Detected, query_languages: Sequence[str]) -> list[str]:
    """The languages of the documents that are to be found, the most frequent first.

    Where all queries are in one language, and the source has judgments between it and another, the documents in that
    language belong to the queries: they are stored to search with. All others are indexed.
    """
    others = [language for language in detected.counts if language != query_languages[0]]
    judged = len(query_languages) == 1 and any(
        _is_judged(detected.source, (query_languages[0], each)) for each in others
    )
    return others if judged else list(detected.counts)


def languages_to_add(source: Source, index: OpenIndex, problems: Problems | None = None) -> tuple[Source, list[str]]:
    """The source with a language for each document, and the languages of those that are to be added to an index."""
    detected = with_languages(source, problems, index)
    wanted = {*languages_to_index(detected, index.manifest.query_languages), *index.manifest.documents}
    return detected.source, [each for each in detected.counts if each in wanted]


def _read(
    source: Source, problems: Problems, index: OpenIndex | None, languages: Sequence[str] = ()
) -> Iterator[Located]:
    """The documents of a source; those that an index has already, in these languages or in any, with their language."""
    waiting = checked_documents(source.all_documents(problems), problems)
    if index is None:
        yield from waiting
        return
    among = [each for each in index.languages if not languages or each in languages]
    while some := list(islice(waiting, _COMPARED)):
        ids = list({document.id for _, document in some if not document.language})
        known = {_content(each): language for language in among for each in index.languages[language].stored(ids)}
        for location, document in some:
            language = document.language or known.get(_content(document), "")
            yield location, replace(document, language=language)


def _content(document: Document) -> tuple[str, str, str]:
    """What the language of a document depends on."""
    return document.id, document.title, document.text


def _in_parts(source: Source, documents: Iterable[Located]) -> Iterator[Located]:
    """The documents; a file with long parts in several languages makes one of each.

    The parts in the language that it has most of have the id of the file, others that with the language,
    ``guide.pdf#de``.
    """
    for location, document in documents:
        parts = language_parts(document.text) if source.may_mix_languages and not document.language else {}
        if not parts:
            yield location, document
        for number, (language, text) in enumerate(parts.items()):
            id_ = f"{document.id}#{language}" if number else document.id
            yield location, replace(document, id=id_, text=text, language=language)


def _likeliest(clue: Clue, languages: Sequence[str]) -> str:
    """The likeliest of some languages, or another that the text is beyond doubt in."""
    shares = dict(zip(detectable_languages(), language_shares(sample(clue.text)).tolist(), strict=True))
    best = max(shares, key=shares.__getitem__)
    if best in languages or shares[best] >= BEYOND_DOUBT:
        return best
    return clue.named if clue.named in languages else max(languages, key=shares.__getitem__)


def _with_documents(source: Source, found: Sequence[Located]) -> Source:
    """The same source, with documents that were read."""

    def documents(language: str, problems: Problems) -> Iterator[Located]:
        return (each for each in found if each[1].language == language)

    made = copy(source)
    vars(made)["documents"] = documents
    return made


def _is_judged(source: Source, pair: Pair) -> bool:
    with suppress(InputError):
        source.judgments(pair, Problems(stop_at_errors=False))  # opened, not read
        return True
    return False


def _clue(source: Source, document: Document) -> Clue:
    return Clue(document.text if document.text.strip() else document.title, *source.place(document))
