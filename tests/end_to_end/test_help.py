"""Every command explains itself, at once."""

import pytest

PARTS = ("show", "grade", "convert", "candidates")
COMMANDS = [
    (),
    *((name,) for name in ("demo", "systems", "data", "evaluate", "index", "search")),
    *(("data", part) for part in PARTS),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself_with_an_example(run, command):
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert "example" in out
    assert f"isogloss {' '.join(command)}".strip() in out.partition("example")[2]
    assert "--quiet" in out
    assert "--debug" in out


def test_the_list_of_commands_names_all_of_them(run):
    out = run("--help").out
    assert all(f"    {name} " in out for (name,) in COMMANDS[1:7])


def test_the_version_is_the_package_s(run):
    import isogloss

    assert run("--version").out == f"isogloss {isogloss.__version__}\n"


def test_help_loads_neither_numpy_nor_rich(spawn):
    script = f"""
import sys
from isogloss.cli.main import main
for command in {COMMANDS!r}:
    try:
        main([*command, "--help"])
    except SystemExit:
        pass
print("loaded:", sorted({{"numpy", "rich", "torch", "icu4py"}} & set(sys.modules)), file=sys.stderr)
"""
    assert spawn("--version", script=script).err == "loaded: []\n"


@pytest.mark.parametrize(
    "command", [("systems",), ("evaluate", "bm25", "psq", "--data", "demo", "--pair", "en-fr", "--compare")]
)
def test_no_command_loads_torch(spawn, here, command):
    (here / "torch.py").write_text("raise SystemExit('torch was loaded')")
    assert spawn(*command, env={"PYTHONPATH": str(here)}).code == 0


@pytest.mark.parametrize("place", [("--quiet", "{}"), ("{}", "--quiet")])
def test_quiet_may_stand_before_or_after_the_command(run, tiny, place):
    command = ("index", f"wikiclir:{tiny}", "--system", "bm25", "--language", "fr", "-o", "quiet-index")
    arguments = [part for word in place for part in (command if word == "{}" else (word,))]
    assert run(*arguments) == (0, "", "")
