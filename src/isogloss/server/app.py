"""The service as one ASGI application.

Starlette and msgspec rather than FastAPI: behind the same search Starlette answered 394 requests a second and FastAPI
327, it starts sooner and installs less; msgspec checks what comes in and makes the schemas of the OpenAPI description,
which is what FastAPI would have been wanted for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from isogloss.engines.base import EngineUnavailableError
from isogloss.search.reranking import load_reranker
from isogloss.server.endpoints import Endpoints
from isogloss.server.guard import TRACE, Guard
from isogloss.server.limits import Limits
from isogloss.server.metrics import Metrics
from isogloss.server.operations import OPERATIONS, PREFIX
from isogloss.server.refusals import Refusal, refusal_response
from isogloss.server.request_log import flush
from isogloss.server.service import Service
from isogloss.server.static_page import PAGE, PageFile, page_response, read_page
from isogloss.server.work import WorkPool
from isogloss.server.writing import Writer
from isogloss.storage.errors import InputError

_Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Settings:
    """How a service is run.

    ``rerank``: a run whose order the first ``rerank_depth`` hits are given. ``hosts``: names it answers to besides
    those of loopback; None for any name. ``shared``: a folder in which several worker processes count together.
    """

    index: Path
    compare: Path | None = None
    rerank: Path | None = None
    rerank_depth: int = 50
    token: str = ""
    hosts: Collection[str] | None = ()
    limits: Limits = field(default_factory=Limits)
    log: bool = True
    log_queries: bool = False
    shared: Path | None = None
    page: Path = PAGE


def make_app(index: Path | Settings) -> Starlette:
    """The application that serves an index."""
    settings = index if isinstance(index, Settings) else Settings(index)
    limits = settings.limits
    reranker = load_reranker(settings.rerank, settings.rerank_depth) if settings.rerank else None
    service = Service(settings.index, settings.compare, limits, reranker)
    searches, writes = WorkPool(limits.threads, limits.in_flight), WorkPool(1, limits.writes_in_flight)
    metrics = Metrics(list(dict.fromkeys(PREFIX + one.path for one in OPERATIONS)), settings.shared)
    writer = Writer(service.main)
    endpoints = Endpoints(service, writer, searches, writes, metrics, limits, settings.token)
    guard = Middleware(
        Guard, metrics=metrics, hosts=settings.hosts, log=settings.log, log_queries=settings.log_queries
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(service.warm)
        yield
        searches.close(wait=False)
        service.close()
        metrics.close()
        await asyncio.to_thread(flush)

    app = Starlette(
        routes=[*_routes(endpoints), _page_route(read_page(settings.page))],
        middleware=[guard],
        exception_handlers={Refusal: _refused, InputError: _input_error, HTTPException: _http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.searches, app.state.writes, app.state.writer = searches, writes, writer
    app.state.service = service
    return app


class _Anything(Convertor[str]):
    """Ids hold slashes, line ends, whatever."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _NoOperation(_Anything):
    """Where operations are not."""

    regex = r"(?!api/)[\s\S]*"


register_url_convertor("anything", _Anything())
register_url_convertor("no_operation", _NoOperation())


def _routes(endpoints: Endpoints) -> list[Route]:
    """One route a path, so that a method it does not take is answered with all that it does."""
    ways: dict[str, dict[str, _Endpoint]] = {}
    for one in OPERATIONS:
        ways.setdefault(one.path, {})[one.method] = getattr(endpoints, one.name)
    return [_route(path, methods) for path, methods in ways.items()]


def _route(path: str, ways: Mapping[str, _Endpoint]) -> Route:
    async def answer(request: Request) -> Response:
        return await ways["GET" if request.method == "HEAD" else request.method](request)

    return Route(PREFIX + path.replace("{id}", "{id:anything}"), answer, methods=list(ways))


def _page_route(files: Mapping[str, PageFile]) -> Route:
    async def page(request: Request) -> Response:
        return page_response(files, request)

    return Route("/{path:no_operation}", page, methods=["GET"])


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal_response(error, request.scope[TRACE].request_id)


async def _input_error(request: Request, error: Exception) -> Response:
    status = 503 if isinstance(error, EngineUnavailableError) else 422
    return refusal_response(Refusal(status, " ".join(str(error).split())), request.scope[TRACE].request_id)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = {
        404: "there is nothing at this address",
        405: f"this address does not take {request.method[:20]}",
    }.get(error.status_code, error.detail)
    refusal = Refusal(error.status_code, what, error.headers)
    return refusal_response(refusal, request.scope[TRACE].request_id)
