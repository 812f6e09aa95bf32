"""Groups of entry points: the core's own table, packages of others, and what is said of those that do not work."""

import json
import logging
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from isogloss.cli.main import COMMANDS
from isogloss.data.readers.registry import READERS
from isogloss.engines.registry import ENGINES
from isogloss.storage.errors import InputError
from isogloss.storage.plugins import PluginGroup
from isogloss.systems.registry import SYSTEMS

GROUP = "isogloss.test_things"
CORE = {"join": "os.path:join", "json": "json"}
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package with entry points of the group on the path."""

    def install_package(name, group=GROUP, **entry_points):
        info = tmp_path / name / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{key} = {value}\n" for key, value in entry_points.items()]
        info.joinpath("entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}")
        monkeypatch.syspath_prepend(tmp_path / name)

    return install_package


def things():
    return PluginGroup(GROUP, "thing", CORE, lambda name, thing: "" if callable(thing) else "cannot be called")


def test_members_of_the_core_come_first_and_load_by_name(install):
    install("another", abc="json:loads", zebra="json:dumps")
    group = things()
    assert group.names() == ["join", "json", "abc", "zebra"]
    assert group.plugin_names() == ["abc", "zebra"]
    assert group.load("join")("a", "b") == str(Path("a", "b"))
    assert group.load("json") is json
    assert group.load("zebra") is json.dumps
    assert "zebra" in group
    assert "nothing" not in group


def test_an_unknown_name_is_an_error_that_lists_all(install):
    install("another", abc="json:loads")
    with pytest.raises(InputError, match="thing: 'nothing' is not one of join, json, abc"):
        things().load("nothing")


def test_a_package_cannot_replace_a_member_of_the_core(install, caplog):
    install("another", join="json:loads")
    assert things().load("join")("a", "b") == str(Path("a", "b"))
    assert things().names() == ["join", "json"]
    with caplog.at_level(logging.WARNING, "isogloss"):
        assert list(things().load_plugins()) == []
    assert "'join', from the package another, has a name of isogloss and is left out" in caplog.text


def test_a_package_cannot_replace_a_system_of_the_papers(install, caplog):
    install("another", SYSTEMS.group, smooth="json:loads")
    group = PluginGroup(SYSTEMS.group, SYSTEMS.kind, SYSTEMS.core, SYSTEMS.find_fault)
    assert group.load("smooth").name == "smooth"
    with caplog.at_level(logging.WARNING, "isogloss"):
        assert "smooth" in dict(group.load_plugins())
    assert "'smooth', from the package another, has a name of isogloss" in caplog.text


def test_two_packages_with_one_name_are_both_named(install):
    install("first", abc="json:loads")
    install("second", abc="json:dumps")
    with pytest.raises(InputError, match=r"'abc' is offered by several packages \(\w+, \w+\); keep one"):
        things().load("abc")


def test_a_package_that_is_found_twice_counts_once(install):
    install("first", abc="json:loads")
    install("copy", abc="json:loads")
    assert things().load("abc") is json.loads


@pytest.mark.parametrize(
    "reference", ["a_module_that_is_missing:thing", "json:nothing_of_that_name", "raising_module", "leaving_module"]
)
def test_a_broken_package_is_named_and_left_out_of_listings(install, tmp_path, monkeypatch, caplog, reference):
    (tmp_path / "raising_module.py").write_text("raise ValueError('broken\\nin two \\x1b[31m lines')")
    (tmp_path / "leaving_module.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    install("another", abc=reference, fine="json:loads")
    with pytest.raises(InputError, match="'abc', from the package another, cannot be imported"):
        things().load("abc")
    with caplog.at_level(logging.WARNING, "isogloss"):
        assert dict(things().load_plugins()) == {"fine": json.loads}
    assert "uninstall another" in caplog.text
    assert caplog.records[-1].getMessage().isprintable()


def test_a_member_that_lacks_something_is_refused_with_what_it_lacks(install):
    install("another", abc="json:__name__")
    with pytest.raises(InputError, match="'abc', from the package another, cannot be called; update or uninstall"):
        things().load("abc")


FAULTS = """
from isogloss.data.readers.jsonl import Jsonl
from isogloss.data.source import Source
from isogloss.systems.base import System, SystemOptions
from isogloss.systems.bm25 import UntranslatedBM25

