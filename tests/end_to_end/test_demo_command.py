"""`isogloss demo`: everything at once, for somebody who has nothing yet."""

import json
import os
import sys

import pytest

from isogloss.cli import demo

LANGUAGES = {"fr": "French", "it": "Italian", "es": "Spanish", "sw": "Swahili", "tl": "Tagalog", "zh": "Chinese"}


@pytest.fixture
def silent_stdin():
    """An input on which nothing ever comes and that never ends."""
    reading, writing = os.pipe()
    yield reading
    os.close(reading)
    os.close(writing)


def test_the_demo_shows_six_languages_and_answers_without_a_terminal(spawn, here, silent_stdin):
    code, out, err = spawn("demo", stdin=silent_stdin)
    assert code == 0, err
    table, *answers = out.split("“")
    for code, name in LANGUAGES.items():
        row = next(line for line in table.splitlines() if f"{name} ({code})" in line)
        assert sum(0 <= float(cell) <= 1 for cell in row.split()[2:]) == 6  # systems
        assert all(name in answer for answer in answers)
    assert "layerwise is left out" in table
    assert "isogloss demo --all" in table
    assert len(answers) == 3
    assert all("→" in answer for answer in answers)
    assert "isogloss search" in err
    assert not list(here.iterdir())


def test_the_demo_keeps_its_index_and_gives_its_measures_where_asked(run, fails, here):
    (here / "kept").mkdir()
    (here / "kept" / "diary.txt").write_text("dear diary")
    assert "--overwrite" in fails("demo", "-o", "kept", "--json", "-")
    code, out, _ = run("demo", "--quiet", "-o", "kept", "--overwrite", "--json", "-")
    assert code == 0
    measures = json.loads(out)
    assert [result["pair"] for result in measures] == [f"en-{language}" for language in LANGUAGES]
    for result in measures:
        mrr = {system["name"]: system["measures"]["MRR_mr"] for system in result["systems"]}
        assert max(mrr["bm25-dict"], mrr["psq"]) > mrr["bm25"]
        assert mrr["bridge"] > max(mrr["aligned"], mrr["smooth"])
    hits = json.loads(run("search", "kept", "why is the sea salty", "--json", "-").out)["hits"]
    assert len(hits) == 10
    assert {hit["language"] for hit in hits} <= set(LANGUAGES)


SMALL = {
    "dimension": "8", "kernels": "2", "widths": "2", "layers": "1", "document_words": "20", "epochs": "1",
    "critic_steps": "1",
}  # fmt: skip


def test_all_shows_layerwise_too(run, here, monkeypatch):
    pytest.importorskip("torch", reason="layerwise needs the extra train")
    monkeypatch.setattr(demo, "_NAMES", {"fr": "French"})
    monkeypatch.setattr(demo, "_SETTINGS", {"bm25-dict": {}, "layerwise": SMALL})
    code, out, _ = run("demo", "--all", "--system", "bm25-dict", "--json", "measures.json")
    assert code == 0
    assert "layerwise MRR" in out
    assert "left out" not in out
    (result,) = json.loads((here / "measures.json").read_text())
    assert [system["name"] for system in result["systems"]] == ["bm25-dict", "layerwise"]


def test_all_says_which_extra_it_needs_before_it_does_anything(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "isogloss[train]" in fails("demo", "--all")
