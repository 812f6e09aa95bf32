"""The page is served from the same process, and nothing that is not of it."""

import re

import pytest

from isogloss.server.app import PAGE


def test_the_page_comes_with_its_protection(client):
    answer = client.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "a page" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get("/app/main.js").headers["content-type"].startswith("text/javascript")
    assert client.head("/index.html").status_code == 200


def test_a_browser_that_has_the_newest_page_gets_304(client):
    etag = client.get("/").headers["etag"]
    again = client.get("/", headers={"If-None-Match": f'"other", {etag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.html", "/app/../../secret.html", "/%2e%2e/secret.html", "/..%2fsecret.html", "//etc/passwd", "/app",
        "/app/", "/app/main.js/", "/app\\main.js", "/index.html%00", "/%00", "/%ff", "/.", "/app/%2e%2e/index.html",
        "/etc/passwd", "/INDEX.HTML", "/index.html%0a",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(client, path):
    answer = client.get(f"http://127.0.0.1{path}")
    assert answer.status_code == 404 or answer.text in (client.get("/").text, client.get("/app/main.js").text)
    assert "secret" not in answer.text
    assert "root:" not in answer.text


def test_the_page_of_the_package_names_no_other_host():
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    assert PAGE / "index.html" in files
    for path in files:
        found = set(re.findall(rb"(?:https?:)?//[a-z0-9-]+\.[a-z0-9./-]+", path.read_bytes()))
        assert {name for name in found if not name.startswith(b"http://www.w3.org/")} == set(), path
