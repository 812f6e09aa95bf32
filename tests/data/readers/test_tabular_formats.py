"""WikiCLIR, BEIR and TREC hold the same things and read alike, plain or gzipped."""

from __future__ import annotations

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError

FORMATS = ("wikiclir", "beir", "trec")
JUDGED = {("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d2", 2)}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_gives_the_same_documents_queries_and_judgments(tiny, read, format_, packed):
    data = read(tiny(format_, packed=packed))
    assert [(d.id, d.title, d.text) for d in data.documents] == [
        ("d1", "Chat", "un animal qui ronronne"), ("d2", "Thé", "une boisson chaude"), ("d3", "Pont", "une route"),
    ]  # fmt: skip
    assert {q.id: q.text for q in data.queries.values()} == {
        "q1": "an animal that purrs", "q2": "a hot drink", "q3": "a road over a river",
    }  # fmt: skip
    assert set(data.judgments) == JUDGED
    assert data.judgments.top_grade == 2
    assert not data.problems.errors
    assert not data.problems.warnings


@pytest.mark.parametrize("format_", ["wikiclir", "beir"])
def test_titles_of_queries_are_kept(tiny, read, format_):
    assert read(tiny(format_)).queries["q2"].title == "Tea"


@pytest.mark.parametrize("format_", FORMATS)
def test_lines_may_end_like_on_windows_and_start_with_a_byte_order_mark(tiny, read, format_):
    names = {"wikiclir": "wiki_fr.documents", "beir": "corpus.jsonl", "trec": "documents.jsonl"}
    source = tiny(format_)
    path = open_source(source).directory / names[format_]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    data = read(source)
    assert data.documents.ids == ["d1", "d2", "d3"]
    assert data.documents[0].text == "un animal qui ronronne"


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(("exists", "words"), [(False, "no such directory"), (True, "is a file, a directory is")])
def test_a_source_that_is_no_directory_is_named(tmp_path, format_, exists, words):
    path = tmp_path / "place"
    if exists:
        path.write_text("")
    with pytest.raises(InputError, match=rf"{path}: {words}"):
        open_source(f"{format_}:{path}")


def test_wikiclir_keeps_tabs_in_the_text_and_reads_grade_0(tiny, read):
    changes = {"wiki_fr.documents": "d1\tChat\tun\tanimal\nd2\t\tmot\n", "en2fr.rel": "q1\td1\t0\n"}
    data = read(tiny("wikiclir", changes))
    assert data.documents[0].text == "un\tanimal"
    assert list(data.judgments) == [("q1", "d1", 0)]


def test_wikiclir_says_which_pairs_there_are(tiny, read):
    source = tiny("wikiclir", {"en2zh.rel": "", "sw2fr.rel": ""})
    with pytest.raises(InputError, match=r"en2tl\.rel: no such file .*; pairs here: en-fr, en-zh, sw-fr$"):
        read(source, "en-tl")


def test_wikiclir_without_documents_of_the_language_says_so(tiny, read):
    with pytest.raises(InputError, match=r"wiki_zh\.documents: no such file.*no documents in 'zh'; pairs here: en-fr"):
        read(tiny("wikiclir", {"en2zh.rel": ""}), "en-zh")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_wikiclir_candidates_are_read_with_their_labels(tiny, read, packed):
    data = read(tiny("wikiclir", {"candidates/en2fr.dev": "q1\td3\t0\nq1\td1\t1\n"}, packed))
    assert list(data.candidates("dev")) == [("q1", "d3", 0), ("q1", "d1", 1)]
    with pytest.raises(InputError, match=r"has no candidate lists for en-fr test; make some with 'isogloss data"):
        data.candidates("test")


def test_wikiclir_candidates_must_exist(tiny, read):
    data = read(tiny("wikiclir", {"candidates/en2fr.dev": "q1\td1\t1\nq1\td9\t0\n"}))
    with pytest.raises(InputError, match=r"candidates/en2fr\.dev:2: document id 'd9' does not exist"):
        data.candidates("dev")


def test_wikiclir_source_documents_are_the_pages_of_the_query_language(tiny, read):
    data = read(tiny("wikiclir", {"wiki_en.documents": "s1\tCat\ta cat\n"}))
    assert data.source_documents.ids == ["s1"]


def test_beir_splits_are_its_qrels_files(tiny, read):
    data = read(tiny("beir"))
    assert data.splits == {"train": ["q1"], "test": ["q2"]}
    assert [query.id for query in data.split("test")] == ["q2"]
    assert [query.id for query in data.split("all")] == ["q1", "q2", "q3"]
    with pytest.raises(InputError, match=r"has no split 'dev'; there are train, test and all"):
        data.split("dev")


def test_beir_ids_may_be_numbers_and_the_header_may_be_missing(tiny, read):
    changes = {
        "corpus.jsonl": '{"_id": 7, "text": "sept"}\n\n',
        "qrels/train.tsv": "q1\t7\t1\n",
        "qrels/test.tsv": None,
    }
    data = read(tiny("beir", changes))
    assert list(data.judgments) == [("q1", "7", 1)]
    assert data.judgments.top_grade == 1


def test_beir_without_qrels_says_what_is_missing(tiny, read):
    with pytest.raises(InputError, match=r"qrels: has none of train\.tsv, dev\.tsv, test\.tsv"):
        read(tiny("beir", {"qrels/train.tsv": None, "qrels/test.tsv": None}))


@pytest.mark.parametrize("format_", ["beir", "trec"])
def test_grades_may_be_any_integer_and_negative_ones_count_as_0(tiny, read, format_):
    changes = {
        "beir": {"qrels/train.tsv": "q1\td1\t4\nq1\td2\t-2\n", "qrels/test.tsv": None},
        "trec": {"qrels": "q1 0 d1 4\nq1 Q0 d2 -2\n"},
    }
    data = read(tiny(format_, changes[format_]))
    assert list(data.judgments) == [("q1", "d1", 4), ("q1", "d2", 0)]
    assert data.judgments.top_grade == 4
