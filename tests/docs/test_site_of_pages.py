"""The site: whole, without a server, without anything from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Seen(HTMLParser):
    """What a page of the site has: addresses of links, addresses that a browser loads by itself, ids."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.ids, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a":
            self.links.append(given["href"])
        self.loaded += [given[name] for name in ("src", "href") if name in given and tag in ("img", "link", "script")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    from docsite.site import build_site

    output = tmp_path_factory.mktemp("built") / "site"
    count = build_site(ROOT, output)
    pages = {path: Seen(path.read_text(encoding="utf-8")) for path in output.rglob("*.html")}
    assert len(pages) == count
    return output, pages


def test_every_link_of_the_site_resolves(site):
    _, pages = site
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), (path, link)
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, (path, link)


def test_nothing_is_loaded_from_elsewhere(site):
    output, pages = site
    for path, page in pages.items():
        for address in page.loaded:
            assert not urlsplit(address).netloc
            assert address == "data:," or (path.parent / unquote(address)).is_file(), (path, address)
        assert "script" not in page.tags
    style = (output / "style.css").read_text(encoding="utf-8")
    assert "http" not in style
    assert "@import" not in style


def test_code_is_coloured_by_day_and_by_night(site):
    output, _ = site
    style = (output / "style.css").read_text(encoding="utf-8")
    assert style.count("prefers-color-scheme: dark") == 2
    assert '<span class="kn">import</span>' in (output / "python.html").read_text(encoding="utf-8")


def test_every_page_knows_the_guides_and_where_it_is(site):
    output, _ = site
    for name in ("search-my-documents", "add-a-language-pair", "train-on-my-links", "run-the-service"):
        text = (output / f"{name}.html").read_text(encoding="utf-8")
        assert f'href="{name}.html" aria-current="page"' in text
        assert len(re.findall("<h1", text)) == 1
    assert 'href="../run-the-service.html"' in (output / "results" / "speed.html").read_text(encoding="utf-8")


def test_a_broken_link_stops_the_building(house, tmp_path):
    from docsite.site import build_site

    house(index="# Home\n\n[gone](gone.md)\n")
    with pytest.raises(ValueError, match=r"docs/index\.md:3: the link to 'gone\.md' leads to no file"):
        build_site(tmp_path / "house", tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_the_first_page_is_the_table_of_contents(house):
    from docsite.navigation import read_navigation

    home, *_ = house(
        index="# Home\n\n## Begin\n\n- [One](one.md): the first\n- [Far](https://example.org)\n\n## Empty\n\ntext\n",
        one="# One\n",
    )
    (group,) = read_navigation(home)
    assert (group.title, group.entries) == ("Begin", [("docs/one.md", "One")])


def test_files_that_are_linked_come_along(house, tmp_path):
    from docsite.site import build_site

    house(index="# Home\n\n[code](../code/a%20b.py) and [data](data.csv)\n")
    root, output = tmp_path / "house", tmp_path / "site"
    (root / "code").mkdir()
    (root / "code" / "a b.py").write_text("1\n")
    (root / "docs" / "data.csv").write_text("2\n")
    build_site(root, output)
    assert (output / "files" / "code" / "a b.py").read_text() == "1\n"
    assert (output / "data.csv").read_text() == "2\n"
    assert 'href="files/code/a%20b.py"' in (output / "index.html").read_text()
