"""A translator behind HTTP: a stand-in that answers well, badly, too much, too late, or elsewhere."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from isogloss.storage.errors import InputError
from isogloss.translation.http_translator import HttpTranslator
from isogloss.translation.machine import open_machine_translator


class StandIn(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.waiting = [], threading.Event()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, asked))
        text = asked["q"][0]
        if text == "elsewhere":
            return self._answer(b"", 302, {"Location": f"{self.server.address}/other/translate"})
        if text == "silent":
            self.server.waiting.wait()
            return None
        if text == "refused":
            return self._answer(json.dumps({"error": "no \x1b[31mkey"}).encode(), 403)
        answers = {
            "large": b" " * (5 << 20),
            "none": b"not json",
            "few": b'{"translatedText": []}',
            "one": b'{"translatedText": "one"}',
            "numbers": b'{"translatedText": [1]}',
        }
        said = [f"{each.upper()}\x1b[2J\n!" for each in asked["q"]]
        return self._answer(answers.get(text) or json.dumps({"translatedText": said}).encode())

    def do_GET(self):
        self.server.requests.append((self.path, None))
        self._answer(b"{}")

    def _answer(self, body, status=200, headers=()):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def service(monkeypatch):
    monkeypatch.delenv("ISOGLOSS_TRANSLATOR_KEY", raising=False)
    made = StandIn()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.waiting.set()
    made.shutdown()
    thread.join()
    made.server_close()


def test_texts_are_asked_for_once_and_come_back_as_plain_lines(service):
    made = HttpTranslator(service.address, "fr", "en")
    assert made.translate(["la mer", "42", "", "le sel", "la mer"]) == [
        "LA MER [2J !", "42", "", "LE SEL [2J !", "LA MER [2J !",
    ]  # fmt: skip
    ((path, asked),) = service.requests
    assert path == "/translate"
    assert asked == {"q": ["la mer", "le sel"], "source": "fr", "target": "en", "format": "text"}
    assert made.name == service.address.removeprefix("http://")


def test_many_texts_are_asked_for_in_several_requests(service):
    texts = [f"{'x' * 500} {number}" for number in range(60)]
    made = HttpTranslator(f"{service.address}/translate", "fr", "en").translate(texts)
    assert len(made) == 60 and len(service.requests) == 2


def test_the_key_is_sent_and_never_shown(service, monkeypatch):
    monkeypatch.setenv("ISOGLOSS_TRANSLATOR_KEY", "secret")
    with pytest.raises(InputError) as raised:
        HttpTranslator(service.address, "fr", "en").translate(["refused"])
    assert service.requests[0][1]["api_key"] == "secret"
    assert "it answered 403: no [31mkey" in str(raised.value) and "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "text, why",
    [
        ("large", "more than 4,194,304 bytes"),
        ("none", "could not translate"),
        ("few", "no list of 1 translations"),
        ("one", "no list of 1 translations"),
        ("numbers", "no list of 1 translations"),
        ("elsewhere", "it answered 302"),
    ],
)
def test_a_bad_answer_is_an_error_in_one_line(service, text, why):
    with pytest.raises(InputError, match=why) as raised:
        HttpTranslator(service.address, "fr", "en").translate([text])
    assert "\n" not in str(raised.value)
    assert [path for path, _ in service.requests] == ["/translate"], "no redirection is followed"


def test_a_service_that_says_nothing_is_not_waited_for(service):
    with pytest.raises(InputError, match="timed out"):
        HttpTranslator(service.address, "fr", "en", seconds=0.05).translate(["silent"])


def test_where_nobody_listens_the_error_says_so(service):
    with pytest.raises(InputError, match="is its address right"):
        HttpTranslator("http://127.0.0.1:9", "fr", "en").translate(["la mer"])


@pytest.mark.parametrize("address", ["http://", "http:///x", "https://user:pass@example.org"])
def test_an_address_that_is_none_is_an_error(address):
    with pytest.raises(InputError, match="address") as raised:
        open_machine_translator(address, "fr", "en")
    assert "pass@" not in str(raised.value)
