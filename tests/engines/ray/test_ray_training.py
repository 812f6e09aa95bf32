"""Training on a real Ray cluster: a node that is killed meanwhile changes nothing of what is learned."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss
from isogloss.storage.errors import InputError

pytest.importorskip("torch")
pytest.importorskip("numba")
pytest.importorskip("ray", reason="the extra ray is not installed")

SCRIPT = Path(__file__).with_name("losing_a_node.py")
HOME = Path(isogloss.__file__).parents[1]
EPOCHS = 4


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory):
    """A run on three nodes, one of which is lost in the third epoch, and what was said meanwhile."""
    folder = tmp_path_factory.mktemp("disturbed")
    paths = os.pathsep.join(filter(None, (str(HOME), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(EPOCHS)], env={**os.environ, "PYTHONPATH": paths}, timeout=300,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, done.stderr


def parameters(run):
    return (run / "model" / "model.safetensors").read_bytes()


def test_what_is_learned_is_what_one_process_learns_undisturbed(disturbed, tmp_path):
    folder, _ = disturbed
    isogloss.train("smooth", "demo", "en-fr", tmp_path / "alone", epochs=EPOCHS, dimension=8, batch=512)
    assert parameters(folder / "run") == parameters(tmp_path / "alone")
    for name in ("finished.json", "run.trec"):
        assert (folder / "run" / name).is_file()


def test_the_log_says_who_was_lost_and_who_goes_on(disturbed):
    folder, said = disturbed
    node = (folder / "killed").read_text()
    assert f"a worker is lost (on {(folder / 'address').read_text()}, node {node[:8]})" in said
    assert "going on from the last checkpoint with 2 workers" in said


def test_epochs_that_were_kept_are_not_learned_twice(disturbed):
    """The second time the first epochs come from the checkpoint, with the times they had."""
    folder, _ = disturbed
    epochs = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [entry["epoch"] for entry in epochs] == [1, 2, 3, 4]
    begun = [json.loads(line) for line in (folder / "begun").read_text().splitlines()]
    assert begun[0] == {"rank": 0, "epoch": 0}
    assert begun[-1]["epoch"] >= 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"grid": {"eps": [0, 1]}}, "search with one process"),
        ({"encoder": "magic"}, "not one of average, cnn, lstm"),
    ],
)
def test_what_is_wrong_is_said_before_a_cluster_is_asked_for(how, said, tmp_path):
    def launch(job, gpu):
        pytest.fail("a cluster was asked for")

    with pytest.raises(InputError, match=said):
        isogloss.train("smooth", "demo", "en-fr", tmp_path / "run", launch=launch, **how)
    assert not (tmp_path / "run").exists()
