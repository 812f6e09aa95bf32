"""A small index, and the service on it in this process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")

from starlette.testclient import TestClient

from isogloss.data.readers.jsonl import Jsonl
from isogloss.index.making import make_index
from isogloss.server.app import Settings, make_app

PAGES = (
    {"id": "f1", "lang": "fr", "title": "Sel", "text": "Le sel de la mer.", "fields": {"topic": "water"}},
    {"id": "f2", "lang": "fr", "title": "Vent", "text": "La mer et le vent.", "url": "https://example.org/vent"},
    {
        "id": "f3",
        "lang": "fr",
        "title": "Pain",
        "text": "Le pain, le sel, rien d'autre.",
        "fields": {"topic": "food"},
    },
    {"id": "a/b?c dé", "lang": "fr", "title": "<b>Étoile</b>", "text": "Une étoile <script>alert(1)</script>."},
    {"id": "i1", "lang": "it", "title": "Sale", "text": "Il sale di mare.", "fields": {"topic": "water"}},
    {"id": "i2", "lang": "it", "title": "Vento", "text": "Mare, vento e sale."},
)
LEXICONS = {
    "fr": "salt\tsel\nsea\tmer\nwind\tvent\nstar\tétoile\nbread\tpain\n",
    "it": "salt\tsale\nsea\tmare\nwind\tvento\n",
}


@pytest.fixture(scope="session")
def made_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that tests read and never change."""
    folder = tmp_path_factory.mktemp("served")
    pages = folder / "pages.jsonl"
    pages.write_text("".join(json.dumps(page) + "\n" for page in PAGES), encoding="utf-8")
    lexicon = folder / "words.tsv"
    lexicon.write_text("".join(LEXICONS.values()), encoding="utf-8")
    make_index(folder / "index", "bm25-dict", Jsonl(str(pages)), ["fr", "it"], settings={"lexicon": str(lexicon)})
    return folder / "index"


@pytest.fixture
def index(made_index: Path, tmp_path: Path) -> Path:
    """An index that a test may change."""
    shutil.copytree(made_index, tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def serving(made_index: Path, tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """Make a client of a service with some settings; a fault of the service is an answer, as it would be outside."""
    page = tmp_path / "page"
    (page / "app").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>a page</title>", encoding="utf-8")
    (page / "app" / "main.js").write_text("export {};", encoding="utf-8")
    (tmp_path / "secret.html").write_text("secret", encoding="utf-8")

    with ExitStack() as stack:

        def serve(index: Path = made_index, **settings: Any) -> TestClient:
            app = make_app(Settings(index, page=page, **settings))
            client = TestClient(app, "http://127.0.0.1", raise_server_exceptions=False)
            return stack.enter_context(client)

        yield serve


@pytest.fixture
def client(serving: Callable[..., TestClient]) -> TestClient:
    """A service without a token."""
    return serving()
