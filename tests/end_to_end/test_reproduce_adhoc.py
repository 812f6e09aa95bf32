"""`isogloss reproduce adhoc`: the paper's tables and figures from one command."""

import csv
import json
import sys

import pytest

REPRODUCE = ("reproduce", "adhoc")
TOY = "toy.answers.csv, toy.csv, toy.json"
DEMO = ("--data", "demo", "--pair", "en-fr", "-o", "out")
CONFIGURATIONS = [
    "paper", "paper, no limit of words", "paper, only frequent words dropped", "paper, only stop words dropped",
    "paper, all words", "pinv", "ridge", "procrustes", "procrustes, raw vectors", "procrustes, paper's words",
    "procrustes, common removed", "best, paper's words", "best",
]  # fmt: skip


@pytest.fixture(autouse=True)
def one_language(monkeypatch):
    """One language of the bundled collection is enough to see the toy experiment work."""
    monkeypatch.setattr("isogloss.papers.adhoc.experiments.TOY_LANGUAGES", ("zh",))


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_the_table_and_the_toy_experiment_and_again_with_the_same_vectors(run, here):
    out = here / "out"
    code, shown, err = run(*REPRODUCE, "table", "toy", *DEMO)
    assert (code, err) == (0, f"out: ranked.best.csv, ranked.csv, table.csv, table.json, {TOY}, vectors\n")
    assert "demo en-fr: 104 documents search 104" in shown
    assert "Toy collection: every article searched by its five most typical English words" in shown

    header, *table = rows(out / "table.csv")
    measures = ["configuration", "MAP", "R-precision", "first 10"]
    assert header == [*measures, "pairs asked", "pairs fitted", "en skipped", "fr skipped"]
    assert [name for name, *_ in table] == CONFIGURATIONS
    assert all(0.3 < float(r) < float(m) < 1 for _, m, r, *_ in table)
    assert all(0 < int(fitted) < int(asked) for *_, asked, fitted, _, _ in table)

    kept = json.loads((out / "table.json").read_text())
    assert [(trial["name"], f"{trial['values']['MAP']:.4f}") for trial in kept["trials"]] == [
        (name, average) for name, average, *_ in table
    ]
    assert set(kept["files"]) == {"lexicon", "query_vectors", "document_vectors"}
    assert kept["trials"][0]["options"]["drop_frequent"] == 50

    for name in ("ranked.csv", "ranked.best.csv"):
        header, *ranked = rows(out / name)
        assert header == ["document", "best_match", "precision_fraction", "precision"]
        assert len(ranked) == 104
        average = sum(float(precision) for *_, precision in ranked) / len(ranked)
        assert f"{average:.4f}" == dict((c, m) for c, m, *_ in table)["best" if "best" in name else "paper"]

    header, *toy = rows(out / "toy.csv")
    assert header == ["configuration", "found first", "MAP", "pairs asked", "pairs fitted", "words skipped"]
    assert [name for name, *_ in toy] == ["zh, paper", "zh, best"]
    header, *toy = rows(out / "toy.answers.csv")
    assert header == ["language", "method", "query", "wanted", "found", "rank"]
    assert len(toy) == 2 * 104
    assert sum(wanted == found for *_, wanted, found, _ in toy) > 0.8 * len(toy)

    matrices = sorted(out.rglob("matrix.npy"))
    before = (
        {path: path.stat().st_ino for path in matrices},
        {path.name: path.read_bytes() for path in out.glob("*.csv")},
    )
    assert len(matrices) == 4  # en and fr; en and zh of the toy collection
    assert run(*REPRODUCE, "table", *DEMO, "--overwrite", "--quiet").err == ""
    assert {path: path.stat().st_ino for path in matrices} == before[0]
    assert {path.name: path.read_bytes() for path in out.glob("*.csv")} == before[1]