class Nameless(UntranslatedBM25): pass
class NoSystem: pass
class Abstract(System): name, paper, summary, options_type = "abstract", "", "", SystemOptions
class Concrete(System):
    def index_texts(self, texts): pass
    def scores(self, query): pass
    def save_part(self, directory, keep=None): pass
    def load_parts(self, directories, id_order): pass
class Optionless(Concrete): name, paper, summary, options_type = "faulty", "-", "-", dict
class Speechless(Concrete): name, paper, summary, options_type = "faulty", "-", None, SystemOptions
class OtherFormat(Jsonl): pass
class Comma(Jsonl): format, file_endings = "faulty", ".csv"
class Formatless(Source):
    def documents(self, language, problems): return iter(())
SUMMARY = "a command without an example"
"""


@pytest.mark.parametrize(
    ("group", "reference", "fault"),
    [
        (SYSTEMS, "faults:NoSystem", r"is not a subclass of isogloss\.systems\.base\.System"),
        (SYSTEMS, "faults:Nameless", "calls itself 'bm25'"),
        (SYSTEMS, "faults:Abstract", "does not implement index_texts, load_parts, save_part, scores"),
        (SYSTEMS, "faults:Concrete", "has no name"),
        (SYSTEMS, "faults:Optionless", r"is not a subclass of isogloss\.systems\.base\.SystemOptions"),
        (SYSTEMS, "faults:Speechless", "has no summary"),
        (SYSTEMS, "faults", r"is not a subclass of isogloss\.systems\.base\.System"),
        (READERS, "faults:NoSystem", r"is not a subclass of isogloss\.data\.source\.Source"),
        (READERS, "faults:OtherFormat", "calls itself 'jsonl'"),
        (READERS, "faults:Formatless", "has no format"),
        (READERS, "faults:Comma", r"has file_endings = '\.csv', which is not a tuple like \('\.csv',\)"),
        (ENGINES, "faults:NoSystem", "has no create"),
        (COMMANDS, "json", "has no SUMMARY"),
        (COMMANDS, "faults", "has no EXAMPLE"),
    ],
)
def test_each_group_says_what_is_wrong_with_a_member(install, tmp_path, monkeypatch, group, reference, fault):
    (tmp_path / "faults.py").write_text(FAULTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "faults", raising=False)
    install("another", group.group, faulty=reference)
    fresh = type(group)(group.group, group.kind, group.core, group.find_fault)
    with pytest.raises(InputError, match=f"{group.kind}: 'faulty', from the package another, {fault}; update or"):
        fresh.load("faulty")


@pytest.mark.parametrize("group", [SYSTEMS, READERS, ENGINES, COMMANDS], ids=lambda group: group.group)
def test_the_core_s_tables_are_what_isogloss_declares(group):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][group.group]
    papers = {name: value for name, value in declared.items() if value.startswith("isogloss.papers.")}
    assert {name: value for name, value in declared.items() if name not in papers} == dict(group.core)
    assert set(papers) <= set(group.plugin_names()), "run 'make' again: pyproject.toml has changed"


@pytest.mark.parametrize("group", [SYSTEMS, READERS, ENGINES, COMMANDS], ids=lambda group: group.group)
def test_every_member_can_be_imported(group):
    for package in {"isogloss.engines": ("psycopg_pool", "qdrant_edge")}.get(group.group, ()):
        pytest.importorskip(package)
    assert all(group.load(name) is not None for name in group.names())


def test_names_of_the_core_are_found_without_scanning_packages():
    script = """
import sys
from isogloss.systems.registry import is_system, system_type
assert is_system("psq") and system_type("psq")
print("importlib.metadata" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
