"""The service as one ASGI application: FastAPI's routes and the queues in which requests are worked on."""

from __future__ import annotations

import asyncio
import gc
import hmac
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Query
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

import isogloss
from isogloss.search.reranking import load_reranker
from isogloss.server import models
from isogloss.server.errors import STATUSES, ErrorAnswer, Refusal, fault_refusal, input_refusal, validation_refusal
from isogloss.server.guard import TRACE, Guard
from isogloss.server.limits import CHEAP, TRANSLATED, Limits, Shares, WorkPool, cost_of, too_much
from isogloss.server.log import flush
from isogloss.server.memory import SMALL, MemoryBudget
from isogloss.server.metrics import CONTENT_TYPE, EXAMPLE, Metrics
from isogloss.server.models import JSON, LINES
from isogloss.server.presenting import encoded
from isogloss.server.service import Service, Writer
from isogloss.storage.errors import DamagedFileError, InputError

PAGE = Path(__file__).parent / "page"
PREFIX = "/api/v1"
_DESCRIPTION = (
    "Search documents in one language with queries in another. Reading is open; writing needs a bearer token. Every "
    "answer carries an X-Request-Id, which is the caller's where the caller sent one."
)
_DOCUMENT = f"{PREFIX}/documents/{{language}}/{{id:anything}}"
_NO_PARAMETERS = Depends(models.no_parameters)
_BEARER = HTTPBearer(scheme_name="token", auto_error=False)
_REFERENCE = "#/components/schemas/{model}"
_UNSURE = "the change took more than {:g} seconds; it may still be made: check before you try again"
_SWITCH_SECONDS = 0.0005  # a thread that computes lets the event loop go on after so long
_CHUNK = 1 << 18  # bytes of a long answer that are sent at once
_ANY = (400, 421, 422, 500, 503)
_WORK = (*_ANY, 404, 504)
_BODY = (408, 413, 415)
_WRITE = (401, 403, 409, 507)
_T = TypeVar("_T")


@dataclass(frozen=True)
class Settings:
    """How a service is run.

    ``rerank``: a run or a cross-encoder by which the first ``rerank_depth`` hits are re-ranked. ``translator``: what
    translates snippets for readers who ask for glosses (:mod:`isogloss.translation.machine`). ``hosts``: names it
    answers to besides those of loopback; None for any name. ``examples``: queries that the page suggests.
    """

    index: Path
    compare: Path | None = None
    rerank: str | None = None
    rerank_depth: int = 50
    translator: str = ""
    token: str = ""
    hosts: Collection[str] | None = ()
    limits: Limits = field(default_factory=Limits)
    log: bool = True
    log_queries: bool = False
    page: Path = PAGE
    examples: tuple[str, ...] = ()


