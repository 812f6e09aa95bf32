"""`isogloss reproduce smooth`: trials that are run once, and pages made of them."""

import json
import shutil
import sys

import pytest

SMOOTH = ("reproduce", "smooth")
DEMO = ("--data", "demo", "--pair", "en-fr", "-o", "out")
TINY = ("--epochs", 1, "--seeds", 1, "--set", "dimension=4")
GRID = ("--grid", "eps=0;1", "--grid", "theta1=0.2", "--grid", "theta2=0.6;0.7")


@pytest.fixture(autouse=True)
def small_and_without_numba(monkeypatch):
    """Two values of everything are enough to see the items work."""
    monkeypatch.setitem(sys.modules, "numba", None)
    for name, values in (("IRRELEVANT", (20, 40)), ("SHARES", (0.5, 1.0))):
        monkeypatch.setattr(f"isogloss.papers.smooth.experiments.plan.{name}", values)


def kept(out):
    return {path.name: path.stat().st_ino for path in (out / "trials").iterdir()}


def test_tables_and_figures_are_made_and_trials_are_run_once(run, here):
    pytest.importorskip("matplotlib")
    items = ("table1", "table2", "figure3", "figure4", "figure5", "theory")
    done = run(*SMOOTH, *items, *DEMO, *TINY, *GRID)
    out = here / "out"
    assert done.code == 0, done.err
    assert done.err.startswith("out: figure3.json, figure3.md, figure3.png, figure3.svg, figure4-full.csv")
    for item in items:
        page = (out / f"{item}.md").read_text(encoding="utf-8")
        assert page in done.out
        assert json.loads((out / f"{item}.json").read_text())["item"] == item
        assert "Set for all trials: dimension = 4, epochs = 1." in page
    for figure in ("figure3", "figure4", "figure5", "theory"):
        assert (out / f"{figure}.svg").read_bytes().startswith(b"<?xml")
        assert (out / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    assert "eps 1 (theta1 0.2 is the lowest, theta1 0.2 is the highest" in (out / "figure4.md").read_text()
    assert (out / "figure4.csv").read_text().splitlines()[0].startswith("eps,thresholds,P_mr@1")

    before = kept(out)
    assert len(before) == 2 * (5 + 3 + 1 + 1)
    again = run(*SMOOTH, "table2", "theory", *DEMO, *TINY, "--quiet")
    assert (again.code, again.err) == (0, "")
    assert all(page in done.out for page in again.out.split("\n# Theory"))
    assert kept(out) == before


def test_several_pairs_stand_in_one_table(run):
    done = run(*SMOOTH, "table1", *DEMO, "--pair", "en-sw", "--pair", "en-fr")
    assert done.code == 0
    assert "| en-fr | 208 | 4.6 | 104 | 25,000 | 12.6 | 1,894,000 |\n| en-sw | 208 | 4.6 | 104 | 22,793 |" in done.out


def test_few_queries_of_the_data(run, here):
    done = run(*SMOOTH, "table1", "table2", *DEMO, *TINY, "--queries", 50)
    assert done.code == 0, done.err
    assert "| en-fr | 50 |" in done.out
    assert "of 30 queries" in done.out
    assert json.loads((here / "out" / "table2.json").read_text())["queries"] == 50
    assert (here / "out" / "trials" / "en-fr_average_po_dimension-4_epochs-1_queries-50_seed-0.json").exists()


def test_encoders_and_claims(run, here):
    pytest.importorskip("torch").set_num_threads(1)
    arguments = ("--epochs", 1, "--seeds", 1, "--set", "dimension=4", "--set", "filters=4", "--set", "hidden=2")
    done = run(*SMOOTH, "table3", "claims", *DEMO, *arguments)
    assert done.code == 0, done.err
    assert "| *lstm, separate towers, paper* | *0.335* |" in done.out
    assert all(name in done.out for name in ("Gradient clipping", "Towers of the cnn", "Order of the pairs"))
    assert {path.name for path in (here / "out").iterdir()} == {
        "claims.json", "claims.md", "table3.json", "table3.md", "trials",
    }  # fmt: skip


def test_figures_that_need_no_data(run, here):
    pytest.importorskip("matplotlib")
    assert run(*SMOOTH, "figure2", "-o", "out").code == 0
    names = {f"figure2.{kind}" for kind in ("json", "md", "png", "svg")}
    assert {path.name for path in (here / "out").iterdir()} == names | {"trials"}


def test_a_plan_is_run_elsewhere_and_its_trials_are_used_here(run, here):
    from isogloss.papers.smooth.experiments.training import SmoothTrials

    arguments = (*SMOOTH, "table2", *DEMO, *TINY)
    done = run(*arguments, "--plan", "plan.json", "--pack", "words")
    assert (done.code, done.out, done.err) == (0, "", "5 trials are still to be run\n")
    assert not (here / "out").exists()
    assert SmoothTrials().main(["elsewhere", "plan.json", "--data", "packed:words"]) == 0
    shutil.copytree("elsewhere", "out/trials")
    before = kept(here / "out")
    assert json.loads(run(*arguments, "--plan", "-").out) == {"trials": []}
    assert run(*arguments).code == 0
    assert kept(here / "out") == before
    assert len(before) == 10


def test_a_trial_that_fails_is_reported_and_the_page_is_made(run, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    done = run(*SMOOTH, "table3", *DEMO, *TINY)
    assert done.code == 2
    assert "6 of 7 trials failed, en-fr_cnn_sosl" in done.err
    assert "pip install 'isogloss[papers]'" in done.err
    assert "Not run, or failed: cnn, separate towers," in (here / "out" / "table3.md").read_text(encoding="utf-8")
    assert len(list((here / "out" / "trials").glob("*.error.txt"))) == 6


def test_trials_of_other_data_are_refused_without_overwrite(run, here, tiny):
    arguments = (*SMOOTH, "table2", "--data", f"wikiclir:{tiny}", "--pair", "en-fr", "-o", "out", *TINY)
    assert run(*arguments).code == 0
    (tiny / "en2fr.rel").write_text((tiny / "en2fr.rel").read_text() + "q3\tf6\t1\n")
    done = run(*arguments)
    assert done.code == 2
    assert "was run on other data or with other settings; choose another directory or --overwrite" in done.err
    assert run(*arguments, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("table9", *DEMO), "ITEM: 'table9' is not one of table1, table2"),
        (("table1", "-o", "out"), "all items but figure1 and figure2 need --data and --pair"),
        (("table1", "--data", "demo", "--pair", "en", "-o", "out"), "'en' is not written like en-fr"),
        (("table1", "--data", "demo", "--pair", "en-xx", "-o", "out"), "xx"),
        (("table2", *DEMO, "--split", "night"), "has no split 'night'"),
        (("table2", *DEMO, "--seeds", "0"), "'0' is not a whole number"),
        (("table2", *DEMO, "--set", "colour=red"), "has no option 'colour'"),
        (("table2", *DEMO, "--set", "eps=-1"), "smooth.eps"),
        (("table3", *DEMO, "--set", "thresholds=1,2"), "thresholds 1,2"),
        (("table2", *DEMO, "--set", "loss=mse"), "--set loss: the items choose it themselves"),
        (("table2", *DEMO, "--set", "patience=2"), "--set patience: the items choose it themselves"),
        (("table2", *DEMO, "--set", "device=cuda"), "write --device instead"),
        (("table2", *DEMO, "--pack", "words"), "--pack: goes with --plan"),
        (
            ("table2", "table3", *DEMO, "--set", "thresholds=0.1,0.9"),
            "--set thresholds: table2 chooses it itself; name",
        ),
        (("table2", "table3", *DEMO, "--set", "thresholds=0.1,0.9"), "the items that take it: table3"),
        (("table2", *DEMO, "--set", "slope=3"), "--set slope: table2 chooses it itself; leave it out"),
        (("figure4", *DEMO, "--set", "eps=0.5"), "--set eps: figure4 chooses it itself"),
        (("figure5", *DEMO, "--set", "negatives=7"), "--set negatives: figure5 chooses it itself"),
        (
            ("figure4", *DEMO, "--grid", "theta3=0"),
            "--grid: 'theta3=0' is not written like eps=0;0.5;1, with one of eps",
        ),
        (("figure4", *DEMO, "--grid", "eps=much"), "--grid: 'eps=much' is not written like"),
        (("figure4", *DEMO, "--grid", "theta2=0.7;1"), "'theta2=0.7;1' has a value that is not between -1 and 1"),
        (("figure4", *DEMO, "--grid", "theta1=0.9", "--grid", "theta2=0.5"), "--grid: no theta1 is below a theta2"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_written(fails, arguments, wrong):
    assert wrong in fails(*SMOOTH, *arguments)


def test_a_missing_matplotlib_is_reported_before_the_work(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'isogloss[papers]'" in fails(*SMOOTH, *DEMO)


def test_a_directory_of_something_else_is_refused(fails, here):
    (here / "out").mkdir()
    (here / "out" / "diary.txt").write_text("dear diary")
    assert "out: exists and is not empty" in fails(*SMOOTH, "table1", *DEMO)
    (here / "file").write_text("dear diary")
    assert "is a file, a directory is needed" in fails(*SMOOTH, "figure1", "-o", "file")
