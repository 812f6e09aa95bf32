"""The answers to the operations: decode, do the work in a thread, encode."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from isogloss.server.decoding import (
    JSON,
    LINES,
    content_type,
    document_body,
    parameters,
    read_body,
    search_body,
    search_request,
    struct_body,
)
from isogloss.server.guard import TRACE
from isogloss.server.limits import Limits
from isogloss.server.messages import (
    BatchRequest,
    ExplainRequest,
    GetParameters,
    HealthAnswer,
    NoParameters,
    SearchParameters,
    SearchRequest,
)
from isogloss.server.metrics import CONTENT_TYPE, Metrics
from isogloss.server.openapi import make_openapi
from isogloss.server.refusals import Refusal, json_response
from isogloss.server.service import Service, documents_of
from isogloss.server.work import WorkPool, too_much
from isogloss.server.writing import Writer

_T = TypeVar("_T")
_UNSURE = "the change took more than {:g} seconds; it may still be made: look before you try again"


class Endpoints:
    """One method for each operation of the table."""

    def __init__(
        self, service: Service, writer: Writer, searches: WorkPool, writes: WorkPool, metrics: Metrics,
        limits: Limits, token: str,
    ) -> None:  # fmt: skip
        self._service = service
        self._writer = writer
        self._searches = searches
        self._writes = writes
        self._metrics = metrics
        self._limits = limits
        self._token = token.encode()
        self._reading = 0

    async def search(self, request: Request) -> Response:
        """``GET /search``."""
        return await self._search(request, search_request(parameters(request.scope["query_string"], SearchParameters)))

    async def search_posted(self, request: Request) -> Response:
        """``POST /search``."""
        return await self._search(request, search_body(await self._body(request)))

    async def explain(self, request: Request) -> Response:
        """``GET /explain``."""
        asked = parameters(request.scope["query_string"], ExplainRequest)
        return json_response(await self._in_thread(request, lambda: self._service.explain(asked), asked.q))

    async def explain_posted(self, request: Request) -> Response:
        """``POST /explain``."""
        asked = struct_body(await self._body(request), ExplainRequest)
        return json_response(await self._in_thread(request, lambda: self._service.explain(asked), asked.q))

    async def get_document(self, request: Request) -> Response:
        """``GET /documents/{language}/{id}``."""
        asked = parameters(request.scope["query_string"], GetParameters)
        language, id_ = request.path_params["language"], request.path_params["id"]
        return json_response(await self._in_thread(request, lambda: self._service.get(language, id_, asked.index)))

    async def put_documents(self, request: Request) -> Response:
        """``PUT /documents``."""
        self._check_token(request)
        parameters(request.scope["query_string"], NoParameters)
        limits = self._limits
        body = await self._read(request, limits.document_bytes, limits.write_seconds, (JSON, LINES))
        kind = content_type(request)
        return json_response(await self._write(lambda: self._writer.add(document_body(body, kind))))

    post_documents = put_documents

    async def delete_document(self, request: Request) -> Response:
        """``DELETE /documents/{language}/{id}``."""
        self._check_token(request)
        parameters(request.scope["query_string"], NoParameters)
        language, id_ = request.path_params["language"], request.path_params["id"]
        return json_response(await self._write(lambda: self._writer.delete(language, id_)))

    async def status(self, request: Request) -> Response:
        """``GET /status``."""
        parameters(request.scope["query_string"], NoParameters)
        return json_response(await self._in_thread(request, lambda: self._service.status(bool(self._token))))

    async def health(self, request: Request) -> Response:
        """``GET /health``: it lives if it answers; it is ready unless it would have to refuse a search."""
        ready = not self._searches.full
        return json_response(HealthAnswer(True, ready), 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        """``GET /metrics``."""
        index = self._service.main.seen
        text = self._metrics.text(documents_of(index), index.generation)
        return Response(text, media_type=CONTENT_TYPE)

    async def openapi(self, request: Request) -> Response:
        """``GET /openapi.json``."""
        return Response(self._description, media_type=JSON)

    @cached_property
    def _description(self) -> bytes:
        return msgspec.json.encode(make_openapi())

    async def _search(self, request: Request, asked: SearchRequest | BatchRequest) -> Response:
        if isinstance(asked, BatchRequest):
            answer: Any = await self._in_thread(request, lambda: self._service.search_batch(asked), *asked.queries)
        else:
            answer = await self._in_thread(request, lambda: self._service.search(asked), asked.q)
        return json_response(answer)

    async def _body(self, request: Request) -> bytes:
        parameters(request.scope["query_string"], NoParameters)
        return await self._read(request, self._limits.search_bytes, self._limits.seconds, (JSON,))

    async def _read(self, request: Request, most: int, seconds: float, accepted: tuple[str, ...]) -> bytes:
        """A body; of so many at a time only as are worked on, since each takes memory before its work begins."""
        if self._reading >= self._limits.in_flight:
            raise too_much(self._limits.in_flight)
        self._reading += 1
        try:
            return await read_body(request, most, seconds, accepted)
        finally:
            self._reading -= 1

    async def _in_thread(self, request: Request, work: Callable[[], _T], *queries: str) -> _T:
        if queries:
            trace = request.scope[TRACE]
            trace.query_length = sum(map(len, queries))
            trace.query = "\n".join(queries)
        return await self._searches.run(work, self._limits.seconds)

    async def _write(self, work: Callable[[], _T]) -> _T:
        seconds = self._limits.write_seconds
        return await self._writes.run(work, seconds, _UNSURE.format(seconds))

    def _check_token(self, request: Request) -> None:
        if not self._token:
            what = "writing is off: the service was started without a token (--token-file or ISOGLOSS_TOKEN)"
            raise Refusal(403, what)
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), self._token)
        if kind.lower() != "bearer" or not right:
            what = "writing needs the header 'Authorization: Bearer TOKEN' with the token of this service"
            raise Refusal(401, what, {"WWW-Authenticate": "Bearer"})
