"""The learning curves of ``benchmarks/cold_start.py``, on the bundled pages laid out as one of its sets."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.parallel import translated_pages
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.wikiclir import write_wikiclir
from isogloss.encoders.pretrained_encoder import ENCODERS
from isogloss.systems.registry import make_system
from isogloss.translation.lexicon import read_entries
from isogloss.translation.starter import WordTable

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SYSTEMS = "bm25,bm25-dict,psq-pages,bridge+dict,fusions"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    """Its modules can be imported; what they change in the encoder is undone."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setitem(ENCODERS, "use", ENCODERS["use"])


@pytest.fixture
def data(tmp_path):
    """A set "bible fr", and its dictionary."""
    write_wikiclir(tmp_path / "data" / "bible", [load_dataset(Demo(), ("en", "fr"))])
    (tmp_path / "data" / "en-fr.tsv").write_bytes(Demo().lexicon(("en", "fr")).read_bytes())
    return tmp_path / "data"


@pytest.fixture
def run(data, tmp_path, monkeypatch, capsys):
    """Run the command; gives its lines and the results so far."""
    import cold_start

    def run_command(*arguments):
        words = [str(tmp_path / "out"), "--data", str(data), "--dictionaries", str(data), "--sets", "bible", *arguments]
        monkeypatch.setattr(sys, "argv", ["cold_start.py", *words])
        capsys.readouterr()
        cold_start.main()
        results = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
        return capsys.readouterr().out.splitlines(), [json.loads(line) for line in results]

    return run_command


def test_a_sample_of_pages_is_all_that_is_learned_from(data):
    from cold_start_data import ALL, SETS, load_set, with_pages

    dataset = load_set(data, next(each for each in SETS if each.name == "bible"))
    samples = [with_pages(dataset, size, seed=1) for size in (0, 5, 10, ALL)]
    assert [len(sample.splits["train"]) for sample in samples[:3]] == [0, 5, 10]
    assert [list(sample.splits) for sample in samples] == [["train"]] * 4
    for smaller, larger in pairwise(samples):
        assert set(smaller.splits["train"]) < set(larger.splits["train"])
    assert 1 <= len(translated_pages(samples[1])) <= 5
    assert all(len(sample.documents) == len(dataset.documents) for sample in samples)
    assert with_pages(dataset, 10, seed=2).splits != samples[2].splits


def test_every_trial_runs_once_and_the_page_shows_them(run, tmp_path):
    pytest.importorskip("matplotlib")
    _, results = run("--sizes", "0,10", "--seeds", "2", "--only", SYSTEMS)
    done = {(r["system"], r["size"], r["seed"]) for r in results}
    assert {("bm25", 0, 0), ("bm25-dict", 0, 0), ("psq-pages", 10, 1), ("bridge+dict", 0, 0), ("bridge+dict", 10, 1),
            ("rrf(psq-pages, bm25-dict)", 10, 0)} <= done  # fmt: skip
    assert ("psq-pages", 0, 0) not in done
    assert not any("starter" in system for system, _, _ in done)  # the parts of such fusions were not run
    for record in results:
        assert record["mrr"] == pytest.approx(sum(1 / r for r in record["ranks"] if r) / len(record["ranks"]), abs=1e-5)
    by_system = {r["system"]: r["mrr"] for r in results}
    assert by_system["bm25-dict"] > by_system["bm25"] + 0.2

    again, unchanged = run("--sizes", "0,10", "--seeds", "2", "--only", SYSTEMS.removesuffix(",fusions"))
    assert (again, unchanged) == ([], results)
    fresh, more = run("--sizes", "0", "--fresh", "bm25")
    assert (len(fresh), len(more)) == (1, len(results) + 1)

    page = tmp_path / "docs" / "cold-start.md"
    page.parent.mkdir()
    run("--report", str(page))
    text = page.read_text()
    assert "| BM25, dictionary | " in text
    assert "## Tests" in text
    assert (page.parent / "appendix" / "cold-start" / "bible-fr.png").stat().st_size > 10_000
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 120


def test_what_cannot_be_run_is_named_and_the_rest_is_run(run, data):
    (data / "en-fr.tsv").unlink()
    lines, results = run("--sizes", "0", "--only", "bm25-dict,bm25")
    assert {record["system"] for record in results} == {"bm25"}
    assert [line.endswith("not run") for line in lines] == [True, False]


def test_the_starter_table_becomes_a_lexicon_of_the_words_of_the_set(data, tmp_path, monkeypatch):
    import cold_start_data

    each = next(each for each in cold_start_data.SETS if each.name == "bible")
    dataset = cold_start_data.load_set(data, each)
    numbers, halves, counts = np.zeros(1, np.int32), np.full(1, 0.5, np.float32), np.ones(1, np.float32)
    table = WordTable(["volcano"], ["volcan"], numbers, numbers, halves, halves, counts, counts)
    monkeypatch.setattr(cold_start_data, "load_starter", lambda *pair: table)
    path = cold_start_data.starter_lexicon(dataset, dataset.queries.values(), tmp_path / "starter.tsv")
    assert [(entry.word, entry.probability) for entry in read_entries(Path(path))] in (
        [("volcano", 0.5)], [("volcanoes", 0.5)],
    )  # fmt: skip
    system = make_system("psq", dataset.pair, {"lexicon": path})
    system.index(dataset.documents, ("text",))
    assert "volcan" in dataset.documents[int(system.search("volcano", 1).rows[0])].text.lower()


def test_vectors_of_the_encoder_are_kept(tmp_path, monkeypatch):
    import cold_start_trials

    calls = []

    class Lengths:
        def encode(self, texts, is_query):
            calls.append(list(texts))
            return np.asarray([[len(text), 1.0] for text in texts], np.float32)

    monkeypatch.setattr(cold_start_trials, "UniversalSentenceEncoder", Lengths)
    monkeypatch.setattr(cold_start_trials, "_ENCODED", 2)
    cold_start_trials.use_cache(tmp_path / "encoded.sqlite")
    encoder = ENCODERS["use"][0]()
    assert encoder.encode(["aa", "b", "aa"], False).tolist() == [[2, 1], [1, 1], [2, 1]]
    assert encoder.encode(["b", "ccc"], True).tolist() == [[1, 1], [3, 1]]
    assert len(encoder.encode(["dddd", "eeeee", "dddd", "ffffff"], False)) == 4
    assert calls == [["aa", "b"], ["ccc"], ["dddd", "eeeee"], ["ffffff"]]
