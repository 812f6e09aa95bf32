"""Documents whose languages nobody named: each has its own, where the data say it, or the one that is detected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from isogloss.data.dataset import checked_documents
from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.index.manifest import Manifest
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.progress import track
from isogloss.text.detection import (
    BEYOND_DOUBT,
    Clue,
    detect_languages,
    detectable_languages,
    language_shares,
    sample,
)  # fmt: skip

Located = tuple[Location, Document]


class Detected(NamedTuple):
    """A source of which each document has a language, and the number of documents in each, the most first."""

    source: Source
    counts: dict[str, int]


def with_languages(
    source: Source, problems: Problems | None = None, known: Mapping[str, int] | None = None
) -> Detected:
    """Read all documents of a source, and detect the language of those that have none.

    ``known``: the languages of an index that they are added to, and how many documents it has in each.
    """
    problems = problems or Problems()
    found = list(track(checked_documents(source.all_documents(problems), problems), "reading documents"))
    if not found:
        skipped = problems.told_skipped()
        raise InputError(f"{source.name}: has no documents{f'; {skipped}' if skipped else source.about_documents}")
    marked = Counter(document.language for _, document in found if document.language)
    found = detect_each(source, found, known)
    counts = marked + (Counter(document.language for _, document in found) - marked)
    return Detected(_with_documents(source, found), dict(counts.most_common()))


def detect_each(
    source: Source, found: Sequence[Located], known: Mapping[str, int] | None = None,
    nearby: Mapping[str, Mapping[str, int]] | None = None,
) -> list[Located]:  # fmt: skip
    """The documents with their languages; that of a document without one is detected.

    ``known``: how many documents an index has in each language; ``nearby``: how many of them are in each folder.
    """
    marked = Counter(document.language for _, document in found if document.language)
    clues = [_clue(source, document) for _, document in found if not document.language]
    try:
        languages = iter(detect_languages(clues, Counter(known or {}) + marked, nearby))
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from error
    return [
        (location, document if document.language else replace(document, language=next(languages)))
        for location, document in found
    ]


def only_languages(source: Source, languages: Sequence[str], problems: Problems | None = None) -> Source:
    """A folder with the documents in some languages that the user has named; other sources are as they are."""
    if not (source.may_mix_languages and can_tell(languages)):
        return source
    problems = problems or Problems()
    found = checked_documents(source.all_documents(problems), problems)
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
    for location, document in documents:
        clue = _clue(source, document)
        shares = dict(zip(detectable_languages(), language_shares(sample(clue.text)).tolist(), strict=True))
        best = document.language or max(shares, key=lambda language: shares[language])
        if best not in languages:
            if document.language or shares[best] >= BEYOND_DOUBT:
                others.append((location, best))
                continue
            named = clue.named if clue.named in languages else ""
            best = named or max(languages, key=lambda language: shares[language])
        found.append((location, replace(document, language=best)))
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


def languages_to_add(source: Source, manifest: Manifest, problems: Problems | None = None) -> tuple[Source, list[str]]:
    """The source with a language for each document, and the languages of those that are to be added to an index."""
    detected = with_languages(source, problems, manifest.documents)
    wanted = languages_to_index(detected, manifest.query_languages)
    return detected.source, [each for each in detected.counts if each in wanted or each in manifest.documents]


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
