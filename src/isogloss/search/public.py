"""``isogloss.Index``: make, search and change an index from a Python program."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import index as index_of
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from isogloss.data.document_checks import shown_value
from isogloss.data.documents import Document
from isogloss.data.in_memory import Documents, as_source
from isogloss.index.reader import OpenIndex, open_index
from isogloss.retrieval.field_lists import filter_text
from isogloss.search.hits import Hits
from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import SnippetMaker
from isogloss.storage.errors import InputError
from isogloss.systems.base import Contribution
from isogloss.systems.registry import DEFAULT_SYSTEM, as_settings
from isogloss.text.language import normalize_language
from isogloss.translation.lexicon import Lexicon

if TYPE_CHECKING:
    from isogloss.data.translations import Translations
    from isogloss.index.syncing import Synced
    from isogloss.search.facets import Facets

LexiconLike = str | Path | Mapping[str, str | Sequence[str]]
"""A file, the name of a way to get a lexicon (``"induced"``), or words with their translations, the best first."""
Filters = Mapping[str, str | int | float | bool]
"""Names of fields, and the value that each has to have."""


class Index:
    """Documents to search: on disk, or, without a path, in a temporary directory that lives as long as this object.

    >>> index = Index.make(
    ...     ["Las abejas hacen miel.", "El volcán arroja lava."],
    ...     lexicon={"bees": "abejas", "honey": "miel", "volcano": "volcán"},
    ... )
    >>> [hit.text for hit in index.search("honey of bees")]
    ['Las abejas hacen miel.']
    >>> index.add(["La miel dura años."])
    1
    >>> sorted(hit.id for hit in index.search("honey"))
    ['1', '3']
    >>> index.delete(["1"])
    1
    >>> [document.text for document in index]
    ['El volcán arroja lava.', 'La miel dura años.']
    >>> len(index), "3" in index, index.get("3").language
    (2, True, 'es')

    ``with Index.open(path) as index:`` closes it at the end.
    """

    def __init__(self, opened: OpenIndex) -> None:
        self._opened = opened
        self._closing = weakref.finalize(self, opened.close)
        self._scratch: weakref.finalize[..., Index] | None = None
        self._reranker: Reranker | None = None

    @classmethod
    def make(
        cls, documents: Documents, language: str | Sequence[str] | None = None, *, path: Path | str | None = None,
        system: str | Path = DEFAULT_SYSTEM, query_language: str | Sequence[str] = "en",
        lexicon: LexiconLike | None = None, translations: Translations | None = None, translation_key: str = "",
        fields: tuple[str, ...] = ("title", "text"), overwrite: bool = False, engine: str = "",
        facets: Sequence[str] = (), **options: Any,
    ) -> Index:  # fmt: skip
        """Index documents for queries in one language or several, as ``isogloss index`` does.

        ``documents``: texts, ``Document`` objects or dicts with ``text``, and ``id``, ``title`` and so on where they
        have them; a dict of texts by their ids; or the name of a folder, a file or another source. Without a
        ``language`` that of each document is detected. A query is in the first of the query languages, or in another
        one that is detected or named when it is searched for. Without a ``path`` the index is temporary.

        ``system`` is the name of a system or the path of a run. ``engine`` is the address of an engine that stores the
        documents and vectors. ``translations``: a folder or a file as for ``isogloss index --translations``, documents
        with the ids of those that they translate, or pairs of texts, query language first. ``facets`` are fields whose
        values ``facets`` and the page count. Other options are those of the system (``isogloss systems NAME``).
        """
        from isogloss.data.translations import OwnTranslations
        from isogloss.encoders.pretrained_encoder import with_named_models
        from isogloss.index.making import make_index
        from isogloss.systems.lexicons import with_auto_lexicon

        own = OwnTranslations([translations], translation_key) if translations is not None else None
        if engine and path is None:
            raise InputError("path: an index in an engine is permanent, so it needs a path")
        scratch = Path(tempfile.mkdtemp(prefix="isogloss-"))
        where = Path(path) if path is not None else scratch / "index"
        try:
            given = with_named_models(as_settings(options)) | _lexicon_setting(lexicon, scratch)
            settings = with_auto_lexicon(str(system), given)
            languages = [language] if isinstance(language, str) else list(language or ())
            make_index(
                where, str(system), as_source(documents), languages, query_language, fields, settings, overwrite,
                engine=engine, translations=own, facets=facets, remember=path is not None,
            )  # fmt: skip
            index = cls.open(where)
        except BaseException:
            shutil.rmtree(scratch)
            raise
        if path is None:
            index._scratch = weakref.finalize(index, shutil.rmtree, scratch, ignore_errors=True)
        else:
            shutil.rmtree(scratch)
        return index

    @classmethod
    def open(cls, path: Path | str, skip_damaged: bool = False, engine: str = "") -> Index:
        """Open an index on disk; with ``skip_damaged``, without its damaged segments.

        ``engine`` is the address of its engine, if it has one that you have not named on this machine before. Large
        files that were never compared with their checksums are compared in the background.
        """
        opened = open_index(path, skip_damaged, engine=engine)
        opened.verify()
        return cls(opened)

    @property
    def path(self) -> Path:
        """The directory of the index."""
        return self._opened.path

    @property
    def searcher(self) -> Searcher:
        """A searcher of the index as it was when it was last opened, changed here, or refreshed."""
        if not self._closing.alive:
            raise InputError(f"{self.path}: this index was closed; open it again")
        return Searcher(self._opened, self._reranker)

    @property
    def languages(self) -> list[str]:
        """The languages of the documents."""
        return list(self.searcher.languages)

    @property
    def query_languages(self) -> list[str]:
        """The languages that queries can be in."""
        return list(self._opened.manifest.query_languages)

    def __len__(self) -> int:
        return sum(language_index.count for language_index in self.searcher.languages.values())

    def __iter__(self) -> Iterator[Document]:
        """The documents, language by language."""
        for language in self.languages:
            for document in self._opened.documents(language):
                yield document if document.language else replace(document, language=language)

    def __contains__(self, id_: object) -> bool:
        return self.get(id_) is not None  # type: ignore[arg-type]  # which says what is wrong with it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._closing.alive:
            return f"<Index {self.path}, closed>"
        count = len(self)
        return f"<Index {self.path}: {count:,} document{'s' * (count != 1)} in {', '.join(self.languages)}>"

    def close(self) -> None:
        """Disconnect from the engine, if there is one, and delete a temporary index.

        This also happens when the object is deleted, or at the end of ``with``. What was found before stays usable.
        """
        self._closing()
        if self._scratch is not None:
            self._scratch()

    def about(self) -> dict[str, Any]:
        """Facts about the index: documents, deleted documents, segments, recall, bytes."""
        return self._opened.about()

    def refresh(self) -> Index:
        """Read the latest commit, so that searches see what other processes have changed."""
        before, self._opened = self._opened, self._opened.refreshed()
        if before.engine is not self._opened.engine:  # another index has taken its place
            self.close()
            self._closing = weakref.finalize(self, self._opened.close)
        return self

    def rerank(self, run: Path | str | None, depth: int = 50) -> Index:
        """Re-rank the first ``depth`` hits of every search; None turns re-ranking off.

        ``run`` is a trained run, or a cross-encoder by its folder, its ``.onnx`` file or its name.
        """
        from isogloss.search.reranking import load_reranker

        self._reranker = None if run is None else load_reranker(run, depth)
        return self

    def search(
        self, query: str, k: int = 10, languages: str | Sequence[str] | None = None,
        filters: Filters | None = None, offset: int = 0, explain: bool = False,
        query_language: str | None = None, exact: bool = False, gloss: bool = False, translator: str = "",
    ) -> Hits:  # fmt: skip
        """The ``k`` best documents after the first ``offset``, of these languages or of all.

        ``filters``: only documents that have these fields with these values. ``explain``: each hit with the words that
        made its score, which takes longer; for one hit there is :meth:`explain`. ``query_language``: where the index
        takes queries in several languages, that of the query; it is detected unless it is named. Typing errors are
        corrected (``hits.corrected``) unless the query is to be searched for ``exact`` as it is. ``gloss``: each hit
        has its title and snippet word for word in the language of the query (``hit.gloss``) and the page that is its
        translation (``hit.twin``); ``translator`` names what translates them too (``isogloss search --translator``). A
        query without words finds nothing.
        """
        _check_query(query)
        k, offset = _count("k", k), _count("offset", offset)
        searcher = self.searcher.for_query(query, query_language)
        hits = searcher.search(query, k, _several(languages), _filter_texts(filters), offset, explain, exact)
        hits = _with_snippets(hits, SnippetMaker(searcher, hits.read_as, searcher.query_language))
        if not gloss:
            return hits
        from isogloss.search.glosses import glossed

        return glossed(searcher, hits.read_as, hits, translator)

    def search_many(
        self, queries: Iterable[str], k: int = 10, languages: str | Sequence[str] | None = None,
        filters: Filters | None = None, query_language: str | None = None, exact: bool = False,
    ) -> list[Hits]:  # fmt: skip
        """The ``k`` best documents for each query, without explanations; on all cores where that is faster."""
        if isinstance(queries, str):
            raise InputError(f"queries: a single string; give a list: [{queries[:60]!r}]")
        queries = list(queries)
        for query in queries:
            _check_query(query)
        k, searcher = _count("k", k), self.searcher
        found = searcher.search_each(queries, k, _several(languages), _filter_texts(filters), query_language, exact)
        return [_with_snippets(hits, SnippetMaker(searcher, hits.read_as, query_language)) for hits in found]

    def facets(
        self, query: str, names: Sequence[str] | None = None, languages: str | Sequence[str] | None = None,
        filters: Filters | None = None, query_language: str | None = None, exact: bool = False,
    ) -> Facets:  # fmt: skip
        """How many of the documents that a query finds have each value of a field.

        ``names`` are fields of the documents; without them, those that the index was made with.

        >>> manuals = [
        ...     Document("1", "Las abejas hacen miel.", fields={"kind": "book"}),
        ...     Document("2", "La miel dura años.", fields={"kind": "page"}),
        ...     Document("3", "La miel es dulce.", fields={"kind": "page"}),
        ... ]
        >>> index = Index.make(manuals, "es", system="bm25-dict", lexicon={"honey": "miel"}, facets=["kind"])
        >>> index.facets("honey").values
        {'kind': [('page', 2), ('book', 1)]}
        """
        from isogloss.search.facets import count_facets

        _check_query(query)
        searcher = self.searcher.for_query(query, query_language)
        named = self._opened.manifest.facets if names is None else names
        read = query if exact else searcher.read(query, _several(languages)).query
        return count_facets(searcher, read, named, _several(languages), _filter_texts(filters))

    def explain(
        self, query: str, id_: str, language: str | None = None, reranked: bool = False,
        query_language: str | None = None, exact: bool = False,
    ) -> tuple[Contribution, ...]:  # fmt: skip
        """The words of the query, the words of a document that match each, and their parts of the score.

        Typing errors are corrected unless ``exact``, as ``search`` does.

        ``reranked``: of the score that the run of ``rerank`` gives, which hits that are ``reranked`` have.
        """
        _check_query(query)
        _check_id(id_)
        if reranked and self._reranker and self._reranker.languages:
            language = language or self._reranker.languages[1]
        holding = (name for name in self.languages if language is None and self.searcher.get(id_, name) is not None)
        searcher = self.searcher.for_query(query, query_language)
        query = query if exact else searcher.read(query).query
        return searcher.explain(query, language or next(holding, self.languages[0]), id_, reranked)

    def get(self, id_: str, language: str | None = None) -> Document | None:
        """A document by its id, in this language or in the first that has it; None if there is no such document."""
        _check_id(id_)
        return self.searcher.get(id_, language)

    def unknown_words(self, query: str, query_language: str | None = None) -> list[str]:
        """The words of a query that no language of the index knows."""
        _check_query(query)
        return self.searcher.for_query(query, query_language).unknown_words(query)

    def add(
        self, documents: Documents, language: str | None = None, *, lexicon: LexiconLike | None = None, **options: Any
    ) -> int:
        """Add documents and return their number; each replaces a document of the same language and id.

        When this returns, the documents are on disk and every reader can see them. ``lexicon`` and options are for a
        language that the index does not have yet. Without a ``language`` that of each document is detected. Documents
        that are there already, as they are, cost nothing. A folder or a file is followed: ``sync`` looks for changes in
        it too. A file of a folder that the index was made of has the id that the folder gives it.
        """
        from isogloss.encoders.pretrained_encoder import with_named_models
        from isogloss.index.adding import add_file, add_source
        from isogloss.index.writer import IndexWriter

        languages = [self._known(language)] if language else []
        with tempfile.TemporaryDirectory(prefix="isogloss-") as scratch:
            settings = with_named_models(as_settings(options)) | _lexicon_setting(lexicon, Path(scratch))
            if isinstance(documents, str) and add_file(self.path, as_source(documents), languages, settings):
                added = 1
            else:
                with IndexWriter(self.path, settings) as writer:
                    source = as_source(documents, self._next_number(Searcher(writer.index)))
                    added = add_source(writer, source, languages)
        self.refresh()
        return added

    def sync(self, *sources: Path | str, moved: Path | str = "", force: bool = False) -> Synced:
        """Bring the index up to date with the folders and files that it was made of, or with some of them.

        Only files that have changed are read, and documents of files that are gone are deleted. ``moved``: where the
        folder or file is now. ``force``: delete documents even if the source has vanished, or most of its files.
        """
        from isogloss.index.syncing import sync_index

        done = sync_index(self.path, [str(source) for source in sources], str(moved), force)
        self.refresh()
        return done

    def delete(self, ids: Iterable[str], languages: Sequence[str] | None = None) -> int:
        """Delete documents by id and return how many were deleted."""
        from isogloss.index.writer import IndexWriter

        wanted = [ids] if isinstance(ids, str) else list(ids)
        for id_ in wanted:
            _check_id(id_)
        with IndexWriter(self.path) as writer:
            deleted = writer.delete(wanted, languages)
            writer.commit()
        self.refresh()
        return deleted

    def compact(self) -> None:
        """Merge all segments and drop deleted documents. This also happens by itself, when there are many."""
        from isogloss.index.writer import IndexWriter

        with IndexWriter(self.path) as writer:
            writer.compact()
        self.refresh()

    def _known(self, language: str) -> str:
        """The code of a language, as the index has it."""
        return language if language in self.languages else normalize_language(language)

    def _next_number(self, searcher: Searcher) -> int:
        """The first number after the count of documents that is no document's id."""
        number = len(self) + 1
        while any(searcher.get(str(number), language) for language in searcher.languages):
            number += 1
        return number


