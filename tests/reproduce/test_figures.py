"""Figures: a picture where matplotlib is there, the name of its extra where it is not."""

import sys

import pytest

from isogloss.reproduce.figures import draw_lines, need_drawing
from isogloss.storage.errors import MissingExtraError

CURVES = {"pinv": ([250, 500, 1000], [0.1, 0.2, 0.25]), "procrustes": ([250, 500], [0.15, 0.3])}


@pytest.fixture
def draw(tmp_path):
    def make(name="out.png"):
        draw_lines(tmp_path / name, CURVES, "lexicon pairs", "MAP", "What the matrix gains")
        return (tmp_path / name).read_bytes()

    return make


def test_a_figure_is_a_png_file_whole_and_alone(draw, tmp_path):
    pytest.importorskip("matplotlib")
    picture = draw()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.endswith(b"IEND\xaeB`\x82")
    assert int.from_bytes(picture[16:20]) == 840  # 7 inches
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_the_same_figure_twice(draw):
    pytest.importorskip("matplotlib")
    assert draw("one.png") == draw("two.png")


def test_without_matplotlib_its_extra_is_named_and_nothing_is_written(draw, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for attempt in (draw, need_drawing):
        with pytest.raises(MissingExtraError, match=r"drawing a figure .*'matplotlib': pip install 'isogloss\[plot\]'"):
            attempt()
    assert list(tmp_path.iterdir()) == []
