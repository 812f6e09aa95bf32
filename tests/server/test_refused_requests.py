"""What the service does not take, and how it says so."""

import pytest

from isogloss.server.limits import BATCH, DEPTH, MOST_HITS, QUERY_LENGTH, Limits
from isogloss.server.log import flush

SEARCH = "/api/v1/search"


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "request_id"}
    assert error["request_id"] == answer.headers["x-request-id"]
    assert all(word in error["message"] for word in words), error
    assert "\n" not in error["message"]
    return error


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({}, "q"),
        ({"q": ""}, "empty"),
        ({"q": " \t\n "}, "empty"),
        ({"q": "x" * (QUERY_LENGTH + 1)}, "q"),
        ({"q": "salt", "k": 0}, "k"),
        ({"q": "salt", "k": MOST_HITS + 1}, "k"),
        ({"q": "salt", "k": "many"}, "k"),
        ({"q": "salt", "k": "9" * 4000}, "k"),
        ({"q": "salt", "offset": -1}, "offset"),
        ({"q": "salt", "offset": DEPTH - 5, "k": 10}, "offset"),
        ({"q": "salt", "lang": "xx"}, "xx"),
        ({"q": "salt", "lang": "../.."}, "lang"),
        ({"q": "salt", "filter": "no colon"}, "filter"),
        ({"q": "salt", "filter": ["a:1", "a:2"]}, "two values"),
        ({"q": "salt", "explain": "perhaps"}, "explain"),
        ({"q": "salt", "qq": "pepper"}, "qq"),
        ({"q": ["salt", "pepper"]}, "twice"),
        ({"q": "salt", "index": "third"}, "index"),
        ({"q": "salt", "explain": "1", "k": 101}, "explain"),
    ],
)
def test_wrong_parameters_are_named(client, params, word):
    refused(client.get(SEARCH, params=params), 422, word)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"salt", 400),
        (b'{"q": "salt"', 400),
        (b'{"q": "\\ud800"}', 400),
        (b'{"q": "\xed\xa0\x80"}', 400),
        (b"[" * 100_000, 422),
        (b'{"q":' * 100_000 + b"1" + b"}" * 100_000, 422),
        (b'{"q": "salt", "k": NaN}', 400),
        (b'{"q": "salt", "k": ' + b"9" * 10_000 + b"}", 400),
        (b'{"q": "salt", "q": "pepper"}', 422),
        (b'{"queries": [' + b'"salt",' * 20_000, 413),
        (b"[]", 422),
        (b"null", 422),
        (b'{"q": 1}', 422),
        (b'{"q": "salt", "k": 1e400}', 422),
        (b'{"q": "salt", "filters": {"a": 1}}', 422),
        (b'{"queries": []}', 422),
        (b'{"queries": ["salt", ""]}', 422),
        (b'{"queries": ["salt"], "q": "salt"}', 422),
    ],
)
def test_bodies_that_cannot_be_read_or_done(client, body, status):
    refused(client.post(SEARCH, content=body, headers={"Content-Type": "application/json"}), status)


def test_a_batch_has_a_limit(client):
    refused(client.post(SEARCH, json={"queries": ["salt"] * (BATCH + 1)}), 422, "queries")


def test_a_body_is_json(client):
    refused(client.post(SEARCH, data={"q": "salt"}), 415, "application/json")


def test_a_large_body_is_refused_while_it_comes(serving):
    client = serving(limits=Limits(search_bytes=1000))
    headers = {"Content-Type": "application/json"}
    refused(client.post(SEARCH, content=b" " * 2000, headers=headers), 413, "1000")

    sent = []

    def endless():
        while len(sent) < 1000:
            sent.append(1)
            yield b" " * 100

    refused(client.post(SEARCH, content=endless(), headers=headers), 413, "1000")
    assert client.post(SEARCH, json={"q": "salt"}).status_code == 200


def test_unknown_addresses_and_methods(client):
    refused(client.get("/api/v1/nothing"), 404)
    refused(client.get("/api/v1/search/"), 404)
    answer = client.patch(SEARCH)
    refused(answer, 405, "PATCH")
    assert "GET" in answer.headers["allow"]
    assert "access-control-allow-origin" not in client.get(SEARCH, headers={"Origin": "https://example.org"}).headers


def test_only_names_of_loopback_are_answered_there(serving):
    client = serving(hosts=frozenset({"search.example.org"}))
    for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:80", "[::1]:8000", "127.9.9.9", "search.example.org:443"):
        assert client.get("/api/v1/status", headers={"Host": host}).status_code == 200, host
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "", "8.8.8.8", "127.0.0.1@x"):
        refused(client.get("/api/v1/status", headers={"Host": host}), 421, "--allow-host")
    anyone = serving(hosts=None)
    assert anyone.get("/api/v1/status", headers={"Host": "evil.example"}).status_code == 200


def test_request_ids_are_kept_if_they_are_sane(client):
    assert client.get("/api/v1/health", headers={"X-Request-Id": "abc-1.2_3"}).headers["x-request-id"] == "abc-1.2_3"
    for odd in ("a b", "x" * 65, "é", '"}', ""):
        given = client.get("/api/v1/health", headers={"X-Request-Id": odd.encode()}).headers["x-request-id"]
        assert given != odd
        assert given.isalnum()


def test_a_fault_of_the_service_is_an_answer_without_its_inside(client, monkeypatch, capfd):
    def fail(*arguments):
        raise ZeroDivisionError("the inside")

    monkeypatch.setattr("isogloss.server.service.Service.search", fail)
    error = refused(client.get(SEARCH, params={"q": "salt"}), 500)
    assert "inside" not in error["message"]
    flush()
    assert "the inside" in capfd.readouterr().err
