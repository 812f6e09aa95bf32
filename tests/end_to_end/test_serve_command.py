"""`isogloss serve` as a process: it starts, answers, follows the index, and ends well."""

import json
import os
import signal
import socket
import sys
import threading
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")

LINUX = "linux"
TOKEN = "a-token-of-tests-0123456789"


class Served:
    """A running service."""

    def __init__(self, process):
        self.process = process
        self.base = process.stdout.readline().decode().strip()
        assert self.base.startswith("http://127.0.0.1:"), process.stderr.read().decode()

    def ask(self, path, method="GET", body=None, **headers):
        """Status and JSON of an answer."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(
            f"{self.base}api/v1/{path}", data, {"Content-Type": "application/json", **headers}, method=method
        )
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def put(self, **document):
        return self.ask("documents", "PUT", document, Authorization=f"Bearer {TOKEN}")

    def found(self, query):
        status, answer = self.ask(f"search?q={query}")
        assert status == 200
        return [hit["id"] for hit in answer["hits"]]

    def stop(self, number=signal.SIGTERM):
        """The exit status and the lines of the log."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=120)
        return self.process.returncode, err.decode().splitlines()


@pytest.fixture
def serve(start, tiny_index):
    """Start a service on the tiny index, on a free port."""
    begun = []

    def begin(*arguments, env=None):
        process = start("serve", tiny_index, "--port", "0", *arguments, env=env)
        begun.append(process)
        return Served(process)

    yield begin
    for process in begun:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=120)


def test_it_says_where_it_is_answers_and_stops_on_a_signal(serve):
    served = serve()
    assert served.found("Brisevent")[:2] == ["f4", "f3"] or set(served.found("Brisevent")) == {"f3", "f4"}
    assert served.ask("health") == (200, {"live": True, "ready": True})
    assert served.ask("nothing")[0] == 404
    code, log = served.stop()
    assert code == 0
    assert log[0].startswith("serving ")
    lines = [json.loads(line) for line in log[1:]]
    assert all(line["event"] == "request" for line in lines)
    assert {"/api/v1/search", "/api/v1/health", "/api/v1/nothing"} == {line["path"] for line in lines}


def test_an_interrupt_ends_it_quietly(serve):
    served = serve("--quiet")
    served.found("Brisevent")
    assert served.stop(signal.SIGINT) == (0, [])


def test_documents_come_and_go_while_it_runs(serve, run, tiny_index, here):
    (here / "token").write_text(f"{TOKEN}\n")
    served = serve("--token-file", "token")
    odd = "a/b%20c?d=é&#"
    assert served.put(id=odd, text="Le phare Quillion éclaire la côte.", lang="fr")[0] == 200
    assert served.found("Quillion") == [odd]
    address = "documents/fr/a%2Fb%2520c%3Fd%3D%C3%A9%26%23"
    assert served.ask(address)[1]["id"] == odd
    assert served.ask(address, "DELETE")[0] == 401
    assert served.ask(address, "DELETE", Authorization=f"Bearer {TOKEN}")[0] == 200
    assert served.found("Quillion") == []
    assert json.loads(run("search", tiny_index, "Quillion", "--json", "-").out)["hits"] == []
    assert served.stop()[0] == 0


def test_what_is_being_written_when_it_stops_is_written(serve, run, tiny_index):
    served = serve(env={"ISOGLOSS_TOKEN": TOKEN})
    answers = []
    documents = {
        "documents": [{"id": f"n{number}", "text": f"Mot{number} Quillion", "lang": "fr"} for number in range(2000)]
    }

    def write():
        answers.append(served.ask("documents", "PUT", documents, Authorization=f"Bearer {TOKEN}"))

    writing = threading.Thread(target=write)
    writing.start()
    while served.ask("status")[0] == 200 and "isogloss_in_flight 2" not in _metrics(served):
        if not writing.is_alive():
            break
    code, _ = served.stop()
    writing.join(120)
    assert code == 0
    assert answers[0][0] == 200
    found = json.loads(run("search", tiny_index, "Mot1999", "--json", "-").out)["hits"]
    assert [hit["id"] for hit in found] == ["n1999"]
    assert run("delete", tiny_index, "n1999").code == 0, "the lock was left behind"


def _metrics(served):
    with urlopen(f"{served.base}api/v1/metrics", timeout=60) as answer:
        return answer.read().decode()


def _workers(served, count, without=None):
    """The processes that count, as soon as there are so many."""
    while True:
        lines = [line for line in _metrics(served).splitlines() if line.startswith("isogloss_resident_memory_bytes{")]
        pids = {int(line.split('"')[1]) for line in lines} - {without}
        if len(pids) == count:
            return pids


