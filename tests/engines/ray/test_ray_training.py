"""Training on a real Ray cluster: a worker that is killed meanwhile changes nothing of what is learned."""

import json
import os
import signal
import time

import pytest

import isogloss
from isogloss.engines.ray.train import on_ray
from isogloss.storage.errors import InputError

pytest.importorskip("torch")
pytest.importorskip("numba")
pytest.importorskip("ray", reason="the extra ray is not installed")

EPOCHS = 4


@pytest.fixture(scope="module")
def disturbed(cluster, tmp_path_factory):
    """A run of two workers, one of which is killed after its second epoch; when how many began is written down."""
    folder, second = tmp_path_factory.mktemp("disturbed"), cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    import ray

    waited = time.monotonic() + 60
    while ray.available_resources().get("CPU", 0) < 2 and time.monotonic() < waited:
        time.sleep(0.2)

    def launch(job, gpu):
        def disturb(team):
            """In each worker: a checkpoint whenever it can be."""
            from isogloss.training import loop

            begin, close_epoch = loop.Training._begin, loop.Training._close_epoch
            loop._CHECKPOINT_SECONDS = loop._RECORD_SECONDS = 0.0

            def begin_and_tell(self):
                begin(self)
                if self._team.rank == 0:
                    with open(folder / "begun", "a") as file:
                        file.write(json.dumps({"workers": self._team.size, "epoch": self._position.epoch}) + "\n")

            def close(self, *arguments):
                close_epoch(self, *arguments)
                if self._team.rank == 1 and self._position.epoch == 2 and not (folder / "killed").exists():
                    (folder / "killed").touch()
                    os.kill(os.getpid(), signal.SIGKILL)

            loop.Training._begin, loop.Training._close_epoch = begin_and_tell, close
            return job(team)

        return on_ray(2)(disturb, gpu)

    isogloss.train("smooth", "demo", "en-fr", folder / "run", launch=launch, epochs=EPOCHS, dimension=8, batch=512)
    cluster.remove_node(second)
    return folder


def parameters(run):
    return (run / "model" / "model.safetensors").read_bytes()


def test_what_is_learned_is_what_one_process_learns_undisturbed(disturbed, tmp_path):
    isogloss.train("smooth", "demo", "en-fr", tmp_path / "alone", epochs=EPOCHS, dimension=8, batch=512)
    assert parameters(disturbed / "run") == parameters(tmp_path / "alone")
    for name in ("finished.json", "run.trec"):
        assert (disturbed / "run" / name).is_file()


def test_workers_go_on_from_the_last_checkpoint(disturbed):
    """The second time the first epochs come from the checkpoint, with the times they had."""
    epochs = [json.loads(line) for line in (disturbed / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [entry["epoch"] for entry in epochs] == [1, 2, 3, 4]
    begun = [json.loads(line) for line in (disturbed / "begun").read_text().splitlines()]
    if begun[0]["workers"] == 1:
        pytest.skip("Ray Train began before the second node was ready, which it may: nothing was disturbed")
    assert begun == [{"workers": 2, "epoch": 0}, {"workers": 2, "epoch": 2}]


def test_an_error_in_a_worker_is_one_sentence_and_not_tried_again(cluster, node, tmp_path):
    tried = tmp_path / "tried"

    def fail(team):
        if team.rank == team.size - 1:
            with open(tried, "a") as file:
                file.write("once ")
            raise InputError("train: this cannot work")
        team.any(True)

    with pytest.raises(InputError, match=r"^train: this cannot work$"):
        on_ray(2)(fail, False)
    assert tried.read_text() == "once "


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
