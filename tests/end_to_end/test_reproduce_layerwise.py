"""`isogloss reproduce layerwise`: trials that are run once, and pages made of them."""

import json
import shutil

import pytest

LAYERWISE = ("reproduce", "layerwise")
MODEL = ("dimension=6", "epochs=1", "kernels=3", "critic_steps=1", "widths=2")
BOTH = ("layerwise-paper", "layerwise")
SETTINGS = [f"{name}.{said}" for name in BOTH for said in (*MODEL, "query_vectors=random", "document_vectors=random")]
TINY = ("--seeds", 1, "--alphas=-1;1", *(part for said in SETTINGS for part in ("--set", said)))
NETWORKS = ("cntn-mt", "match-srnn-mt", "smooth", "match-srnn", "ai-cnn", "cntn", "dssm")


@pytest.fixture
def data(questions):
    return ("--data", f"wikiclir:{questions}", "--pair", "en-fr", "-o", "out")


def kept(out):
    return {path.name: path.stat().st_ino for path in (out / "trials").iterdir()}


def test_all_items_are_made_and_trials_are_run_once(run, here, data):
    pytest.importorskip("matplotlib")
    pytest.importorskip("torch").set_num_threads(1)
    without = [part for name in NETWORKS for part in ("--without", name)]
    arguments = (*LAYERWISE, *data, "--pair", "fr-fr", *TINY, *without, "--set", "clann.epochs=1")
    done = run(*arguments)
    out = here / "out"
    assert done.code == 0, done.err
    for item in ("table1", "table2", "table3", "figure_distance", "figure_alphas", "probe"):
        page = (out / f"{item}.md").read_text(encoding="utf-8")
        assert page in done.out
        assert json.loads((out / f"{item}.json").read_text())["item"] == item
    rows = json.loads((out / "table1.json").read_text())["results"]
    (found,) = rows.values()
    assert {"BM25", "TRANS", "TOPIC", "CLANN", "CLTK", "the paper's model", "layerwise, our defaults", "PSQ"} <= found[
        "rows"
    ].keys()
    assert all(row["trials"] for row in found["rows"].values())
    assert found["limits"]["random order"]["MAP"] < found["limits"]["best possible order"]["MAP"] == 1
    assert (out / "figure_alphas.en-fr.svg").read_bytes().startswith(b"<?xml")

    before = kept(out)
    again = run(*arguments, "--quiet")
    assert (again.code, again.err) == (0, "")
    assert again.out == done.out
    assert kept(out) == before


def test_a_plan_is_run_elsewhere_in_two_steps_and_its_trials_are_used_here(run, here, data):
    pytest.importorskip("torch").set_num_threads(1)
    from isogloss.papers.layerwise.experiments.training import LayerwiseTrials

    arguments = (*LAYERWISE, "table3", *data, *TINY)
    done = run(*arguments, "--plan", "plan.json", "--pack", "arrays")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("4 trials are still to be run")
    assert LayerwiseTrials().main(["elsewhere", "plan.json", "--device", "cpu"]) == 0
    shutil.copytree("elsewhere", "out/trials")
    assert run(*arguments, "--plan", "plan.json", "--pack", "arrays").err.startswith("2 trials are still to be run")
    assert LayerwiseTrials().main(["out/trials", "plan.json", "--device", "cpu"]) == 0
    assert json.loads(run(*arguments, "--plan", "-").out) == {"trials": []}
    before = kept(here / "out")
    done = run(*arguments, "--run", "none")
    assert done.code == 0
    assert "| ADV-TOP | — " not in done.out
    assert kept(here / "out") == before


def test_a_trial_that_fails_is_reported_and_the_page_is_made(run, data):
    systems = ("psq.lexicon=absent.tsv",)
    done = run(*LAYERWISE, "table1", *data, *TINY, "--run", "lexical", "--set", *systems, "--without", "smooth")
    assert done.code == 2
    assert "1 of 4 trials failed, en-fr_psq_lexicon-absent.tsv_seed-0: FAILED: absent.tsv" in done.err
    assert "| PSQ | — | — |" in done.out
    assert "| CLANN (cross-language) | — |" in done.out
    assert "| BM25-MT | 0." in done.out


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (("--pack", "x"), "--pack: goes with --plan"),
        (("table9",), "'table9' is not one of table1"),
        (("--set", "layerwise-paper.variant=adv-one"), "--set layerwise-paper.variant: the items choose it themselves"),
        (("--set", "layerwise-paper.alphas=1"), "--set layerwise-paper.alphas: write --alphas instead"),
        (("--set", "clann.device=cpu"), "--set clann.device: write --device instead"),
        (("--set", "clann.depth=3"), "clann: has no option 'depth'"),
        (("--alphas=1,2,3",), "layerwise.alphas: '1,2,3' has 3 numbers"),
        (("--without", "x"), "--without: 'x' is not one of bm25"),
        (("--split", "odd"), "has no split 'odd'"),
    ],
)
def test_mistakes_are_errors_in_a_sentence(fails, data, said, wrong):
    pytest.importorskip("matplotlib")
    assert wrong in fails(*LAYERWISE, *data, *said)


def test_two_languages_are_needed_for_all_but_table1(fails, questions):
    where = ("--data", f"wikiclir:{questions}", "--pair", "fr-fr", "-o", "out")
    assert "need a --pair of two languages" in fails(*LAYERWISE, "table3", *where)
