"""Requests that somebody means ill with: some by name, any number more by chance, as the bytes that are sent."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from urllib.parse import quote

from tests.hostile.queries import hostile_queries
from tests.hostile.running import TOKEN

_GET = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
_POST = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_BODY = b'{"q": "salt", "k": 1}'

NAMED = (
    _GET + b"X: " + b"a" * 200_000 + b"\r\n\r\n", _GET + b"a:\r\n" * 12_000 + b"\r\n", _GET + b"X: a\0b\r\n\r\n",
    _GET + b"X: a\rb\r\n\r\n", _GET + b"X: a\r\n b\r\nConnection: close\r\n\r\n", (_GET + b"\r\n") * 50,
    _GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n",
    _GET + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
    _GET + b"Content-Length: 500000\r\n\r\n", _GET.replace(b"\r\n", b"\n") + b"\n", _GET + b"Host: evil\r\n\r\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1\r\n%c\r\n" % one for one in _BODY) + b"0\r\n\r\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\n15;" + b"a" * 100_000 + b"\r\n" + _BODY + b"\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    _POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n15\r\n" + _BODY + b"\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    _POST + b"Content-Length: 5\r\nContent-Length: 21\r\n\r\n" + _BODY, _POST + b"Content-Length: -1\r\n\r\n" + _BODY,
    _POST + b"Content-Length: +21\r\n\r\n" + _BODY, _POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + _BODY,
    _POST + b"Content-Length: 21\r\nExpect: 100-continue\r\n\r\n" + _BODY,
    _POST + b"Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n",
    _POST + b"Content-Length: 21\r\nContent-Encoding: gzip\r\n\r\n" + _BODY,
    b"GET /api/v1/health HTTP/1.0\r\n\r\n", b"GET /api/v1/health\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=9999999-\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"\r\n" * 100,
    b"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=a-b\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00" + b"a" * 500,
    b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x00" * 1000,
    b"A" * 5000 + b" / HTTP/1.1\r\n\r\n",
)  # fmt: skip
_METHODS = ("GET",) * 8 + ("POST",) * 3 + ("PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "get", "X" * 300)
_PATHS = (
    "search", "search", "search", "explain", "documents", "documents", "documents/fr/f1", "documents/fr/", "status",
    "health", "metrics", "openapi.json", "nothing", "../search", "search/", "documents/../status",
)  # fmt: skip
_NAMES = ("q", "k", "offset", "lang", "filter", "query_lang", "explain", "index", "language", "id", "reranked", "x")
_KINDS = (
    "application/json",
    "application/x-ndjson",
    "text/plain",
    "multipart/form-data; boundary=x",
    "",
    "\xff",
    "a/b" * 99,
)
_HEADERS = (
    "Host: evil.example", "Accept-Encoding: gzip, br", "Range: bytes=0-0,5-", "If-None-Match: *", "Origin: null",
    "X-Request-Id: \x7f", "Cookie: a=b", "Content-Encoding: br", "Expect: 100-continue",
    "Connection: close, keep-alive",
    "X-Forwarded-For: 127.0.0.1", "X-HTTP-Method-Override: DELETE", "Authorization: Bearer",
    "Authorization: Basic eDp4",
    f"Authorization: Bearer {TOKEN}", f"Authorization: Bearer {TOKEN}", "Transfer-Encoding: chunked",
    "Content-Length: 3",
)  # fmt: skip


def hostile_requests(count: int, seed: int = 0) -> Iterator[bytes]:
    """So many hostile requests, the named ones first."""
    yield from NAMED[:count]
    chance = random.Random(seed)
    texts = [text[:2000] for text in hostile_queries(1000)]
    for _ in range(count - len(NAMED)):
        yield _damaged(_request(chance, texts), chance)


def _request(chance: random.Random, texts: list[str]) -> bytes:
    path = "/api/v1/" + chance.choice(_PATHS) if chance.random() < 0.9 else "/" + _address(chance.choice(texts)[:200])
    if chance.random() < 0.6:
        names = [chance.choice(_NAMES) for _ in range(chance.choice((1, 2, 3, 30)))]
        path += "?" + "&".join(f"{name}={_address(_value(chance, texts))}" for name in ["q", *names])
    headers = [chance.choice(_HEADERS) for _ in range(chance.choice((0, 0, 1, 2)))]
    body = _body(chance, texts) if chance.random() < 0.6 else b""
    if body:
        headers += [f"Content-Type: {chance.choice(_KINDS[:2] if chance.random() < 0.8 else _KINDS)}"]
        headers += [f"Content-Length: {len(body)}"] if chance.random() < 0.95 else []
    if chance.random() < 0.3:
        headers.append(f"Authorization: Bearer {TOKEN}")
    lines = [f"{chance.choice(_METHODS)} {path} HTTP/1.1", "Host: localhost", *headers]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body


def _address(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _value(chance: random.Random, texts: list[str]) -> str:
    plain = (
        "salt",
        "the sea and the wind",
        "fr",
        "10",
        "1000",
        "-1",
        "f1",
        "topic:water",
        "main",
        "compare",
        "true",
        "en",
    )
    return chance.choice(plain) if chance.random() < 0.6 else chance.choice(texts)


def _body(chance: random.Random, texts: list[str]) -> bytes:
    kind = chance.random()
    if kind < 0.1:
        return chance.randbytes(chance.choice((1, 100, 5000)))
    if kind < 0.2:
        return chance.choice((b"[", b"{", b'{"a":', b'"', b"1", b"{}\n", b"\n", b"[],", b"\xff")) * chance.choice(
            (1, 9, 99_999)
        )
    names = (
        "q",
        "queries",
        "k",
        "documents",
        "id",
        "text",
        "lang",
        "title",
        "fields",
        "links",
        "url",
        "filters",
        "explain",
    )
    record = {name: _json(chance, texts, 0) for name in chance.sample(names, chance.choice((1, 2, 4)))}
    if kind < 0.6:
        record |= {"id": _value(chance, texts), "text": _value(chance, texts)}
        record.pop("documents", None)
    return json.dumps(record, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def _json(chance: random.Random, texts: list[str], depth: int) -> object:
    kind = chance.random()
    if kind < 0.4 or depth > 3:
        return _value(chance, texts)
    if kind < 0.6:
        return chance.choice((None, True, 0, -1, 5, 10**30, 1e308, float("nan"), float("inf"), 0.5))
    inner = [_json(chance, texts, depth + 1) for _ in range(chance.choice((0, 1, 3)))]
    return inner if kind < 0.8 else {chance.choice(texts)[:50]: value for value in inner}


def _damaged(request: bytes, chance: random.Random) -> bytes:
    """Most requests as they are; some cut, some with bytes changed or repeated."""
    kind, place = chance.random(), chance.randrange(len(request))
    if kind < 0.8:
        return request
    if kind < 0.87:
        return request[:place]
    if kind < 0.95:
        return request[:place] + chance.randbytes(3) + request[place + 3 :]
    return request[:place] + request[place : place + 50] * 20 + request[place:]
