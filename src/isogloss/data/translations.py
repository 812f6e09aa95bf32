"""Documents with translations of the user's own: of the documents themselves, or parallel text beside them.

A page that translates a document makes a judged query: the first sentence of the page asks for the document. All of
them are for training, so they are the train split.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.grades import GradedPages
from isogloss.data.in_memory import InMemorySource
from isogloss.data.pairing import Pairing, pair_pages
from isogloss.data.parallel_text import NoTextError, ParallelText
from isogloss.data.problems import Problems
from isogloss.data.source import NoJudgmentsError, Pair, Source, TextPair
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location

Translations = str | Path | Source | Iterable[str | Document | Mapping[str, Any] | TextPair]
"""A folder or a file, an open source, documents with the ids of those that they translate, or pairs of texts."""


def add_translations(
    source: Source, translations: Sequence[Translations], languages: Sequence[str], query_language: str = "en",
    key: str = "", problems: Problems | None = None,
) -> tuple[Source, list[str]]:  # fmt: skip
    """The source with translations to train on, and a line about each: how many were found.

    It is an error if there is no translation in any of the languages. ``key`` is what translated documents share.
    """
    problems = problems or Problems()
    opened = [_open(each) for each in translations]
    of_pages = [each for each in opened if not isinstance(each, ParallelText)]
    if len(of_pages) > 1:
        raise InputError(f"translations: {of_pages[1].where} is a second folder or file of documents; give one")
    if key and not of_pages:
        raise InputError("--translation-key: is for folders and JSON lines, whose documents are paired by it")
    others = [language for language in languages if language != query_language]
    if not others:
        raise InputError(f"translations: documents and queries are both in {query_language!r}; leave them out")
    made = TranslatedSource(source, query_language)
    lines = []
    for each in opened:
        if isinstance(each, ParallelText):
            lines += made.add_texts(each, others, problems)
        else:
            lines += made.add_pages(each, others, key, problems)
    return made, lines


def add_parallel_text(source: Source, texts: Sequence[str], pair: Pair, problems: Problems) -> Source:
    """The source with parallel text to train on beside its own data; pages to pair are an error."""
    made = TranslatedSource(source, pair[0])
    for each in map(_open, texts):
        if not isinstance(each, ParallelText):
            what = "is no parallel text (.po, .mo, .tmx, .tsv, line-aligned files)"
            raise InputError(f"{each.where}: {what}; pages that are translated go into 'isogloss index --translations'")
        made.add_texts(each, [pair[1]], problems)
    return made


class TranslatedSource(Source):
    """A source with pages that translate its documents, and with parallel text.

    Where pages are known for a language, queries and judgments of that language are made from them alone.
    """

    format = "translated"

    def __init__(self, source: Source, query_language: str) -> None:
        super().__init__(source.where)
        self._source, self._query_language = source, query_language
        self._pairings: dict[str, Pairing] = {}
        self._texts: dict[str, list[TextPair]] = {}
        self.top_grade = source.top_grade

    @property
    def name(self) -> str:
        return self._source.name

    def add_pages(self, translations: Source, languages: Sequence[str], key: str, problems: Problems) -> list[str]:
        """Take the pages that translate the documents of some languages; returns a line for each language."""
        lines = []
        for language in languages:
            found = pair_pages(self._source, translations, (self._query_language, language), key, problems)
            self._pairings[language] = found
            of = f" in {language}" if len(languages) > 1 else ""
            same = f"; {found.same:,} have the same text there" if found.same else ""
            what = f"{len(found.pairs):,} of {found.documents:,} documents{of} have a translation"
            lines.append(f"{what} in {translations.where}{same}")
        if not any(found.pairs for found in self._pairings.values()):
            raise InputError(next(iter(self._pairings.values())).why_none)
        return lines

    def add_texts(self, texts: ParallelText, languages: Sequence[str], problems: Problems) -> list[str]:
        """Take parallel text; returns a line for each language that has some."""
        lines = []
        missing: NoTextError | None = None
        for language in languages:
            pair = (self._query_language, language)
            try:
                found = [each for _, each in texts.parallel(pair, problems)]
            except NoTextError as error:
                missing = error
                continue
            if found:
                self._texts.setdefault(language, []).extend(found)
                lines.append(f"{len(found):,} translated texts ({'-'.join(pair)}) in {texts.where}")
        if not lines:
            raise missing or InputError(f"{texts.where}: has no text with its translation; is it empty?")
        return lines

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        moved = {id_ for found in self._pairings.values() for id_ in found.moved}
        for location, document in self._source.documents(language, problems):
            if document.id not in moved:
                yield location, document

    def source_documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        if language != self._query_language or not self._pairings:
            yield from self._source.source_documents(language, problems)
            return
        pages = {page.id: page for found in self._pairings.values() for page in found.pages}
        for page in pages.values():
            yield Location(Path(self.where)), replace(page, language=language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        if language == self._query_language and self._pairings:
            pages = {page.id: page for found in self._pairings.values() for page, _ in found.pairs}
            yield from ((Location(Path(self.where)), _query_of(page, language)) for page in pages.values())
            return
        try:
            yield from self._source.queries(language, problems)
        except NoJudgmentsError:
            return

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        if self._is_paired(pair):
            return self._judged((page.id, document.id) for page, document in self._pairings[pair[1]].pairs)
        try:
            return self._source.judgments(pair, problems)
        except NoJudgmentsError:
            return iter(())

    def source_judgments(self, language: str, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        if language != self._query_language or not self._pairings:
            return self._source.source_judgments(language, problems)
        pages = {page.id for found in self._pairings.values() for page, _ in found.pairs}
        return self._judged((id_, id_) for id_ in sorted(pages))

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        if not self._is_paired(pair):
            return self._source.splits(pair, queries, problems)
        return {"train": [page.id for page, _ in self._pairings[pair[1]].pairs]}

    def groups(self, pair: Pair) -> Mapping[str, str] | None:
        return None if self._is_paired(pair) else self._source.groups(pair)

    def candidates(self, pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        return None if self._is_paired(pair) else self._source.candidates(pair, split, problems)

    def lexicon(self, pair: Pair) -> Path | None:
        return self._source.lexicon(pair)

    def parallel(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, TextPair]]:
        yield from self._source.parallel(pair, problems)
        if pair[0] == self._query_language:
            yield from ((Location(Path(self.where)), texts) for texts in self._texts.get(pair[1], ()))

    def _is_paired(self, pair: Pair) -> bool:
        return pair[0] == self._query_language and pair[1] in self._pairings and bool(self._pairings[pair[1]].pairs)

    def _judged(self, ids: Iterable[tuple[str, str]]) -> Iterator[tuple[Location, Judgment]]:
        grade = self.top_grade or 1
        return ((Location(Path(self.where)), Judgment(query, document, grade)) for query, document in ids)


def _query_of(page: Document, language: str) -> Query:
    """The first sentence of a page, or its whole text where that has no words but those of the title."""
    made = GradedPages([replace(page, language=language, fields={})]).queries(language)
    return made[0] if made else Query(page.id, page.text, page.title, language)


class _TextsInMemory(ParallelText):
    """Pairs of texts of a program."""

    format = "texts"

    def __init__(self, texts: Sequence[TextPair]) -> None:
        super().__init__("memory")
        self._texts = texts

    def units(self, languages: Sequence[str], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
        for number, texts in enumerate(self._texts, start=1):
            yield Location(Path(self.name), number), tuple(texts[-len(languages) :])


def _open(translations: Translations) -> Source:
    if isinstance(translations, str | Path):
        from isogloss.data.formats import open_source  # imports all readers

        return open_source(str(translations))
    if isinstance(translations, Source):
        return translations
    each = list(translations)
    pairs = [(one[0], one[1]) for one in each if isinstance(one, tuple) and list(map(type, one)) == [str, str]]
    if not pairs:
        documents = InMemorySource(one for one in each if not isinstance(one, tuple))
        documents.where = "translations"  # not the place of the documents that they translate
        return documents
    if len(pairs) != len(each):
        raise InputError("translations: some are pairs of texts and some are not; give either pairs or documents")
    return _TextsInMemory(pairs)
