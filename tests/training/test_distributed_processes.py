"""Real processes, two of them, over gloo: started by torchrun they learn what one learns; one that fails ends both."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isogloss
from isogloss.cli.main import main
from isogloss.storage.arrays import read_tensors
from isogloss.storage.errors import InputError
from isogloss.training.distributed import Alone, ProcessRank, rank_in_environment, team_of_environment

DEMO = ("demo", "en-fr")
SYSTEMS = {
    "average": ("smooth", {"epochs": 1, "dimension": 8, "batch": 512, "dev_queries": 10}),
    "layerwise": (
        "layerwise",
        {"epochs": 2, "dimension": 8, "kernels": 4, "widths": "2", "k": 2, "batch": 64, "document_words": 20,
         "query_vectors": "random", "document_vectors": "random", "scorer": "cosine", "mined": True,
         "critic_steps": 1, "dev_queries": 10},
    ),
}  # fmt: skip
TRAIN = """
import sys, json
import isogloss
from isogloss.training.distributed import team_of_environment

with team_of_environment() as team:
    for name, (system, options) in json.loads(sys.argv[1]).items():
        run = isogloss.train(system, "demo", "en-fr", name, team=team, **options)
        print(team.rank, name, bool(run.results))
"""
FAIL = """
import sys
from isogloss.storage.errors import InputError
from isogloss.cli.main import main
from isogloss.training.distributed_torch import TorchTeam

gather, calls = TorchTeam.gather, []

def failing(self, rows, number):
    calls.append(number)
    if self.rank == 1 and len(calls) == 3:
        raise InputError("the second process has no more memory")
    return gather(self, rows, number)

TorchTeam.gather = failing
sys.exit(main(sys.argv[1:]))
"""


def environment(**more):
    home = str(Path(isogloss.__file__).parents[1])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **more}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What ``torchrun`` leaves, and what its processes said."""
    pytest.importorskip("torch")
    pytest.importorskip("numba")
    folder = tmp_path_factory.mktemp("together")
    (folder / "train.py").write_text(TRAIN)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*torchrun, "train.py", json.dumps(SYSTEMS)], cwd=folder, env=environment(), timeout=300,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.parametrize("name", SYSTEMS)
def test_two_processes_learn_what_one_learns(name, trained, tmp_path):
    folder, _ = trained
    system, options = SYSTEMS[name]
    alone = isogloss.train(system, *DEMO, tmp_path / "alone", **options)
    expected, found = (read_tensors(run / "model" / "model.safetensors")[0] for run in (alone.path, folder / name))
    assert expected.keys() == found.keys()
    for key, array in expected.items():
        tolerance = 0 if name == "average" else 1e-4
        np.testing.assert_allclose(found[key], array, rtol=0, atol=tolerance, err_msg=key)


def test_only_the_first_process_writes(trained):
    folder, said = trained
    assert sorted(said.split("\n")[:-1]) == sorted(f"{rank} {name} {rank == 0}" for rank in (0, 1) for name in SYSTEMS)
    assert {path.name for path in (folder / "average").iterdir()} == {
        "config.toml", "metrics.jsonl", "model", "run.trec", "finished.json",
    }  # fmt: skip


def test_a_process_that_fails_ends_both_and_one_of_them_says_why(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("numba")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-c", FAIL, "train", "smooth", "--data", "demo", "--pair", "en-fr", "-o", "run"]
    command += ["--set", "dimension=8", "--set", "epochs=1"]
    processes = [
        subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
            env=environment(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port),
        )
        for rank in range(2)
    ]  # fmt: skip
    said = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [2, 2]
    assert said == ["", "isogloss: the second process has no more memory\n"]


@pytest.mark.parametrize(
    ("arguments", "size", "said"),
    [
        (["--workers", "3"], "1", "--workers is about Ray"),
        (["--on", "mars"], "1", "invalid choice: 'mars'"),
        (["--workers", "0"], "1", "not a whole number from 1 up"),
        ([], "2", "start the processes with torchrun"),
    ],
)
def test_what_does_not_go_together_is_said_in_one_line(arguments, size, said, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("WORLD_SIZE", size)
    run = str(tmp_path / "run")
    assert main(["train", "smooth", "--data", "demo", "--pair", "en-fr", "-o", run, *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_without_torchrun_a_process_is_alone():
    assert rank_in_environment({}) is None
    assert rank_in_environment({"WORLD_SIZE": "1", "RANK": "0"}) is None
    with team_of_environment({}) as team:
        assert isinstance(team, Alone)
        assert (team.rank, team.size, team.agree("me"), team.any(False)) == (0, 1, "me", False)


def test_the_rank_is_what_torchrun_sets():
    said = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "a"}
    assert rank_in_environment({**said, "MASTER_PORT": "1"}) == ProcessRank(3, 4, 1, 2)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"WORLD_SIZE": "2"}, "RANK is not set; start the processes with torchrun"),
        ({"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "here"}, "MASTER_PORT is not set"),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two', not a whole number"),
        ({"WORLD_SIZE": "2", "RANK": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}, "RANK is 2, but there are 2"),
    ],
)
def test_an_environment_that_makes_no_sense_is_named(variables, said):
    with pytest.raises(InputError, match=said):
        rank_in_environment(variables)


def test_torch_is_imported_without_its_compiler():
    """It loads ``torch.distributed.nn``, whose functions hold the process group of the moment as a default.

    The connections of a process that has left would stay open, and the others wait for it.
    """
    pytest.importorskip("torch")
    code = "import sys, isogloss.training.distributed_torch, isogloss.training.torch_pairs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert not {"torch._dynamo", "torch.distributed.nn"} & set(done.stdout.split())