def _check_query(query: str) -> None:
    """Raise unless a query is a text."""
    if not isinstance(query, str):
        raise InputError(f"query: must be a string, got {shown_value(query)}")


def _count(name: str, value: int) -> int:
    """An argument that is a whole number, 0 or more; numpy has such numbers too."""
    if not isinstance(value, SupportsIndex) or index_of(value) < 0:
        raise InputError(f"{name}: must be a whole number, 0 or more, got {value!r}")
    return index_of(value)


def _check_id(id_: str) -> None:
    if not isinstance(id_, str):
        raise InputError(f"id: must be a string, got {shown_value(id_)}; the ids of texts are '1', '2' and so on")


def _several(languages: str | Sequence[str] | None) -> Sequence[str] | None:
    return [languages] if isinstance(languages, str) else languages


def _filter_texts(filters: Filters | None) -> dict[str, str] | None:
    """Filters with values as the index has them."""
    texts = {}
    for name, value in (filters or {}).items():
        text = filter_text(value)
        if text is None:
            raise InputError(f"filters: the value of {name!r} must be a string or a number, got {shown_value(value)}")
        texts[name] = text
    return texts or None


def _with_snippets(hits: Hits, snippet_of: SnippetMaker) -> Hits:
    """The hits, each with what makes its snippet when it is looked at."""
    hits[:] = [replace(hit, snippet_of=snippet_of) for hit in hits]
    return hits


def _lexicon_setting(lexicon: LexiconLike | None, scratch: Path) -> dict[str, str]:
    """The setting that names a lexicon; a mapping is written into a file first."""
    if lexicon is None:
        return {}
    if not isinstance(lexicon, Mapping):
        return {"lexicon": str(lexicon)}
    entries = {word: [of_word] if isinstance(of_word, str) else of_word for word, of_word in lexicon.items()}
    if not entries:
        raise InputError("lexicon: has no words; leave it out, or give words with their translations")
    wrong = [word for word, found in entries.items() if not isinstance(found, Sequence | set | frozenset)]
    if wrong:
        raise InputError(f"lexicon: the translations of {wrong[0]!r} must be a string, or a list of strings")
    path = scratch / "lexicon.tsv"
    triples = ((word, translation, 0.0) for word, found in entries.items() for translation in found)
    Lexicon(triples).save(path)
    return {"lexicon": str(path)}
