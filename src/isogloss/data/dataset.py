"""Everything an experiment needs of one language pair, read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from isogloss.data.document_checks import checked
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source, TextPair, parse_pair
from isogloss.data.splits import draw_from_splits, split_queries
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location

Record = TypeVar("Record", Document, Query)


@dataclass
class Dataset:
    """Documents of one language, queries of another, judgments between them, and the splits of the queries."""

    source: Source
    pair: Pair
    documents: Collection
    queries: dict[str, Query]
    judgments: Judgments
    splits: dict[str, list[str]]
    problems: Problems = field(default_factory=Problems)

    @property
    def lexicon(self) -> Path | None:
        """A bilingual lexicon that comes with the data."""
        return self.source.lexicon(self.pair)

    def split(self, name: str) -> list[Query]:
        """The queries of a split; ``all`` is every query."""
        if name == "all":
            return list(self.queries.values())
        if name not in self.splits:
            raise InputError(f"{self.source.name}: has no split {name!r}; there are {', '.join(self.splits)} and all")
        return [self.queries[query] for query in self.splits[name]]

    def candidates(self, split: str) -> Judgments:
        """What the ``candidates`` protocol ranks: query id to document id to label."""
        lines = self.source.candidates(self.pair, split, self.problems)
        if lines is None:
            what = f"{self.source.name}: has no candidate lists for {'-'.join(self.pair)} {split}"
            raise InputError(f"{what}; make some with 'isogloss data candidates'")
        return Judgments(_checked(lines, self.queries, self.documents.row_of, self.problems))

    @cached_property
    def parallel(self) -> list[TextPair]:
        """Texts with their translations that are no documents of the collection, to train on."""
        return [texts for _, texts in self.source.parallel(self.pair, self.problems)]

    @cached_property
    def source_documents(self) -> Collection:
        """The query-language documents, for unsupervised statistics only: they may contain the test queries."""
        return load_source_documents(self.source, self.pair[0], self.problems)


def load_collection(source: Source, language: str, problems: Problems | None = None) -> Collection:
    """Read and check the documents of one language."""
    problems = problems or Problems()
    return _collection(source, source.documents(language, problems), language, problems)


def load_source_documents(source: Source, language: str, problems: Problems) -> Collection:
    """Read and check the pages in the language of the queries."""
    return _collection(source, source.source_documents(language, problems), language, problems)


def _collection(
    source: Source, documents: Iterable[tuple[Location, Document]], language: str, problems: Problems
) -> Collection:
    collection = Collection(_unique(checked_documents(documents, problems), "document", problems), language)
    if not len(collection):
        skipped = problems.told_skipped()
        raise InputError(f"{source.name}: has no documents in {language!r}{f'; {skipped}' if skipped else ''}")
    collection.weights = source.term_weights(language, collection.ids)
    return collection


def load_dataset(
    source: Source | str, pair: Pair | str, seed: int = 0, problems: Problems | None = None,
    documents: Collection | None = None, queries: int = 0,
) -> Dataset:  # fmt: skip
    """Read one language pair of a source; every line is checked, and every id in a judgment exists.

    ``documents`` are those of the source, where they were read before. ``queries``: so many of the judged ones, drawn
    at random by the seed (0: all); the splits keep their shares.

    >>> len(load_dataset("demo", "en-fr").documents)
    104
    """
    if isinstance(source, str):
        from isogloss.data.readers.registry import open_source  # the readers import this module

        source = open_source(source)
    if isinstance(pair, str):
        pair = parse_pair(pair)
    if seed < 0:
        raise InputError(f"seed: {seed} is below 0; choose 0 or more")
    problems = problems or Problems()
    judgment_lines = source.judgments(pair, problems)  # first: an unknown pair is an error before much is read
    documents = documents or load_collection(source, pair[1], problems)
    asked = {query.id: query for query in _unique(source.queries(pair[0], problems), "query", problems)}
    judgments = Judgments(_checked(judgment_lines, asked, documents.row_of, problems), source.top_grade)
    splits = source.splits(pair, asked, problems)
    if splits is None:
        splits = split_queries(list(asked), seed, source.groups(pair))
    made = Dataset(source, pair, documents, asked, judgments, dict(splits), problems)
    return limit_queries(made, queries, seed) if queries else made


def limit_queries(dataset: Dataset, count: int, seed: int = 0) -> Dataset:
    """The dataset with ``count`` of its judged queries, drawn at random within each split.

    Splits keep their shares, and a query keeps its split: what is trained on few queries was never trained on a dev
    query of the whole.

    >>> {name: len(ids) for name, ids in limit_queries(load_dataset("demo", "en-fr"), 50).splits.items()}
    {'train': 30, 'dev': 10, 'test': 10}
    """
    judged = {name: [id_ for id_ in ids if id_ in dataset.judgments] for name, ids in dataset.splits.items()}
    kept = draw_from_splits(judged, count, seed)
    asked = {id_ for ids in kept.values() for id_ in ids}
    return replace(
        dataset,
        queries={id_: query for id_, query in dataset.queries.items() if id_ in asked},
        judgments=Judgments((each for each in dataset.judgments if each[0] in asked), dataset.judgments.top_grade),
        splits=kept,
    )


def load_training(
    source: Source, pair: Pair, problems: Problems | None = None, documents: Collection | None = None
) -> Dataset:
    """What a system may be trained on: a dataset, or the documents alone where the source has no judgments."""
    try:
        source.judgments(pair, Problems(stop_at_errors=False))  # opened, not read
    except InputError:
        documents = documents or load_collection(source, pair[1], problems)
        return Dataset(source, pair, documents, {}, Judgments(), {"train": []})
    return load_dataset(source, pair, problems=problems, documents=documents)


def all_for_training(dataset: Dataset, keep_dev: bool = False) -> Dataset:
    """The dataset with all its queries in the train split, for an index that is searched and not evaluated.

    Splits keep queries out of training to measure with. Who indexes documents measures nothing, so every translated
    page and every judged query is trained on. ``keep_dev``: but for the dev split, by which some systems stop in time.

    >>> {name: len(queries) for name, queries in all_for_training(load_dataset("demo", "en-fr")).splits.items()}
    {'train': 208}
    """
    dev = dataset.splits.get("dev", []) if keep_dev else []
    train = [query for query in dataset.queries if query not in set(dev)]
    return replace(dataset, splits={"train": train, **({"dev": dev} if dev else {})})


def checked_documents(
    documents: Iterable[tuple[Location, Document]], problems: Problems
) -> Iterator[tuple[Location, Document]]:
    """The documents of a source that can be indexed (:mod:`isogloss.data.document_checks`); others are reported."""
    for location, document in documents:
        try:
            right = checked(document)
        except InputError as error:
            problems.error(location, "malformed document", str(error))
            continue
        yield location, right


def _unique(records: Iterable[tuple[Location, Record]], what: str, problems: Problems) -> Iterator[Record]:
    seen: set[str] = set()
    for location, record in records:
        if record.id in seen:
            problems.error(location, f"duplicate {what} id", f"{what} id {record.id!r} occurs a second time")
            continue
        seen.add(record.id)
        if not record.text.strip():
            problems.warn(location, f"empty {what} text", f"{what} {record.id!r} has an empty text")
        yield record


def _checked(
    lines: Iterable[tuple[Location, Judgment]], queries: Iterable[str], documents: Iterable[str], problems: Problems
) -> Iterator[Judgment]:
    seen: dict[tuple[str, str], int] = {}
    for location, judgment in lines:
        query, document, grade = judgment
        if query not in queries:
            problems.error(location, "unknown query id", f"query id {query!r} does not exist")
        elif document not in documents:
            problems.error(location, "unknown document id", f"document id {document!r} does not exist")
        elif (query, document) not in seen:
            seen[query, document] = grade
            yield judgment
        elif seen[query, document] == grade:
            problems.warn(
                location, "duplicate judgment", f"query {query!r} and document {document!r} occur a second time"
            )
        else:
            what = f"query {query!r} and document {document!r} were judged {seen[query, document]} before, {grade} here"
            problems.error(location, "contradicting judgment", what)
