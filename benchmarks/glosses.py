"""Glosses: how many words are right, and whether a reader who sees only glosses finds the right document.

python benchmarks/glosses.py --data DIR --dictionaries DIR [--set lohelp:en-fr ...] [--json FILE] [--readers FILE]

For each set and each kind of knowledge ``bridge`` is trained on the train split and indexes all documents.

Words: of 200 dev queries the snippet of the document that translates the query's page, as a search shows it. A content
word (a word with letters that is no stop word) is right if its gloss stands in the page, as a stem; a gloss of stop
words that most pages have (more than a third of them) is wrong, as is a word that is not known, unless the page has it.
"strict": a gloss of any stop words is wrong. A word that is left out because it repeats the gloss of its neighbour
counts as that gloss. "at best" is the share of words of which some translation that the gloss could have chosen stands
in the page.

Reader: of 50 dev queries (after those that --skip leaves out) the first five hits, in random order. A reader sees the
query and glosses of title and snippet; it knows neither originals nor ranks. There are two, both with the document
frequencies of the pages in their language. One is BM25. The other looks for a sentence that says the query: a text
counts as much as the rarity of the different query words in the best of its windows, of 1.5 times as many content words
as the query has (6 at least). Counted are queries whose document is among the five. BM25 also reads the glosses made
without the query, the originals, and the translated pages themselves (their first 40 words, where all five are known);
"first" takes the first hit.

--read FILE lets both readers read the lists of --readers again. With --picks PICKS it scores another reader: each line
of PICKS is the number of a line of FILE and the number of the gloss that was picked from its list.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Document, Query, joined_fields
from isogloss.data.source import parse_pair
from isogloss.search.snippets import Snippet, content_parts, make_snippet, passage_of_text
from isogloss.systems.base import System
from isogloss.systems.registry import make_system
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.glossing import Glosser, Piece, gloss_text

SETS = ("lohelp:en-fr", "mdn:en-es")
KNOWLEDGE = {
    "own pages, dictionary, starter": {"lexicon": "DICTIONARY"},
    "own pages, starter": {},
    "dictionary, starter": {"lexicon": "DICTIONARY", "without": "pages"},
    "starter": {"without": "pages"},
}
FIELDS = ("title", "text")
READERS = ("glosses", "sentences", "plain", "originals", "first")
_SNIPPETS, _QUERIES, _LIST = 200, 50, 5
_FIRST_WORDS = 40
_MARKED = 10


@dataclass(frozen=True)
class Case:
    """A dev query, the row of the document that answers it, and the page that the document translates."""

    query: Query
    row: int
    page: Document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--dictionaries", type=Path, required=True, help="folder of en-fr.gz and others")
    parser.add_argument("--set", action="append", help=f"name:pair (default {' '.join(SETS)})")
    parser.add_argument("--knowledge", action="append", choices=KNOWLEDGE, help="only this (repeatable)")
    parser.add_argument("--skip", type=int, default=0, help="queries that readers do not read, of the first ones")
    parser.add_argument("--json", type=Path, help="write the results")
    parser.add_argument("--readers", type=Path, help="write the lists that a person can judge, and FILE.answers")
    parser.add_argument("--read", type=Path, help="have such lists read, and nothing else")
    parser.add_argument("--picks", type=Path, help="what a person, or another reader, picked from the lists of --read")
    arguments = parser.parse_args()
    if arguments.read and arguments.picks:
        for line in scores(arguments.read, arguments.picks):
            print(line)
        return
    if arguments.read:
        read_again(arguments.read, arguments.data)
        return
    results: list[dict[str, Any]] = []
    lists: list[dict[str, Any]] = []
    for name in arguments.set or SETS:
        folder, _, code = name.partition(":")
        pair = parse_pair(code)
        data = load_dataset(f"wikiclir:{arguments.data / folder}", pair)
        cases = known_cases(data, "dev")
        for knowledge in arguments.knowledge or KNOWLEDGE:
            found, shown = measure(data, cases, knowledge, arguments.dictionaries / f"{code}.gz", arguments.skip)
            results.append({"set": name, "knowledge": knowledge, **found})
            lists += [{"set": name, "knowledge": knowledge, **each} for each in shown]
            print(json.dumps(results[-1]), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))
    if arguments.readers:
        write_lists(arguments.readers, lists)


def known_cases(data: Dataset, split: str) -> list[Case]:
    """The queries of a split whose document and page are known, in random order."""
    pages: dict[str, Document] = {}
    row_of = data.source_documents.row_of
    for _, judgment in data.source.source_judgments(data.pair[0], data.problems):
        if judgment.grade >= data.judgments.top_grade and judgment.document in row_of:
            pages.setdefault(judgment.query, data.source_documents[row_of[judgment.document]])
    cases = []
    for query in data.split(split):
        relevant = [id_ for id_, grade in data.judgments[query.id].items() if grade >= data.judgments.top_grade]
        if relevant and query.id in pages:
            cases.append(Case(query, data.documents.row_of[relevant[0]], pages[query.id]))
    random.Random(0).shuffle(cases)
    return cases


def measure(
    data: Dataset, cases: Sequence[Case], knowledge: str, dictionary: Path, skip: int = 0
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The shares of right words, and of right choices of the reader; and the lists that it chose from."""
    settings = dict(KNOWLEDGE[knowledge])
    if "lexicon" in settings:
        settings["lexicon"] = str(dictionary)
    if settings.get("lexicon") and not dictionary.is_file():
        raise SystemExit(f"{dictionary}: no such dictionary")
    system = make_system("bridge", data.pair, settings)
    started = time.perf_counter()
    system.fit(data)
    system.index(data.documents, FIELDS)
    glosser = system.glosser()
    assert glosser is not None
    shown = [(case, snippet(system, data, case.query.text, case.row)) for case in cases[:_SNIPPETS]]
    common = common_words(data, glosser.language)
    fitted = time.perf_counter()
    with_query, without = (words(glosser, shown, asked, common) for asked in (True, False))
    warm = time.process_time()
    for case, own in shown:
        glosser.gloss(own.text, case.query.text, own.marks)
    seconds = time.process_time() - warm
    reader, lists = read(system, glosser, data, cases[skip : skip + _QUERIES])
    return {
        "snippets": len(shown), "words": with_query["words"], "right": with_query["right"],
        "strict": with_query["strict"], "right without the query": without["right"], "at best": with_query["best"],
        "unknown": with_query["unknown"], "gloss ms": 1000 * seconds / len(shown), "fit seconds": fitted - started,
        **reader,
    }, lists  # fmt: skip


