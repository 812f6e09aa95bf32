"""``isogloss.Index``: an index made of what a program has, searched and changed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.data.documents import Document
from isogloss.data.in_memory import Documents, as_source, documents_of
from isogloss.index.reader import OpenIndex, open_index
from isogloss.search.hits import Hits
from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution
from isogloss.systems.registry import DEFAULT_SYSTEM, as_settings
from isogloss.translation.lexicon import Lexicon

LexiconGiven = str | Path | Mapping[str, str | Sequence[str]]
"""A file, a word for one of the ways to get one (``"induced"``), or words with their translations, the best first."""


class Index:
    """Documents to search in, on disk or, where no path was given, for as long as this object lives.

    >>> index = Index.make(
    ...     ["Las abejas hacen miel.", "El volcán arroja lava."],
    ...     "es",
    ...     lexicon={"bees": "abejas", "honey": "miel", "volcano": "volcán"},
    ... )
    >>> [hit.document.text for hit in index.search("honey of bees")]
    ['Las abejas hacen miel.']
    >>> index.add(["La miel dura años."])
    1
    >>> [hit.document.id for hit in index.search("honey")]
    ['1', '3']
    >>> index.delete(["1"])
    1
    >>> len(index)
    2
    """

    def __init__(self, opened: OpenIndex) -> None:
        self._opened = opened
        self._closing = weakref.finalize(self, opened.close)
        self._reranker: Reranker | None = None

    @classmethod
    def make(
        cls, documents: Documents, language: str | Sequence[str], *, path: Path | str | None = None,
        system: str | Path = DEFAULT_SYSTEM, query_language: str = "en", lexicon: LexiconGiven | None = None,
        fields: tuple[str, ...] = ("title", "text"), overwrite: bool = False, engine: str = "", **options: Any,
    ) -> Index:  # fmt: skip
        """Index documents of one or more languages for queries of another, as ``isogloss index`` does.

        ``system`` is the name of a system or the path of a run; other options are those of the system
        (``isogloss systems NAME``). ``engine`` is the address of an engine that is to hold documents and vectors.
        """
        from isogloss.index.making import make_index

        if engine and path is None:
            raise InputError("path: an index in an engine is there to stay, so it needs a path")
        scratch = Path(tempfile.mkdtemp(prefix="isogloss-"))
        where = Path(path) if path is not None else scratch / "index"
        try:
            settings = as_settings(options) | _lexicon_setting(lexicon, scratch)
            languages = [language] if isinstance(language, str) else list(language)
            make_index(
                where, str(system), as_source(documents), languages, query_language, fields, settings, overwrite,
                engine=engine,
            )  # fmt: skip
            made = cls.open(where)
        except BaseException:
            shutil.rmtree(scratch)
            raise
        if path is None:
            weakref.finalize(made, shutil.rmtree, scratch, ignore_errors=True)
        else:
            shutil.rmtree(scratch)
        return made

    @classmethod
    def open(cls, path: Path | str, skip_damaged: bool = False) -> Index:
        """An index that was made before; with ``skip_damaged`` without its damaged parts."""
        return cls(open_index(path, skip_damaged))

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._opened.path

    @property
    def searcher(self) -> Searcher:
        """What searches it, as it was when it was opened, changed here, or refreshed last."""
        searcher = Searcher(self._opened)
        return searcher.reranked_by(self._reranker) if self._reranker else searcher

    @property
    def languages(self) -> list[str]:
        """The languages of its documents."""
        return list(self.searcher.languages)

    def __len__(self) -> int:
        return sum(shelf.count for shelf in self.searcher.languages.values())

    def __repr__(self) -> str:
        return f"<Index {self.path}: {len(self):,} documents in {', '.join(self.languages)}>"

    def close(self) -> None:
        """Let go of the store that holds the documents, where one does; this happens by itself too, at the end."""
        self._closing()

    def about(self) -> dict[str, Any]:
        """What there is to know of it: documents, deleted ones, segments, recall, bytes."""
        return self._opened.about()

    def refresh(self) -> Index:
        """See what others have changed since."""
        before, self._opened = self._opened, self._opened.refreshed()
        if before.engine is not self._opened.engine:  # another index has taken its place
            self.close()
            self._closing = weakref.finalize(self, self._opened.close)
        return self

    def rerank(self, run: Path | str | None, depth: int = 50) -> Index:
        """From now on put the first hits of a search in the order that a run of a matcher gives them; None: no more."""
        from isogloss.search.reranking import load_reranker

        self._reranker = None if run is None else load_reranker(Path(run), depth)
        return self

    def search(
        self, query: str, k: int = 10, languages: Sequence[str] | None = None,
        filters: Mapping[str, str] | None = None, offset: int = 0, explain: bool = True,
    ) -> Hits:  # fmt: skip
        """The ``k`` best documents after the first ``offset``, of the given languages or of all.

        What is given back is a list; its ``missing`` names the parts of an index in a store that did not answer.
        """
        return self.searcher.search(query, k, languages, filters, offset, explain)

    def search_many(
        self, queries: Sequence[str], k: int = 10, languages: Sequence[str] | None = None,
        filters: Mapping[str, str] | None = None,
    ) -> list[Hits]:  # fmt: skip
        """The ``k`` best documents for each query, without explanations, on all cores where that pays."""
        return self.searcher.search_many(queries, k, languages, filters)

    def explain(
        self, query: str, id_: str, language: str | None = None, reranked: bool = False
    ) -> tuple[Contribution, ...]:
        """Which words of the query met which words of a document, and what each added to its score.

        ``reranked``: to the score that the run given to ``rerank`` gives it, as hits have it that are ``reranked``.
        """
        if reranked and self._reranker:
            language = language or self._reranker.languages[1]
        holding = (name for name in self.languages if language is None and self.searcher.get(id_, name) is not None)
        return self.searcher.explain(query, language or next(holding, self.languages[0]), id_, reranked)

    def get(self, id_: str, language: str | None = None) -> Document | None:
        """A document by its id."""
        return self.searcher.get(id_, language)

    def unknown_words(self, query: str) -> list[str]:
        """The words of a query that no language of the index can do anything with."""
        return self.searcher.unknown_words(query)

    def add(
        self, documents: Documents, language: str | None = None, *, lexicon: LexiconGiven | None = None, **options: Any
    ) -> int:
        """Add documents, each in place of the one with its language and id if there is one; how many there were.

        When this returns they are on disk, and every reader can see them. A lexicon and options are for a language
        that the index does not have yet.
        """
        from isogloss.index.writer import IndexWriter

        with tempfile.TemporaryDirectory(prefix="isogloss-") as scratch:
            settings = as_settings(options) | _lexicon_setting(lexicon, Path(scratch))
            with IndexWriter(self.path, settings) as writer:
                source = as_source(documents, self._next_number(Searcher(writer.index)))
                asked = [language] if language else list(writer.index.commit.languages)
                added = writer.add(documents_of(source, asked, may_miss=language is None))
                writer.commit()
        self.refresh()
        return added

    def delete(self, ids: Iterable[str], languages: Sequence[str] | None = None) -> int:
        """Delete documents by id; how many there were."""
        from isogloss.index.writer import IndexWriter

        with IndexWriter(self.path) as writer:
            deleted = writer.delete([ids] if isinstance(ids, str) else ids, languages)
            writer.commit()
        self.refresh()
        return deleted

    def compact(self) -> None:
        """Merge everything that was added and deleted; this happens by itself too, when there is much of it."""
        from isogloss.index.writer import IndexWriter

        with IndexWriter(self.path) as writer:
            writer.compact()
        self.refresh()

    def _next_number(self, searcher: Searcher) -> int:
        """The first number from which on no document has a number for its id."""
        number = len(self) + 1
        while any(searcher.get(str(number), language) for language in searcher.languages):
            number += 1
        return number


def _lexicon_setting(lexicon: LexiconGiven | None, scratch: Path) -> dict[str, str]:
    """The setting that names a lexicon; words that are given are written into a file first."""
    if lexicon is None:
        return {}
    if not isinstance(lexicon, Mapping):
        return {"lexicon": str(lexicon)}
    pairs = ((word, [given] if isinstance(given, str) else given) for word, given in lexicon.items())
    path = scratch / "lexicon.tsv"
    Lexicon((word, translation, 0.0) for word, given in pairs for translation in given).save(path)
    return {"lexicon": str(path)}
