"""Grid search: all combinations, the best by dev, a table that survives being cut off."""

import json

import pytest

from isogloss.storage.errors import InputError
from isogloss.systems.grid import grid_points, search_grid

POINTS = grid_points({"eps": ["0", "1"], "loss": ["sosl", "mse"]})


class Trials:
    """Pretends to train; remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, point):
        self.asked.append(point)
        return {"NDCG@5": float(point["eps"]) + (point["loss"] == "sosl")}


def test_every_combination_once():
    assert len(POINTS) == 4
    assert {(point["eps"], point["loss"]) for point in POINTS} == {(e, k) for e in "01" for k in ("sosl", "mse")}
    assert grid_points({}) == [{}]


def test_the_best_point_and_all_trials_are_kept(tmp_path):
    best, entries = search_grid(POINTS, Trials(), "NDCG@5", tmp_path / "grid.jsonl")
    assert best == {"eps": "1", "loss": "sosl"}
    kept = [json.loads(line) for line in (tmp_path / "grid.jsonl").read_text().splitlines()]
    assert kept == entries
    assert [entry["settings"] for entry in kept] == POINTS


def test_what_was_tried_is_not_tried_again_and_a_line_cut_off_is(tmp_path):
    table = tmp_path / "grid.jsonl"
    search_grid(POINTS, Trials(), "NDCG@5", table)
    whole = table.read_text()
    table.write_text(whole[:-5])  # killed while it wrote the last line
    again = Trials()
    best, entries = search_grid(POINTS, again, "NDCG@5", table)
    assert again.asked == POINTS[-1:]
    assert best == {"eps": "1", "loss": "sosl"}
    assert len(entries) == 4
    assert table.read_text() == whole


def test_trials_of_another_grid_in_the_table_do_not_count(tmp_path):
    table = tmp_path / "grid.jsonl"
    search_grid(POINTS, Trials(), "NDCG@5", table)
    best, entries = search_grid(POINTS[:2], Trials(), "NDCG@5", table)
    assert best == {"eps": "0", "loss": "sosl"}
    assert len(entries) == 2


def test_a_damaged_table_is_named(tmp_path):
    (tmp_path / "grid.jsonl").write_text("nonsense\n")
    with pytest.raises(InputError, match=r"grid\.jsonl: is damaged"):
        search_grid(POINTS, Trials(), "NDCG@5", tmp_path / "grid.jsonl")


def double(point):
    """At module level, so that another process can find it."""
    return {"NDCG@5": 2 * float(point["eps"])}


def test_processes_give_what_one_gives(tmp_path):
    alone = search_grid(POINTS, double, "NDCG@5", tmp_path / "one.jsonl")
    assert search_grid(POINTS, double, "NDCG@5", tmp_path / "two.jsonl", processes=2) == alone
