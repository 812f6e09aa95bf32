"""Typing errors in queries: how far the search falls with them, and how far it is brought back.

    python benchmarks/typing_errors.py DIRECTORY [--only lohelp] [--json FILE]

DIRECTORY has the sets ``mdn``, ``lohelp``, ``cppdocs`` and ``bible``, and ``dictionaries``. ``bridge`` is trained on
the train split; for queries in other languages than English it has the starter tables only, and the queries are titles
and first sentences of pages, whose English page is to be found. All are dev queries.

Two words of each query (one, where it has no more) get one error each, drawn by a fixed seed: a letter too many, a
letter missing, a letter for another or two letters exchanged, each as often; a wrong letter is half of the time beside
the right one on the keyboard. The words have at least four letters, are no stop words and not written as code. Queries
without such a word are left out.

MRR of the relevant document among the first 20, and the time of a search for ten documents against the same search
``exact``: both take turns in one run, each on an index of its own, so that neither finds what the other has cached.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Collection
from isogloss.data.in_memory import as_source
from isogloss.data.source import Source
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.search.spelling import NEIGHBOURS, is_plain
from isogloss.storage.progress import set_quiet
from isogloss.systems.training_runs import train
from isogloss.text.alphabet import alphabet
from isogloss.text.stemming import stem
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import token_spans

SEED = 0
DEPTH, SHOWN = 20, 10
MOST, TIMED = 600, 150  # queries of a row, drawn by the seed, and how many of them are timed
_SENTENCE = re.compile(r".{20,}?[.!?](?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Task:
    """Queries in one language and documents in another: text and relevant documents of each query."""

    name: str
    pair: tuple[str, str]
    system: str
    field: str
    queries: Sequence[tuple[str, frozenset[str]]]


@dataclass(frozen=True)
class Row:
    """The results of a task: MRR of clean queries and of those with errors, each exact and forgiving, and the cost."""

    name: str
    pair: str
    system: str
    field: str
    queries: int
    clean: float
    clean_forgiving: float
    errors: float
    errors_forgiving: float
    words: int
    read_right: float
    read_wrong: float
    clean_cost: float
    errors_cost: float
    clean_milliseconds: float


def mistyped(word: str, letters: str, rng: random.Random) -> str:
    """A word with one error."""
    while True:
        place, kind = rng.randrange(len(word)), rng.randrange(4)
        head, here, tail = word[:place], word[place], word[place + 1 :]
        beside = NEIGHBOURS.get(here, "")
        letter = rng.choice(beside) if beside and rng.random() < 0.5 else rng.choice(letters)
        made = (head + letter + here + tail, head + tail, head + letter + tail, head + tail[:1] + here + tail[1:])[kind]
        if made != word:
            return made


def with_errors(query: str, language: str, letters: str, rng: random.Random) -> tuple[str, dict[str, str]]:
    """A query with an error in two of its words, and these words by what was typed; none if it has no such word."""
    stops = stop_words(language)
    words = [each for each in token_spans(query) if len(each[2]) >= 4 and each[2] not in stops]
    chosen = [each for each in words if is_plain(query, *each) and set(letters).issuperset(each[2])]
    meant = {}
    for begin, end, word in sorted(rng.sample(chosen, min(2, len(chosen))), reverse=True):
        made = mistyped(word, letters, rng)
        meant[made] = word
        typed = made.upper() if query[begin:end].isupper() else made
        query = query[:begin] + (typed[0].upper() + typed[1:] if query[begin].isupper() else typed) + query[end:]
    return query, meant


def mrr(searcher: Searcher, queries: Sequence[str], relevant: Sequence[frozenset[str]], exact: bool) -> list[float]:
    """The reciprocal rank of the first relevant document of each query."""
    found = searcher.search_many(queries, DEPTH, exact=exact)
    return [
        next((1 / hit.rank for hit in hits if hit.document.id in own), 0.0)
        for hits, own in zip(found, relevant, strict=True)
    ]


def seconds(index: Path, queries: Sequence[str]) -> tuple[float, float]:
    """The processor time of all queries, exact and forgiving, by turns; each query is searched for once."""
    spent = {True: 0.0, False: 0.0}
    searchers = {exact: Searcher(open_index(index)) for exact in spent}
    for exact, searcher in searchers.items():
        for language_index in searcher.languages.values():
            language_index.system.warm()
        searcher.search("watr and stnes", SHOWN, explain=False, exact=exact)
    for number, query in enumerate(queries):
        for exact in (True, False) if number % 2 else (False, True):
            started = time.process_time()
            searchers[exact].search(query, SHOWN, explain=False, exact=exact)
            spent[exact] += time.process_time() - started
    return spent[True], spent[False]


def measure(index: Path, task: Task) -> Row:
    """Search for the queries of a task with and without errors, exact and forgiving."""
    language = task.pair[0]
    letters = alphabet("".join(query.lower() for query, _ in task.queries))
    rng = random.Random(SEED)
    made = [(query, *with_errors(query, language, letters, rng), relevant) for query, relevant in task.queries]
    made = [each for each in made if each[2]]
    made = [made[number] for number in sorted(rng.sample(range(len(made)), min(MOST, len(made))))]
    clean, wrong, meant, relevant = zip(*made, strict=True)
    searcher = Searcher(open_index(index), query_language=language)
    of = {
        (name, exact): float(np.mean(mrr(searcher, queries, relevant, exact)))
        for name, queries in (("clean", clean), ("errors", wrong))
        for exact in (True, False)
    }
    told = [_told(searcher, query, words, language) for query, words in zip(wrong, meant, strict=True)]
    right, others, words = (sum(each) for each in zip(*told, strict=True))
    exact_clean, forgiving_clean = seconds(index, clean[:TIMED])
    exact_errors, forgiving_errors = seconds(index, wrong[:TIMED])
    return Row(
        task.name, "-".join(task.pair), task.system, task.field, len(made), of["clean", True], of["clean", False],
        of["errors", True], of["errors", False], words, right / words, others / words,
        forgiving_clean / exact_clean, forgiving_errors / exact_errors, 1000 * exact_clean / len(clean[:TIMED]),
    )  # fmt: skip


def _told(searcher: Searcher, query: str, meant: Mapping[str, str], language: str) -> tuple[int, int, int]:
    """How many words of a query are read as a form of the word that was meant, and of another; and all."""
    read = dict(searcher.read(query).corrected)
    stems = {word: stem([word], language)[0] for word in [*meant.values(), *read.values(), *meant]}
    right = sum(stems[read.get(typed, typed)] == stems[word] for typed, word in meant.items())
    wrong = sum(typed in read and stems[read[typed]] != stems[word] for typed, word in meant.items())
    return right, wrong, len(meant)


def english(dataset: Dataset, name: str, system: str) -> Iterator[Task]:
    """The dev queries of a set: their titles and their texts."""
    top = dataset.judgments.top_grade
    for field in ("title", "text"):
        queries = [
            (
                getattr(query, field),
                frozenset(id_ for id_, grade in dataset.judgments[query.id].items() if grade >= top),
            )
            for query in dataset.split("dev")
        ]
        yield Task(name, dataset.pair, system, field, [each for each in queries if all(each)])


def translated(data: str, name: str, language: str) -> Iterator[tuple[Collection, Task]]:
    """Titles and first sentences of the pages in a language, whose English page is to be found."""
    own, english_ = load_dataset(data, f"en-{language}"), load_dataset(data, "en-en")
    top = own.judgments.top_grade
    pages: dict[str, list[tuple[str, frozenset[str]]]] = {"title": [], "text": []}
    for query in own.split("dev"):
        here = [id_ for id_, grade in own.judgments[query.id].items() if grade >= top]
        there = frozenset(id_ for id_, grade in english_.judgments[query.id].items() if grade >= top)
        for id_ in here if there else []:
            page = own.documents[own.documents.row_of[id_]]
            sentence = _SENTENCE.match(page.text.strip())
            pages["title"].append((page.title, there))
            pages["text"].append((sentence[0] if sentence else "", there))
    for field, queries in pages.items():
        kept = [each for each in queries if each[0].strip()]
        yield english_.documents, Task(name, (language, "en"), "bridge", field, kept)


def rows(data: Path, work: Path, only: Sequence[str]) -> Iterator[Row]:
    """All rows, one after the other."""
    for name, language in (("mdn", "fr"), ("lohelp", "de"), ("cppdocs", "es"), ("bible", "sw")):
        if only and name not in only:
            continue
        source, run = f"wikiclir:{data / name}", work / f"{name}-{language}"
        dataset = load_dataset(source, f"en-{language}")
        if not run.exists():
            train("bridge", source, f"en-{language}", run)
        documents = as_source(dataset.documents)
        yield from _indexed(work / f"{name}.index", str(run), documents, list(english(dataset, name, "bridge")))
        for system in ("psq", "bm25-dict") if name == "mdn" else ():
            lexicon = {"lexicon": str(data / "dictionaries" / f"en-{language}.gz")}
            tasks = list(english(dataset, name, system))
            yield from _indexed(work / f"{name}-{system}.index", system, documents, tasks, lexicon)
        for other in {"lohelp": ("de", "fr", "it"), "mdn": ("es",)}.get(name, ()):
            made = list(translated(source, name, other))
            tasks = [task for _, task in made]
            yield from _indexed(work / f"{name}-{other}.index", "bridge", as_source(made[0][0]), tasks)
    if not only or "lohelp" in only:
        own = load_dataset(f"wikiclir:{data / 'lohelp'}", "en-en")
        yield from _indexed(work / "en.index", "bm25", as_source(own.documents), list(english(own, "lohelp", "bm25")))


def _indexed(
    index: Path, system: str, documents: Source, tasks: Sequence[Task], settings: Mapping[str, str] | None = None
) -> Iterator[Row]:
    query, document = tasks[0].pair
    make_index(index, system, documents, [document], query, ("text",), settings or {}, overwrite=True)
    for task in tasks:
        yield measure(index, task)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", action="append", default=[], help="a set (repeatable)")
    parser.add_argument("--work", type=Path, help="where runs and indexes are kept; runs that are there are used")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    set_quiet(True)
    found = []
    names = ("clean", "errors", "errors, corrected", "clean, corrected", "read right / wrong", "cost clean", "errors")
    print("| set | pair | system | queries | " + " | ".join(names) + " |")
    print("|---|---|---|---|" + "--:|" * len(names))
    with tempfile.TemporaryDirectory(prefix="isogloss-") as scratch:
        for row in rows(arguments.data, arguments.work or Path(scratch), arguments.only):
            found.append(row)
            print(
                f"| {row.name} | {row.pair} | {row.system} | {row.queries} {row.field} | {row.clean:.3f} | "
                f"{row.errors:.3f} | {row.errors_forgiving:.3f} | {row.clean_forgiving:.4f} "
                f"({row.clean_forgiving - row.clean:+.4f}) | {row.read_right:.0%} / {row.read_wrong:.0%} | "
                f"{row.clean_cost:.2f} | {row.errors_cost:.2f} |",
                flush=True,
            )
            if arguments.json:
                about = {"seed": SEED, "python": platform.python_version(), "machine": platform.machine()}
                arguments.json.write_text(json.dumps({**about, "rows": [asdict(each) for each in found]}, indent=1))


if __name__ == "__main__":
    main()
