"""Searching loads no code that trains, evaluates or reads data formats; local commands load no distributed code."""

import json
import subprocess
import sys

import pytest

from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index

SEARCH = """
import json, sys
from isogloss import Index
assert Index.open(sys.argv[1]).search("how bees make honey")
print(json.dumps([name for name in sys.modules if name.startswith("isogloss.")]))
"""
COMMANDS = """
import json, sys
from isogloss.cli.main import main
for command in json.loads(sys.argv[1]):
    assert main([*command, "--quiet"]) == 0
print(json.dumps([name for name in sys.modules if name.startswith("isogloss.")]))
"""


def loaded(script, argument, folder):
    """The modules of isogloss that a script has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", script, argument], capture_output=True, text=True, check=True, cwd=folder
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("system", "settings"),
    [("psq", {}), ("bridge", {"without": "weights"}), ("smooth", {"epochs": "1", "dimension": "4"})],
)
def test_searching_loads_neither_training_nor_evaluation_nor_readers(system, settings, tmp_path):
    make_index(tmp_path / "index", system, Demo(), ["fr"], settings=settings)
    modules = loaded(SEARCH, str(tmp_path / "index"), tmp_path)
    trainers = "isogloss.papers.training" if system == "smooth" else "isogloss.papers"
    unwanted = (trainers, "isogloss.evaluation", "isogloss.data.readers", "isogloss.engines.ray.")
    assert [name for name in modules if name.startswith(unwanted)] == []


def test_local_commands_load_no_distributed_code(tmp_path):
    commands = [
        ["index", "demo", "--system", "psq", "--language", "fr", "-o", "index"],
        ["search", "index", "how bees make honey"],
        [
            "train",
            "smooth",
            "--data",
            "demo",
            "--pair",
            "en-fr",
            "-o",
            "run",
            "--set",
            "epochs=1",
            "--set",
            "dimension=4",
        ],
    ]
    modules = loaded(COMMANDS, json.dumps(commands), tmp_path)
    assert [name for name in modules if name.startswith("isogloss.engines.ray.")] == []


def test_commands_of_the_engine_load_nothing_of_the_papers(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "bees.md").write_text("# Les abeilles\n\nLes abeilles fabriquent le miel dans la ruche.\n")
    commands = [
        ["index", "pages", "-o", "index"],
        ["search", "index", "how bees make honey", "--explain"],
        ["add", "index", "pages"],
        ["sync", "index"],
        ["info", "index"],
        ["languages", "fr"],
        ["evaluate", "bm25", "psq", "--data", "demo", "--pair", "en-fr"],
    ]
    modules = loaded(COMMANDS, json.dumps(commands), tmp_path)
    assert [name for name in modules if name.startswith("isogloss.papers")] == []
