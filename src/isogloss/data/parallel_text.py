"""Parallel text: texts with their translations that are no documents to search, such as the messages of programs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence

from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source, TextPair
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location


class NoTextError(InputError):
    """Parallel text has nothing in a language."""


class ParallelText(Source):
    """Translation units. Where they are all the data there are, the documents are the texts of a language.

    There are no queries: a system that is trained on them has its default weights.
    """

    @abstractmethod
    def units(self, languages: Sequence[str], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
        """The texts of each translation unit that has all of one or two languages, in their order."""

    def parallel(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, TextPair]]:
        """Each pair of texts once."""
        return ((location, (texts[0], texts[1])) for location, texts in _distinct(self.units(pair, problems)))

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        """Each text of a language once, numbered from 1."""
        for number, (location, (text,)) in enumerate(_distinct(self.units([language], problems)), start=1):
            yield location, Document(str(number), text, "", language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        return iter(())

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        return iter(())

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]]:
        return {"train": []}


def same_language(code: str, other: str) -> bool:
    """Whether two codes name one language; a region or a script that only one of them names does not matter.

    >>> same_language("pt", "pt_BR"), same_language("EN-us", "en-GB"), same_language("es", "fr")
    (True, False, False)
    """
    first, second = (each.lower().replace("_", "-").replace("@", "-").split("-") for each in (code, other))
    return all(one == two for one, two in zip(first, second, strict=False))


def _distinct(
    units: Iterator[tuple[Location, tuple[str, ...]]],
) -> Iterator[tuple[Location, tuple[str, ...]]]:
    """Units without repeated and empty ones, without white space around the texts."""
    seen = set()
    for location, texts in units:
        stripped = tuple(text.strip() for text in texts)
        if all(stripped) and stripped not in seen:
            seen.add(stripped)
            yield location, stripped
