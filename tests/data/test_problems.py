"""Validation problems have a file and a line; the first one stops the reading, or all are collected."""

from __future__ import annotations

import gzip

import pytest

from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location

DOCUMENTS, QUERIES = "wiki_fr.documents", "wiki_en.queries"
MALFORMED, DUPLICATE, EMPTY = "malformed line", "duplicate document id", "empty document text"

BAD_LINES = [
    ("wikiclir", "en2fr.rel", "q1\td1\t2\nq1\td2\n", 2, MALFORMED, "expected query id, document id, grade"),
    ("wikiclir", "en2fr.rel", "q1\td1\t3\n", 1, "wrong grade", "grade '3' is not one of 0, 1, 2"),
    ("wikiclir", "en2fr.rel", "q1\td1\t-1\n", 1, "wrong grade", "grade '-1' is not one of 0, 1, 2"),
    ("wikiclir", "en2fr.rel", "q1\td1\t2\textra\n", 1, "wrong grade", r"grade '2\\textra' is not one of"),
    ("wikiclir", "en2fr.rel", "\nq9\td1\t2\n", 2, "unknown query id", "query id 'q9' does not exist"),
    ("wikiclir", "en2fr.rel", "q1\td9\t2\n", 1, "unknown document id", "document id 'd9' does not exist"),
    ("wikiclir", "en2fr.rel", "q1\td1\t2\nq1\td1\t1\n", 2, "contradicting judgment", "were judged 2 before, 1 here"),
    ("wikiclir", "en2fr.rel", b"q1\td1\t2\nq\xe9\td1\t2\n", 2, "broken UTF-8", r"not UTF-8 \(byte 0xe9 at position 2"),
    ("wikiclir", DOCUMENTS, "d1\tChat\n", 1, MALFORMED, "expected id, title, text separated by tabs"),
    ("wikiclir", DOCUMENTS, "d1\ta\tb\n \tc\td\n", 2, MALFORMED, "expected id, title, text separated"),
    ("wikiclir", DOCUMENTS, "d1\ta\tb\nd2\ta\tb\nd1\tc\td\n", 3, DUPLICATE, "document id 'd1' occurs"),
    ("wikiclir", DOCUMENTS, b"d1\ta\tb\nd2\ta\t\xff\n", 2, "broken UTF-8", r"not UTF-8 \(byte 0xff at"),
    ("wikiclir", QUERIES, "q1\ta\tb\nq2\ta\tb\nq1\ta\tb\n", 3, "duplicate query id", "query id 'q1' occurs a"),
    ("wikiclir", "splits/en.dev", "q1\nq9\n", 2, "unknown query id", "query id 'q9' does not exist"),
    ("wikiclir", "splits/en.dev", "q1\n\nq1\n", 3, "duplicate query id", "query id 'q1' occurs a second time"),
    ("wikiclir", "splits/en.dev", b"q1\n\xff\n", 2, "broken UTF-8", "not UTF-8"),
    ("beir", "corpus.jsonl", '{"_id": "d1", "text": "a"}\n{"_id"\n', 2, MALFORMED, r"not JSON \(.* at column 7\)"),
    ("beir", "corpus.jsonl", "[1]\n", 1, MALFORMED, "expected a JSON object"),
    ("beir", "corpus.jsonl", '{"_id": "d1"}\n', 1, MALFORMED, "the object has no 'text'"),
    ("beir", "corpus.jsonl", '{"_id": "d1", "text": 5}\n', 1, MALFORMED, "'text' must be a string, got 5"),
    ("beir", "corpus.jsonl", '{"_id": "", "text": "a"}\n', 1, MALFORMED, "'_id' must be a string, got ''"),
    ("beir", "corpus.jsonl", '{"_id": "a", "text": "\\ud800"}\n', 1, MALFORMED, "half a character"),
    ("beir", "corpus.jsonl", "[" * 100_000 + "\n", 1, MALFORMED, r"not JSON \("),
    ("beir", "queries.jsonl", '{"_id": "q1", "text": "a"}\n' * 2, 2, "duplicate query id", "query id 'q1' occurs"),
    ("beir", "qrels/test.tsv", "q2\td2\n", 1, MALFORMED, "expected query-id, corpus-id, score separated"),
    ("beir", "qrels/test.tsv", "q2\td2\tyes\n", 1, "wrong grade", "grade 'yes' is not an integer"),
    ("beir", "qrels/test.tsv", "q2\td2\t1\nq9\td2\t1\n", 2, "unknown query id", "query id 'q9' does not exist"),
    ("beir", "qrels/test.tsv", "q2\td2\t1\nq1\td3\t1\n", 2, "query in two splits", "'q1' is in the split 'train'"),
    ("trec", "qrels", "q1 0 d1\n", 1, MALFORMED, "expected query, 0, document and grade, got 'q1 0 d1'"),
    ("trec", "qrels", "q1 0 d1 1.5\n", 1, "wrong grade", "grade '1.5' is not an integer"),
    ("trec", "qrels", b"q1 0 d1 1\nq1 0 \xff 1\n", 2, "broken UTF-8", "not UTF-8"),
    ("trec", "topics.tsv", "q1\tcat\nq2\n", 2, MALFORMED, "expected id, text separated by tabs"),
    ("trec", "documents.jsonl", '{"id": "d1", "text": "a"}\n' * 2, 2, DUPLICATE, "document id 'd1' occurs"),
    ("jsonl", "pages.jsonl", '{"id": "e", "lang": "en", "text": "a b"}\nnot\n', 2, MALFORMED, "not JSON"),
    ("jsonl", "pages.jsonl", '{"id": "e", "lang": "en", "text": "a b"}\n{"id": "f", "text": "c", "links": "e"}\n', 2,
     MALFORMED, "'links' has the wrong type: 'e'"),
]  # fmt: skip