def test_several_workers_share_the_work_and_one_that_dies_is_replaced(serve):
    served = serve("--workers", "2", env={"ISOGLOSS_TOKEN": TOKEN})
    assert served.put(id="n1", text="Le phare Quillion.", lang="fr")[0] == 200
    assert all(served.found("Brisevent") for _ in range(10))
    first = _workers(served, 2)
    assert served.process.pid not in first
    killed = min(first)
    os.kill(killed, signal.SIGKILL)
    pids = _workers(served, 2, killed)
    assert len(pids & first) == 1
    assert served.found("Quillion") == ["n1"]
    assert 'isogloss_requests_total{method="GET",path="/api/v1/search",status="200"} 11.0\n' in _metrics(served)
    assert served.stop()[0] == 0
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_worker_that_cannot_be_replaced_leaves_the_others_at_work(serve, tiny_index):
    served = serve("--workers", "2")
    killed = min(_workers(served, 2))
    files = [tiny_index / "index.json", tiny_index / "index.copy.json"]
    manifest = files[0].read_bytes()
    for file in files:
        file.write_bytes(b"{}")
    os.kill(killed, signal.SIGKILL)
    while b"cannot start: " not in served.process.stderr.readline():
        assert served.process.poll() is None
    assert served.found("Brisevent")
    files[0].write_bytes(manifest)
    _workers(served, 2, killed)
    assert served.stop()[0] == 0


def test_a_header_without_end_is_refused(serve):
    served = serve("--quiet")
    host, port = served.base.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as client:
        client.sendall(b"GET /api/v1/search?q=" + b"a" * 1_000_000)
        assert client.recv(100).startswith(b"HTTP/1.1 4")
    assert served.found("Brisevent")


def test_what_cannot_be_served_is_reported_in_one_line(fails, tiny_index, here, monkeypatch):
    assert "no such index" in fails("serve", "nowhere")
    assert "port" in fails("serve", tiny_index, "--port", "70000")
    assert "seconds" in fails("serve", tiny_index, "--timeout", "never")
    assert "cannot listen" in fails("serve", tiny_index, "--host", "203.0.113.1", "--port", "0")
    assert "no such index" in fails("serve", tiny_index, "--compare", "nowhere", "--port", "0")
    (here / "short").write_text("secret")
    assert "at least 16" in fails("serve", tiny_index, "--token-file", "short")
    assert "missing" in fails("serve", tiny_index, "--token-file", "missing")
    monkeypatch.setenv("ISOGLOSS_TOKEN", "two words are no token")
    assert "ISOGLOSS_TOKEN" in fails("serve", tiny_index)


def test_a_missing_extra_is_named_before_the_work(fails, tiny_index, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "isogloss[serve]" in fails("serve", tiny_index)
    assert "isogloss[serve]" in fails("demo", "--serve")


def test_a_port_that_is_taken_is_reported_in_one_line(serve, fails, tiny_index):
    port = serve("--quiet").base.rstrip("/").rpartition(":")[2]
    assert "in use" in fails("serve", tiny_index, "--port", port)


def test_the_demo_is_served_where_that_is_wished(start):
    small = "import isogloss.cli.demo as demo; demo.LANGUAGES = {'fr': 'French'}; demo.SETTINGS = {'psq': {}}"
    with start("demo", "--system", "psq", "--serve", "--quiet", "--port", "0", script=small) as process:
        address = process.stdout.readline().decode().strip()
        assert address.startswith("http://")  # nothing was evaluated: it is the first line
        with urlopen(f"{address}api/v1/search?q=why+is+the+sea+salty&gloss=true", timeout=60) as answer:
            hits = json.loads(answer.read())["hits"]
            assert hits[0]["gloss"]["language"] == "en"
        with urlopen(f"{address}api/v1/status", timeout=60) as answer:
            status = json.loads(answer.read())
        assert status["compare"]["system"] == "bm25-dict"
        assert "how bees make honey" in status["examples"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_a_taken_port_is_reported_before_the_demo_makes_its_index(serve, fails, monkeypatch):
    monkeypatch.setattr("isogloss.index.making.make_index", None)
    port = serve("--quiet").base.rstrip("/").rpartition(":")[2]
    assert "in use" in fails("demo", "--serve", "--port", port)
    assert "--serve" in fails("demo", "--no-browser")


@pytest.mark.parametrize(
    ("display", "terminal", "platform", "opens"),
    [
        (":0", True, "linux", True),
        ("", True, "linux", False),
        (":0", False, "linux", False),
        ("", True, "darwin", True),
    ],
)
def test_a_browser_is_opened_only_for_somebody_who_sits_there(monkeypatch, display, terminal, platform, opens):
    from isogloss.cli.serve import can_browse

    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: terminal))
    assert can_browse() is opens
