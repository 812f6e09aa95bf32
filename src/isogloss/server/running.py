"""One process of the service: a socket, a server on it, and an end that loses nothing."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from isogloss.server.app import Settings, make_app
from isogloss.server.limits import HEADER_BYTES
from isogloss.server.request_log import flush, log_libraries
from isogloss.storage.errors import InputError

STOPS = (signal.SIGTERM, signal.SIGINT)
_BACKLOG = 2048
_CONNECTIONS = 1000  # open at once, in a process
_GRACE = 30  # seconds for requests that were being answered when the service was told to stop


def serve(settings: Settings, host: str, port: int, workers: int, announce: Callable[[str], None]) -> None:
    """Serve until told to stop (SIGTERM or SIGINT): then take nothing new, finish what was begun, and return.

    ``announce`` is called with the address as soon as clients may come.
    """
    from isogloss.server.workers import Supervisor

    with listen(host, port) as listener:
        address = _address(host, listener)
        if workers > 1:
            make_app(settings).state.service.close()  # what is wrong with the index is said here, once
            announce(address)
            Supervisor(settings, listener, workers).run()
        else:
            serve_on(listener, settings, lambda: announce(address))


def serve_on(listener: socket.socket, settings: Settings, announce: Callable[[], None] = lambda: None) -> None:
    """Serve on a socket in this process."""
    log_libraries()
    app = make_app(settings)
    server = uvicorn.Server(_config(app))

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True  # uvicorn has handlers of its own while it runs, and calls these when it has ended

    before = {number: signal.signal(number, stop) for number in STOPS}
    try:
        announce()
        server.run(sockets=[listener])
        app.state.writes.close(wait=True)
        if app.state.searches.in_flight or app.state.writer.busy:
            # A search that nobody waits for any more, or segments being merged, must not keep the process.
            flush()
            sys.stdout.flush()
            os._exit(0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """A socket on which clients can already wait; port 0 takes a free one."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as undo:
            listener = undo.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            listener.listen(_BACKLOG)
            undo.pop_all()
            return listener
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--host {host} --port {port}: the service cannot listen there ({reason})") from error


def _address(host: str, listener: socket.socket) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/"


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app, http="h11", ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
        proxy_headers=False, backlog=_BACKLOG, limit_concurrency=_CONNECTIONS, timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )  # fmt: skip
