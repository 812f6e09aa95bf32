"""What a training leaves: a configuration that reads back, metrics, a mark at its end."""

import json
import math
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.storage.errors import InputError
from isogloss.storage.wording import at_the_command_line
from isogloss.systems.run_directory import RunDirectory, as_toml

STRINGS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | STRINGS
KEYS = st.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True)
PLAIN = st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=3), max_size=4)


@given(PLAIN, st.dictionaries(KEYS, PLAIN, max_size=3))
def test_a_configuration_reads_back_as_it_was(plain, tables):
    config = plain | tables
    found = tomllib.loads(as_toml(config))
    assert found == config
    assert [type(value) for value in found.values()] == [type(config[key]) for key in found]


def test_numbers_and_lists_of_numpy_and_odd_strings_are_toml_too():
    values = {
        "number": np.float64(0.1), "small": 1e-9, "none": math.inf, "axes": ("0.2,0.7", "0.1"),
        "path": 'C:\\new\ttab\x7f"quoted"\x00 \u2028 語 \U0001f600', "more": ["\U0001f600\x7f"],
    }  # fmt: skip
    assert tomllib.loads(as_toml(values)) == values | {"axes": ["0.2,0.7", "0.1"]}


CONFIG = {"system": "smooth", "options": {"eps": 1.0}}


@pytest.fixture
def run(tmp_path):
    made = RunDirectory.create(tmp_path / "runs" / "first", CONFIG)
    made.begin()
    return made


def test_a_run_appears_when_its_training_begins(tmp_path):
    made = RunDirectory.create(tmp_path / "first", CONFIG)
    assert not made.path.exists()
    made.begin()
    assert [path.name for path in made.path.iterdir()] == ["config.toml"]


def test_an_old_run_makes_way_only_when_the_new_one_begins(run):
    run.finish({})
    new = RunDirectory.create(run.path, {"system": "other"}, overwrite=True)
    assert RunDirectory.open(run.path).finished
    new.begin()
    new.begin()  # a second time changes nothing
    assert (new.config, new.finished) == ({"system": "other"}, False)
    with pytest.raises(InputError, match="exists and is not empty"):
        RunDirectory.create(run.path, CONFIG).begin()


def test_a_run_begins_with_what_it_takes_to_run_it_again(run):
    again = RunDirectory.open(run.path)
    assert again.config == CONFIG
    assert not again.finished
    assert again.model == run.path / "model"


def test_what_is_no_run_cannot_be_opened(tmp_path, run):
    with pytest.raises(InputError, match=r"is not a run \(it has no config\.toml\); begin one with isogloss.train"):
        RunDirectory.open(tmp_path)
    (run.path / "config.toml").write_text("system = ", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.toml: cannot be read"):
        _ = run.config


def test_how_to_go_on_can_be_pasted_into_a_shell(tmp_path):
    with at_the_command_line():
        assert RunDirectory(tmp_path).how_to_resume == f"go on with: isogloss train --resume -o {tmp_path}"
        assert RunDirectory(tmp_path / "my run").how_to_resume.endswith(f"-o '{tmp_path}/my run'")
    assert RunDirectory(tmp_path).how_to_resume == f"go on with: isogloss.resume_training({str(tmp_path)!r})"


def test_metrics_have_a_line_an_epoch(run):
    history = [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25, "NDCG@5": 0.75}]
    run.record(history[:1])
    run.record(history)
    lines = (run.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == history


def test_a_finished_run_says_so_and_has_no_checkpoint(run):
    run.checkpoint.write_bytes(b"the state of a training")
    run.finish({"epochs": 3})
    assert run.finished
    assert sorted(path.name for path in run.path.iterdir()) == ["config.toml", "finished.json"]
    assert json.loads((run.path / "finished.json").read_text(encoding="utf-8")) == {"epochs": 3}
