"""The smooth paper's figures: two formats each, the same bytes twice, and densities that are densities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.papers.reproduction.figures import line_style, new_figure, save_figure
from isogloss.papers.smooth.experiments.figures import (
    density,
    draw_densities,
    draw_gradients,
    draw_losses,
    draw_measures,
)

RANDOM = np.random.default_rng(0)
CLASSES = {"NR": RANDOM.normal(0, 0.1, 500), "SR": RANDOM.normal(0.4, 0.1, 100), "MR": [0.8, 0.9]}
PANELS = {"SOSL": CLASSES, "MSE": CLASSES, "PO_S": CLASSES}
XS = [0, 0.5, 1]
CURVES = {"NDCG@5": [0.7, 0.8, 0.75], "MAP": [0.6, 0.7, 0.72]}

DRAWINGS = {
    "figure1": draw_gradients,
    "figure2": draw_losses,
    "figure3": lambda path: draw_densities(path, PANELS, {"SOSL": (0.2, 0.7)}),
    "one panel": lambda path: draw_densities(path, {"SOSL": CLASSES}, {"SOSL": (0.2, 0.7)}),
    "an empty class": lambda path: draw_densities(path, {"SOSL": {"NR": [], "MR": [0.5]}}, {}),
    "figures 4 and 5": lambda path: draw_measures(path, "irrelevant documents", XS, CURVES),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_an_svg_and_a_png(name, tmp_path):
    pytest.importorskip("matplotlib")
    paths = DRAWINGS[name](tmp_path / "figure.v1")
    assert [path.name for path in paths] == ["figure.v1.svg", "figure.v1.png"]
    assert paths[0].read_bytes().startswith(b"<?xml")
    assert paths[0].read_bytes().rstrip().endswith(b"</svg>")
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.v1.png", "figure.v1.svg"]


def test_the_same_data_give_the_same_bytes(tmp_path):
    pytest.importorskip("matplotlib")
    first, again = (DRAWINGS["one panel"](tmp_path / name) for name in ("first", "again"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_a_figure_that_cannot_be_drawn_leaves_the_old_one(tmp_path):
    pytest.importorskip("matplotlib")
    figure = new_figure(3, 2)
    save_figure(figure, tmp_path / "out")
    old = (tmp_path / "out.svg").read_bytes()
    figure.add_subplot().set_title("$\\nosuchcommand$")
    with pytest.raises(ValueError, match="nosuchcommand"):
        save_figure(figure, tmp_path / "out")
    assert (tmp_path / "out.svg").read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 2


def test_curves_differ_in_black_and_white():
    styles = [line_style(number, markers=True) for number in range(7)]
    assert len({str(style["linestyle"]) for style in styles}) == 7
    assert len({style["marker"] for style in styles}) == 7
    assert "marker" not in line_style(0)
    assert line_style(7) == line_style(0)


@given(arrays.arrays(np.float64, st.integers(1, 50), elements=st.floats(-1, 1)))
def test_a_density_is_positive_and_integrates_to_one(scores):
    places, values = density(scores)
    assert (values >= 0).all()
    assert values.sum() * (places[1] - places[0]) == pytest.approx(1)


def test_the_density_of_many_normal_scores_is_the_normal_density():
    places, values = density(RANDOM.normal(0.2, 0.1, 200_000))
    expected = np.exp(-0.5 * ((places - 0.2) / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi))
    assert np.abs(values - expected).max() < 0.05 * expected.max()


def test_the_density_of_no_scores_is_zero_and_that_of_one_score_is_a_peak():
    assert not density([])[1].any()
    places, values = density([0.3])
    assert places[values.argmax()] == pytest.approx(0.3, abs=0.002)
