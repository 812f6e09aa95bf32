"""TREC topics in the classic markup, in XML, and as a table; several languages in one directory."""

from __future__ import annotations

import pytest

from isogloss.storage.errors import InputError

CLASSIC = """
<top>

<num> Number: 301
<title> Topic: bridges over
wide rivers

<desc> Description:
Which bridges cross rivers
wider than a mile?

<narr> Narrative:
A ferry is not a bridge.

</top>
<top>
<num> Number: 302
<title>
<desc> Description:
Tea & coffee
</top>
"""

CLOSED = """<?xml version="1.0" encoding="UTF-8"?>
<topics>
  <top lang="en"><num>301</num><title>bridges over wide rivers</title><desc>Which ones?</desc></top>
  <top><num>302</num>
    <desc>Tea &amp; coffee</desc>
    <narr>Both.</narr>
  </top>
</topics>
"""

DOCUMENTS = {"documents.jsonl": '{"id": "d1", "text": "un pont"}\n', "qrels": "301 0 d1 1\n"}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("markup", [CLASSIC, CLOSED], ids=["classic", "closed"])
@pytest.mark.parametrize("name", ["topics", "topics.txt", "topics.xml", "topics.en.txt"])
def test_topics_in_markup_give_the_title_or_else_the_description(put, read, markup, name, packed):
    data = read(f"trec:{put(DOCUMENTS | {name: markup}, packed)}")
    texts = {query.id: (query.title, query.text) for query in data.queries.values()}
    assert texts == {"301": ("bridges over wide rivers",) * 2, "302": ("", "Tea & coffee")}


@pytest.mark.parametrize(
    ("markup", "line", "words"),
    [
        ("<top>\n<num> 1\n<title> a\n</top>\n<top>\n<num> 2\n<title> b\n", 5, "topic '2' has no </top>"),
        ("<top>\n<num> 1\n<title> a\n<top>\n<num> 2\n<title> b\n</top>\n", 1, "topic '1' has no </top>"),
        ("<top>\n<num> 1\n<title> a\n</top>\n\n<top>\n<title> b\n</top>\n", 6, "a <top> without <num>"),
    ],
)
def test_a_broken_topic_is_reported_where_it_starts_and_the_others_are_read(put, gather, read, markup, line, words):
    directory = put(DOCUMENTS | {"topics": markup, "qrels": ""})
    data = gather(f"trec:{directory}")
    assert len(data.queries) == 1
    assert [(str(p.location), p.kind, p.message) for p in data.problems.kept] == [
        (f"{directory / 'topics'}:{line}", "malformed topic", words)
    ]
    with pytest.raises(InputError, match=rf"topics:{line}: {words}"):
        read(f"trec:{directory}")


def test_a_topics_file_of_another_kind_is_not_taken_for_an_empty_one(put, read):
    with pytest.raises(InputError, match=r"topics: has no <top> at all"):
        read(f"trec:{put(DOCUMENTS | {'topics': 'bridges' + chr(10)})}")


def test_files_of_a_language_come_before_files_of_all(put, read):
    files = {
        "topics.tsv": "1\tall\n", "topics.sw.tsv": "1\tdaraja\n",
        "documents.jsonl": '{"id": "d1", "lang": "fr", "text": "pont"}\n{"id": "d2", "lang": "it", "text": "ponte"}\n',
        "documents.zh.jsonl": '{"id": "d3", "text": "桥"}\n',
        "qrels": "1 0 d1 1\n", "qrels.sw-zh": "1 0 d3 1\n",
    }  # fmt: skip
    source = f"trec:{put(files)}"
    swahili, english = read(source, "sw-zh"), read(source, "en-fr")
    assert (swahili.queries["1"].text, swahili.documents.ids, list(swahili.judgments)) == (
        "daraja", ["d3"], [("1", "d3", 1)],
    )  # fmt: skip
    assert (english.queries["1"].text, english.documents.ids) == ("all", ["d1"])


def test_an_unknown_pair_is_answered_with_the_pairs_there_are(put, read):
    source = f"trec:{put({'qrels.en-fr': '', 'qrels.en-zh': ''}, packed=True)}"
    with pytest.raises(InputError, match=r"has none of qrels\.sw-fr, qrels, qrels\.txt; pairs here: en-fr, en-zh$"):
        read(source, "sw-fr")


def test_missing_topics_name_the_files_that_were_tried(put, read):
    with pytest.raises(InputError, match=r"has none of topics\.en\.tsv, .*topics\.tsv"):
        read(f"trec:{put(DOCUMENTS)}")
