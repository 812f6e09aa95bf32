"""`isogloss data show` and `isogloss data grade`."""

import json

import pytest

from isogloss.data.readers.demo import DEMO_PAGES


def test_show_prints_the_columns_of_table_1(run):
    code, out, err = run("data", "show", "demo", "--pair", "en-sw")
    assert (code, err) == (0, "")
    header, row = (next(line for line in out.splitlines() if line.split()[:1] == [word]) for word in ("language", "sw"))
    assert header.split() == ["language", "#Query", "#SR/Q", "#Documents", "words/query", "words/document"]
    language, queries, partial, documents, *words = row.split()
    assert (language, queries, documents) == ("sw", "208", "104")
    assert float(partial) > 1
    assert all(float(length) > 3 for length in words)
    assert "no problems found" in out


def test_show_as_json_says_the_same(run, tiny, here):
    summary = json.loads(run("data", "show", f"wikiclir:{tiny}", "--pair", "en-fr", "--json", "-").out)
    assert (summary["queries"], summary["judged_queries"], summary["documents"]) == (5, 4, 6)
    assert summary["grades"] == {"2": 4, "1": 2}
    assert summary["partially_relevant_per_query"] == 0.5
    assert summary["splits"] == {"train": {"queries": 2, "judged": 2}, "dev": {"queries": 3, "judged": 2}}
    run("data", "show", f"wikiclir:{tiny}", "--pair", "en-fr", "--json", "summary.json")
    assert json.loads((here / "summary.json").read_text()) == summary


def test_show_lists_what_is_wrong_and_fails(run, tiny):
    with open(tiny / "en2fr.rel", "a") as file:
        file.write("q1\tf1\nq1\tf4\t7\nq9\tf1\t2\n")
    with open(tiny / "wiki_fr.documents", "a") as file:
        file.write("f7\tVide\t\nf1\tEncore\tdeux fois\n")
    code, out, err = run("data", "show", f"wikiclir:{tiny}", "--pair", "en-fr")
    assert code == 2
    assert err.startswith("isogloss: 4 records cannot be used, the first: ")
    for kind in ("malformed line", "wrong grade", "unknown query id", "duplicate document id", "empty document text"):
        assert kind in out
    assert "en2fr.rel:7" in out


def test_grading_the_bundled_pages_gives_the_judgments_that_ship(run, here):
    assert run("data", "grade", DEMO_PAGES, "-o", "graded", "--query-language", "en").code == 0
    for language in ("fr", "sw", "zh"):
        pair = ("--pair", f"en-{language}", "--json", "-")
        graded, shipped = (json.loads(run("data", "show", source, *pair).out) for source in ("wikiclir:graded", "demo"))
        assert {**graded, "data": ""} == {**shipped, "data": ""}
        measures = [
            json.loads(run("evaluate", "bm25", "--data", source, *pair).out)["systems"][0]["measures"]
            for source in ("wikiclir:graded", "demo")
        ]
        assert measures[0] == measures[1]


def test_the_first_sentence_without_its_title_asks_and_links_judge(run, here):
    pages = [
        {
            "id": "e1",
            "lang": "en",
            "title": "Mill",
            "text": "A mill grinds wheat. It is old.",
            "translations": {"fr": "f1"},
        },
        {"id": "f1", "lang": "fr", "title": "Moulin", "text": "Un moulin moud le blé.", "links": ["f2", "f3"]},
        {"id": "f2", "lang": "fr", "title": "Blé", "text": "Le blé est une plante.", "links": ["f1"]},
        {"id": "f3", "lang": "fr", "title": "Pont", "text": "Un pont passe la rivière."},
    ]
    (here / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    code, _, err = run("data", "grade", "pages.jsonl", "-o", "graded", "--query-language", "en")
    assert (code, err) == (0, "graded: 2 pairs of languages, 3 judgments\n")
    assert (here / "graded" / "en2fr.rel").read_text() == "e1\tf1\t2\ne1\tf2\t1\n"
    assert (here / "graded" / "wiki_en.queries").read_text() == "e1\tMill\tA grinds wheat.\n"
    assert sorted(path.name for path in (here / "graded").iterdir()) == [
        "en2en.rel", "en2fr.rel", "splits", "wiki_en.documents", "wiki_en.queries", "wiki_fr.documents"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("{", "pages.jsonl:2: not JSON"),
        ('{"id": "x"}', "pages.jsonl:2: "),
        ('{"id": "x", "text": "y", "links": "z"}', "pages.jsonl:2: 'links'"),
        ('{"id": "e1", "lang": "en", "text": "again", "translations": {"fr": "f1"}}', "'e1'"),
    ],
)
def test_a_bad_page_is_named_by_its_line(fails, here, line, wrong):
    first = '{"id": "e1", "lang": "en", "text": "One wheel turns.", "translations": {"fr": "f1"}}'
    (here / "pages.jsonl").write_text(
        f'{first}\n{line}\n{{"id": "f1", "lang": "fr", "text": "Une roue tourne."}}\n', encoding="utf-8"
    )
    assert wrong in fails("data", "grade", "pages.jsonl", "-o", "graded")


def test_pages_without_translations_cannot_be_graded(fails, here):
    (here / "pages.jsonl").write_text('{"id": "e1", "lang": "en", "title": "A", "text": "A."}\n')
    assert "pages.jsonl" in fails("data", "grade", "pages.jsonl", "-o", "graded")


def test_what_is_skipped_and_what_is_read_are_not_confused(run, here):
    (here / "docs").mkdir()
    (here / "docs" / "good.txt").write_text("Le boulanger prépare le pain chaque matin.", encoding="utf-8")
    assert run("data", "show", "docs").out.endswith("no problems found\n")
    (here / "docs" / "cut.pdf").write_bytes(b"%PDF-1.7 cut off")
    assert run("data", "show", "docs").out.endswith("no problems found in the files that are read\n")
    (here / "docs" / "empty.txt").touch()
    out = run("data", "show", "docs").out
    assert "no problems" not in out
    assert "'empty.txt' has an empty text" in out
