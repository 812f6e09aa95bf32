"""The functions that a command enters are counted once each, in order, without bodies of modules and classes."""

import re
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "count_walk.py"


def test_the_functions_of_a_command_are_listed_in_the_order_of_entry(tmp_path):
    command = [sys.executable, str(TOOL), "--list", "systems", "bm25"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    summary, *listed = done.stdout.splitlines()
    functions = [line.strip() for line in listed]
    counts = re.fullmatch(
        r"isogloss systems bm25: (\d+) functions in (\d+) files, (\d+) package changes, depth (\d+); (\d+) modules .*",
        summary,
    )
    assert counts
    assert int(counts[1]) == len(functions) == len(set(functions))
    assert functions[0] == "cli.main.main"
    assert any(name.startswith("systems.registry.") for name in functions)
    assert not any("<" in name.replace("<locals>", "") for name in functions)
    packages = [name.partition(".")[0] for name in functions]
    assert int(counts[3]) == sum(packages[i] != packages[i + 1] for i in range(len(packages) - 1))
    assert int(counts[2]) < len(functions) > int(counts[4]) > 2
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_fails_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, str(TOOL), "search", "absent", "bees"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "isogloss search absent bees: exit status 2"
