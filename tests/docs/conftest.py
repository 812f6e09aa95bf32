"""The pages of this repository, and small ones to try the checks on."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture
def house(tmp_path):
    """A function that writes pages into a small repository and gives them."""

    def write(**texts):
        from docsite.pages import find_pages

        for name, text in texts.items():
            path = tmp_path / "house" / ("README.md" if name == "readme" else f"docs/{name}.md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return find_pages(tmp_path / "house")

    return write
