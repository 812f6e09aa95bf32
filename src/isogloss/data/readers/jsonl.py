"""Pages as JSON lines: ``id``, ``text``, perhaps ``title``, ``lang``, ``url``, ``links``, ``translations``, ``fields``.

Pages that link to each other and to their translations carry judgments in themselves: see
:mod:`isogloss.data.grades`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from isogloss.data.document_checks import shown_value
from isogloss.data.documents import Document, Judgment, Query, document_of, page_object
from isogloss.data.grades import GradedPages
from isogloss.data.problems import Problems
from isogloss.data.source import NoJudgmentsError, Pair, Source, list_pairs
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import Location, find_file, read_lines

if TYPE_CHECKING:
    from isogloss.data.dataset import Dataset

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def read_objects(
    path: Path, required: tuple[str, ...], problems: Problems
) -> Iterator[tuple[Location, dict[str, Any]]]:
    """The objects of a file that have the required keys, ids turned into strings. Empty lines are skipped."""
    for location, line in read_lines(path, problems.broken_text):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            problems.error(location, "malformed line", f"not JSON ({what})")
            continue
        wrong = _what_is_wrong(line, value, required)
        if wrong:
            problems.error(location, "malformed line", wrong)
            continue
        value[required[0]] = str(value[required[0]])
        yield location, value


def _what_is_wrong(line: str, value: Any, required: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return "expected a JSON object"
    if _HALF_PAIR.search(line) and _has_half_pair(value):
        return r"has a \u escape that is half a character"
    for key in required:
        if key not in value:
            return f"the object has no {key!r}"
        allowed = (str, int) if key == required[0] else (str,)
        if not isinstance(value[key], allowed) or (value[key] == "" and key == required[0]):
            return f"{key!r} must be a string, got {shown_value(value[key])}"
    return None


def _has_half_pair(value: dict[str, Any]) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        return True
    return False


def dump(value: dict[str, Any]) -> str:
    """One line of JSON, letters as they are."""
    return json.dumps(value, ensure_ascii=False) + "\n"


_SHAPES: dict[str, type | tuple[type, ...]] = {
    "title": str, "lang": str, "url": str, "links": list, "translations": dict, "fields": dict
}  # fmt: skip


class Jsonl(Source):
    """A file of pages. A page without ``lang`` belongs to every language."""

    format = "jsonl"
    can_sync = True
    file_endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    can_write = True
    top_grade = 2

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = find_file(Path(where))

    @classmethod
    def write(cls, dataset: Dataset, target: Path, overwrite: bool) -> None:
        write_jsonl(target, dataset.documents, overwrite)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        for location, page in self.check(problems):
            if page.language in ("", language):
                yield location, page

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        return self.check(problems)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        for location, page in self._pages:
            if page.language == language:
                yield from ((location, query) for query in self.graded.queries_of(page))

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        missing = [language for language in pair if language not in self._languages]
        if missing:
            known = ", ".join(sorted(self._languages)) or "none marked"
            self._refuse(f"has no pages in {missing[0]!r}; languages here: {known}", problems)
        pages = [(location, page) for location, page in self._pages if page.language == pair[0]]
        lines = [(location, line) for location, page in pages for line in self.graded.judgments_of(page, pair[1])]
        if not lines:
            what = f"no page in {pair[0]!r} has a translation in {pair[1]!r}, so nothing can be judged"
            self._refuse(f"{what}; pairs here: {list_pairs(self.graded.pairs())}", problems)
        self._warn_of_links(pair, problems)
        return iter(lines)

    def groups(self, pair: Pair) -> Mapping[str, str]:
        return self.graded.groups(pair[0])

    def check(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        """Every page of every language, its problems reported. An id names one page, whatever its language."""
        seen = set()
        for location, page in read_pages(self.path, problems):
            if page.id in seen:
                problems.error(location, "duplicate document id", f"document id {page.id!r} occurs a second time")
                continue
            seen.add(page.id)
            yield location, page

    @cached_property
    def graded(self) -> GradedPages:
        """The pages with their judgments from links."""
        return GradedPages(page for _, page in self._pages)

    @cached_property
    def _languages(self) -> set[str]:
        """The languages of the pages, which are not kept: most files have one language, and no judgments."""
        problems = Problems(stop_at_errors=False)
        found = {page.language for _, page in self.check(problems)} - {""}
        self._is_whole = not problems.errors
        return found

    @cached_property
    def _pages(self) -> list[tuple[Location, Document]]:
        problems = Problems(stop_at_errors=False)  # reported where documents are read
        return list(self.check(problems))

    def _refuse(self, what: str, problems: Problems) -> NoReturn:
        if not self._is_whole:  # malformed pages may be the reason
            for _ in self.check(problems):
                pass
        raise NoJudgmentsError(f"{self.path}: {what}")

    def _warn_of_links(self, pair: Pair, problems: Problems) -> None:
        pages = self.graded.pages
        for location, page in self._pages:
            if page.language not in pair:
                continue
            for link in page.links:
                if link not in pages:
                    problems.warn(location, "unknown link", f"page {page.id!r} links to {link!r}, which does not exist")
            for language, id_ in page.translations.items():
                if language in pair and (id_ not in pages or pages[id_].language != language):
                    what = f"page {page.id!r} names {id_!r} as its translation, which is no page in {language!r}"
                    problems.warn(location, "unknown translation", what)


def read_pages(path: Path, problems: Problems) -> Iterator[tuple[Location, Document]]:
    """The pages of a file, in any language."""
    for location, page in read_objects(path, ("id", "text"), problems):
        wrong = [
            key for key, shape in _SHAPES.items() if page.get(key) is not None and not isinstance(page[key], shape)
        ]
        if wrong:
            problems.error(
                location, "malformed line", f"{wrong[0]!r} has the wrong type: {shown_value(page[wrong[0]])}"
            )
            continue
        try:
            yield location, document_of(page)
        except InputError as error:
            problems.error(location, "malformed line", str(error))


def write_jsonl(path: Path, documents: Iterable[Document], overwrite: bool = False) -> None:
    """Write pages as JSON lines; what is empty is left out."""
    with atomic_file(path, overwrite) as file:
        for document in documents:
            file.write(dump(page_object(document)))