def snippet(system: System, data: Dataset, query: str, row: int) -> Snippet:
    """What a search shows of a document."""
    document = data.documents[row]
    text, stops = joined_fields(document, FIELDS), stop_words(data.pair[1])
    parts = content_parts(system.explain(query, row, text), data.pair[0])[:_MARKED]
    terms = {term for part in parts for term in part.document_words}
    passage = passage_of_text(system.passage(query, row), text, document.text)
    is_match = lambda word: word not in stops and system.term_of(word) in terms  # noqa: E731
    return make_snippet(document.text, is_match, passage=passage)


def common_words(data: Dataset, language: str) -> set[str]:
    """The stop words, as stems, that more than a third of the pages have."""
    terms_of, pages = Tokenizer(language, stems=True), data.source_documents
    counts = Counter(term for page in pages for term in set(terms_of(f"{page.title} {page.text}")))
    return {term for term in terms_of.terms(sorted(stop_words(language))) if counts[term] > len(pages) / 3}


def words(
    glosser: Glosser, shown: Iterable[tuple[Case, Snippet]], with_query: bool, common: set[str]
) -> dict[str, float]:
    """The share of content words whose gloss stands in the page."""
    terms_of = Tokenizer(glosser.language, stems=True)
    stops = stop_words(glosser.document_language)
    functional = set(terms_of.terms(sorted(stop_words(glosser.language))))
    counts: Counter[str] = Counter()
    for case, own in shown:
        page = set(terms_of(f"{case.page.title} {case.page.text}"))
        for piece, gloss in _content(glosser.gloss(own.text, case.query.text if with_query else "", own.marks), stops):
            said = set(terms_of(gloss))
            possible = {term for meaning in glosser.meanings(piece.text) for term in terms_of(meaning)}
            right, strict = (bool(said - ignored) and said - ignored <= page for ignored in (common, functional))
            best = right or bool(page & possible - common)
            counts.update(words=1, right=right, strict=strict, best=best, unknown=piece.unknown)
    total = counts.pop("words")
    return {"words": total, **{name: counts[name] / total for name in ("right", "strict", "best", "unknown")}}


