"""The table of everything that can be asked: routes and their OpenAPI description are both made from it."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from isogloss.server.messages import (
    AddAnswer,
    BatchAnswer,
    BatchRequest,
    DeleteAnswer,
    DocumentMessage,
    DocumentsRequest,
    ExplainAnswer,
    ExplainRequest,
    GetParameters,
    HealthAnswer,
    NoParameters,
    SearchAnswer,
    SearchParameters,
    SearchRequest,
    StatusAnswer,
)

PREFIX = "/api/v1"
_ANY = (400, 421, 422, 500, 503)
_WORK = (*_ANY, 404, 504)
_BODY = (408, 413, 415)
_WRITE = (401, 403, 409, 507)


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked. ``name`` is the method of the endpoints that answers it and the OpenAPI id."""

    name: str
    method: str
    path: str
    summary: str
    parameters: type[Struct] = NoParameters
    bodies: tuple[type[Struct], ...] = ()
    answers: tuple[type[Struct], ...] = ()
    text: str = ""
    """The media type of an answer that is not JSON of a known shape."""
    refusals: tuple[int, ...] = _ANY
    writes: bool = False


OPERATIONS = (
    Operation(
        "search", "GET", "/search", "The best documents for a query",
        parameters=SearchParameters, answers=(SearchAnswer,), refusals=_WORK,
    ),
    Operation(
        "search_posted", "POST", "/search", "The best documents for a query, or for each of many",
        bodies=(SearchRequest, BatchRequest), answers=(SearchAnswer, BatchAnswer), refusals=(*_WORK, *_BODY),
    ),
    Operation(
        "explain", "GET", "/explain", "What made the score of a document for a query",
        parameters=ExplainRequest, answers=(ExplainAnswer,), refusals=_WORK,
    ),
    Operation(
        "explain_posted", "POST", "/explain", "What made the score of a document for a query",
        bodies=(ExplainRequest,), answers=(ExplainAnswer,), refusals=(*_WORK, *_BODY),
    ),
    Operation(
        "get_document", "GET", "/documents/{language}/{id}", "A document by its language and id (percent-encoded)",
        parameters=GetParameters, answers=(DocumentMessage,), refusals=_WORK,
    ),
    Operation(
        "put_documents", "PUT", "/documents",
        "Add documents, or replace those of the same language and id; on disk when it is answered",
        bodies=(DocumentMessage, DocumentsRequest), answers=(AddAnswer,),
        refusals=(*_WORK, *_BODY, *_WRITE), writes=True,
    ),
    Operation(
        "post_documents", "POST", "/documents", "The same as PUT",
        bodies=(DocumentMessage, DocumentsRequest), answers=(AddAnswer,),
        refusals=(*_WORK, *_BODY, *_WRITE), writes=True,
    ),
    Operation(
        "delete_document", "DELETE", "/documents/{language}/{id}", "Delete a document; gone when it is answered",
        answers=(DeleteAnswer,), refusals=(*_WORK, *_WRITE), writes=True,
    ),
    Operation("status", "GET", "/status", "What the service holds and takes", answers=(StatusAnswer,), refusals=_WORK),
    Operation("health", "GET", "/health", "Whether it lives and whether it can search", answers=(HealthAnswer,)),
    Operation("metrics", "GET", "/metrics", "Counts and durations for Prometheus", text="text/plain"),
    Operation("openapi", "GET", "/openapi.json", "This description", text="application/json"),
)  # fmt: skip
