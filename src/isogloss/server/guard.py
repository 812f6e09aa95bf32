"""Middleware around every request: its id, the check of the host name, security headers, metrics, the log."""

from __future__ import annotations

import ipaddress
import re
import secrets
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from time import perf_counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from isogloss.server.errors import Refusal
from isogloss.server.log import write_line
from isogloss.server.metrics import Metrics

TRACE = "isogloss.trace"
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_CSP = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


@dataclass
class Trace:
    """The record of a request for the log."""

    request_id: str
    started: float = field(default_factory=perf_counter)
    status: int = 0
    query_length: int | None = None
    query: str | None = None
    held: int = 0


def is_loopback(host: str) -> bool:
    """Whether an address or name is this machine's own, which nobody else can reach.

    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


class Guard:
    """The outermost layer. ``release`` is called when a request is answered.

    ``hosts``: the host names that are answered; None if any name will do.

    A page elsewhere can have its own name point to 127.0.0.1 and would then be of the same origin as this service, so
    on loopback only loopback's names are answered.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, release: Callable[[Trace], None], hosts: Collection[str] | None,
        log: bool, log_queries: bool,
    ) -> None:  # fmt: skip
        self._app, self._metrics, self._release, self._hosts = app, metrics, release, hosts
        self._log, self._log_queries = log, log_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        wished = headers.get("x-request-id", "")
        trace = Trace(wished if _SANE_ID.fullmatch(wished) else secrets.token_hex(8))
        method = scope["method"]
        scope = {
            **scope,
            TRACE: trace,
            "method": "GET" if method == "HEAD" else method,
        }  # no body is sent then

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                trace.status = message["status"]
                marked = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    marked.setdefault(name, value)
                marked["X-Request-Id"] = trace.request_id
            await send(message)

        self._metrics.began()
        try:
            await self._answer(scope, receive, send_marked, headers, trace)
        finally:
            self._release(trace)
            self._note(scope, method, trace)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, headers: Headers, trace: Trace) -> None:
        try:
            self._check_host(headers.get("host", ""))
            await self._app(scope, receive, send)
        except Refusal as refusal:
            await refusal.response(trace.request_id)(scope, receive, send)
        except Exception:
            write_line("error", id=trace.request_id, path=scope["path"], traceback=traceback.format_exc())
            if not trace.status:
                fault = Refusal(500, "something went wrong here; the log of the service says what")
                await fault.response(trace.request_id)(scope, receive, send)

    def _check_host(self, host: str) -> None:
        if self._hosts is None:
            return
        name = re.sub(r":\d*\Z", "", host).lower()
        if not (is_loopback(name) or name in self._hosts):
            raise Refusal(421, f"this service does not answer to the name {name[:100]!r}; start it with --allow-host")

    def _note(self, scope: Scope, method: str, trace: Trace) -> None:
        seconds = perf_counter() - trace.started
        self._metrics.ended(getattr(scope.get("route"), "path_format", ""), method, trace.status, seconds)
        if self._log:
            write_line(
                "request", id=trace.request_id, method=method, path=scope["path"], status=trace.status,
                ms=round(seconds * 1000, 3), query_length=trace.query_length,
                query=trace.query if self._log_queries else None,
            )  # fmt: skip
