"""What the source of the pages must hold: short lines, links that lead somewhere, names that exist."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BESIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
NAME = re.compile(r"`(isogloss(?:\.\w+)+)")
LONGEST = 120


def page_id(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_lines_are_short(page):
    """Rows of tables and JSON Lines cannot be wrapped."""
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    assert [number for number, line in lines if len(line) > LONGEST and not line.lstrip().startswith(("|", "{"))] == []


@pytest.mark.parametrize("page", BESIDE, ids=page_id)
def test_links_of_the_pages_beside_the_site_lead_to_files(page):
    """``mkdocs build --strict`` checks the links inside ``docs``."""
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (ROOT / link).is_file()] == []


GROUPS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"])


def exists(name):
    """Whether it is a module, an attribute of one, or a group of entry points."""
    if name in GROUPS:
        return True
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        try:
            for part in parts[count:]:
                value = getattr(value, part)
        except AttributeError:
            return False
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_names_of_the_package_exist(page):
    assert [name for name in NAME.findall(page.read_text(encoding="utf-8")) if not exists(name)] == []


def test_a_missing_name_is_noticed():
    assert exists("isogloss.Index.make")
    assert not exists("isogloss.Index.nothing")
    assert not exists("isogloss.nothing.at_all")
