"""Packages of careless strangers: one line says which and what, and everything else goes on."""

import os

import pytest

SYSTEM = """
import numpy as np
from isogloss.systems.base import System, SystemOptions

class Short(System):
    name, paper, summary, options_type = "short", "nobody", "two scores, however many documents", SystemOptions
    def index_texts(self, texts): pass
    def scores(self, query): return np.ones(2, np.float32)
    def save_part(self, directory, keep=None): pass
    def load_parts(self, directories, id_order): return self
"""
READERS = """
from isogloss.data.readers.jsonl import Jsonl

class One(Jsonl): format, file_endings = "one", (".xyz",)
class Other(Jsonl): format, file_endings = "other", (".xyz",)
"""
COMMAND = """
SUMMARY, EXAMPLE = "half of it: 50% of it", "  isogloss half"
def add_arguments(parser): {arguments}
{run}
"""


@pytest.fixture
def plugin(tmp_path):
    """Puts a package with one module and one group of entry points where Python finds it; the environment for it."""

    def install(group, code, **entry_points):
        site = tmp_path / "site"
        info = site / "careless-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: careless\nVersion: 1.0\n")
        lines = "".join(f"{name} = {value}\n" for name, value in entry_points.items())
        (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")
        (site / "careless.py").write_text(code)
        return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}

    return install


def test_scores_that_are_not_one_for_each_document_are_refused(plugin, fails_alone):
    environment = plugin("isogloss.systems", SYSTEM, short="careless:Short")
    line = fails_alone("evaluate", "short", "--data", "demo", "--pair", "en-fr", env=environment)
    assert "short: scores of shape (2,) for 104 documents" in line


def test_two_readers_of_one_ending_are_both_named(plugin, fails_alone, here):
    (here / "pages.xyz").write_text("{}\n")
    environment = plugin("isogloss.readers", READERS, one="careless:One", other="careless:Other")
    line = fails_alone("index", "pages.xyz", "-o", "index", env=environment)
    assert "several packages read files that end with .xyz; name the format: one:pages.xyz or other:pages.xyz" in line


def test_a_command_is_listed_with_what_argparse_takes_for_a_format(plugin, spawn):
    environment = plugin("isogloss.commands", COMMAND.format(arguments="pass", run="run = print"), half="careless")
    done = spawn("--help", env=environment)
    assert (done.code, done.err) == (0, "")
    assert "half of it: 50% of it" in done.out
    assert spawn("half", "--help", env=environment).out.count("50% of it") == 1


@pytest.mark.parametrize(
    ("arguments", "run", "reason"),
    [
        ("parser.add_argument('--quiet')", "run = print", "half: add_arguments of careless fails (ArgumentError"),
        ("1 / 0", "run = print", "half: add_arguments of careless fails (ZeroDivisionError: division by zero)"),
        ("pass", "", "half: its module has neither run nor commands of its own"),
    ],
)
def test_a_command_that_cannot_run_says_why(plugin, fails_alone, arguments, run, reason):
    environment = plugin("isogloss.commands", COMMAND.format(arguments=arguments, run=run), half="careless")
    assert reason in fails_alone("half", env=environment)
