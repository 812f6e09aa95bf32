"""Whatever happened to a file of an index: the same results, or an error of one line that names it.

Never another ranking, a traceback, a signal, a hang, or memory without end.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LONG = int(os.environ.get("ISOGLOSS_HOSTILE", "0"))  # `make soak` makes more changes, to more systems
SYSTEMS = [] if LONG else ["--systems", "psq", "aligned"]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")  # so it may fork


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The indexes, made once."""
    return tmp_path_factory.mktemp("changed")


@pytest.mark.timeout(0 if LONG else 300)
@pytest.mark.skipif(not hasattr(os, "fork") or not Path("/proc/self/statm").exists(), reason="each change needs a fork")
@pytest.mark.parametrize("how", ["", "--large", "--forged"])
def test_changed_files(how, folder):
    pytest.importorskip("faiss")
    count = min(LONG, 2000) or 40
    command = [
        sys.executable,
        "tests/hostile/changing.py",
        "--changes",
        str(count),
        "--folder",
        str(folder),
        *SYSTEMS,
    ]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [*command, *filter(None, [how])], capture_output=True, text=True, check=False, cwd=root,
        env=os.environ | ONE_THREAD,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    outcomes = json.loads(done.stdout.splitlines()[-1])["outcomes"]
    assert sum(outcomes.values()) == count
    assert outcomes["named"] > count // 4
