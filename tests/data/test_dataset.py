"""Collections, judgments, sources, and the counts of Table 1."""

from __future__ import annotations

import pytest

from isogloss.cli.main import main
from isogloss.data.documents import Collection, Document, Judgment, Query, joined_fields, parse_fields
from isogloss.data.judgments import Judgments
from isogloss.data.readers.registry import open_source
from isogloss.data.source import parse_pair
from isogloss.data.summary import summarise
from isogloss.storage.errors import InputError


def test_a_collection_is_found_by_row_and_by_id_and_knows_the_order_of_ids():
    collection = Collection([Document("b", "x"), Document("10", "y", "T"), Document("9", "z")], "fr")
    assert collection.ids == ["b", "10", "9"]
    assert collection.row_of["10"] == 1
    assert collection.id_order.tolist() == [2, 0, 1]
    assert collection.texts(("title", "text")) == ["x", "T y", "z"]
    with pytest.raises(ValueError, match="two documents have the same id"):
        Collection([Document("a", ""), Document("a", "")])


def test_judgments_know_grades_and_that_the_rest_is_0():
    judgments = Judgments([Judgment("q", "d", 3), Judgment("q", "e", 1), Judgment("r", "d", 0)])
    assert judgments["q"] == {"d": 3, "e": 1}
    assert judgments["unknown"] == {}
    assert "unknown" not in judgments
    assert len(judgments) == 3
    assert judgments.queries == ["q", "r"]
    assert judgments.grade_counts() == {3: 1, 1: 1, 0: 1}
    assert judgments.top_grade == 3
    assert Judgments([Judgment("q", "d", 0)]).top_grade == Judgments().top_grade == 1
    assert Judgments([Judgment("q", "d", 1)], top_grade=2).top_grade == 2


def test_fields_are_chosen_by_name_and_joined_in_that_order():
    record = Query("q", "text", "title")
    assert joined_fields(record, parse_fields("title, text")) == "title text"
    assert joined_fields(record, parse_fields("text")) == "text"
    for wrong in ("", "body", "title,body"):
        with pytest.raises(InputError, match=rf"fields: '{wrong}' is not a list of title, text"):
            parse_fields(wrong)


def test_a_pair_is_written_with_a_dash():
    assert parse_pair("en-fr") == ("en", "fr")
    for wrong in ("en", "en-", "-fr", ""):
        with pytest.raises(InputError, match=rf"pair: '{wrong}' is not written like en-fr"):
            parse_pair(wrong)


@pytest.mark.parametrize("source", ["nothing", "other:place", "wikiclir:", "demo:x", ""])
def test_an_unknown_source_is_answered_with_the_known_ones(source):
    with pytest.raises(
        InputError, match=rf"source: '{source}' is neither a folder, a file, nor one of wikiclir:…, .*or demo"
    ):
        open_source(source)


def test_a_path_alone_is_recognised_by_its_files(tiny, tmp_path):
    assert open_source(tiny("wikiclir").removeprefix("wikiclir:")).format == "wikiclir"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# One", encoding="utf-8")
    assert open_source(str(tmp_path / "notes")).format == "folder"
    (tmp_path / "pages.jsonl").write_text("", encoding="utf-8")
    assert open_source(str(tmp_path / "pages.jsonl")).format == "jsonl"
    assert open_source(str(tmp_path / "notes" / "one.md")).format == "file"
    (tmp_path / "one.bin").write_bytes(b"x")
    with pytest.raises(InputError, match=r"one\.bin: a single file is read by its ending \(\.jsonl"):
        open_source(str(tmp_path / "one.bin"))


@pytest.mark.parametrize("format_", ["wikiclir", "beir", "trec"])
def test_a_source_is_named_as_the_user_writes_it(tiny, format_):
    source = tiny(format_)
    assert open_source(source).name == source
    assert open_source("demo").name == "demo"


def test_the_summary_counts_what_table_1_counts(tiny, read):
    summary = summarise(read(tiny("wikiclir", {"splits/en.train": "q1\nq3\n", "splits/en.dev": "q2\n"})))
    assert summary["pair"] == "en-fr"
    assert (summary["queries"], summary["judged_queries"], summary["documents"]) == (3, 2, 3)
    assert summary["partially_relevant_per_query"] == 0.5
    assert summary["grades"] == {"2": 2, "1": 1}
    assert summary["splits"] == {"train": {"queries": 2, "judged": 1}, "dev": {"queries": 1, "judged": 1}}
    assert summary["query_words"] == pytest.approx((4 + 3 + 5) / 3)
    assert summary["document_words"] == pytest.approx((4 + 3 + 2) / 3)
    assert summary["problems"] == {"errors": {}, "warnings": {}, "first": []}


def test_partly_relevant_is_what_lies_between_0_and_the_top(tiny, read):
    data = read(tiny("trec", {"qrels": "q1 0 d1 4\nq1 0 d2 2\nq1 0 d3 1\nq2 0 d1 0\n"}))
    assert summarise(data)["partially_relevant_per_query"] == 1.0


def test_the_summary_lists_problems_and_says_what_the_texts_look_like(tiny, gather):
    summary = summarise(gather(tiny("wikiclir", {"en2fr.rel": "q1\td1\nq1\td9\t2\nq1\td1\t2\n"})))
    assert summary["problems"]["errors"] == {"malformed line": 1, "unknown document id": 1}
    assert [line.partition(": ")[0].rpartition("/")[2] for line in summary["problems"]["first"]] == [
        "en2fr.rel:1", "en2fr.rel:2",
    ]  # fmt: skip
    assert "fr" in summary["document_languages"]


def test_data_without_judgments_or_texts_can_be_summarised(tiny, read):
    summary = summarise(read(tiny("wikiclir", {"en2fr.rel": "", "wiki_en.queries": ""})))
    assert (summary["queries"], summary["partially_relevant_per_query"], summary["query_words"]) == (0, 0.0, 0.0)


def test_data_show_prints_the_columns_of_table_1(tiny, capsys):
    assert main(["data", "show", tiny("wikiclir"), "--pair", "en-fr"]) == 0
    shown = capsys.readouterr().out
    header = next(line for line in shown.splitlines() if "#SR/Q" in line)
    assert header.split()[:4] == ["language", "#Query", "#SR/Q", "#Documents"]
    assert ["fr", "3", "0.50", "3", "4.0", "3.0"] in [line.split() for line in shown.splitlines()]
    assert "no problems found" in shown
