"""Figures: a picture where matplotlib is there, the name of its extra where it is not."""

import itertools
import sys

import pytest

from isogloss.papers.layerwise.experiments import pages as layerwise_pages
from isogloss.papers.layerwise.experiments.pages import draw_alphas
from isogloss.papers.reproduction.figures import draw_lines, label_log_axis, need_drawing, new_figure
from isogloss.papers.reproduction.pages import Summary
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


def test_ticks_have_labels_of_their_own_when_told():
    pytest.importorskip("matplotlib")
    axes = new_figure(7, 4.5).add_subplot()
    label_log_axis(axes, [247, 3551], {247: "247\n(250)"})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["3,551", "247\n(250)"]


def test_the_same_figure_twice(draw):
    pytest.importorskip("matplotlib")
    assert draw("one.png") == draw("two.png")


@pytest.mark.parametrize(
    "values",
    [[250, 500, 1000, 2000, 4000, 6359], [4000, 6359], [250, 260, 4000, 4100], [100, 498], [3], list(range(1, 200))],
)
def test_the_labels_of_a_logarithmic_axis_are_values_that_do_not_collide(values):
    pytest.importorskip("matplotlib")
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    axes.plot(values, values)
    label_log_axis(axes, values)
    figure.canvas.draw()
    labels = [label for label in axes.get_xticklabels(which="both") if label.get_text()]
    assert {int(label.get_text().replace(",", "")) for label in labels} <= set(values)
    assert values[-1] in {int(label.get_text().replace(",", "")) for label in labels}
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


@pytest.mark.parametrize("count", [1, 2, 12])
def test_the_points_of_the_alphas_stand_over_their_labels(tmp_path, monkeypatch, count):
    """Lists to choose by and measured lists at the same place: a shift would read as another value."""
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr(layerwise_pages, "save_figure", lambda figure, path: figures.append(figure) or [])
    found = {lists: Summary(0.4, 0.02, (0.39, 0.41)) for lists in ("validation", layerwise_pages.MEASURED)}
    draw_alphas(tmp_path / "alphas", {f"{number}": found for number in range(count)})
    (axes,) = figures[0].axes
    ticks = axes.get_xticks().tolist()
    assert [bars.lines[0].get_xdata().tolist() for bars in axes.containers] == [ticks, ticks]
    left, right = axes.get_xlim()
    assert left < 0 and right > count - 1  # a single point does not fill the axis
    assert right - left == count


def test_without_matplotlib_its_extra_is_named_and_nothing_is_written(draw, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = r"drawing a figure .*'matplotlib': pip install 'isogloss\[papers\]'"
    for attempt in (draw, need_drawing):
        with pytest.raises(MissingExtraError, match=message):
            attempt()
    assert list(tmp_path.iterdir()) == []
