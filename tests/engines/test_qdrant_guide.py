"""The guide to Qdrant does what it says, in a folder."""

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("markdown_it", reason="the guide is read with it")
pytest.importorskip("qdrant_edge", reason="needs the extra 'qdrant'")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))


def test_the_guide_does_what_it_says(tmp_path):
    from run_examples import NOT_RUN, Runner, read_blocks

    blocks = [
        block._replace(marks=tuple(mark for mark in block.marks if mark != NOT_RUN))
        for block in read_blocks((ROOT / "docs/guides/qdrant.md").read_text(encoding="utf-8"))
        if "folder" in block.marks
    ]
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}
    with Runner("docs/guides/qdrant.md", tmp_path, environment) as runner:
        assert runner.run(blocks) >= 3
