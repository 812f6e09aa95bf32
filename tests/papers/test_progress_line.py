"""The live line of a training."""

import re

from isogloss.papers import training_loop as loop
from isogloss.papers.training_loop import Position, ProgressLine, Recipe, describe

RECIPE = Recipe(epochs=30, batch=100)
POSITION = Position(epoch=2, batch=48, losses=1.5, history=[{"epoch": 1}, {"epoch": 2, "NDCG@5": 0.8125}])


def test_the_line_says_how_it_goes_and_what_is_left():
    assert describe(POSITION, 100, RECIPE, 3440.0) == (
        "epoch 3/30   48%  loss 0.0312  3,440 examples/s  dev NDCG@5 0.8125  1:20 left"
    )
    assert describe(Position(), 100, RECIPE, 1e6) == "epoch 1/30    0%  loss 0.0000  1,000,000 examples/s  0:00 left"


def test_nothing_is_shown_where_nobody_looks(capsys):
    line = ProgressLine()
    line.show(POSITION, 100, RECIPE, 3440.0)
    line.end()
    assert capsys.readouterr() == ("", "")


def test_the_line_goes_to_standard_error(capsys, monkeypatch):
    monkeypatch.setattr(loop, "is_shown", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    line = ProgressLine()
    for _ in range(2):
        line.show(POSITION, 100, RECIPE, 3440.0)
    line.end()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown.err).count("epoch 3/30") >= 2
