"""The state of a training in the directory of its run: it comes back as it was, or is said to be damaged."""

import numpy as np
import pytest

from isogloss.papers.checkpoints import RunCheckpoints
from isogloss.papers.training_loop import Position
from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.errors import InputError
from isogloss.systems.run_directory import RunDirectory


@pytest.fixture
def checkpoints(tmp_path):
    made = RunCheckpoints(RunDirectory.create(tmp_path / "run", {"system": "smooth"}))
    made.run.begin()
    return made


def test_the_run_begins_where_it_has_no_checkpoint(tmp_path):
    made = RunCheckpoints(RunDirectory.create(tmp_path / "run", {"system": "smooth"}))
    assert made.resume() is None
    assert made.run.config == {"system": "smooth"}


def test_a_finished_run_has_none(checkpoints):
    checkpoints.checkpoint(Position(), {"table": np.zeros(3)}, {})
    checkpoints.run.finish({})
    assert checkpoints.resume() is None


@pytest.mark.parametrize("best", [float("-inf"), 1 / 3])
def test_a_checkpoint_comes_back_bit_by_bit(checkpoints, best):
    history = [{"epoch": 1, "loss": 0.1 + 0.2, "NDCG@5": 1 / 3}]
    position = Position(1, 7, 1 / 7, 2.5, best, best_epoch=1, history=history)
    state = {"table": np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32), "step": np.asarray(7)}
    chosen = {} if best < 0 else {"deep.table": np.eye(2)}
    checkpoints.checkpoint(Position(), {}, {})
    checkpoints.checkpoint(position, state, chosen)
    found, found_state, found_best = RunCheckpoints(RunDirectory.open(checkpoints.run.path)).resume()
    assert found == position
    assert int(found_state["step"]) == 7
    assert (found_state.keys(), found_best.keys()) == (state.keys(), chosen.keys())
    for name, array in (found_state | found_best).items():
        np.testing.assert_array_equal(array, (state | chosen)[name])


def spoil(path, how):
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "directory":
        path.unlink()
        path.mkdir()
    else:
        tensors, metadata = read_tensors(path)
        changed = {
            "no position": {}, "no json": {"position": "{"}, "no object": {"position": "[]"},
            "other fields": {"position": '{"best": 1, "mood": 2}'},
        }  # fmt: skip
        if how == "other parts":
            tensors["stray.table"] = np.zeros(1)
        write_tensors(path, tensors, changed.get(how, metadata))


@pytest.mark.parametrize(
    "how", ["cut", "empty", "directory", "no position", "no json", "no object", "other fields", "other parts"]
)
def test_a_damaged_checkpoint_is_said_to_be(checkpoints, how):
    checkpoints.checkpoint(Position(), {"table": np.zeros(3)}, {})
    spoil(checkpoints.run.checkpoint, how)
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: the checkpoint is damaged .*; begin the run again"):
        checkpoints.resume()
