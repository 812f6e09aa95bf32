"""Every command explains itself, at once, with examples that it takes."""

import argparse
import os
import re
import shlex

import pytest

from isogloss.cli.main import COMMANDS, add_module, main


def _parsers(parser, words):
    """A command and its sub-commands: their words and parsers."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, part in action.choices.items():
                yield from _parsers(part, (*words, name))


def _all_parsers():
    commands = argparse.ArgumentParser(prog="isogloss").add_subparsers()
    for name in COMMANDS.names():
        add_module(commands, name)
    return {words: parser for name in COMMANDS.names() for words, parser in _parsers(commands.choices[name], (name,))}


PARSERS = _all_parsers()


def examples(parser):
    """The lines of an example, those that end with a backslash joined, split into words as a shell would."""
    text = parser.epilog.removeprefix("example:\n").replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("words", PARSERS, ids=" ".join)
def test_every_command_explains_itself_with_an_example(run, words):
    code, out, err = run(*words, "--help")
    assert (code, err) == (0, "")
    assert f"isogloss {' '.join(words)}" in out.partition("example:")[2]
    assert "--quiet" in out
    assert "--debug" in out


@pytest.mark.parametrize("words", PARSERS, ids=" ".join)
def test_the_examples_of_every_command_are_understood(words, monkeypatch):
    """Each line is parsed by ``main``, which then runs a command that does nothing."""
    seen = []
    original = argparse.ArgumentParser.parse_known_args

    def parse_only(self, arguments=None, namespace=None):
        options, unknown = original(self, arguments, namespace)
        if self.prog == "isogloss":
            options.run = seen.append
        return options, unknown

    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse_only)
    lines = examples(PARSERS[words])
    ours = [line[line.index("isogloss") + 1 :] for line in lines if "isogloss" in line and "--help" not in line]
    assert ours
    for line in ours:
        assert main(line) == 0, line
    assert len(seen) == len(ours)


def test_the_list_of_commands_names_all_of_them(run):
    out = run("--help").out
    assert all(re.search(rf"^    {name}( |$)", out, re.MULTILINE) for name in COMMANDS.names())
    assert "example:\n  isogloss demo" in out


def test_the_version_is_the_package_s(run):
    import isogloss

    assert run("--version").out == f"isogloss {isogloss.__version__}\n"


def test_help_loads_neither_numpy_nor_rich(spawn):
    script = f"""
import sys
from isogloss.cli.main import main
for words in {list(PARSERS)!r}:
    try:
        main([*words, "--help"])
    except SystemExit:
        pass
print("loaded:", sorted({{"numpy", "rich", "torch", "icu4py"}} & set(sys.modules)), file=sys.stderr)
"""
    assert spawn("--version", script=script).err == "loaded: []\n"


@pytest.mark.parametrize(
    "command", [("systems",), ("evaluate", "bm25", "psq", "--data", "demo", "--pair", "en-fr", "--compare")]
)
def test_systems_without_networks_load_no_torch(spawn, here, command):
    (here / "torch.py").write_text("raise SystemExit('torch was loaded')")
    path = f"{here}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    assert spawn(*command, env={"PYTHONPATH": path}).code == 0


@pytest.mark.parametrize("order", [("--quiet", "{}"), ("{}", "--quiet")])
def test_quiet_may_stand_before_or_after_the_command(run, tiny, order):
    command = ("index", f"wikiclir:{tiny}", "--system", "bm25", "--language", "fr", "-o", "quiet-index")
    arguments = [part for word in order for part in (command if word == "{}" else (word,))]
    assert run(*arguments) == (0, "", "")
