"""TREC: topics as a table (``topics.tsv``) or in markup (``topics``), ``qrels``, documents as JSON lines.

A directory may hold several languages: ``topics.en.tsv``, ``documents.fr.jsonl`` and ``qrels.en-fr`` are taken before
``topics.tsv``, ``documents.jsonl`` and ``qrels``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from isogloss.base.errors import InputError
from isogloss.base.files import atomic_directory
from isogloss.base.lines import Place, find_file, read_lines
from isogloss.corpus.dataset import Dataset
from isogloss.corpus.formats.json_lines import dump
from isogloss.corpus.formats.jsonl import page_object, read_pages
from isogloss.corpus.formats.table import one_line, parse_grade, read_table
from isogloss.corpus.problems import Problems
from isogloss.corpus.records import Document, Judgment, Query
from isogloss.corpus.source import Pair, Source

_TAG = re.compile(r"</?\s*(num|title|desc|narr|top)\b[^>]*>", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)


class Trec(Source):
    """A directory of TREC files."""

    format = "trec"

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.directory = Path(where)
        if not self.directory.is_dir():
            raise InputError(f"{self.directory}: no such directory")

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Place, Document]]:
        path = self._first(f"documents.{language}.jsonl", "documents.jsonl")
        for place, page in read_pages(path, problems):
            if page.language in ("", language):
                yield place, page

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Place, Query]]:
        names = [
            f"topics{middle}{ending}" for middle in (f".{language}", "") for ending in (".tsv", ".txt", ".xml", "")
        ]
        path = self._first(*names)
        if path.name.removesuffix(".gz").endswith(".tsv"):
            for place, (id_, text) in read_table(path, ("id", "text"), problems):
                yield place, Query(id_, text, "", language)
        else:
            yield from _read_topics(path, language, problems)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Place, Judgment]]:
        path = self._first(f"qrels.{pair[0]}-{pair[1]}", "qrels", "qrels.txt")
        return read_qrels(path, problems)

    def _first(self, *names: str) -> Path:
        for name in names:
            path = self.directory / name
            if path.is_file() or path.with_name(path.name + ".gz").is_file():
                return find_file(path)
        raise InputError(f"{self.directory}: has none of {', '.join(names)}")


def read_qrels(path: Path, problems: Problems) -> Iterator[tuple[Place, Judgment]]:
    """``query 0 document grade`` lines, separated by white space."""
    for place, line in read_lines(path, problems.broken_text):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            problems.error(place, "malformed line", f"expected query, 0, document and grade, got {line[:60]!r}")
            continue
        grade = parse_grade(place, fields[3], problems)
        if grade is not None:
            yield place, Judgment(fields[0], fields[2], grade)


def _read_topics(path: Path, language: str, problems: Problems) -> Iterator[tuple[Place, Query]]:
    """Topics in markup: the title is what people type, the description is the text where there is no title."""
    parts: dict[str, str] = {}
    start, tag = Place(path), ""
    for place, line in read_lines(path, problems.broken_text):
        for piece in _TAG.split(line) if not _TAG.search(line) else _pieces(line):
            if isinstance(piece, str):
                parts[tag] = f"{parts.get(tag, '')} {piece}".strip()
            elif piece[0] == "top" and piece[1]:
                if parts.get("num"):
                    yield start, _topic(parts, language)
                parts, tag = {}, ""
            elif piece[0] == "top":
                start, parts, tag = place, {}, ""
            else:
                tag = "" if piece[1] else piece[0]
    if parts.get("num"):
        problems.error(start, "malformed topic", "a <top> without its end")


def _pieces(line: str) -> Iterator[str | tuple[str, bool]]:
    """Text between tags as strings, tags as (name, is closing)."""
    position = 0
    for match in _TAG.finditer(line):
        if line[position : match.start()].strip():
            yield line[position : match.start()]
        yield match[1].lower(), match[0].startswith("</")
        position = match.end()
    if line[position:].strip():
        yield line[position:]


def _topic(parts: dict[str, str], language: str) -> Query:
    values = {name: _LABEL.sub("", value).strip() for name, value in parts.items()}
    return Query(values["num"], values.get("title") or values.get("desc", ""), values.get("title", ""), language)


def write_trec(directory: Path, dataset: Dataset, overwrite: bool = False) -> None:
    """Write one pair as topics.tsv, qrels and documents.jsonl."""
    with atomic_directory(directory, overwrite) as partial:
        with open(partial / "documents.jsonl", "w", encoding="utf-8") as file:
            file.writelines(dump(page_object(document)) for document in dataset.documents)
        with open(partial / "topics.tsv", "w", encoding="utf-8") as file:
            file.writelines(f"{query.id}\t{one_line(query.text)}\n" for query in dataset.queries.values())
        with open(partial / "qrels", "w", encoding="utf-8") as file:
            file.writelines(f"{query} 0 {document} {grade}\n" for query, document, grade in dataset.judgments)