def _content(pieces: Sequence[Piece], stops: frozenset[str]) -> Iterable[tuple[Piece, str]]:
    """The content words with what is said for each: what is said before it, where it repeats that."""
    before = ""
    for piece in pieces:
        tokens = tokenize(piece.text)
        is_content = any(map(str.isalpha, piece.text)) and not stops.issuperset(tokens)
        if is_content and not (piece.is_function and not stops):
            before = piece.shown or before
            yield piece, before


def read(
    system: System, glosser: Glosser, data: Dataset, cases: Sequence[Case]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What readers of five hits choose, of the first queries whose document is among them."""
    idf = inverse_frequencies(data, glosser.language)
    page_of = {case.row: case.page for split in ("train", "dev") for case in known_cases(data, split)}
    right: Counter[str] = Counter()
    lists = []
    for case in cases:
        query = case.query.text
        rows = system.search(query, _LIST).rows.tolist()
        if case.row not in rows:
            continue
        first = rows[0]
        random.Random(case.query.id).shuffle(rows)
        seen = {row: snippet(system, data, query, row) for row in rows}
        originals = [f"{data.documents[row].title} {seen[row].text}" for row in rows]
        glosses, plain = (
            [_glossed(glosser, data.documents[row].title, seen[row].text, asked) for row in rows]
            for asked in (query, "")
        )
        answer = rows.index(case.row)
        right.update(
            lists=1, first=first == case.row, glosses=choice(query, glosses, idf) == answer,
            sentences=choice_by_sentence(query, glosses, idf) == answer,
            plain=choice(query, plain, idf) == answer, originals=choice(query, originals, idf) == answer,
        )  # fmt: skip
        if all(row in page_of for row in rows):
            pages = [" ".join(page_of[row].text.split()[:_FIRST_WORDS]) for row in rows]
            right.update(comparable=1, pages=choice(query, pages, idf) == answer)
        lists.append({"id": case.query.id, "query": query, "glosses": glosses, "answer": answer + 1})
    shares = {name: right[name] / right["lists"] for name in READERS}
    shares["pages"] = right["pages"] / max(1, right["comparable"])
    counts = {"queries": len(cases), "lists": right["lists"], "lists of pages": right["comparable"]}
    return {**counts, **{f"reader of {name}": share for name, share in shares.items()}}, lists


def _glossed(glosser: Glosser, title: str, text: str, query: str) -> str:
    pieces = glosser.gloss(title, query, around=text), glosser.gloss(text, query)
    return " — ".join(map(gloss_text, pieces))


def inverse_frequencies(data: Dataset, language: str) -> Callable[[str], float]:
    """The inverse document frequencies of the pages in the language of the reader."""
    terms_of = Tokenizer(language, stems=True, drop_stop_words=True)
    pages = data.source_documents
    counts = Counter(term for page in pages for term in set(terms_of(f"{page.title} {page.text}")))
    return lambda term: math.log(1 + (len(pages) - counts[term] + 0.5) / (counts[term] + 0.5))


def choice(query: str, texts: Sequence[str], idf: Callable[[str], float], language: str = "en") -> int:
    """The number of the text with the highest BM25 (k1 1.2, b .75); of equal ones the first."""
    terms_of = Tokenizer(language, stems=True, drop_stop_words=True)
    counts: list[Mapping[str, int]] = [Counter(terms_of(text)) for text in texts]
    lengths = [sum(each.values()) for each in counts]
    mean = sum(lengths) / len(lengths) or 1
    wanted = set(terms_of(query))

    def score(number: int) -> float:
        norm = 1.2 * (0.25 + 0.75 * lengths[number] / mean)
        return sum(idf(term) * counts[number][term] * 2.2 / (counts[number][term] + norm) for term in wanted)

    return max(range(len(texts)), key=score)


def choice_by_sentence(query: str, texts: Sequence[str], idf: Callable[[str], float], language: str = "en") -> int:
    """The number of the text whose best window has the rarest words of the query; of equal ones the first."""
    terms_of = Tokenizer(language, stems=True, drop_stop_words=True)
    asked = terms_of(query)
    width = max(6, len(asked) * 3 // 2)

    def score(text: str) -> float:
        terms = terms_of(text)
        windows = (set(terms[start : start + width]) for start in range(max(1, len(terms) - width + 1)))
        return max(sum(idf(term) for term in window.intersection(asked)) for window in windows)

    return max(range(len(texts)), key=lambda number: score(texts[number]))


def scores(lists: Path, picks: Path) -> list[str]:
    """The share of right picks of each kind of lists, of which a reader has to read all or none, and its interval."""
    answers = _lines(_answers(lists))
    picked = dict(map(int, line.split()) for line in picks.read_text("utf-8").splitlines() if line.strip())
    if not picked.keys() <= set(range(1, len(answers) + 1)):
        raise SystemExit(f"{picks}: a pick from a list that {lists} does not have")
    found = []
    for kind in dict.fromkeys((each["set"], each["knowledge"]) for each in answers):
        numbers = [number for number, each in enumerate(answers, 1) if (each["set"], each["knowledge"]) == kind]
        unread = [number for number in numbers if number not in picked]
        if unread and len(unread) < len(numbers):
            raise SystemExit(f"{picks}: no pick from list {unread[0]}")
        if not unread:
            wrong = [number for number in numbers if picked[number] != answers[number - 1]["answer"]]
            right, of = len(numbers) - len(wrong), len(numbers)
            low, high = wilson_interval(right, of)
            found.append(f"{', '.join(kind)}: {right} of {of}, {right / of:.3f} ({low:.3f} to {high:.3f}), not {wrong}")
    return found


def wilson_interval(right: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % interval of a share p of n: (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927)."""
    share, square = right / of, z * z / of
    middle, width = share + square / 2, z * math.sqrt(share * (1 - share) / of + square / (4 * of))
    return (middle - width) / (1 + square), (middle + width) / (1 + square)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _answers(lists: Path) -> Path:
    return lists.with_name(f"{lists.name}.answers")


def read_again(path: Path, folder: Path) -> None:
    """Both readers on lists that were written."""
    questions, answers = _lines(path), _lines(_answers(path))
    right: dict[tuple[str, str], Counter[str]] = {}
    known: dict[str, Callable[[str], float]] = {}
    for question, answer in zip(questions, answers, strict=True):
        name, _, code = question["set"].partition(":")
        if name not in known:
            data = load_dataset(f"wikiclir:{folder / name}", code)
            known[name] = inverse_frequencies(data, data.pair[0])
        given = question["query"], question["glosses"], known[name]
        right.setdefault((question["set"], question["knowledge"]), Counter()).update(
            lists=1, bm25=choice(*given) + 1 == answer["answer"],
            sentences=choice_by_sentence(*given) + 1 == answer["answer"],
        )  # fmt: skip
    for key, counts in right.items():
        print(
            *key, counts["lists"], *(f"{name} {counts[name] / counts['lists']:.3f}" for name in ("bm25", "sentences"))
        )


def write_lists(path: Path, lists: Sequence[Mapping[str, Any]]) -> None:
    """The queries with their five glosses; the answers, numbers from 1, in another file."""
    questions = [{name: each[name] for name in ("set", "knowledge", "id", "query", "glosses")} for each in lists]
    answers = [{name: each[name] for name in ("set", "knowledge", "id", "answer")} for each in lists]
    for file, rows in ((path, questions), (_answers(path), answers)):
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """The results as Markdown."""
    columns = (
        "right", "strict", "right without the query", "at best", "unknown", "lists", "reader of glosses",
        "reader of sentences", "reader of plain", "reader of originals", "reader of pages", "reader of first",
        "gloss ms",
    )  # fmt: skip
    lines = [f"| set | knowledge | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for each in results:
        values = [f"{each[name]:.3g}" for name in columns]
        lines.append(f"| {each['set']} | {each['knowledge']} | {' | '.join(values)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
