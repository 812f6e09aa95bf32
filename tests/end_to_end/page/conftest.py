"""The search page in a real browser: an index, the service in a thread, Chromium in front of it."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.index.making import make_index

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
PATIENCE = 15_000  # milliseconds that a test waits for something to appear

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
ODD_ID = "a/b?c=d&e#f%2F\"'<é>"
OWN_PAGES = [
    {"id": ODD_ID, "lang": "fr", "title": HOSTILE, "text": f"La mer {HOSTILE} est salée.", "url": "javascript:alert(1)",
     "fields": {"<b>author</b>": HOSTILE, "topic": "water"}},
    {"id": "fr-2", "lang": "fr", "title": "La mer", "text": "La mer est grande.\n\nElle est bleue.",
     "url": "https://example.org/mer", "fields": {"topic": "water", "year": 1998}},
    {"id": "fr-3", "lang": "fr", "title": "", "text": "Mer 🌊𝒳 mer: " + "longuissime" * 40, "url": "//example.org/x"},
    {"id": "ar-1", "lang": "ar", "title": "البحر", "text": "بحر واسع وماء مالح. في البحر أسماك كثيرة."},
]  # fmt: skip


GUIDE = (
    """Une introduction au sel.

## Le sel gris

Le sel est gris.

```
sel --gris --fort
  # pas un titre
```

#### Trop profond

- un grain de sel
- deux grains

1. laver
2. sécher

fin | petit grain
gros | grand grain

"""
    + "\n\n".join(f"Paragraphe {number} sans rien d'utile." for number in range(40))
    + """

## La fin

Ici le sel et la mer se retrouvent: sel, mer, sel, mer, sel 🧂 mer.

```
jamais fermé
"""
)
MANUALS = [
    {"id": "guide/sel.md", "lang": "fr", "title": "Guide du sel", "text": GUIDE,
     "fields": {"kind": "guide", "year": 2020}},
    *(
        {"id": f"p{number}", "lang": "fr", "title": f"Page {number}", "text": "Le sel, encore du sel.",
         "url": f"pages/{number}.html", "fields": {"kind": f"kind {number % 9}", "path": f"pages/{number}.md"}}
        for number in range(24)
    ),
    {"id": "q.md", "lang": "fr", "title": "Ailleurs", "text": "Du sel.", "url": "//example.org/x",
     "fields": {"path": "loin/q.md", "kind": "guide"}},
    {"id": "r", "lang": "fr", "title": "Barre", "text": "Du sel.", "url": "/\\example.org/x",
     "fields": {"kind": "guide"}},
]  # fmt: skip


@pytest.fixture(scope="session")
def demo_indexes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with indexes of the bundled collection, named by their systems."""
    folder = tmp_path_factory.mktemp("demo-site")
    for system in ("psq", "bm25-dict"):
        make_index(folder / system, system, open_source("demo"), ["fr", "sw", "zh", "es"])
    return folder


@pytest.fixture(scope="session")
def demo_site(demo_indexes: Path) -> Iterator[str]:
    """The address of a service over the bundled collection, with a second system to compare."""
    with served(demo_indexes / "psq", demo_indexes / "bm25-dict") as address:
        yield address


@pytest.fixture(scope="session")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over documents that a page could be fooled by."""
    folder = tmp_path_factory.mktemp("own-site")
    lines = "".join(json.dumps(page, ensure_ascii=False) + "\n" for page in OWN_PAGES)
    (folder / "pages.jsonl").write_text(lines, encoding="utf-8")
    (folder / "en-fr.tsv").write_text("sea\tmer\nblue\tbleue\n", encoding="utf-8")
    (folder / "en-ar.tsv").write_text("sea\tبحر\nwater\tماء\n", encoding="utf-8")
    source = open_source(f"jsonl:{folder / 'pages.jsonl'}")
    settings = {"lexicon": str(folder / "{pair}.tsv")}
    make_index(folder / "index", "bm25-dict", source, ["fr", "ar"], settings=settings)
    with served(folder / "index") as address:
        yield address


@pytest.fixture(scope="session")
def manuals_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over documents with headings, code, paths and fields to narrow a search by."""
    folder = tmp_path_factory.mktemp("manuals-site")
    lines = "".join(json.dumps(page, ensure_ascii=False) + "\n" for page in MANUALS)
    (folder / "pages.jsonl").write_text(lines, encoding="utf-8")
    (folder / "en-fr.tsv").write_text("sea\tmer\nsalt\tsel\n", encoding="utf-8")
    source, settings = open_source(f"jsonl:{folder / 'pages.jsonl'}"), {"lexicon": str(folder / "en-fr.tsv")}
    make_index(folder / "index", "bm25-dict", source, ["fr"], settings=settings, facets=["kind", "year", "none"])
    with served(folder / "index") as address:
        yield address


@contextmanager
def served(index: Path, compare: Path | None = None) -> Iterator[str]:
    """A running service: it listens before it starts, so nobody has to wait for it."""
    uvicorn = pytest.importorskip("uvicorn", reason="the service needs the extra 'serve'")
    pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")
    pytest.importorskip("prometheus_client", reason="the service needs the extra 'serve'")
    from isogloss.server.app import Settings, make_app

    app = make_app(Settings(index, compare=compare, log=False))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def serve() -> Callable[..., AbstractContextManager[str]]:
    """Run a service over an index, and perhaps a second one."""
    return served


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, as the system has it."""
    if not CHROMIUM:
        pytest.skip("no Chromium on this machine (Debian: apt install chromium-headless-shell)")
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in a window of its own. Whatever the page complains of or asks of others fails the test.

    ``failing``: the test makes requests fail, which the browser itself reports.
    """
    complaints: list[str] = []
    contexts = []

    def opened(address: str, failing: bool = False, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
        page.on("request", lambda request: foreign(request.url, address))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        failures[page] = failing
        page.goto(address)
        page.wait_for_selector("#about a, .notice")
        settled(page)
        return page

    failures: dict[Any, bool] = {}

    def complain(text: str) -> None:
        if not ("Failed to load resource" in text and any(failures.values())):
            complaints.append(f"console: {text}")

    def foreign(url: str, address: str) -> None:
        if urlsplit(url).netloc != urlsplit(address).netloc and urlsplit(url).scheme != "data":
            complaints.append(f"asked elsewhere: {url}")

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def settled(page: Any) -> None:
    """Wait until an answer is shown."""
    page.wait_for_selector("main:not([aria-busy])")


@pytest.fixture
def ask() -> Callable[[Any, str], None]:
    """Type a query, press Enter, wait for the answer."""

    def type_and_wait(page: Any, query: str) -> None:
        with page.expect_response(lambda response: "/api/v1/search" in response.url):
            page.locator("#query").fill(query)
            page.keyboard.press("Enter")
        settled(page)

    return type_and_wait