WARNINGS = [
    ("wikiclir", DOCUMENTS, "d1\ta\tb\nd2\tc\t\n", 2, EMPTY, "document 'd2' has an empty text"),
    ("wikiclir", QUERIES, "q1\ta\tb\nq2\tc\t  \n", 2, "empty query text", "query 'q2' has an empty text"),
    ("wikiclir", "en2fr.rel", "q1\td1\t2\nq1\td1\t2\n", 2, "duplicate judgment", "'q1' and document 'd1' occur"),
    ("beir", "corpus.jsonl", '{"_id": "d1", "text": ""}\n{"_id": "d2", "text": "b"}\n', 1, EMPTY, "'d1'"),
    ("trec", "topics.tsv", "q1\tcat\nq2\t\n", 2, "empty query text", "query 'q2' has an empty text"),
]  # fmt: skip

FIELDS = ("format_", "file", "content", "line", "kind", "words")


def names(cases):
    return [f"{file}: {kind}" for _, file, _, _, kind, _ in cases]


PAGES = (
    '{"id": "e", "lang": "en", "text": "A b c.", "translations": {"fr": "f", "de": "x"}}\n'
    '{"id": "g", "lang": "en", "text": "A b c.", "translations": {"fr": "e"}}\n'
    '{"id": "f", "lang": "fr", "text": "a b", "links": ["e", "nowhere"]}\n'
)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize(FIELDS, BAD_LINES, ids=names(BAD_LINES))
def test_a_bad_line_stops_the_reading_with_one_line_that_says_where_and_what(
    tiny, read, format_, file, content, line, kind, words, packed
):
    source = tiny(format_, {file: content}, packed)
    pair = "en-en" if format_ == "jsonl" else "en-fr"
    location = f"{file}.gz:{line}" if packed else f"{file}:{line}"
    with pytest.raises(InputError, match=rf"/{location}: .*{words}") as caught:
        read(source, pair)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(FIELDS, BAD_LINES, ids=names(BAD_LINES))
