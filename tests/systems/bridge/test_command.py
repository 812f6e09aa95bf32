"""``bridge`` on the command line: trained, measured, indexed, searched, changed."""

import json
import tomllib

import pytest

from isogloss.cli.main import main
from isogloss.systems.registry import system_names

DEMO = ("--data", "demo", "--pair", "en-fr")
QUICK = ("--set", "epochs=2", "--set", "dimension=8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a run and an index are made once."""
    return tmp_path_factory.mktemp("bridge")


@pytest.fixture
def run(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def command(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def trained(run, folder):
    if not (folder / "run").exists():
        code, out, err = run("train", "bridge", *DEMO, "-o", "run", *QUICK)
        assert code == 0, err
        assert "bridge on dev" in out
        assert "use it: isogloss evaluate run" in err
    return folder / "run"


@pytest.fixture
def index(run, trained, folder):
    if not (folder / "index").exists():
        code, _, err = run("index", "demo", "--system", "run", "--language", "fr", "-o", "index")
        assert code == 0, err
    return folder / "index"


def test_a_run_holds_what_is_needed_to_repeat_and_to_use_it(trained):
    assert {path.name for path in trained.iterdir()} == {
        "config.toml", "metrics.jsonl", "model", "run.trec", "finished.json",
    }  # fmt: skip
    config = tomllib.loads((trained / "config.toml").read_text(encoding="utf-8"))
    assert (config["system"], config["options"]["dimension"]) == ("bridge", 8)
    results = json.loads((trained / "finished.json").read_text(encoding="utf-8"))
    assert results["sampled"]["MRR_mr"] > results["full"]["MRR_mr"] > 0.3
    assert "demo en-fr, train split" in (trained / "model" / "README.md").read_text(encoding="utf-8")


def test_a_run_that_is_finished_has_nothing_to_resume(run, trained):
    assert run("train", "--resume", "-o", "run") == (0, "", "run: this run is finished; nothing to do\n")


def test_a_run_that_was_killed_before_its_end_is_made_anew(run, trained, folder):
    config = (trained / "config.toml").read_text(encoding="utf-8")
    (folder / "cut").mkdir()
    (folder / "cut" / "config.toml").write_text(config, encoding="utf-8")
    assert run("train", "--resume", "-o", "cut")[0] == 0
    for name in ("bridge.json", "vectors.safetensors", "translation.query_probabilities.npy"):
        assert (folder / "cut" / "model" / name).read_bytes() == (trained / "model" / name).read_bytes()


def test_evaluate_takes_the_run_for_a_system(run, trained):
    _, out, _ = run("evaluate", "run", *DEMO, "--json", "-")
    measured = json.loads(out)["systems"][0]["measures"]
    results = json.loads((trained / "finished.json").read_text(encoding="utf-8"))
    assert measured["MRR_mr"] == pytest.approx(results["full"]["MRR_mr"], abs=0.002)


def test_evaluate_trains_it_where_there_is_no_run(run):
    code, out, err = run("evaluate", "bridge", *DEMO, "--json", "-", *QUICK)
    assert code == 0, err
    assert json.loads(out)["systems"][0]["measures"]["MRR_mr"] > 0.3


def test_hits_have_classes_passages_and_explanations(run, index):
    code, out, err = run("search", "index", "honey bees", "-k", "5", "--explain")
    assert code == 0, err
    assert "fr-honey" in out
    assert "miel" in out
    assert "(length)" in out
    code, out, _ = run("search", "index", "how do bees make honey", "-k", "5", "--explain", "--json", "-")
    for hit in json.loads(out)["hits"]:
        assert hit["relevance"] in ("not relevant", "partially relevant", "relevant")
        assert sum(part["score"] for part in hit["explanation"]) == pytest.approx(hit["score"], abs=1e-4)


def test_an_index_of_a_run_grows_and_shrinks(run, index, folder):
    page = {"id": "mill", "text": "Le moulin Orlane moud le blé.", "title": "Moulin", "lang": "fr"}
    (folder / "more.jsonl").write_text(json.dumps(page) + "\n", encoding="utf-8")
    assert run("add", "index", "jsonl:more.jsonl")[0] == 0

    def first():
        return json.loads(run("search", "index", "Orlane", "--json", "-")[1])["hits"]

    assert [hit["id"] for hit in first()] == ["mill"]
    assert run("delete", "index", "mill")[0] == 0
    assert "mill" not in [hit["id"] for hit in first()]
    assert run("check", "index")[0] == 0


def test_all_documents_are_encoded_anew_by_another_run(run, index):
    assert run("train", "bridge", *DEMO, "-o", "other", *QUICK, "--seed", "1")[0] == 0
    code, _, err = run("re-encode", "index", "--system", "other")
    assert code == 0, err
    assert "fr-honey" in run("search", "index", "honey bees")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--grid", "dimension=8;16"), "grid: bridge finds what it needs by itself; leave it out"),
        (("--grid", "paper"), "does not say what was chosen from"),
        (("--set", "without=magic"), "bridge.without: 'magic' is not one of"),
        (("--set", "without=lexicon,pages,starter"), "nothing is left to translate by"),
        (("--set", "without=lexicon,pages"), "install isogloss-starter, or give it translated pages or a lexicon"),
        (("--set", "lexicon=nowhere.tsv"), "nowhere.tsv: no such file"),
        (("--set", "without=pages", "--set", "lexicon=empty.tsv"), "empty.tsv: holds no entry"),
        (("--set", "without=pages", "--set", "lexicon=phrases.tsv"), "bridge: nothing to learn translations from"),
        (("--set", "pretrained=magic"), "model: 'magic' is neither a folder nor in the local cache"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(run, folder, arguments, said):
    (folder / "empty.tsv").write_text("", encoding="utf-8")
    (folder / "phrases.tsv").write_text("ice cream\tglace\n", encoding="utf-8")
    code, out, err = run("train", "bridge", *DEMO, "-o", "wrong", *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1), err
    assert said in err
    assert not (folder / "wrong").exists()


def test_an_old_run_stays_where_the_new_one_cannot_be(run, trained):
    before = (trained / "model" / "bridge.json").read_bytes()
    assert run("train", "bridge", *DEMO, "-o", "run", "--overwrite", "--set", "lexicon=nowhere.tsv")[0] == 2
    assert (trained / "model" / "bridge.json").read_bytes() == before


def test_it_is_no_reranker_and_says_so(run, index):
    code, _, err = run("search", "index", "honey", "--rerank", "run")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "bridge cannot score texts that are not indexed" in err


def test_it_stands_in_the_registry_with_its_options(run):
    assert "bridge" in system_names()
    _, out, _ = run("systems", "bridge")
    for option in ("lexicon", "pretrained", "stems", "dimension", "epochs", "depth", "without", "seed", "passages"):
        assert any(line.split()[:1] == [option] for line in out.splitlines()), option
    assert "trained are" in (said := run("train", "bm25", *DEMO, "-o", "x")[2])
    assert "bridge" in said
