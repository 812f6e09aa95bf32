"""Pages as JSON lines: ``id``, ``text``, perhaps ``title``, ``lang``, ``url``, ``links``, ``translations``, ``fields``.

Pages that link to each other and to their translations carry judgments in themselves: see
:mod:`isogloss.corpus.grades`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_file
from isogloss.base.lines import Place, find_file
from isogloss.corpus.formats.json_lines import dump, read_objects
from isogloss.corpus.grades import GradedPages
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Document, Judgment, Query
from isogloss.corpus.source import Pair, Source, list_pairs

_SHAPES: dict[str, type | tuple[type, ...]] = {
    "title": str, "lang": str, "url": str, "links": list, "translations": dict, "fields": dict
}  # fmt: skip


class Jsonl(Source):
    """A file of pages. A page without ``lang`` belongs to whichever language is asked for."""

    format = "jsonl"
    top_grade = 2

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = find_file(Path(where))

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Place, Document]]:
        for place, page in self.check(problems):
            if page.language in ("", language):
                yield place, page

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Place, Query]]:
        for place, page in self._pages:
            if page.language == language:
                yield from ((place, query) for query in self.graded.queries_of(page))

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Place, Judgment]]:
        missing = [language for language in pair if language not in self.graded.languages]
        if missing:
            known = ", ".join(self.graded.languages) or "none marked"
            self._refuse(f"has no pages in {missing[0]!r}; languages here: {known}", problems)
        asked = [(place, page) for place, page in self._pages if page.language == pair[0]]
        lines = [(place, line) for place, page in asked for line in self.graded.judgments_of(page, pair[1])]
        if not lines:
            what = f"no page in {pair[0]!r} has a translation in {pair[1]!r}, so nothing can be judged"
            self._refuse(f"{what}; pairs here: {list_pairs(self.graded.pairs())}", problems)
        self._warn_of_links(pair, problems)
        return iter(lines)

    def groups(self, pair: Pair) -> Mapping[str, str]:
        return self.graded.groups(pair[0])

    def check(self, problems: Problems) -> Iterator[tuple[Place, Document]]:
        """Every page of every language, its problems reported. An id names one page, whatever its language."""
        seen = set()
        for place, page in read_pages(self.path, problems):
            if page.id in seen:
                problems.error(place, "duplicate document id", f"document id {page.id!r} stands a second time")
                continue
            seen.add(page.id)
            yield place, page

    @cached_property
    def graded(self) -> GradedPages:
        """The pages with what their links say."""
        return GradedPages(page for _, page in self._pages)

    @cached_property
    def _pages(self) -> list[tuple[Place, Document]]:
        problems = Problems(stop_at_errors=False)  # what is wrong with a page is reported where documents are read
        return list(self.check(problems))

    def _refuse(self, what: str, problems: Problems) -> NoReturn:
        for _ in self.check(problems):  # malformed pages may be the reason: then they are the error
            pass
        raise InputError(f"{self.path}: {what}")

    def _warn_of_links(self, pair: Pair, problems: Problems) -> None:
        pages = self.graded.pages
        for place, page in self._pages:
            if page.language not in pair:
                continue
            for link in page.links:
                if link not in pages:
                    problems.warn(place, "unknown link", f"page {page.id!r} links to {link!r}, which does not exist")
            for language, id_ in page.translations.items():
                if language in pair and (id_ not in pages or pages[id_].language != language):
                    what = f"page {page.id!r} names {id_!r} as its translation, which is no page in {language!r}"
                    problems.warn(place, "unknown translation", what)


def read_pages(path: Path, problems: Problems) -> Iterator[tuple[Place, Document]]:
    """The pages of a file, in any language."""
    for place, page in read_objects(path, ("id", "text"), problems):
        wrong = [
            key for key, shape in _SHAPES.items() if page.get(key) is not None and not isinstance(page[key], shape)
        ]
        if wrong:
            problems.error(place, "malformed line", f"{wrong[0]!r} has the wrong type: {str(page[wrong[0]])[:30]!r}")
            continue
        yield place, document_of(page)


def document_of(page: dict[str, Any]) -> Document:
    """A JSON object of this format as a document."""
    return Document(
        page["id"], page["text"], page.get("title") or "", page.get("lang") or "", page.get("url") or "",
        tuple(map(str, page.get("links") or ())),
        {language: str(id_) for language, id_ in (page.get("translations") or {}).items()},
        page.get("fields") or {},
    )  # fmt: skip


def write_jsonl(path: Path, documents: Iterable[Document], overwrite: bool = False) -> None:
    """Write pages as JSON lines; what is empty is left out."""
    with atomic_file(path, overwrite) as file:
        for document in documents:
            file.write(dump(page_object(document)))


def page_object(document: Document) -> dict[str, Any]:
    """A document as the JSON object of this format."""
    page = {
        "id": document.id,
        "lang": document.language,
        "title": document.title,
        "text": document.text,
        "url": document.url,
        "links": list(document.links),
        "translations": dict(document.translations),
        "fields": dict(document.fields),
    }
    return {key: value for key, value in page.items() if value or key == "text"}
