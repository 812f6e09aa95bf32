"""The interface of all data formats, and what they share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from isogloss.data.documents import Document, Judgment, Query, TermWeights
from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.text.language_names import code_or_itself

if TYPE_CHECKING:
    from isogloss.data.dataset import Dataset

Pair = tuple[str, str]
"""Query language, document language."""
_PAIR = re.compile(r"([^-]+(?:-[A-Z]{2})?)-(.+)")
TextPair = tuple[str, str]
"""A text of the query language and its translation in the document language."""


class NoJudgmentsError(InputError):
    """A source has documents only."""


class Source(ABC):
    """Data in some format, read as a stream. Each record comes with the location it was read from."""

    format: ClassVar[str]
    folder_sign: ClassVar[str] = ""
    """The pattern of a file by which a folder of this format is recognised, like ``corpus.jsonl*``."""
    file_endings: ClassVar[tuple[str, ...]] = ()
    """The endings by which a single file of this format is recognised, like ``.tmx``."""
    can_sync: ClassVar[bool] = False
    """Whether its files can be read again, so that ``isogloss sync`` follows them. If one has changed, all documents
    are read and compared, except those of a folder, where only the changed files are read."""
    can_write: ClassVar[bool] = False
    """Whether a dataset can be written in this format, by ``write``."""
    top_grade: int | None = None
    """The grade of a relevant (MR) document where the format fixes it."""

    def __init__(self, where: str) -> None:
        self.where = where

    @classmethod
    def write(cls, dataset: Dataset, target: Path, overwrite: bool) -> None:
        """Write a dataset in this format, where it ``can_write``."""
        raise InputError(f"output: {cls.format} is a format that cannot be written")

    @property
    def name(self) -> str:
        """The source as the user writes it."""
        return f"{self.format}:{self.where}"

    about_documents: ClassVar[str] = ""
    """What to know where there are no documents."""
    may_mix_languages: ClassVar[bool] = False
    """Whether documents in languages that are not asked for may be among the others."""

    @abstractmethod
    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        """The documents of a language."""

    def languages(self) -> list[str]:
        """The languages of the documents, where the format names them; none where they have to be detected."""
        return []

    def all_documents(self, problems: Problems) -> Iterator[tuple[Location, Document]]:
        """The documents of all languages; one without a language where the data do not say it."""
        for language in self.languages() or [""]:
            for location, document in self.documents(language, problems):
                yield location, document if document.language else replace(document, language=language)

    def place(self, document: Document) -> tuple[str, str]:
        """The folder that a document is in, and the language that its name says; empty where there is none."""
        return "", ""

    def term_weights(self, language: str, ids: Sequence[str]) -> TermWeights | None:
        """The weights of the words of these documents, a row each, where the data have them instead of texts."""
        return None

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        """The queries of a language."""
        raise NoJudgmentsError(f"{self.name}: a source of documents only, without queries and judgments")

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        """The judgments of a pair of languages."""
        raise NoJudgmentsError(f"{self.name}: a source of documents only, without queries and judgments")

    def source_documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        """The pages in the language of the queries, which queries were taken from."""
        return self.documents(language, problems)

    def source_judgments(self, language: str, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        """The judgments between queries and the pages in their own language: which page a query was taken from."""
        return self.judgments((language, language), problems)

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        """Query ids of ``train``, ``dev``, ``test`` where the data fix them, each one of ``queries``."""
        return None

    def groups(self, pair: Pair) -> Mapping[str, str] | None:
        """Query id to the group that must stay in one split, where the data have groups."""
        return None

    def candidates(self, pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        """The lists of the ``candidates`` protocol, where the data have them."""
        return None

    def lexicon(self, pair: Pair) -> Path | None:
        """A bilingual lexicon that comes with the data."""
        return None

    def parallel(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, TextPair]]:
        """Texts to train on with their translations, beside the documents that are searched."""
        return iter(())


def existing_directory(where: str) -> Path:
    """The directory, or an error that says what is there instead."""
    directory = Path(where)
    if not directory.is_dir():
        what = "is a file, a directory is needed" if directory.exists() else "no such directory"
        raise InputError(f"{directory}: {what}")
    return directory


def list_pairs(pairs: Iterable[Pair]) -> str:
    """The pairs of languages as the user writes them, for an error that says which there are."""
    return ", ".join(f"{query}-{document}" for query, document in sorted(set(pairs))) or "none"


def parse_pair(pair: str) -> Pair:
    """``"en-fr"`` to its two languages, which may be names or have regions.

    >>> [parse_pair(pair) for pair in ("en-fr", "en-zh-cn", "pt-BR-en", "english-Spanish", "EN-FR")]
    [('en', 'fr'), ('en', 'zh'), ('pt', 'en'), ('en', 'es'), ('en', 'fr')]
    """
    found = _PAIR.fullmatch(pair)
    if not found:
        raise InputError(f"pair: {pair!r} is not written like en-fr (query language, document language)")
    return code_or_itself(found[1]), code_or_itself(found[2])
