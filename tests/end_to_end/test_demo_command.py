"""`isogloss demo`: everything at once, for somebody who has nothing yet."""

import io
import json
import os
import re
import sys

import pytest
from rich.console import Console

from isogloss.cli import demo

LANGUAGES = {"fr": "French", "zh": "Chinese"}
SMALL = (
    "import isogloss.cli.demo as demo; demo.LANGUAGES = {'fr': 'French'}; demo.SETTINGS = {'psq': {}, 'bm25-dict': {}}"
)


@pytest.fixture
def silent_stdin():
    """An input on which nothing ever comes and that never ends."""
    reading, writing = os.pipe()
    yield reading
    os.close(reading)
    os.close(writing)


def test_the_demo_measures_its_languages_answers_in_all_and_keeps_its_index(run, fails, here, monkeypatch):
    assert len(demo.LANGUAGES) == 6
    monkeypatch.setattr(demo, "LANGUAGES", LANGUAGES)  # a third of them, in a third of the time
    assert run("index", "demo", "--system", "bm25", "--language", "fr", "-o", "kept").code == 0
    assert "--overwrite" in fails("demo", "-o", "kept", "--json", "measures.json")
    code, out, err = run("demo", "-o", "kept", "--overwrite", "--json", "measures.json")
    assert code == 0, err
    table, *answers = out.split("“")
    measures = json.loads((here / "measures.json").read_text())
    assert [result["pair"] for result in measures] == [f"en-{language}" for language in LANGUAGES]
    for result, (language, name) in zip(measures, LANGUAGES.items(), strict=True):
        mrr = {system["name"]: system["measures"]["MRR_mr"] for system in result["systems"]}
        assert max(mrr["bm25-dict"], mrr["psq"]) > mrr["bm25"]
        assert mrr["bridge"] > max(mrr["aligned"], mrr["smooth"])
        row = next(line for line in table.splitlines() if f"{name} ({language})" in line)
        assert row.split()[2:] == [f"{value:.3f}" for value in mrr.values()]
        assert all(name in answer for answer in answers)
    assert "layerwise is left out" in table
    assert len(answers) == 3
    assert all("→" in answer and not re.search(r"→ *(;|$)", answer, re.MULTILINE) for answer in answers)
    assert "isogloss search kept" in err
    hits = json.loads(run("search", "kept", "why is the sea salty", "--json", "-").out)["hits"]
    assert len(hits) == 10
    assert {hit["language"] for hit in hits} <= set(LANGUAGES)


def test_without_a_terminal_the_demo_waits_for_nothing_and_leaves_nothing(spawn, here, silent_stdin):
    code, out, err = spawn("demo", "--system", "psq", stdin=silent_stdin, script=SMALL)
    assert code == 0, err
    assert "French (fr)" in out
    assert "isogloss demo -o demo-index" in err
    assert not list(here.iterdir())


@pytest.mark.parametrize(("numbers", "best"), [((0.5, 0.75), "0.750"), ((0.9, 0.2), "0.900")])
def test_bold_marks_the_best_number_whichever_system_it_is_of(run, monkeypatch, numbers, best):
    screen = io.StringIO()
    monkeypatch.setattr(
        demo, "console", lambda: Console(file=screen, force_terminal=True, color_system="standard", width=120)
    )
    systems = [
        {"name": name, "queries": 2, "measures": {"MRR_mr": number}}
        for name, number in zip(("psq", "bridge"), numbers, strict=True)
    ]
    monkeypatch.setattr(demo, "LANGUAGES", {"fr": "French"})
    monkeypatch.setattr(demo, "_evaluate", lambda settings: [{"pair": "en-fr", "documents": 3, "systems": systems}])
    assert run("demo", "--system", "bm25-dict").code == 0
    row = next(line for line in screen.getvalue().splitlines() if "French (fr)" in line)
    assert re.findall(r"\x1b\[1m\s*([\d.]+)", row) == [best]


LAYERWISE = {
    "dimension": "8", "kernels": "2", "widths": "2", "layers": "1", "document_words": "20", "epochs": "1",
    "critic_steps": "1",
}  # fmt: skip


def test_all_shows_layerwise_too(run, here, monkeypatch):
    pytest.importorskip("torch", reason="layerwise needs the extra papers")
    monkeypatch.setattr(demo, "LANGUAGES", {"fr": "French"})
    monkeypatch.setattr(demo, "SETTINGS", {"bm25-dict": {}, "layerwise": LAYERWISE})
    code, out, _ = run("demo", "--all", "--system", "bm25-dict", "--json", "measures.json")
    assert code == 0
    assert "layerwise MRR" in out
    assert "left out" not in out
    (result,) = json.loads((here / "measures.json").read_text())
    assert [system["name"] for system in result["systems"]] == ["bm25-dict", "layerwise"]


def test_all_says_which_extra_it_needs_before_it_does_anything(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "isogloss[papers]" in fails("demo", "--all")
