"""Which page is the translation of which document: by a key that both have.

Where the user names no key these are compared, one after the other; each pairs what is not paired yet:

1. ``translation_key`` or ``translationKey`` in the front matter of files;
2. what a page or a document says itself (``translations`` in JSON lines);
3. ids: of files, the paths in their folders;
4. ids without the ending and the language: ``guide.es.md``, ``guide_es.html`` and ``es/guide.md`` are all ``guide``;
5. ``original_slug`` or ``slug`` in the front matter.

A key that several documents or several pages have says nothing. Neither does a page with the very text of the document:
it is not translated yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.readers.files.kinds import kind_of
from isogloss.data.readers.files.markdown import read_front_matter
from isogloss.data.readers.folder import Folder
from isogloss.data.readers.jsonl import Jsonl, read_objects
from isogloss.data.source import Pair, Source
from isogloss.storage.lines import Location, read_lines
from isogloss.storage.wording import way
from isogloss.text.language import identify_language

_EXPLICIT = ("translation_key", "translationKey")
_SLUGS = ("original_slug", "slug")
_REGION = r"(?:[-_](?:[a-z]{2}|\d{3}|han[st]|latn|cyrl|arab))?"
_LONGEST_FRONT_MATTER = 500  # lines
Place = tuple[Path, int]


@dataclass(frozen=True)
class Pairing:
    """Documents of a language and the pages that translate them into the language of the queries."""

    documents: int
    pages: list[Document]
    places: frozenset[Place]
    """Where the pages are."""
    pairs: list[tuple[Document, Document]]
    """Page and document."""
    same: int
    """Pages with the text of their document."""
    moved: frozenset[Place]
    """Where pages are that the source has as documents: one folder has both."""
    why_none: str
    """Where there is no pair, what was compared."""


@dataclass
class _Candidate:
    """A document or a page with the keys that are compared one after the other; empty where it has none."""

    location: Location
    record: Document
    keys: Sequence[str] = ()


def pair_pages(
    documents: Source, translations: Source, pair: Pair, key: str, problems: Problems,
    query_languages: Sequence[str] = (),
) -> Pairing:  # fmt: skip
    """Pair the documents of one source with the pages of another, by a key or by all that is known.

    With several ``query_languages`` that of a page without one is identified.
    """
    unreported = Problems(problems.stop_at_errors)  # documents are read, and their problems reported, once more
    of_documents = [_Candidate(*found) for found in documents.documents(pair[1], unreported)]
    of_pages = [
        _Candidate(location, page)
        for location, page in translations.documents(pair[0], problems)
        if len(query_languages) < 2 or (page.language or identify_language(page.text, query_languages)) == pair[0]
    ]
    of_documents, of_pages, moved = _separate(of_documents, of_pages, pair)
    _set_keys(of_documents, documents, pair[1], key, lambda record: (record.translations.get(pair[0], ""), record.id))
    _set_keys(of_pages, translations, pair[0], key, lambda record: (record.id, record.translations.get(pair[1], "")))
    matched = _matched(of_documents, of_pages, problems)
    pairs = [(page, document) for document, page in matched if page.text.strip() and document.text.strip()]
    kept = [(page, document) for page, document in pairs if page.text != document.text]
    same = len(pairs) - len(kept)
    why = "" if kept else _why_none(documents, translations, of_documents, of_pages, key, same)
    places = frozenset(place_of(page.location) for page in of_pages)
    return Pairing(len(of_documents), [page.record for page in of_pages], places, kept, same, moved, why)


def plain_path(id_: str, language: str, has_ending: bool = True) -> str:
    """An id without the ending of a file, and without the language in its name or its folders.

    >>> [plain_path(path, "es") for path in ("guide.es.md", "guide_es-MX.html", "es/guide.md", "guide.md")]
    ['guide', 'guide', 'guide', 'guide']
    """
    code = f"{re.escape(language)}{_REGION}"
    *folders, name = id_.split("/")
    if has_ending:
        name = PurePosixPath(name.removesuffix(".gz")).stem
    name = re.sub(rf"(?<=.)[._-]{code}$", "", name, flags=re.IGNORECASE)
    return "/".join([*(each for each in folders if not re.fullmatch(code, each, re.IGNORECASE)), name])


def _separate(
    documents: list[_Candidate], pages: list[_Candidate], pair: Pair
) -> tuple[list[_Candidate], list[_Candidate], frozenset[Place]]:
    """Where one folder has both: documents and pages apart, by the languages in their paths.

    Files without a language are pages where others have that of the documents: ``guide.md`` beside ``guide_es.md``.
    """
    places = {place_of(page.location) for page in pages}
    both = {place: each for each in documents if (place := place_of(each.location)) in places}
    marked = {place for place, each in both.items() if _is_marked(each.record.id, pair[1])}
    as_pages = {
        place for place, each in both.items() if place not in marked and (marked or _is_marked(each.record.id, pair[0]))
    }
    return (
        [each for each in documents if place_of(each.location) not in as_pages],
        [each for each in pages if (place := place_of(each.location)) not in both or place in as_pages],
        frozenset(as_pages),
    )


def place_of(location: Location) -> Place:
    """A location that is the same however the user writes the path."""
    return location.path.resolve(), location.line


def _is_marked(id_: str, language: str) -> bool:
    return plain_path(id_, language) != plain_path(id_, "")


def _set_keys(
    side: Sequence[_Candidate], source: Source, language: str, key: str, names: Callable[[Document], tuple[str, str]]
) -> None:
    """Give each its keys; ``names`` are two ids, of which one is named by the other side."""
    values_of = _values(source, side, (key,) if key else (*_EXPLICIT, *_SLUGS))
    for each in side:
        values, id_ = values_of.get(each.record.id, {}), each.record.id
        if key:
            each.keys = [values.get(key, "")]
            continue
        explicit, slug = (next((values[name] for name in known if name in values), "") for known in (_EXPLICIT, _SLUGS))
        each.keys = [explicit, *names(each.record), id_, plain_path(id_, language, isinstance(source, Folder)), slug]


def _values(source: Source, side: Iterable[_Candidate], names: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Id to the values of some names: of the front matter of files, of the objects of JSON lines, or of fields."""
    if isinstance(source, Folder):
        return {each.record.id: read_front_matter(_head(each.location.path)) for each in side}
    if isinstance(source, Jsonl):
        objects = read_objects(source.path, ("id", "text"), Problems(stop_at_errors=False))
        return {page["id"]: _texts({**(page.get("fields") or {}), **page}, names) for _, page in objects}
    return {each.record.id: _texts(each.record.fields, names) for each in side}