def test_the_figure_is_drawn_beside_its_numbers(run, here, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("isogloss.papers.adhoc.experiments.PAIR_COUNTS", (100,))
    assert run(*REPRODUCE, "figure", *DEMO).code == 0
    header, *points = rows(here / "out" / "map_by_pairs.csv")
    assert header == ["configuration", "pairs asked", "pairs fitted", "MAP"]
    assert [name for name, *_ in points] == ["paper", "paper", "pinv", "pinv", "procrustes", "procrustes"]
    few, all_ = points[:2]
    assert 0 < int(few[2]) <= int(few[1]) == 100 < int(all_[2]) < int(all_[1])
    assert float(few[3]) < float(all_[3])
    assert (here / "out" / "map_by_pairs.png").read_bytes().startswith(b"\x89PNG")


def test_queries_of_a_split_search_by_the_paper_and_by_ours_with_ready_vectors(run, here):
    for language in ("en", "fr"):
        assert (
            run(
                "vectors", "train", "--documents", "demo", "--language", language, "-o", f"word2vec:{language}.vec"
            ).code
            == 0
        )
    ready = ("--query-vectors", "{query}.vec", "--document-vectors", "fr.vec")
    assert run(*REPRODUCE, "queries", *DEMO, *ready, "--split", "train").code == 0
    header, *found = rows(here / "out" / "queries.csv")
    assert header == ["configuration", "MRR_mr", "R_mr@10", "pairs asked", "pairs fitted", "words skipped"]
    assert [name for name, *_ in found] == [
        "bm25", "bm25-dict", "psq", "psq, induced", "aligned, paper", "aligned, paper, tfidf-all",
        "aligned, paper, idf", "aligned, paper, all words", "aligned, tfidf", "aligned",
    ]  # fmt: skip
    assert [row[3:] == ["", "", ""] for row in found] == [True] * 4 + [False] * 6
    kept = json.loads((here / "out" / "queries.json").read_text())
    assert kept["split"] == "train"
    assert [f"{trial['values']['MRR_mr']:.4f}" for trial in kept["trials"]] == [mrr for _, mrr, *_ in found]
    assert [(each["left"], each["right"]) for each in kept["comparisons"]] == [
        ("aligned", "bm25-dict"), ("psq, induced", "psq")
    ]  # fmt: skip
    assert all(0 < each["randomisation"] <= 1 for each in kept["comparisons"])


def test_a_missing_matplotlib_is_reported_before_the_work(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for items in ((), ("figure",), ("table", "figure")):
        assert "pip install 'isogloss[papers]'" in fails(*REPRODUCE, *items, *DEMO)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ((*REPRODUCE, "table", "chapter", *DEMO), "ITEM: 'chapter' is not one of table, figure, queries, toy"),
        (("reproduce", "novel", *DEMO), "'novel'"),
        ((*REPRODUCE, "table", "--data", "demo", "--pair", "en", "-o", "out"), "'en' is not written like en-fr"),
        ((*REPRODUCE, "table", *DEMO, "--lexicon", "nowhere.tsv"), "nowhere.tsv: no such file"),
        ((*REPRODUCE, "table", *DEMO, "--text", "tape:x"), "tape"),
        ((*REPRODUCE, "table", *DEMO, "--query-vectors", "nowhere.vec"), "nowhere.vec: no such file"),
        ((*REPRODUCE, "table", *DEMO, "--query-vectors", "words.txt"), "words.txt:1: expected a word and its numbers"),
        ((*REPRODUCE, "queries", *DEMO, "--split", "autumn"), "has no split 'autumn'"),
        (
            (*REPRODUCE, "table", *DEMO, "--text", "demo", "--query-vectors", ".", "--document-vectors", "."),
            "--text: is text to train vectors on, and those of both languages are given; leave it out",
        ),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_written(fails, here, arguments, wrong):
    (here / "words.txt").write_text("bee\n")
    assert wrong in fails(*arguments)
    assert [each.name for each in here.iterdir()] == ["words.txt"]


def test_an_existing_output_is_refused(fails, here):
    (here / "out").mkdir()
    (here / "out" / "diary.txt").write_text("dear diary")
    assert "out: exists and is not empty; choose another output or add --overwrite" in fails(*REPRODUCE, "toy", *DEMO)


def test_a_file_where_the_directory_should_be_is_named(fails, here):
    (here / "out").write_text("dear diary")
    assert "out: is a file, a directory is needed" in fails(*REPRODUCE, "toy", *DEMO, "--overwrite")


def test_data_without_mates_are_refused(fails, tiny):
    tables = (*REPRODUCE, "table", "--data", f"wikiclir:{tiny}", "--pair", "en-fr", "-o", "out")
    assert "the en page that each query was taken from" in fails(*tables)
    (tiny / "wiki_en.documents").write_text("e1\t\tA mill.\n")
    assert "the en page that each query was taken from" in fails(*tables)
