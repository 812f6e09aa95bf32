"""Time, number and log of requests."""

import errno
import json
import os
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from prometheus_client.multiprocess import mark_process_dead

from isogloss.server.app import make_app
from isogloss.server.limits import Limits, Shares
from isogloss.server.log import LineWriter, flush
from isogloss.server.running import Server, connections, listen

SEARCH = "/api/v1/search"


@pytest.fixture
def gate(monkeypatch):
    """Searches begin, say so, and wait until they are let through."""
    from isogloss.server.service import Service

    begun, let = threading.Semaphore(0), threading.Event()
    answer = Service.search

    def waiting(self, request):
        if request.q == "wait":
            begun.release()
            assert let.wait(10)
        return answer(self, request)

    monkeypatch.setattr(Service, "search", waiting)
    yield begun, let
    let.set()


def test_a_search_that_takes_too_long_is_answered_so_and_others_go_on(serving, gate):
    client = serving(limits=Limits(seconds=0.05, threads=2))
    late = client.get(SEARCH, params={"q": "wait"})
    assert (late.status_code, late.json()["error"]["code"]) == (504, "timeout")
    assert client.get("/api/v1/health").status_code == 200


def test_what_is_too_much_is_refused_until_something_is_done(serving, gate):
    begun, let = gate
    client = serving(limits=Limits(seconds=60, in_flight=2, threads=2))
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(client.get, SEARCH, params={"q": "wait"}) for _ in range(2)]
        for _ in waiting:
            assert begun.acquire(timeout=60)
        refused = client.get(SEARCH, params={"q": "salt"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        assert client.get("/api/v1/health").json() == {"live": True, "ready": False}
        assert "isogloss_in_flight 3.0" in client.get("/api/v1/metrics").text
        let.set()
        assert [one.result().status_code for one in waiting] == [200, 200]
    assert client.get(SEARCH, params={"q": "salt"}).status_code == 200
    assert client.get("/api/v1/health").json() == {"live": True, "ready": True}


def test_a_search_that_was_given_up_counts_until_it_ends(serving, gate):
    begun, _ = gate
    client = serving(limits=Limits(seconds=0.05, in_flight=1, threads=1))
    assert client.get(SEARCH, params={"q": "wait"}).status_code == 504
    assert begun.acquire(timeout=60)
    assert client.get(SEARCH, params={"q": "salt"}).status_code == 503


def test_the_metrics_count_what_happened(client):
    for query in ("salt", "sea", ""):
        client.get(SEARCH, params={"q": query})
    client.get("/api/v1/documents/fr/f1")
    client.get("/a/path/that/is/not/there")
    text = client.get("/api/v1/metrics").text
    assert 'isogloss_requests_total{method="GET",path="/api/v1/search",status="200"} 2.0\n' in text
    assert 'isogloss_requests_total{method="GET",path="/api/v1/search",status="422"} 1.0\n' in text
    assert 'isogloss_requests_total{method="GET",path="/api/v1/documents/{language}/{id}",status="200"} 1.0\n' in text
    assert 'isogloss_requests_total{method="GET",path="other",status="404"} 1.0\n' in text
    assert 'isogloss_request_seconds_count{path="/api/v1/search"} 3.0\n' in text
    assert 'isogloss_request_seconds_bucket{le="+Inf",path="/api/v1/search"} 3.0\n' in text
    assert 'isogloss_documents{language="fr"} 4.0\n' in text
    assert float(re.search(r"isogloss_resident_memory_bytes{pid=\"\d+\"} ([0-9.e+]+)", text)[1]) > 1 << 20
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) [a-z_]+ .+|[a-z_]+({[^\n]*})? [0-9.e+-]+", line), line


COUNTING = """
from isogloss.server.metrics import Metrics

class Index:
    generation = 3
    class manifest:
        documents = {"fr": 4}

metrics = Metrics(Index)
for _ in range(2):
    metrics.began()
    metrics.ended("/a", "GET", 200, 0.01)
metrics.began()
print(metrics.text().decode())
"""


def test_workers_count_together_and_what_a_dead_one_counted_is_kept(tmp_path):
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}

    def worker():
        return subprocess.check_output([sys.executable, "-c", COUNTING], env=environment, text=True)

    assert 'isogloss_requests_total{method="GET",path="/a",status="200"} 2.0\n' in worker()
    for file in tmp_path.glob("gauge_live*.db"):  # what the supervisor does when a worker has died
        mark_process_dead(int(file.stem.rpartition("_")[2]), str(tmp_path))
    text = worker()
    assert 'isogloss_requests_total{method="GET",path="/a",status="200"} 4.0\n' in text
    assert "isogloss_in_flight 1.0\n" in text
    assert text.count("isogloss_resident_memory_bytes{pid=") == 1


