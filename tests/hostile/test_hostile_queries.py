"""Whatever somebody sends is answered, in JSON, and is never the service's fault."""

import json
import os
import random

import pytest
from tests.hostile.queries import hostile_address, hostile_queries

from isogloss.server.errors import ErrorAnswer
from isogloss.server.models import SearchAnswer

COUNT = int(os.environ.get("ISOGLOSS_HOSTILE", "120"))  # `make soak` sends more


@pytest.fixture(scope="module", autouse=True)
def told_apart():
    """A wrong import path would otherwise make this test of nothing."""
    assert len(list(hostile_queries(COUNT))) == COUNT


def check(answer):
    assert answer.status_code in (200, 400, 413, 414, 422), (answer.status_code, answer.text[:300])
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    (SearchAnswer if answer.status_code == 200 else ErrorAnswer).model_validate_json(answer.content)
    return answer.status_code


def test_hostile_queries_in_addresses(client):
    chance, seen = random.Random(1), set()
    for query in hostile_queries(COUNT):
        if len(query) <= 20_000:  # what is longer never gets past the header
            seen.add(check(client.get(f"/api/v1/search?q={hostile_address(query, chance)}")))
    assert seen >= {200, 422}


def test_hostile_queries_in_bodies(client):
    seen = set()
    for query in hostile_queries(COUNT):
        body = json.dumps({"q": query, "explain": True}).encode()
        seen.add(check(client.post("/api/v1/search", content=body, headers={"Content-Type": "application/json"})))
    assert seen >= {200, 400, 422}


def test_hostile_ids_languages_and_filters(client):
    for query in hostile_queries(COUNT // 4):
        text = query[:500].encode("utf-8", "replace").decode()
        for url, params in (
            ("/api/v1/explain", {"q": "salt", "language": "fr", "id": text}),
            ("/api/v1/explain", {"q": "salt", "language": text, "id": "f1"}),
            ("/api/v1/search", {"q": "salt", "filter": f"topic:{text}"}),
            ("/api/v1/search", {"q": "salt", "filter": text}),
            ("/api/v1/search", {"q": "salt", "query_lang": text[:30]}),
            ("/api/v1/search", {"q": "salt", text: text}),
        ):
            answer = client.get(url, params=params)
            assert answer.status_code in (200, 400, 404, 422), (params, answer.text)
            json.loads(answer.text)


def test_markup_in_documents_stays_text(client):
    hits = client.get("/api/v1/search", params={"q": "star"}).json()["hits"]
    assert hits[0]["title"] == "<b>Étoile</b>"
    assert "".join(part["text"] for part in hits[0]["snippet"]) == "Une étoile <script>alert(1)</script>."
