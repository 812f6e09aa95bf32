"""One system with so many pages on a set, and the fusion of such systems."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cold_start_data import ALL, SetName, dev_queries, dictionary, load_set, starter_lexicon, with_pages
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Query
from isogloss.encoders.pretrained_encoder import ENCODERS, PretrainedEncoder
from isogloss.encoders.universal import LANGUAGES, UniversalSentenceEncoder
from isogloss.retrieval.ranking import top_k
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.progress import set_quiet
from isogloss.systems.registry import make_system
from isogloss.systems.trainable import hold_out
from isogloss.text.passages import passage_spans

DEPTH = 100
"""Documents that are ranked: a relevant one farther down counts as not found."""
FIRST_WORDS = 40
"""What the encoder reads of a document: the same as in ``bridge``."""
_ENCODED = 1024  # texts after which vectors are kept
_FUSED = 60  # the constant of reciprocal rank fusion
DICTIONARY, STARTER = "DICTIONARY", "STARTER"


class System(NamedTuple):
    """A system as it is run: its name, its options, whether it learns from pages, whether it needs an encoder."""

    name: str
    options: Mapping[str, str]
    learns: bool
    encodes: bool = False


SYSTEMS = {
    "bm25": System("bm25", {}, False),
    "bm25-dict": System("bm25-dict", {"lexicon": DICTIONARY, "passages": "30"}, False),
    "psq-starter": System("psq", {"lexicon": STARTER, "passages": "30"}, False),
    "psq-pages": System("psq", {"lexicon": "induced", "passages": "30"}, True),
    "encoder": System("pretrained", {"passages": "0"}, False, True),
    "bridge": System("bridge", {}, True),
    "bridge+dict": System("bridge", {"lexicon": DICTIONARY}, True),
    "bridge+use": System("bridge", {"pretrained": "use"}, True, True),
    "bridge+dict+use": System("bridge", {"lexicon": DICTIONARY, "pretrained": "use"}, True, True),
}
INGREDIENTS = {
    "bridge": ("bm25", "psq-starter", "psq-pages"),
    "bridge+dict": ("bm25", "psq-starter", "psq-pages", "bm25-dict"),
    "bridge+use": ("bm25", "psq-starter", "psq-pages", "encoder"),
    "bridge+dict+use": ("bm25", "psq-starter", "psq-pages", "bm25-dict", "encoder"),
}
"""What each form of ``bridge`` is made of, and must not be worse than."""


def fusions(form: str) -> dict[str, tuple[str, ...]]:
    """The fusions of a form's ingredients: of all, and of every two that translate."""
    parts = INGREDIENTS[form]
    found = {f"rrf({', '.join(pair)})": pair for pair in combinations(parts[1:], 2)}
    return {**found, f"rrf({', '.join(parts)})": parts}


FUSIONS = {name: parts for form in INGREDIENTS for name, parts in fusions(form).items()}


@dataclass(frozen=True)
class Trial:
    """A system (or a fusion) that learns from ``size`` pages of a set."""

    each: SetName
    system: str
    size: int
    seed: int

    @property
    def name(self) -> str:
        """That of its files."""
        return f"{self.each.name}-{self.each.language}.{self.system}.{self.size}.{self.seed}"


class Asked(NamedTuple):
    """Which field of a query is asked, and which of the documents are searched."""

    query_field: str
    fields: tuple[str, ...]


def ways(each: SetName) -> list[Asked]:
    """How a set is asked: by first sentences, and by titles where they mean something."""
    asked = ("text", "title") if each.titled else ("text",)
    searched = (("text",), ("title", "text")) if each.titled else (("text",),)
    return [Asked(query, fields) for fields in searched for query in asked]


@dataclass(frozen=True)
class Place:
    """Where the data and the results are."""

    data: Path
    directory: Path
    dictionaries: tuple[Path, ...]

    def encoded(self, each: SetName) -> Path:
        """The vectors of the encoder."""
        return self.directory / f"encoded-{each.name}-{each.language}.sqlite"

    def rankings(self, trial: Trial) -> Path:
        """The documents that a trial ranked."""
        return self.directory / "rankings" / f"{trial.name}.npz"


class Outcome(NamedTuple):
    """What a trial gives: one record for each way of asking, or why it could not be run."""

    trial: Trial
    records: list[dict[str, Any]]
    problem: str = ""