def logged(capfd):
    flush()
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    return [line for line in lines if line["event"] == "request"]


def test_the_log_has_a_line_a_request_without_the_query(client, capfd):
    client.get(SEARCH, params={"q": "salt \x1b[31m"}, headers={"X-Request-Id": "mine"})
    (line,) = logged(capfd)
    assert (line["id"], line["method"], line["path"], line["status"]) == ("mine", "GET", SEARCH, 200)
    assert line["query_length"] == 10
    assert line["ms"] >= 0
    assert "query" not in line
    assert line["time"].endswith("+00:00")


def test_the_log_has_the_query_where_that_is_wished(serving, capfd):
    serving(log_queries=True).post(SEARCH, json={"queries": ["salt", "sea"]})
    assert logged(capfd)[0]["query"] == "salt\nsea"
    serving(log=False).get(SEARCH, params={"q": "salt"})
    assert logged(capfd) == []


def test_a_log_that_nobody_reads_stops_nothing(monkeypatch):
    let, written = threading.Event(), []

    def stuck(line):
        assert let.wait(60)
        written.append(line)

    monkeypatch.setattr("isogloss.server.log._write_out", stuck)
    monkeypatch.setattr("isogloss.server.log._MOST_LINES", 5)
    writer = LineWriter()
    for number in range(100):
        writer.put(b"%d\n" % number)
    writer.flush(0.01)
    assert written == []
    let.set()
    writer.flush(60)
    writer.put(b"last\n")
    writer.flush(60)
    assert written[0].endswith(b"0\n")
    assert written[-1].endswith(b"last\n")
    assert len(written) <= 8
    assert b"lines were lost" in b"".join(written)


def test_workers_share_the_cores_and_a_short_queue_goes_with_the_threads():
    whole = Limits(threads=8)
    assert [whole.shared_by(workers).threads for workers in (1, 2, 3, 8, 20)] == [8, 4, 2, 1, 1]
    assert whole.shared_by(8).searches < whole.searches
    assert Limits(threads=8, in_flight=7).shared_by(4).searches == 7


def test_who_asks_on_although_refused_waits_for_the_refusal_until_he_stops_for_a_while():
    now = [0.0]
    shares = Shares(lambda: now[0])
    assert shares.refuse("honest") == 0
    waits = [shares.refuse("greedy") for _ in range(1000)]
    assert (waits[0], waits[-1] > 0) == (0, True)
    assert shares.refuse("honest") == 0
    now[0] = 10.0
    assert shares.refuse("greedy") == 0


def test_a_connection_that_cannot_be_made_does_not_keep_the_next_out(index, monkeypatch):
    made = Server._protocol
    faults = [ValueError("a fault of ours"), OSError(errno.EMFILE, "Too many open files")]

    def sometimes(self):
        if faults:
            raise faults.pop()
        return made(self)

    monkeypatch.setattr(Server, "_protocol", sometimes)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    started = []
    thread = threading.Thread(target=serve_in_thread, args=(listener, index, started))
    thread.start()
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            try:
                received = connection.recv(100)
            except ConnectionError:
                received = b""
    started[0].should_exit = True
    thread.join()
    assert not faults
    assert received.startswith(b"HTTP/1.1 200")


def serve_in_thread(listener, index, started):
    app = make_app(index)
    config = uvicorn.Config(app, http=connections(Limits()), log_config=None, access_log=False)
    started.append(Server(config))
    started[0].run(sockets=[listener])
