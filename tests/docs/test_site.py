"""The site builds without a warning, loads nothing from another host, and lists every public name and command."""

import json
import re
from pathlib import Path

import pytest

import isogloss
from isogloss.cli.main import COMMANDS

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=[\"']?(https?:)?//", re.IGNORECASE)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def build_site(output, **changes):
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(output), strict=True, **changes))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    output = tmp_path_factory.mktemp("built") / "site"
    build_site(output)
    return output


def test_nothing_is_loaded_from_another_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    assert [page.name for page in pages if LOADED.search(page.read_text(encoding="utf-8"))] == []
    styles = [style.read_text(encoding="utf-8") for style in site.rglob("*.css")]
    assert not any(re.search(r"url\([\"']?(https?:)?//|@import", style) for style in styles)


def test_the_python_reference_lists_every_public_name(site):
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    public = [name for name in isogloss.__all__ if not name.startswith("_")]
    assert public
    assert [name for name in public if f'id="isogloss.{name}"' not in page] == []


def test_the_command_reference_lists_every_command(site):
    page = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS.names() if f'id="isogloss-{name}"' not in page] == []
    assert "--query-language LANG" in page


def test_the_search_index_covers_guides_results_and_references(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {"guides/bridge.html", "results/quality.html", "reference/api.html", "reference/commands.html"} <= found


def test_marks_for_the_tests_are_not_shown(site):
    assert "not-run" not in (site / "install.html").read_text(encoding="utf-8")


def test_a_broken_link_stops_the_build(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Home\n\n[gone](gone.md)\n", encoding="utf-8")
    with pytest.raises(Abort):
        build_site(tmp_path / "site", docs_dir=str(docs), nav=None, hooks=[], plugins=[], extra_css=[])