def run_trial(place: Place, trial: Trial) -> Outcome:
    """Run a trial; an error is told, and the others go on."""
    set_quiet(True)
    try:
        use_cache(place.encoded(trial.each))
        made = _fused if trial.system in FUSIONS else _ranked
        return Outcome(trial, list(_records(place, trial, made(place, trial))))
    except InputError as error:
        return Outcome(trial, [], str(error))
    except Exception:
        return Outcome(trial, [], traceback.format_exc())


Ranked = Iterator[tuple[Asked, NDArray[np.int32]]]
"""For each way of asking the ranked rows of each query, -1 past the end."""


def _ranked(place: Place, trial: Trial) -> Ranked:
    dataset = load_set(place.data, trial.each)
    system = SYSTEMS[trial.system]
    queries = dev_queries(dataset)
    options = dict(system.options)
    if options.get("lexicon") == DICTIONARY:
        options["lexicon"] = dictionary(trial.each, place.dictionaries)
    if options.get("lexicon") == STARTER:
        path = place.directory / f"starter-{trial.each.name}-{trial.each.language}.tsv"
        options["lexicon"] = starter_lexicon(dataset, queries, path)
    ranker = make_system(system.name, dataset.pair, options)
    training = with_pages(dataset, trial.size, trial.seed)
    ranker.fit(training)
    searched: tuple[str, ...] = ()
    found = {}
    for asked in ways(trial.each):
        if asked.fields != searched:
            searched = asked.fields
            ranker.index(_first_words(dataset.documents, searched) if system.name == "pretrained" else
                         training.documents, ("text",) if system.name == "pretrained" else searched)  # fmt: skip
        rows = np.full((len(queries), DEPTH), -1, np.int32)
        for number, ranking in enumerate(ranker.search_all(_asked(queries, asked), DEPTH)):
            rows[number, : len(ranking.rows)] = ranking.rows
        found["|".join((asked.query_field, *asked.fields))] = rows
        yield asked, rows
    if not trial.system.startswith("bridge"):
        place.rankings(trial).parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(place.rankings(trial), **found)


def _asked(queries: Sequence[Query], asked: Asked) -> list[Query]:
    return [replace(query, text=getattr(query, asked.query_field)) for query in queries]


def _first_words(documents: Collection, fields: tuple[str, ...]) -> Collection:
    texts = documents.texts(fields)
    cut = (text[slice(*passage_spans(text, FIRST_WORDS)[0])] for text in texts)
    return Collection((replace(d, text=text) for d, text in zip(documents, cut, strict=True)), documents.language)


def _fused(place: Place, trial: Trial) -> Ranked:
    """Reciprocal rank fusion: score(d) = sum over systems of 1 / (60 + rank of d)."""
    documents = load_set(place.data, trial.each).documents
    parts = [replace(trial, system=part) for part in _parts(trial.system, trial.size)]
    parts = [part if SYSTEMS[part.system].learns else replace(part, size=0, seed=0) for part in parts]
    missing = [part.name for part in parts if not place.rankings(part).exists()]
    if missing:
        raise InputError(f"needs the rankings of {', '.join(missing)}")
    used = [np.load(place.rankings(part)) for part in parts]
    for asked in ways(trial.each):
        lists = [each["|".join((asked.query_field, *asked.fields))] for each in used]
        rows = np.full_like(lists[0], -1)
        for number in range(len(rows)):
            scores = np.zeros(len(documents))
            for ranked in lists:
                there = ranked[number][ranked[number] >= 0]
                scores[there] += 1.0 / (_FUSED + 1 + np.arange(len(there)))
            best = top_k(scores, DEPTH, documents.id_order, above=0.0).rows
            rows[number, : len(best)] = best
        yield asked, rows


def _records(place: Place, trial: Trial, found: Ranked) -> Iterator[dict[str, Any]]:
    """The rank of the first relevant document for each query, 0 where it is not found."""
    started = time.perf_counter()
    dataset = load_set(place.data, trial.each)
    queries = dev_queries(dataset)
    relevant = [_relevant(dataset, query) for query in queries]
    ids = hashlib.sha256(json.dumps([query.id for query in queries]).encode()).hexdigest()[:16]
    for asked, rows in found:
        hits = [np.flatnonzero(np.isin(row, wanted)) for row, wanted in zip(rows, relevant, strict=True)]
        ranks = [int(hit[0]) + 1 if len(hit) else 0 for hit in hits]
        yield {
            "set": trial.each.label, "system": trial.system, "size": trial.size, "seed": trial.seed,
            "query_field": asked.query_field, "fields": list(asked.fields), "queries": ids,
            "mrr": round(float(np.mean([1 / rank if rank else 0.0 for rank in ranks])), 5),
            "seconds": round(time.perf_counter() - started, 1), "date": time.strftime("%Y-%m-%d"), "ranks": ranks,
        }  # fmt: skip


