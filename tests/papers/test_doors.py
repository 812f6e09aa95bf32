"""The docstring of each paper's package is right: what it names exists, and so does each command it shows."""

import importlib
import pkgutil
import re

import pytest

import isogloss.papers
from isogloss.papers.adhoc.experiments import ITEMS as ADHOC
from isogloss.papers.layerwise.experiments.pages import ITEMS as LAYERWISE
from isogloss.papers.smooth.experiments.pages import ITEMS as SMOOTH
from isogloss.systems.registry import is_system, system_type

ITEMS = {"smooth": SMOOTH, "layerwise": LAYERWISE, "adhoc": ADHOC}
SHARED = "word_vectors|initial_vectors|similarity|towers|torch_steps|examples|training_loop"
NAME = re.compile(rf"(?<![\w./])((?:isogloss\.\w+|smooth|layerwise|adhoc|{SHARED})(?:\.\w+)+)(?::(\w+))?")
COMMAND = re.compile(r"isogloss reproduce (\w+) (\w+)")
SYSTEM = re.compile(r"^ {4}.*?\b([a-z0-9][a-z0-9-]*) +(\S+):(\w+)", re.MULTILINE)


def text_of(paper):
    return importlib.import_module(f"isogloss.papers.{paper}").__doc__


def resolve(name):
    """The object of a dotted name: a module, or what is in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise AttributeError(name)


@pytest.mark.parametrize("paper", ITEMS)
def test_what_it_names_exists(paper):
    pytest.importorskip("torch")
    names = [".".join(filter(None, found)) for found in NAME.findall(text_of(paper))]
    assert len(names) > 20
    for name in names:
        if not name.endswith((".md", ".csv", ".en", ".fr")):
            assert resolve(name if name.startswith("isogloss.") else f"isogloss.papers.{name}") is not None


@pytest.mark.parametrize("paper", ITEMS)
def test_each_item_has_a_command(paper):
    shown = {item for command, item in COMMAND.findall(text_of(paper)) if command == paper}
    assert shown == set(ITEMS[paper])


def test_systems_are_the_registered_ones():
    registered = {}
    for paper in ITEMS:
        for name, module, class_name in SYSTEM.findall(text_of(paper)):
            if is_system(name):
                full = module if module.startswith("isogloss.") else f"isogloss.papers.{module}"
                registered[name] = getattr(importlib.import_module(full), class_name)
    assert len(registered) >= 14
    assert all(system_type(name) is system for name, system in registered.items())


def test_the_package_lists_all_its_modules():
    listing = isogloss.papers.__doc__.partition("**Sub-packages.**")[2]
    listed = set(re.findall(r"^ {4}(\w+)  +\S", listing, re.MULTILINE))
    assert listed == {module.name for module in pkgutil.iter_modules(isogloss.papers.__path__)}
