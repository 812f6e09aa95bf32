"""Documents with translations of the user's own: of the documents themselves, or parallel text beside them.

A page that translates a document makes a judged query: the first sentence of the page asks for the document. All of
them are for training, so they are the train split.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isogloss.data.documents import Document, Judgment, Query
from isogloss.data.grades import GradedPages
from isogloss.data.in_memory import InMemorySource
from isogloss.data.pairing import Pairing, pair_pages, place_of
from isogloss.data.parallel_text import NoTextError, ParallelText
from isogloss.data.problems import Problems
from isogloss.data.source import NoJudgmentsError, Pair, Source, TextPair
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.storage.wording import way

Translations = str | Path | Source | Iterable[str | Document | Mapping[str, Any] | TextPair]
"""A folder or a file, an open source, documents with the ids of those that they translate, or pairs of texts."""


@dataclass(frozen=True)
class OwnTranslations:
    """Translations to train on when documents are indexed.

    ``key``: what documents and the pages that translate them share (:mod:`isogloss.data.pairing`). ``tell`` takes a
    line about how many translations there are.
    """

    translations: Sequence[Translations]
    key: str = ""
    tell: Callable[[str], object] = lambda line: None

    def added_to(
        self, source: Source, languages: Sequence[str], query_languages: Sequence[str], named: bool = True,
        problems: Problems | None = None,
    ) -> tuple[Source, list[str]]:  # fmt: skip
        """The source with these translations, and the languages of the documents that are to be found.

        Where the user has not named the languages, pages that translate are no documents, even if the source has them:
        a folder may have both. It is an error if nothing is translated in any pair of languages.
        """
        problems = problems or Problems()
        opened = [_open(each) for each in self.translations]
        of_pages = [each for each in opened if not isinstance(each, ParallelText)]
        if len(of_pages) > 1:
            raise InputError(f"translations: {of_pages[1].where} is a second folder or file of documents; give one")
        if self.key and not of_pages:
            option = way("--translation-key", "translation_key")
            raise InputError(f"{option}: is for folders and JSON lines, whose documents are paired by it")
        pairs = [(query, document) for document in languages for query in query_languages if query != document]
        if not pairs:
            raise InputError(f"translations: documents and queries are all in {languages[0]!r}; leave them out")
        made = TranslatedSource(source)
        for each in opened:
            if isinstance(each, ParallelText):
                lines = made.add_texts(each, pairs, problems)
            else:
                lines = made.add_pages(each, pairs, self.key, problems)
            for line in lines:
                self.tell(line)
        if named:
            return made, list(languages)
        made.leave_out_pages()
        asked = [language for language in languages if language in query_languages]
        empty = {each for each in asked if not any(True for _ in made.documents(each, Problems(stop_at_errors=False)))}
        return made, [language for language in languages if language not in empty]


def add_parallel_text(source: Source, texts: Sequence[str], pair: Pair, problems: Problems) -> Source:
    """The source with parallel text to train on beside its own data; pages to pair are an error."""
    made = TranslatedSource(source)
    for each in map(_open, texts):
        if not isinstance(each, ParallelText):
            what = "is no parallel text (.po, .mo, .tmx, .tsv, line-aligned files)"
            into = way("'isogloss index --translations'", "isogloss.Index.make(…, translations=)")
            raise InputError(f"{each.where}: {what}; pages that are translated go into {into}")
        made.add_texts(each, [pair], problems)
    return made


class TranslatedSource(Source):
    """A source with pages that translate its documents, and with parallel text.

    Where pages are known for a pair of languages, its queries and judgments are made from them alone.
    """

    format = "translated"

    def __init__(self, source: Source) -> None:
        super().__init__(source.where)
        self._source = source
        self._pairings: dict[Pair, Pairing] = {}
        self._texts: dict[Pair, list[TextPair]] = {}
        self._left_out: set[tuple[Path, int]] = set()
        self.top_grade = source.top_grade

    @property
    def name(self) -> str:
        return self._source.name

    def add_pages(self, translations: Source, pairs: Sequence[Pair], key: str, problems: Problems) -> list[str]:
        """Take the pages that translate documents; returns a line for each pair of languages."""
        lines = []
        query_languages = sorted({query for query, _ in pairs})
        for pair in pairs:
            found = pair_pages(self._source, translations, pair, key, problems, query_languages)
            self._pairings[pair] = found
            self._left_out |= found.moved
            of = f" in {pair[1]}" if len(pairs) > 1 else ""
            into = f" ({pair[0]})" if len(query_languages) > 1 else ""
            same = f"; {found.same:,} have the same text there" if found.same else ""
            count = f"{len(found.pairs):,} of {found.documents:,} documents{of}"
            lines.append(f"{count} have a translation{into} in {translations.where}{same}")
        if not any(found.pairs for found in self._pairings.values()):
            raise InputError(self._pairings[pairs[0]].why_none)
        return lines

    def add_texts(self, texts: ParallelText, pairs: Sequence[Pair], problems: Problems) -> list[str]:
        """Take parallel text; returns a line for each pair of languages that has some."""
        lines = []
        missing: NoTextError | None = None
        for pair in pairs:
            try:
                found = [each for _, each in texts.parallel(pair, problems)]
            except NoTextError as error:
                missing = error
                continue
            if found:
                self._texts.setdefault(pair, []).extend(found)
                lines.append(f"{len(found):,} translated texts ({'-'.join(pair)}) in {texts.where}")
        if not lines:
            raise missing or InputError(f"{texts.where}: has no text with its translation; is it empty?")
        return lines

    def leave_out_pages(self) -> None:
        """Have no documents that are pages."""
        self._left_out |= {place for found in self._pairings.values() for place in found.places}

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        twins = self._twins(language)
        for location, document in self._source.documents(language, problems):
            if not self._left_out or place_of(location) not in self._left_out:
                known = twins.get(document.id)
                if known:
                    document = replace(document, translations={**document.translations, **known})  # noqa: PLW2901
                yield location, document

    def source_documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        pages = self._pages(language, lambda found: found.pages)
        if not pages:
            yield from self._source.source_documents(language, problems)
        for page in pages:
            yield self._location, replace(page, language=language)

    def queries(self, language: str, problems: Problems) -> Iterator[tuple[Location, Query]]:
        pages = self._pages(language, lambda found: [page for page, _ in found.pairs])
        try:
            yield from () if pages else self._source.queries(language, problems)
        except NoJudgmentsError:
            return
        yield from ((self._location, _query_of(page, language)) for page in pages)

    def judgments(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        if self._is_paired(pair):
            return self._judged((page.id, document.id) for page, document in self._pairings[pair].pairs)
        if pair not in self._texts:
            return self._source.judgments(pair, problems)
        try:
            return self._source.judgments(pair, problems)
        except NoJudgmentsError:
            return iter(())

    def source_judgments(self, language: str, problems: Problems) -> Iterator[tuple[Location, Judgment]]:
        pages = self._pages(language, lambda found: [page for page, _ in found.pairs])
        if not pages:
            return self._source.source_judgments(language, problems)
        return self._judged((page.id, page.id) for page in pages)

    def splits(self, pair: Pair, queries: Collection[str], problems: Problems) -> Mapping[str, list[str]] | None:
        if not self._is_paired(pair):
            return self._source.splits(pair, queries, problems)
        return {"train": [page.id for page, _ in self._pairings[pair].pairs]}

    def groups(self, pair: Pair) -> Mapping[str, str] | None:
        return None if self._is_paired(pair) else self._source.groups(pair)

    def candidates(self, pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        return None if self._is_paired(pair) else self._source.candidates(pair, split, problems)

    def lexicon(self, pair: Pair) -> Path | None:
        return self._source.lexicon(pair)

    def parallel(self, pair: Pair, problems: Problems) -> Iterator[tuple[Location, TextPair]]:
        yield from self._source.parallel(pair, problems)
        yield from ((self._location, texts) for texts in self._texts.get(pair, ()))

    @property
    def _location(self) -> Location:
        return Location(Path(self.where))

    def _is_paired(self, pair: Pair) -> bool:
        return pair in self._pairings and bool(self._pairings[pair].pairs)

    def _twins(self, language: str) -> dict[str, dict[str, str]]:
        """For each document of a language that is translated, the pages that translate it, by their languages."""
        found: dict[str, dict[str, str]] = {}
        for (query_language, own), pairing in self._pairings.items():
            for page, document in pairing.pairs if own == language else ():
                found.setdefault(document.id, {})[query_language] = page.id
        return found

    def _pages(self, language: str, of: Callable[[Pairing], Sequence[Document]]) -> list[Document]:
        """Pages of a language, each once: they may translate documents of several."""
        found = (pairing for (query, _), pairing in self._pairings.items() if query == language)
        return list({page.id: page for pairing in found for page in of(pairing)}.values())

    def _judged(self, ids: Iterable[tuple[str, str]]) -> Iterator[tuple[Location, Judgment]]:
        grade = self.top_grade or 1
        return ((self._location, Judgment(query, document, grade)) for query, document in ids)


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
        from isogloss.data.readers.registry import open_source

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