def _texts(values: Mapping[str, object], names: Sequence[str]) -> dict[str, str]:
    return {name: str(values[name]) for name in names if isinstance(values.get(name), str | int)}


def _head(path: Path) -> str:
    """The lines of a Markdown file that may be its front matter."""
    kind = kind_of(path)
    if kind is None or kind.name != "markdown":
        return ""
    lines = (line for _, line in read_lines(path, lambda *_: None))  # broken lines are reported where texts are read
    return "\n".join(islice(lines, _LONGEST_FRONT_MATTER))


def _matched(
    documents: Sequence[_Candidate], pages: Sequence[_Candidate], problems: Problems
) -> list[tuple[Document, Document]]:
    """Each document with its page, in the order of the documents."""
    page_of: dict[int, int] = {}
    for step in range(len(documents[0].keys) if documents else 0):
        of_documents = _numbers(documents, step, page_of.keys())
        of_pages = _numbers(pages, step, set(page_of.values()))
        for key, numbers in of_documents.items():
            others = of_pages.get(key, [])
            if len(numbers) == len(others) == 1:
                page_of[numbers[0]] = others[0]
            elif others:
                side, repeated = (documents, numbers) if len(numbers) > 1 else (pages, others)
                first, second = (side[number] for number in repeated[:2])
                what = f"{first.record.id!r} and {second.record.id!r} have the same key {key!r}"
                problems.warn(second.location, "ambiguous translation key", f"{what}, so neither is paired by it")
    return [(documents[number].record, pages[page_of[number]].record) for number in sorted(page_of)]


def _numbers(side: Sequence[_Candidate], step: int, taken: Iterable[int]) -> dict[str, list[int]]:
    """Key to the numbers of those that have it."""
    found: dict[str, list[int]] = {}
    passed_over = set(taken)
    for number, candidate in enumerate(side):
        if candidate.keys[step] and number not in passed_over:
            found.setdefault(candidate.keys[step], []).append(number)
    return found


def _why_none(
    documents: Source, translations: Source, of_documents: Sequence[_Candidate], of_pages: Sequence[_Candidate],
    key: str, same: int,
) -> str:  # fmt: skip
    """What was compared, in one line."""
    what = f"{translations.where}: no page is the translation of a document of {documents.where}"
    if not (of_documents and of_pages):
        return f"{what}: there are no {'pages beside the documents' if of_documents else 'documents'}"
    if same:
        return f"{what}: the texts of {same:,} are the same in both, so they are not translated yet"
    if key:
        having = [sum(bool(each.keys[0]) for each in side) for side in (of_documents, of_pages)]
        counts = f"{having[0]:,} of {len(of_documents):,} documents and {having[1]:,} of {len(of_pages):,} pages"
        return f"{what}: compared the key {key!r}, which {counts} have"
    examples = f"{of_documents[0].record.id!r} with {of_pages[0].record.id!r}"
    compared = f"compared paths or ids, such as {examples}, translation_key and slug"
    return f"{what}: {compared}; name a key that they share with {way('--translation-key KEY', 'translation_key=')}"
