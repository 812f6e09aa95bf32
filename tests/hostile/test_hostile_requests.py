"""Whatever bytes somebody sends to a running service: an answer in time, in JSON, and never the service's fault."""

import json
import os
import shutil
import sys
from collections import Counter

import pytest
from tests.hostile.requests import hostile_requests
from tests.hostile.running import Running

from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index

COUNT = int(os.environ.get("ISOGLOSS_HOSTILE", "400"))  # `make soak` sends more, to bridge
FILES = 160  # that the service may have open


@pytest.fixture(scope="module")
def service(made_index, tmp_path_factory):
    index = tmp_path_factory.mktemp("attacked") / "index"
    if COUNT > 1000:
        make_index(index, "bridge", Demo(), ["fr"])
    else:
        shutil.copytree(made_index, index)
    running = Running(index, files=FILES)
    running.get("/api/v1/search?q=salt")
    yield running
    assert running.stop() == 0


def test_every_request_is_answered_and_none_is_a_fault(service):
    statuses = Counter()
    for request in hostile_requests(COUNT):
        answer = service.send(request)
        statuses[answer.status] += 1
        assert answer.status == 0 or answer.status // 100 in (2, 3, 4) or answer.status == 503, (request[:2000], answer)
        if answer.status >= 400 and not request.startswith(b"HEAD"):
            assert answer.body, (request[:300], answer.head[:600])
            assert json.loads(answer.body)["error"]["message"], (request[:2000], answer)
    assert service.get("/api/v1/health").body == b'{"live":true,"ready":true}'
    assert service.process.poll() is None
    assert statuses[200] > COUNT / 20, statuses
    sys.stdout.write(f"{COUNT} requests, answers by status: {dict(sorted(statuses.items()))}\n")


@pytest.mark.parametrize("sent", [b"", b"GET /api/v1/health HTTP/1.1\r\nHost: local"], ids=["silent", "half a header"])
def test_more_connections_than_files_keep_nobody_out(service, sent):
    held = []
    try:
        for number in range(2 * FILES):
            held.append(service.connect(f"127.0.0.{10 + number % 10}"))
            held[-1].sendall(sent)
        for client in ("127.0.0.1", "127.0.0.10", "127.0.0.99"):
            assert service.get("/api/v1/search?q=salt", client).status == 200
    finally:
        for connection in held:
            connection.close()
    assert service.get("/api/v1/search?q=salt").status == 200


def test_clients_that_do_not_read_and_slow_bodies_keep_nobody_out(service):
    post = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    openapi = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held = []
    try:
        for number, sent in enumerate([post + b"4000000\r\n\r\n" + b" " * 70_000] * 20 + [openapi * 50] * 10):
            held.append(service.connect(f"127.0.0.{10 + number % 3}"))
            held[-1].sendall(sent)
        assert service.get("/api/v1/search?q=salt", "127.0.0.99").status == 200
        assert service.send(post + b'13\r\n\r\n{"q": "salt"}', "127.0.0.99").status == 200
    finally:
        for connection in held:
            connection.close()
