"""Processes and connections: uvicorn on a socket, in this process or in workers that are replaced when they die."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import parent_process
from pathlib import Path
from types import FrameType
from typing import Any, cast

import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors.multiprocess import SIGNALS, Multiprocess, Process

from isogloss.server.app import Settings, make_app
from isogloss.server.errors import Refusal, unavailable
from isogloss.server.guard import is_loopback
from isogloss.server.limits import HEADER_BYTES, Limits
from isogloss.server.log import flush, log_libraries, write_line
from isogloss.server.metrics import FOLDER
from isogloss.storage.errors import InputError

STOPS = (signal.SIGTERM, signal.SIGINT)
_BACKLOG = 2048  # connections that may wait to be accepted
_FEW = 8  # connections up to which a worker leaves the next one to another
_STEP = 0.0005  # seconds, for each that it has
_PAUSE = 0.1  # seconds after which it tries again, when the system gives none
_GRACE = 30  # seconds for requests that were being answered when the service was told to stop
_LAST_WAIT = 60.0  # seconds for the workers to finish what they have begun
_SILENCE = 30  # seconds without a sign of life after which a worker is killed and replaced
_LONGEST_PAUSE = 30.0  # seconds between two attempts to replace a worker that does not start
_PROVEN = 30.0  # seconds after which a worker that answers counts as well
_FAILED = 3  # exit status of a worker that could not start


def serve(
    path: str | Path, host: str = "127.0.0.1", port: int = 8000, *, workers: int = 1, supervised: bool = False,
    announce: Callable[[str], object] = print, hosts: Collection[str] = (), **settings: Any,
) -> None:  # fmt: skip
    """Serve an index until SIGTERM or SIGINT; then take no new requests, finish those that run, and return.

    ``announce`` is called with the address as soon as clients can connect. On a loopback address the service answers
    to the names of loopback and to ``hosts``, elsewhere to any name. Several workers, or one that is ``supervised``,
    are processes of their own, which are replaced when they die; a program that wants that begins with ``if __name__
    == "__main__"``. Other arguments, such as ``token`` (without one nobody can write) and ``compare``, are those of
    :class:`isogloss.server.app.Settings`.
    """
    answered = frozenset(map(str.lower, hosts)) if is_loopback(host) else None
    limits = settings.pop("limits", None) or Limits()
    made = Settings(Path(path), hosts=answered, limits=limits.shared_by(workers), **settings)
    with listen(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        if workers > 1 or supervised:
            make_app(made).state.backend.service.close()  # an index that cannot be opened is reported here, once
            announce(address)
            _serve_in_workers(made, listener, workers)
        else:
            serve_on(listener, made, lambda server: announce(address))


def serve_on(
    listener: socket.socket, settings: Settings, before: Callable[[uvicorn.Server], object] = lambda server: None
) -> None:
    """Serve on a socket in this process; ``before`` is called once the index is open."""
    log_libraries()
    app = make_app(settings)
    config = uvicorn.Config(
        app, http=connections(settings.limits), ws="none", lifespan="on", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=settings.limits.idle_seconds, h11_max_incomplete_event_size=HEADER_BYTES,
    )  # fmt: skip
    server = Server(config)

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True  # uvicorn has handlers of its own while it runs, and calls these when it has ended

    handlers = {number: signal.signal(number, stop) for number in STOPS}
    try:
        before(server)
        server.run(sockets=[listener])
        if app.state.backend.busy:
            # A search that nobody waits for any more, or segments being merged, must not keep the process.
            flush()
            sys.stdout.flush()
            os._exit(0)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


class Server(uvicorn.Server):
    """uvicorn's server, which accepts connections one by one.

    After each it waits, the longer the more of a few it has, so that another worker takes the next. asyncio's own way
    takes all that are there, and a few clients that keep their connections then share one worker: two workers with
    bridge answered 8 clients 72 to 185 times a second, by chance.
    """

    _accepting: tuple[asyncio.Task[None], ...] = ()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._accepting = tuple(asyncio.create_task(self._accept(listener)) for listener in sockets or ())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._accepting:
            task.cancel()
        await super().shutdown(sockets)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        while True:
            connection = None
            try:
                connection, _ = await loop.sock_accept(listener)
                await loop.connect_accepted_socket(self._protocol, connection)
            except Exception as error:  # too many open files, say; whatever it is, the next has to be accepted
                if connection is not None:
                    connection.close()
                write_line("error", message=f"a connection cannot be accepted: {type(error).__name__}: {error}")
                await asyncio.sleep(_PAUSE)
            count = len(self.server_state.connections)
            await asyncio.sleep(_STEP * count if count <= _FEW else 0)

    def _protocol(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        return cast(
            asyncio.Protocol,
            kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state),
        )


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


class Connection(H11Protocol):
    """uvicorn's connection, with limits on what a client may keep open: how many, and for how long without progress.

    A header must come whole within ``header_seconds`` of its first letter, or of the connection; a client that reads
    nothing for ``send_seconds`` is cut off. uvicorn itself ends connections that are idle between two requests. Where
    there are too many, of one client or of all, the one that has waited longest without a whole header makes room for
    the new one: so silent connections keep nobody out.
    """

    limits = Limits()
    open_by_client: Counter[str]
    waiting: dict[Connection, str]
    """The connections without a whole header, the oldest first, and their clients."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        name = self._client_name
        self.open_by_client[name] += 1
        if self.open_by_client[name] > self.limits.connections_per_client and not self._made_room(name):
            self._refuse(Refusal(503, "there are too many connections from this address; try again in a moment"))
        elif len(self.connections) > self.limits.connections and not self._made_room():
            self._refuse(Refusal(503, "there are too many connections; try again in a moment"))
        else:
            self.waiting[self] = name
            self._arm(self.limits.header_seconds, self._header_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self.waiting.pop(self, None)
        name = self._client_name
        self.open_by_client[name] -= 1
        if self.open_by_client[name] <= 0:
            del self.open_by_client[name]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.waiting.pop(self, None)
            if not self.flow.write_paused:
                self._disarm()  # the body has its own limit, where it is read
        elif self._timer is None and not self.transport.is_closing():
            self._arm(self.limits.header_seconds, self._header_is_late)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self.waiting[self] = self._client_name

    def pause_writing(self) -> None:
        super().pause_writing()
        self._arm(self.limits.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._disarm()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(Refusal(400, "this is not HTTP that can be read, or its header is too long"))

    @property
    def _client_name(self) -> str:
        return self.client[0] if self.client else ""

    def _made_room(self, client: str | None = None) -> bool:
        """Whether a connection, of this client or of any, could be ended for a new one."""
        oldest = next((one for one, name in self.waiting.items() if client in (None, name)), None)
        if oldest is None:
            return False
        del self.waiting[oldest]
        if oldest.cycle is None:
            oldest._refuse(Refusal(503, "there are too many connections; this one was silent for longest"))
        else:
            oldest.transport.close()  # between two requests an answer would be taken for that to the next
        return True

    def _arm(self, seconds: float, act: Callable[[], None]) -> None:
        self._disarm()
        self._timer = self.loop.call_later(seconds, act)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _header_is_late(self) -> None:
        self._timer = None
        self._refuse(Refusal(408, f"the header did not come within {self.limits.header_seconds:g} seconds"))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer without a request, and close."""
        self._disarm()
        if self.transport.is_closing():
            return
        body = refusal.response("").body
        head = f"HTTP/1.1 {refusal.status_code} Refused\r\nContent-Type: application/json\r\nConnection: close\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + bytes(body))
        self.transport.close()


def connections(limits: Limits) -> type[Connection]:
    """The class of the connections of one server."""
    most = min(limits.connections, _descriptors())
    limits = replace(limits, connections=most, connections_per_client=min(limits.connections_per_client, most // 2))
    return type("LimitedConnection", (Connection,), {"limits": limits, "open_by_client": Counter(), "waiting": {}})


def _descriptors() -> int:
    """How many connections the limit of open files allows: half of it is for the index and for new connections."""
    import resource  # not on every system

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(2, limit // 2 - _FEW)


def _serve_in_workers(settings: Settings, listener: socket.socket, count: int) -> None:
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    folder_before = os.environ.get(FOLDER)
    with tempfile.TemporaryDirectory(prefix="isogloss-serve-") as shared:
        os.environ[FOLDER] = shared  # for the workers, which count together there
        try:
            Supervisor(settings, listener, count, shared).run()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.environ.pop(FOLDER)
            if folder_before is not None:
                os.environ[FOLDER] = folder_before


class Worker(Process):
    """A worker process on the shared socket."""

    def __init__(self, settings: Settings, config: uvicorn.Config, listener: socket.socket) -> None:
        self._settings = settings
        super().__init__(config, [listener])

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        def began(server: uvicorn.Server) -> None:
            self._server = server

        assert sockets is not None
        threading.Thread(target=self.always_pong, daemon=True).start()
        threading.Thread(target=_follow_parent, daemon=True).start()
        try:
            serve_on(sockets[0], self._settings, began)
        except InputError as error:
            write_line("worker", pid=os.getpid(), message=f"cannot start: {error}")
            flush()
            sys.exit(_FAILED)


def _follow_parent() -> None:
    """Stop when the supervisor is gone, however it went."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class StandIn:
    """Answers on the socket of the workers, in a thread, while none of them can start."""

    def __init__(self, listener: socket.socket, limits: Limits) -> None:
        self._listener, self._limits = listener, limits
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Answer, if that is not so already."""
        if self._thread is not None:
            return
        config = uvicorn.Config(
            _unavailable, http=connections(self._limits), ws="none", lifespan="off", log_config=None, access_log=False,
            server_header=False, proxy_headers=False, timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=HEADER_BYTES,
        )  # fmt: skip
        self._server = Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener.dup()],), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Answer no more."""
        if self._thread is not None and self._server is not None:
            self._server.should_exit = True
            self._thread.join()
            self._thread = self._server = None


async def _unavailable(scope: Scope, receive: Receive, send: Send) -> None:
    """What every request is answered while no worker can open the index."""
    if scope["path"].endswith("/health"):
        response = Response(b'{"live":true,"ready":false}', 503, media_type="application/json")
    else:
        response = unavailable().response("")
    response.headers["Connection"] = "close"
    await response(scope, receive, send)


class Supervisor(Multiprocess):
    """uvicorn's supervisor, which goes on with the workers it has when the replacement of a dead one does not start.

    uvicorn's own ends the service then, although the other workers answer. Attempts go on, with pauses that double
    until a worker has answered for a while; only where no worker has ever been ready there is nothing to go on with.
    While no worker can start, this process answers that the index cannot be opened.
    """

    def __init__(
        self, settings: Settings, listener: socket.socket, count: int, shared: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        handlers = {number: signal.getsignal(number) for number in SIGNALS if number not in STOPS}
        super().__init__(uvicorn.Config("", workers=count, log_config=None), [listener])
        for number, handler in handlers.items():  # of uvicorn's signals only those that stop are taken
            signal.signal(number, handler)
        self._settings, self._shared, self._clock = settings, shared, clock
        self._seen: dict[int, float] = {}
        self._failures: Counter[int] = Counter()
        self._due: dict[int, float] = {}
        self._was_ready = False
        self._begun: dict[int, float] = {}
        self._stand_in = StandIn(listener, settings.limits)

    def run(self) -> None:
        """Supervise until told to stop."""
        try:
            super().run()
        finally:
            self._stand_in.stop()
            self.terminate_all()
            self.join_all()

    def init_processes(self) -> None:
        """Start the workers."""
        self.processes = [self._start(slot) for slot in range(self.processes_num)]

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that have died, each as soon as that is due."""
        for slot, process in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if slot not in self._due and not self._lives(slot, process):
                self._bury(slot, process)
            if slot in self._due and self._clock() >= self._due[slot]:
                del self._due[slot]
                self.processes[slot] = self._start(slot)
        if len(self._due) == len(self.processes):
            if not self._was_ready:
                raise InputError("no worker could start; the log says why")
            self._stand_in.start()

    def join_all(self) -> None:
        """Wait for the workers to finish what they have begun, but not for ever."""
        until = time.monotonic() + _LAST_WAIT
        for process in self.processes:
            process.process.join(max(0.0, until - time.monotonic()))
            if process.exitcode is None:
                process.kill()
                process.join()

    def new_worker(self) -> Process:
        """A worker that is not yet started."""
        return Worker(self._settings, self.config, self.sockets[0])

    def _start(self, slot: int) -> Process:
        worker = self.new_worker()
        worker.start()
        self._seen[slot] = self._begun[slot] = self._clock()
        return worker

    def _lives(self, slot: int, process: Process) -> bool:
        """Whether a worker runs and gives signs of life."""
        if not process.process.is_alive():
            return False
        if process.is_ready(1):
            self._was_ready = True
            self._stand_in.stop()
            if self._clock() - self._begun[slot] >= _PROVEN:
                self._failures[slot] = 0
        elif not process.ping(1):
            return self._clock() - self._seen[slot] < _SILENCE
        self._seen[slot] = self._clock()
        return True

    def _bury(self, slot: int, process: Process) -> None:
        process.kill()
        process.join()
        self._was_ready |= process.exitcode is not None and process.exitcode < 0  # a signal: it had opened the index
        failures = self._failures[slot]
        pause = min(_LONGEST_PAUSE, 2.0**failures) if process.exitcode == _FAILED or failures else 0.0
        self._failures[slot] += 1
        self._due[slot] = self._clock() + pause
        if process.pid is not None:
            mark_process_dead(process.pid, self._shared)  # type: ignore[no-untyped-call]
        write_line("worker", pid=process.pid, status=process.exitcode, message="died; another takes its place")
