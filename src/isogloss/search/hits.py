"""Hits: the result of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from isogloss.data.documents import Document
from isogloss.search.gloss import Gloss, Twin
from isogloss.search.spelling import Correction
from isogloss.storage.errors import import_extra
from isogloss.systems.base import Contribution
from isogloss.text.html_tables import html_table, marked_html

if TYPE_CHECKING:
    import pandas

    from isogloss.search.snippets import Snippet

CLASSES = ("not relevant", "partially relevant", "relevant")
_COLUMNS = ("rank", "score", "language", "id", "title", "snippet", "url", "relevance")
_SHOWN = 60  # letters of a title or a text


@dataclass(frozen=True, repr=False)
class Hit:
    """A document that was found: its rank from 1, its score, and, where that was asked for, the words that made it.

    ``passage`` is the begin and end of the best passage in the indexed text (``Searcher.text_of``) and ``relevance`` is
    one of ``CLASSES``, both where the system knows them. ``reranked``: score, class and explanation are those of a
    re-ranker, not of the system that found the document. ``snippet_of`` makes the snippet when it is first looked at.
    ``gloss``: title and snippet in the language of the query, and ``twin``: the page that is the document's translation
    into it, both where they are asked for and known. ``chance`` is the probability that the document is relevant, where
    the system is calibrated; ``bar``, from 0 to 1, is the chance, or else the share of the best hit's score.
    """

    rank: int
    score: float
    language: str
    document: Document
    explanation: tuple[Contribution, ...] = ()
    passage: tuple[int, int] | None = None
    relevance: str | None = None
    reranked: bool = False
    gloss: Gloss | None = None
    twin: Twin | None = None
    chance: float | None = None
    bar: float = 0.0
    snippet_of: Callable[[Hit], Snippet] | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.document.id

    @property
    def title(self) -> str:
        """The title of the document; empty if it has none."""
        return self.document.title

    @property
    def text(self) -> str:
        """The whole text of the document."""
        return self.document.text

    @property
    def snippet(self) -> str:
        """The words of the text around those that match the query."""
        return self._snippet[0]

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain values, without the text of the document."""
        values: dict[str, Any] = {
            "rank": self.rank, "score": float(self.score), "language": self.language, "id": self.id,
            "title": self.title, "snippet": self.snippet, "url": self.document.url, "relevance": self.relevance,
        }  # fmt: skip
        values |= {name: made.to_dict() for name, made in (("gloss", self.gloss), ("twin", self.twin)) if made}
        if self.document.fields:
            values["fields"] = dict(self.document.fields)
        if self.explanation:
            values["explanation"] = [
                {"query_word": word, "document_words": list(words), "score": float(score)}
                for word, words, score in self.explanation
            ]
        return values

    def __repr__(self) -> str:
        shown = f"{self.id!r} {_start(self.title or self.text)!r}, {self.language}"
        return f"<Hit {self.rank}: {shown}, {self.relevance or f'{self.score:.3f}'}>"

    def __getstate__(self) -> dict[str, Any]:
        """The snippet is made before a hit goes to another process: what makes it stays here."""
        return {**self.__dict__, "_snippet": self._snippet, "snippet_of": None}

    @cached_property
    def _snippet(self) -> tuple[str, Sequence[tuple[int, int]]]:
        """The snippet and the spans in it that match."""
        if self.snippet_of is None:
            return _start(self.text, 4 * _SHOWN), ()
        made = self.snippet_of(self)
        return made.text, made.marks

    def _cells(self) -> list[str]:
        """The cells of a table in HTML."""
        name, url = escape(self.title or self.id), self.document.url
        if url.lower().startswith(("http://", "https://")):  # no other kind of link is safe to click
            name = f'<a href="{escape(url)}" rel="noreferrer">{name}</a>'
        shown = f'<div dir="auto" lang="{escape(self.language)}">{marked_html(*self._snippet)}</div>'
        if self.gloss:
            shown += f'<div><small title="{escape(self.gloss.by)}">{escape(self.gloss.snippet_text)}</small></div>'
        score = (
            f'<span title="{self.score:.3f}">{escape(self.relevance)}</span>' if self.relevance else f"{self.score:.3f}"
        )
        return [str(self.rank), f'<span dir="auto">{name}</span>', escape(self.language), shown, score]


class Hits(list[Hit]):
    """The hits of a search, the best first: a list, which notebooks show as a table."""

    read_as: str = ""
    """The query that was searched for; ``corrected`` has the typing errors of the user's query that it is without."""
    corrected: tuple[Correction, ...] = ()
    total: int = 0
    """The number of documents that match; where it is not exact, there are at least so many."""
    total_is_exact: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the index probably has nothing relevant: all hits, from rank 1 on, are of the lowest class.

        False for systems without classes, and for hits after the first page, which may well be bad.
        """
        return bool(self) and self[0].rank == 1 and all(hit.relevance == CLASSES[0] for hit in self)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with one row for each hit; its columns are the keys of ``Hit.to_dict``, the gloss is a text."""
        frames = import_extra("pandas", "pandas", "to_pandas")
        rows = [hit.to_dict() | ({"gloss": hit.gloss.snippet_text} if hit.gloss else {}) for hit in self]
        columns = dict.fromkeys([*_COLUMNS, *(name for row in rows for name in row)])
        return frames.DataFrame(rows, columns=list(columns))

    @overload
    def __getitem__(self, position: SupportsIndex) -> Hit: ...

    @overload
    def __getitem__(self, position: slice) -> Hits: ...

    def __getitem__(self, position: SupportsIndex | slice) -> Hit | Hits:
        found = super().__getitem__(position)
        return Hits(found) if isinstance(found, list) else found

    def _repr_html_(self) -> str:
        if not self:
            return "<p>nothing found</p>"
        doubt = "probably nothing relevant" if self.doubtful else ""
        return html_table(["", "document", "language", "text", "relevance"], (hit._cells() for hit in self), doubt)


def relevance_of(score: float, thresholds: Sequence[float]) -> str | None:
    """The class of a score: below all thresholds, above all, or partially relevant in between; None without any."""
    if not thresholds:
        return None
    passed = sum(score >= threshold for threshold in thresholds)
    return CLASSES[0] if not passed else CLASSES[2] if passed == len(thresholds) else CLASSES[1]


def _start(text: str, letters: int = _SHOWN) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"
