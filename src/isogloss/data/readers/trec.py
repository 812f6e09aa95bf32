"""TREC: topics as a table (``topics.tsv``) or in markup (``topics``), ``qrels``, documents as JSON lines.

A directory may have several languages: ``topics.en.tsv``, ``documents.fr.jsonl`` and ``qrels.en-fr`` are taken before
``topics.tsv``, ``documents.jsonl`` and ``qrels``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Document, Judgment, Query, page_object
from isogloss.data.problems import Problems
from isogloss.data.readers.files.html import unescape
from isogloss.data.readers.jsonl import dump, read_pages
from isogloss.data.readers.table import one_line, parse_grade, read_table, table_id
from isogloss.data.source import Pair, Source, existing_directory, list_pairs
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory
from isogloss.storage.lines import Location, find_file, is_there, read_lines

_TAG = re.compile(r"<(/?)\s*+(num|title|desc|narr|top)\b[^<>]*+>", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)


class Trec(Source):
    """A directory of TREC files."""

    format = "trec"
    can_sync = True
    folder_sign = "qrels*"
    can_write = True

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = existing_directory(where)

    @classmethod
    def write(cls, dataset: Dataset, target: Path, overwrite: bool) -> None:
        write_trec(target, dataset, overwrite)

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        path = self._first(f"documents.{language}.jsonl", "documents.jsonl")
        for location, page in read_pages(path, problems):
            if page.language in ("", language):
                yield location, page

    def languages(self) -> list[str]:
        """Those in the names of files; ``documents.jsonl``, where there is no other, tells them page by page."""
        matches = (re.fullmatch(r"documents\.([\w-]+)\.jsonl(\.gz)?", path.name) for path in self.directory.iterdir())
        return sorted({match[1] for match in matches if match})

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        if self.languages():
            return super().all_documents(problems)
        return read_pages(self._first("documents.jsonl"), problems)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        names = [
            f"topics{middle}{ending}" for middle in (f".{language}", "") for ending in (".tsv", ".txt", ".xml", "")
        ]
        path = self._first(*names)
        if path.name.removesuffix(".gz").endswith(".tsv"):
            for location, (id_, text) in read_table(path, ("id", "text"), problems):
                yield location, Query(id_, text, "", language)
        else:
            yield from _read_topics(path, language, problems)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        try:
            path = self._first(f"qrels.{pair[0]}-{pair[1]}", "qrels", "qrels.txt")
        except InputError as error:
            raise InputError(f"{error}; pairs here: {list_pairs(self._pairs())}") from None
        return read_qrels(path, problems)

    def _pairs(self) -> Iterator[Pair]:
        matches = (re.fullmatch(r"qrels\.(\w+)-(\w+)(\.gz)?", path.name) for path in self.directory.iterdir())
        return ((match[1], match[2]) for match in matches if match)

    def _first(self, *names: str) -> Path:
        for name in names:
            if is_there(self.directory / name):
                return find_file(self.directory / name)
        raise InputError(f"{self.directory}: has none of {', '.join(names)}")


def read_qrels(path: Path, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
    """``query 0 document grade`` lines, separated by white space."""
    for location, line in read_lines(path, problems.broken_text):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            problems.error(location, "malformed line", f"expected query, 0, document and grade, got {line[:60]!r}")
            continue
        grade = parse_grade(location, fields[3], problems)
        if grade is not None:
            yield location, Judgment(fields[0], fields[2], grade)


def _read_topics(path: Path, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
    """Topics in markup: the text is the title, or the description where there is no title."""
    found = False
    for location, parts in _topic_parts(path, problems):
        found = True
        values = {name: _LABEL.sub("", unescape(" ".join(texts).strip())).strip() for name, texts in parts.items()}
        if not values.get("num"):
            problems.error(location, "malformed topic", "a <top> without <num>")
        elif "top" not in parts:
            problems.error(location, "malformed topic", f"topic {values['num']!r} has no </top>")
        else:
            title = values.get("title", "")
            yield location, Query(values["num"], title or values.get("desc", ""), title, language)
    if not found:
        problems.error(Location(path), "malformed topic", "has no <top> at all, so there are no topics")


def _topic_parts(path: Path, problems: Problems) -> Iterator[tuple[Location, dict[str, list[str]]]]:
    """The texts of each topic by tag, closed or not; with a key ``top`` if the topic is closed."""
    parts: dict[str, list[str]] | None = None
    start, tag = Location(path), ""
    for location, line in read_lines(path, problems.broken_text):
        for name, closing, text in _tags(line):
            if name == "top":
                if parts is not None:
                    yield start, parts | ({"top": []} if closing else {})
                start, parts, tag = location, None if closing else {}, ""
            elif name:
                tag = "" if closing else name
            if parts is not None and tag:
                parts.setdefault(tag, []).append(text)
    if parts is not None:
        yield start, parts


def _tags(line: str) -> Iterator[tuple[str, bool, str]]:
    """The tags of a line (first none): its name, whether it closes, and the text after it."""
    before, *others = _TAG.split(line)
    yield "", False, before
    for slash, name, text in zip(others[::3], others[1::3], others[2::3], strict=True):
        yield name.lower(), bool(slash), text


def write_trec(directory: Path, dataset: Dataset, overwrite: bool = False) -> None:
    """Write one pair as topics.tsv, qrels and documents.jsonl."""
    with atomic_directory(directory, overwrite, "qrels*") as partial:
        with open(partial / "documents.jsonl", "w", encoding="utf-8") as file:
            file.writelines(dump(page_object(document)) for document in dataset.documents)
        with open(partial / "topics.tsv", "w", encoding="utf-8") as file:
            file.writelines(f"{table_id(query.id)}\t{one_line(query.text)}\n" for query in dataset.queries.values())
        with open(partial / "qrels", "w", encoding="utf-8") as file:
            for query, document, grade in dataset.judgments:
                file.write(f"{table_id(query, spaces=False)} 0 {table_id(document, spaces=False)} {grade}\n")