def _relevant(dataset: Dataset, query: Query) -> list[int]:
    judged = dataset.judgments[query.id].items()
    return [dataset.documents.row_of[id_] for id_, grade in judged if grade >= dataset.judgments.top_grade]


class CachedEncoder:
    """The pretrained encoder with a file of vectors: all trials of a set encode the same texts.

    Where the encoder is not installed the file is enough. Numbers have 16 bits there.
    """

    batch, version = 256, "cached"

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._model: UniversalSentenceEncoder | None = None

    def encode(self, texts: Sequence[str], is_query: bool) -> Matrix:
        path = self._path
        keys = [hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
        with closing(sqlite3.connect(path, timeout=600)) as cache:
            cache.execute("pragma page_size = 16384")  # so that vectors fill the pages
            cache.execute("create table if not exists vectors (text blob primary key, vector blob)")
            known = {key: _cached(cache, key) for key in dict.fromkeys(keys)}
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}.items())
        for start in range(0, len(missing), _ENCODED):
            new, unknown = zip(*missing[start : start + _ENCODED], strict=True)
            self._model = self._model or UniversalSentenceEncoder()
            vectors = [vector.tobytes() for vector in self._model.encode(unknown, is_query).astype(np.float16)]
            known |= zip(new, vectors, strict=True)
            with closing(sqlite3.connect(path, timeout=600)) as cache, cache:
                cache.executemany("insert or ignore into vectors values (?, ?)", zip(new, vectors, strict=True))
        joined = b"".join(known[key] or b"" for key in keys)
        return np.frombuffer(joined, np.float16).reshape(len(texts), -1).astype(np.float32)


def use_cache(path: Path) -> None:
    """Encode with a file of vectors from now on."""
    ENCODERS["use"] = (partial(CachedEncoder, path), LANGUAGES)


def encode_train_queries(place: Place, each: SetName) -> None:
    """Keep the vectors of train queries that ``bridge`` fits its weights on, for a machine without the encoder."""
    use_cache(place.encoded(each))
    dataset = load_set(place.data, each)
    samples = [with_pages(dataset, *point) for point in ((100, 0), (100, 1), (100, 2), (1000, 0))]
    ids = {id_ for sample in samples for id_ in sample.splits["train"]} | set(hold_out(with_pages(dataset, ALL, 0))[1])
    queries = [dataset.queries[id_] for id_ in sorted(ids)]
    texts = [text for query in queries for text in (query.text, query.title) if text]
    PretrainedEncoder("use").encode_queries(texts)


def _cached(cache: sqlite3.Connection, key: bytes) -> bytes | None:
    row = cache.execute("select vector from vectors where text = ?", (key,)).fetchone()
    return row[0] if row else None


def plan(pages: Mapping[SetName, int], sizes: Sequence[int], seeds: int, systems: Sequence[str]) -> list[Trial]:
    """Every trial once. What does not learn has size 0; up to 100 pages are drawn with each seed."""
    trials = []
    for each, most in pages.items():
        for system in systems:
            parts = [SYSTEMS[part] for part in FUSIONS.get(system, (system,))]
            learns = any(part.learns for part in parts)
            for size in sizes if learns else (0,):
                if size >= most or (size == 0 and not _works_without_pages(system)):
                    continue
                drawn = range(seeds if 0 < size <= 100 else 1)
                trials += [Trial(each, system, size, seed) for seed in drawn]
    return sorted(trials, key=lambda trial: -(10**9 if trial.size == ALL else trial.size))


def _works_without_pages(system: str) -> bool:
    return system != "psq-pages" and (system not in FUSIONS or len(_parts(system, 0)) > 1)


def _parts(fusion: str, size: int) -> list[str]:
    """What is fused: a lexicon can only be induced where there are pages."""
    return [part for part in FUSIONS[fusion] if part != "psq-pages" or size]
