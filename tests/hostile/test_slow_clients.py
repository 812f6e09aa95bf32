"""Connections that bring nothing, bring it slowly, are too many, or do not take their answer."""

import asyncio
import json

import pytest
import uvicorn
from uvicorn.server import ServerState

from isogloss.server.limits import Limits
from isogloss.server.running import connections


class Loop:
    """A clock that a test moves by hand."""

    def __init__(self):
        self.now, self.waiting = 0.0, []

    def call_later(self, seconds, act, *arguments):
        handle = asyncio.TimerHandle(self.now + seconds, act, arguments, self)
        self.waiting.append(handle)
        return handle

    def _timer_handle_cancelled(self, handle):
        self.waiting.remove(handle)

    def get_debug(self):
        return False

    def call_exception_handler(self, context):
        raise AssertionError(context)

    def pass_seconds(self, seconds):
        self.now += seconds
        for handle in [one for one in self.waiting if one.when() <= self.now]:
            self.waiting.remove(handle)
            handle._run()

    def create_task(self, coroutine, **options):
        coroutine.close()  # requests of these tests are never answered
        return Task()


class Task:
    def add_done_callback(self, callback):
        pass


class Transport:
    """What was sent to the client, and whether the connection was ended."""

    def __init__(self, client="203.0.113.7"):
        self.client, self.sent, self.closed, self.aborted = client, b"", False, False

    def get_extra_info(self, name):
        return {"peername": (self.client, 4711), "sockname": ("127.0.0.1", 80)}.get(name)

    def write(self, data):
        self.sent += data

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


class Site:
    """A server that clients connect to."""

    def __init__(self, **limits):
        async def app(scope, receive, send):
            raise AssertionError("not called")

        self.loop, self.state = Loop(), ServerState()
        made = connections(Limits(header_seconds=10, send_seconds=30, **limits))
        self.config = uvicorn.Config(app, http=made, ws="none", log_config=None)
        self.config.load()

    def connect(self, client="203.0.113.7"):
        protocol = self.config.http_protocol_class(self.config, self.state, {}, self.loop)
        protocol.connection_made(Transport(client))
        return protocol


@pytest.fixture
def site():
    return Site()


def refusal(transport):
    head, _, body = transport.sent.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    assert transport.closed
    return int(head.split()[1]), json.loads(body)["error"]


def test_a_silent_connection_is_ended(site):
    silent = site.connect()
    site.loop.pass_seconds(9)
    assert not silent.transport.closed
    site.loop.pass_seconds(1)
    status, error = refusal(silent.transport)
    assert (status, error["code"]) == (408, "body_timeout")
    assert "within 10 seconds" in error["message"]


def test_a_header_that_comes_letter_by_letter_has_no_longer(site):
    slow = site.connect()
    for letter in b"GET /api/":
        slow.data_received(bytes([letter]))
        site.loop.pass_seconds(1)
    assert not slow.transport.closed
    site.loop.pass_seconds(1)
    assert refusal(slow.transport)[0] == 408


def test_a_request_that_came_whole_may_take_its_time(site):
    client = site.connect()
    client.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    site.loop.pass_seconds(1000)
    assert not client.transport.closed


def test_the_second_request_of_a_connection_has_the_same_limit(site):
    client = site.connect()
    client.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    client.cycle.response_complete = True
    client.data_received(b"GET / HT")
    site.loop.pass_seconds(10)
    assert refusal(client.transport)[0] == 408


def test_an_answer_that_nobody_takes_is_given_up(site):
    client = site.connect()
    client.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    client.pause_writing()
    site.loop.pass_seconds(29)
    client.resume_writing()
    client.pause_writing()
    site.loop.pass_seconds(29)
    client.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")  # sending does not count as reading
    assert not client.transport.closed
    site.loop.pass_seconds(1)
    assert client.transport.aborted


def test_one_address_has_so_many_connections_and_others_have_theirs():
    site = Site(connections_per_client=2, connections=4)
    asking, second = site.connect(), site.connect()
    for one in (asking, second):
        one.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    third = site.connect()
    status, error = refusal(third.transport)
    assert (status, error["code"]) == (503, "busy")
    assert "from this address" in error["message"]
    third.connection_lost(None)
    assert not site.connect("203.0.113.8").transport.closed
    assert not asking.transport.closed
    second.connection_lost(None)
    assert not site.connect().transport.closed


def test_all_together_have_so_many():
    site = Site(connections=3)
    asking = [site.connect(f"203.0.113.{number}") for number in range(3)]
    for one in asking:
        one.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert "too many connections;" in refusal(site.connect("203.0.113.9").transport)[1]["message"]
    assert not any(one.transport.closed for one in asking)


def test_a_new_connection_takes_the_place_of_the_one_that_was_silent_for_longest():
    site = Site(connections_per_client=3, connections=6)
    asking, silent, half = (site.connect() for _ in range(3))
    asking.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    half.data_received(b"GET / HT")
    assert not site.connect().transport.closed
    assert refusal(silent.transport)[0] == 503
    silent.connection_lost(None)
    assert not site.connect().transport.closed
    assert refusal(half.transport)[0] == 503
    assert not asking.transport.closed


def test_a_connection_between_two_requests_makes_room_without_a_word():
    site = Site(connections=2, connections_per_client=2)
    idle = site.connect()
    idle.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    idle.cycle.response_complete = True
    idle.on_response_complete()
    other = site.connect("203.0.113.8")
    assert not site.connect("203.0.113.9").transport.closed
    assert idle.transport.closed
    assert idle.transport.sent == b""
    assert not other.transport.closed


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/1.1\r\n no name\r\n\r\n", b"GET " + b"a" * 100_000]
)
def test_what_is_not_http_is_refused_in_json(site, data):
    client = site.connect()
    client.data_received(data)
    assert refusal(client.transport)[0] == 400