class Backend:
    """The service and its queues: cheap requests, expensive ones and writes each have their own."""

    def __init__(self, settings: Settings) -> None:
        limits = settings.limits
        reranker = load_reranker(settings.rerank, settings.rerank_depth) if settings.rerank else None
        self.limits = limits
        self.service = Service(
            settings.index, settings.compare, limits, reranker, settings.translator, settings.examples
        )
        self.writer = Writer(self.service.main)
        self.metrics = Metrics(lambda: self.service.main.seen)
        self.writable = bool(settings.token)
        self._cheap = WorkPool(limits.threads, limits.searches)
        self._dear = WorkPool(1, limits.dear_in_flight, lambda: self._cheap.in_flight > 0)
        self._writes = WorkPool(1, limits.writes_in_flight)
        self._decoding = WorkPool(1, limits.bodies)
        self._documents = WorkPool(1, limits.searches)
        self.memory = MemoryBudget(limits.held_bytes)
        self._reading: Counter[str] = Counter()
        self._readers = Shares()
        self._closing = False
        sys.setswitchinterval(_SWITCH_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether a thread still works."""
        return bool(self._cheap.in_flight or self._dear.in_flight or self.writer.busy)

    @property
    def ready(self) -> bool:
        """Whether a search would be taken now, and a thread is free of late work to do it."""
        return self._cheap.ready and not self._closing

    async def search(self, http: Request, work: Callable[[], BaseModel], cost: float = 0.0) -> Response:
        """The answer of a search or another read, made and encoded in a thread of the queue for its cost."""
        pool = self._cheap if cost <= CHEAP else self._dear
        return _json_response(await pool.run(lambda: encoded(work()), self.limits.seconds, client=_client_of(http)))

    async def write(self, work: Callable[[], BaseModel]) -> Response:
        """The answer to a change; a change that takes too long is completed all the same."""
        seconds = self.limits.write_seconds
        late = _UNSURE.format(seconds)
        return _json_response(await self._writes.run(lambda: encoded(work()), seconds, late, may_stop=False))

    async def document(self, http: Request, work: Callable[[], BaseModel]) -> Response:
        """A document, which may be large: one after the other is read and encoded."""
        client = _client_of(http)
        body = await self._documents.run(lambda: encoded(work(), brief=True), self.limits.seconds, client=client)
        return _json_response(body)

    async def decoded(self, http: Request, body: bytearray, decode: Callable[[bytearray], _T]) -> _T:
        """A body as a model; a large one is decoded on a thread, one after the other."""
        if len(body) <= SMALL:
            return decode(body)
        return await self._decoding.run(lambda: decode(body), self.limits.seconds, client=_client_of(http))

    async def read(self, request: Request, most: int, seconds: float, accepted: tuple[str, ...] = (JSON,)) -> bytearray:
        """A body; not too many are read at a time, nor too many of one client, nor too much of all together."""
        client, bodies = _client_of(request), self.limits.bodies
        self._readers.ask(client)
        if self._reading.total() >= bodies or self._reading[client] >= self._readers.most(client, bodies):
            raise too_much()
        self._reading[client] += 1
        try:
            hold = partial(self.memory.take, request.scope[TRACE])
            return await models.read_body(request, most, seconds, accepted, hold)
        finally:
            self._reading[client] -= 1
            self._reading += Counter()  # without those that have none

    async def close(self) -> None:
        """Start nothing more; return when the writes that have started are done."""
        self._closing = True
        for pool in (self._cheap, self._dear, self._decoding, self._documents):
            pool.close(wait=False)
        await asyncio.to_thread(self._writes.close, wait=True)
        self.service.close()
        await asyncio.to_thread(flush)


class Application(FastAPI):
    """FastAPI, with the bodies that the routes decode themselves in its OpenAPI document."""

    def openapi(self) -> dict[str, Any]:
        if not self.openapi_schema:
            schemas = super().openapi()["components"]["schemas"]
            _, made = models_json_schema([(body, "validation") for body in models.BODIES], ref_template=_REFERENCE)
            schemas.update(made["$defs"])
        return super().openapi()


def make_app(index: Path | Settings) -> FastAPI:
    """The application that serves an index."""
    settings = index if isinstance(index, Settings) else Settings(index)
    backend = Backend(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(backend.service.warm)
        gc.collect()
        gc.freeze()  # what a service keeps is not looked through again: every 5 s that stopped all searches for .13 s
        yield
        await backend.close()

    app = Application(
        title="isogloss", version=isogloss.__version__, description=_DESCRIPTION, openapi_url=None, docs_url=None,
        redoc_url=None, redirect_slashes=False, dependencies=[Depends(models.check_address)],
        generate_unique_id_function=lambda route: route.name, lifespan=lifespan, separate_input_output_schemas=False,
        exception_handlers={
            InputError: _input_error, HTTPException: _http_error, RequestValidationError: _validation_error,
            DamagedFileError: _fault, OSError: _fault, MemoryError: _fault,
        },
    )  # fmt: skip
    app.add_middleware(
        Guard, metrics=backend.metrics, release=backend.memory.release, hosts=settings.hosts, log=settings.log,
        log_queries=settings.log_queries,
    )  # fmt: skip
    app.state.backend = backend
    _add_reading(app, backend)
    _add_writing(app, backend, settings.token.encode())
    _add_state(app, backend)
    files = StaticFiles(directory=settings.page, html=True)

    async def page(request: Request) -> Response:
        """A file of the page; browsers ask each time whether theirs is still the newest."""
        scope = request.scope  # which the response reads too: a file is small, it is given whole
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
        response = await files.get_response(files.get_path(scope), scope)
        response.headers["Cache-Control"] = "no-cache"
        return response

    app.router.routes.append(Route("/{path:no_operation}", page, methods=["GET"]))
    return app


def _add_reading(app: FastAPI, backend: Backend) -> None:
    service, limits = backend.service, backend.limits

    async def search_for(http: Request, request: models.SearchRequest, cost: float) -> Response:
        _note_queries(http, [request.q])
        cost += TRANSLATED * request.k if request.gloss and service.translator else 0
        return await backend.search(http, lambda: service.search(request), cost)

    async def explained(http: Request, request: models.ExplainParameters) -> Response:
        _note_queries(http, [request.q])
        return await backend.search(http, lambda: service.explain(request), cost_of([request.q], 0, explained=1))

    @app.get(f"{PREFIX}/search", response_model=models.SearchAnswer, responses=_errors(_WORK))
    async def search(http: Request, parameters: Annotated[models.SearchParameters, Query()]) -> Response:
        """The best documents for a query."""
        request = models.search_request(parameters)
        return await search_for(http, request, _search_cost(request))

    @app.post(
        f"{PREFIX}/search", response_model=models.SearchAnswer | models.BatchAnswer, dependencies=[_NO_PARAMETERS],
        responses=_errors((*_WORK, *_BODY)), openapi_extra=_body(models.SearchRequest, models.BatchRequest),
    )  # fmt: skip
    async def search_posted(http: Request) -> Response:
        """The best documents for a query, or for each of many."""
        body = await backend.read(http, limits.search_bytes, limits.seconds)
        request, cost = await backend.decoded(http, body, _search_and_cost)
        if isinstance(request, models.SearchRequest):
            return await search_for(http, request, cost)
        _note_queries(http, request.queries)
        return await backend.search(http, partial(service.search_batch, request), cost)

    @app.get(f"{PREFIX}/explain", response_model=models.ExplainAnswer, responses=_errors(_WORK))
    async def explain(http: Request, parameters: Annotated[models.ExplainParameters, Query()]) -> Response:
        """What made the score of a document for a query."""
        return await explained(http, parameters)

    @app.post(
        f"{PREFIX}/explain", response_model=models.ExplainAnswer, responses=_errors((*_WORK, *_BODY)),
        dependencies=[_NO_PARAMETERS], openapi_extra=_body(models.ExplainRequest),
    )  # fmt: skip
    async def explain_posted(http: Request) -> Response:
        """What made the score of a document for a query."""
        body = await backend.read(http, limits.search_bytes, limits.seconds)
        return await explained(
            http, await backend.decoded(http, body, lambda body: models.model_body(body, models.ExplainRequest))
        )

    @app.get(_DOCUMENT, response_model=models.DocumentAnswer, responses=_errors(_WORK))
    async def get_document(
        http: Request, language: str, id: str, query: Annotated[models.DocumentParameters, Query()]
    ) -> Response:
        """A document by its language and id (percent-encoded)."""
        return await backend.document(http, lambda: service.get(language, id, query))


def _add_writing(app: FastAPI, backend: Backend, token: bytes) -> None:
    limits, writer = backend.limits, backend.writer

    async def check_token(sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]) -> None:
        if not token:
            what = "writing is off: the service was started without a token (--token-file or ISOGLOSS_TOKEN)"
            raise Refusal(403, what)
        if sent is None or not hmac.compare_digest(sent.credentials.strip().encode("utf-8", "surrogateescape"), token):
            what = "writing needs the header 'Authorization: Bearer TOKEN' with the token of this service"
            raise Refusal(401, what, {"WWW-Authenticate": "Bearer"})

    guarded = [Depends(check_token), _NO_PARAMETERS]
    documents: dict[str, Any] = {
        "response_model": models.AddAnswer, "responses": _errors((*_WORK, *_BODY, *_WRITE)), "dependencies": guarded,
        "openapi_extra": _body(models.DocumentMessage, models.DocumentsRequest),
    }  # fmt: skip

    @app.put(f"{PREFIX}/documents", **documents)
    async def put_documents(http: Request) -> Response:
        """Add documents, or replace those of the same language and id; on disk when it is answered."""
        body = await backend.read(http, limits.document_bytes, limits.write_seconds, (JSON, LINES))
        kind = models.media_type(http)
        return await backend.write(lambda: writer.add(models.document_body(body, kind)))

    @app.post(f"{PREFIX}/documents", **documents)
    async def post_documents(http: Request) -> Response:
        """The same as PUT."""
        return await put_documents(http)

    @app.delete(
        _DOCUMENT, response_model=models.DeleteAnswer, responses=_errors((*_WORK, *_WRITE)), dependencies=guarded
    )
    async def delete_document(language: str, id: str) -> Response:
        """Delete a document; gone when it is answered."""
        return await backend.write(lambda: writer.delete(language, id))


def _add_state(app: FastAPI, backend: Backend) -> None:
    @app.get(
        f"{PREFIX}/status", response_model=models.StatusAnswer, responses=_errors(_WORK), dependencies=[_NO_PARAMETERS]
    )
    async def status(http: Request) -> Response:
        """The documents and limits of the service."""
        return await backend.search(http, lambda: backend.service.status(backend.writable))

    not_ready = {"model": models.HealthAnswer, "description": "It would refuse a search"}

    @app.get(
        f"{PREFIX}/health", response_model=models.HealthAnswer, responses={**_errors(_ANY), 503: not_ready}
    )  # fmt: skip
    async def health() -> Response:
        """Whether the process lives and whether it can search."""
        ready = backend.ready
        return _json_response(encoded(models.HealthAnswer(live=True, ready=ready)), 200 if ready else 503)

    text = {"content": {"text/plain": {"schema": {"type": "string"}, "example": EXAMPLE}}}

    @app.get(f"{PREFIX}/metrics", response_class=Response, responses={**_errors(_ANY), 200: text})
    async def metrics() -> Response:
        """Counts and durations for Prometheus."""
        return Response(backend.metrics.text(), media_type=CONTENT_TYPE)

    description = {"content": {JSON: {"schema": {"type": "object"}, "example": {"openapi": "3.1.0"}}}}

    @app.get(f"{PREFIX}/openapi.json", response_class=Response, responses={**_errors(_ANY), 200: description})
    async def openapi() -> Response:
        """The description of the service (OpenAPI)."""
        return Response(to_json(app.openapi()), media_type=JSON)


class _Anything(PathConvertor):
    """The ids of documents: any characters, line ends too."""

    regex = r"[\s\S]*"


class _NoOperation(PathConvertor):
    """Any path outside of the API."""

    regex = r"(?!api/)[\s\S]*"


register_url_convertor("anything", _Anything())
register_url_convertor("no_operation", _NoOperation())


def _errors(statuses: Iterable[int]) -> dict[int | str, dict[str, Any]]:
    """The errors of an operation, for its OpenAPI description."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        code, meaning, sentence = STATUSES[status]
        example = {"error": {"code": code, "message": sentence, "request_id": "5f3a9c01"}}
        described[status] = {"model": ErrorAnswer, "description": meaning, "content": {JSON: {"example": example}}}
    return described


def _body(*models: type[BaseModel]) -> dict[str, Any]:
    """The body of an operation, as OpenAPI describes it."""
    schemas = [{"$ref": _REFERENCE.format(model=model.__name__)} for model in models]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def _search_and_cost(body: bytearray) -> tuple[models.SearchRequest | models.BatchRequest, float]:
    request = models.search_body(body)
    if isinstance(request, models.BatchRequest):
        return request, cost_of(request.queries, request.k)
    return request, _search_cost(request)


def _search_cost(request: models.SearchRequest) -> float:
    explained, glossed = (request.k if wanted else 0 for wanted in (request.explain, request.gloss))
    counted = 10 + 2 * len(request.facets) if request.facets else 0  # milliseconds, as the others
    return cost_of([request.q], request.k, request.offset, explained, glossed) + counted


def _client_of(http: Request) -> str:
    """The address of a client."""
    return http.client.host if http.client else ""


def _note_queries(http: Request, queries: list[str]) -> None:
    """For the log."""
    trace = http.scope[TRACE]
    trace.query_length = sum(map(len, queries))
    trace.query = "\n".join(queries)


def _json_response(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type=JSON) if len(body) <= _CHUNK else LongAnswer(body, status)


class LongAnswer(StreamingResponse):
    """A long answer goes in chunks, so that the server does not hold it twice, and counts as long as it is held."""

    def __init__(self, body: bytes, status: int) -> None:
        self._length = len(body)

        async def chunks() -> AsyncIterator[memoryview]:
            whole = memoryview(body)
            for begin in range(0, len(body), _CHUNK):
                yield whole[begin : begin + _CHUNK]
                await asyncio.sleep(0)  # others are answered too, and a client that has gone is noticed

        super().__init__(chunks(), status, {"Content-Length": str(len(body))}, JSON)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"].state.backend.memory.take(scope[TRACE], self._length)
        await super().__call__(scope, receive, send)


async def _input_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, InputError)
    return input_refusal(error).response(request.scope[TRACE].request_id)


async def _fault(request: Request, error: Exception) -> Response:
    return fault_refusal(error).response(request.scope[TRACE].request_id)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return validation_refusal(error.errors()).response(request.scope[TRACE].request_id)


async def _http_error(request: Request, error: Exception) -> Response:
    """A refusal of ours, or one of the router, which has neither our messages nor all methods of an address."""
    assert isinstance(error, HTTPException)
    if not isinstance(error, Refusal):
        sentence = {
            404: f"there is nothing here; the page is at / and the service under {PREFIX}",
            405: f"this address does not take {request.method[:20]}",
        }.get(error.status_code, error.detail)
        headers = {"Allow": ", ".join(_methods(request))} if error.status_code == 405 else error.headers
        error = Refusal(error.status_code, sentence, headers)
    return error.response(request.scope[TRACE].request_id)


def _methods(request: Request) -> list[str]:
    found = {
        method
        for route in request.app.routes
        if route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods
    }
    return sorted(found | ({"HEAD"} if "GET" in found else set()))