def test_bad_lines_are_gathered_by_kind_and_the_rest_is_read(tiny, gather, format_, file, content, line, kind, words):
    changes = {file: content if isinstance(content, bytes) else content.encode()}
    if file.endswith((".documents", "corpus.jsonl", "documents.jsonl")):  # keep a document for the rest to speak of
        last = {"wikiclir": b"x\tx\tx\n", "beir": b'{"_id": "x", "text": "x"}\n', "trec": b'{"id": "x", "text": "x"}\n'}
        changes = {file: changes[file] + last[format_]}
    data = gather(tiny(format_, changes), "en-en" if format_ == "jsonl" else "en-fr")
    assert data.problems.errors[kind] >= 1
    found = [p for p in data.problems.kept if p.kind == kind and str(p.location).endswith(f"{file}:{line}")]
    assert len(found) == 1
    assert found[0].fatal


@pytest.mark.parametrize(FIELDS, WARNINGS, ids=names(WARNINGS))
def test_what_is_odd_but_usable_is_a_warning_that_does_not_stop(tiny, read, format_, file, content, line, kind, words):
    judged = {"wikiclir": "en2fr.rel", "beir": "qrels/test.tsv", "trec": "qrels"}[format_]
    rest = {} if judged == file else {judged: ""}
    if format_ == "beir":
        rest["qrels/train.tsv"] = None
    data = read(tiny(format_, rest | {file: content}))
    assert not data.problems.errors
    assert data.problems.warnings == {kind: 1}
    [problem] = data.problems.kept
    assert str(problem.location).endswith(f"/{file}:{line}")
    assert words in problem.message
    assert not problem.fatal


def test_links_and_translations_that_lead_nowhere_are_warnings(tiny, read):
    data = read(tiny("jsonl", {"pages.jsonl": PAGES}))
    assert data.problems.warnings == {"unknown link": 1, "unknown translation": 1}
    assert [(p.location.line, p.message) for p in data.problems.kept] == [
        (2, "page 'g' names 'e' as its translation, which is no page in 'fr'"),
        (3, "page 'f' links to 'nowhere', which does not exist"),
    ]


@pytest.mark.parametrize("line", ["en;cat;a cat", '{"id": "e", "lang": "en", "text": "a b", "links": "e"}'])
def test_a_file_without_one_good_page_is_refused_for_its_first_line(tiny, read, line):
    with pytest.raises(InputError, match=r"pages\.jsonl:1: "):
        read(tiny("jsonl", {"pages.jsonl": f"{line}\n"}))


def test_a_truncated_archive_is_an_input_error_that_names_the_line(tiny, read, tmp_path):
    source = tiny("wikiclir", packed=True)
    path = tmp_path / "data" / "wiki_fr.documents.gz"
    lines = b"".join(b"d%d\t-\t%d\n" % (n, n * 7919) for n in range(2000))
    path.write_bytes(gzip.compress(lines, mtime=0)[:-200])
    with pytest.raises(InputError, match=r"wiki_fr\.documents\.gz:\d+: the gzip archive is cut off after this line"):
        read(source)


def test_a_query_in_two_splits_files_stays_in_the_first(tiny, read, gather):
    source = tiny("wikiclir", {"splits/en.train": "q1\nq2\n", "splits/en.test": "q2\nq3\n"})
    assert gather(source).splits == {"train": ["q1", "q2"], "test": ["q3"]}
    with pytest.raises(InputError, match=r"splits/en\.test:1: query id 'q2' is in the split 'train' already"):
        read(source)


def test_only_the_first_of_each_kind_are_kept_but_all_are_counted(tmp_path):
    problems = Problems(stop_at_errors=False)
    for line in range(1, 101):
        problems.error(Location(tmp_path, line), "this", "wrong")
        problems.warn(Location(tmp_path, line), "that", "odd")
    assert (problems.errors["this"], problems.warnings["that"]) == (100, 100)
    assert [problem.location.line for problem in problems.kept if problem.fatal] == list(range(1, 21))
