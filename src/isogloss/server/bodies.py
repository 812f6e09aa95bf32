"""From what came over the wire to the models of :mod:`isogloss.server.models`, or a refusal that says why not."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Collection
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from isogloss.server import models
from isogloss.server.errors import Refusal, validation_refusal
from isogloss.server.limits import DOCUMENTS

JSON = "application/json"
LINES = "application/x-ndjson"
_MOST_PARAMETERS = 200
_MOST_BRACKETS = 2_000_000  # in a body: each may become an object that takes fifty times its two letters
_REPEATED = ("lang", "filter")
_Model = TypeVar("_Model", bound=BaseModel)


async def check_address(request: Request) -> None:
    """Refuse an address with a name twice that may stand once: FastAPI would take the last."""
    query = request.scope["query_string"]
    if query.count(b"&") >= _MOST_PARAMETERS:
        raise Refusal(400, f"the address has more than {_MOST_PARAMETERS} parameters")
    names = [name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if name not in _REPEATED]
    if len(names) > len(set(names)):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refusal(422, f"{twice[:50]}: stands twice in the address")


async def no_parameters(request: Request) -> None:
    """Refuse any parameter in the address."""
    if names := list(request.query_params):
        raise Refusal(422, f"{names[0][:50]}: this name is not known here")


def search_request(parameters: models.SearchParameters) -> models.SearchRequest:
    """The parameters of an address as the body that says the same."""
    filters: dict[str, str] = {}
    for text in parameters.filter:
        name, _, value = text.partition(":")
        if filters.setdefault(name, value) != value:
            raise Refusal(422, f"filter: {name[:50]!r} cannot have two values")
    return models.SearchRequest.model_construct(
        q=parameters.q, k=parameters.k, offset=parameters.offset, languages=parameters.lang, filters=filters,
        query_language=parameters.query_lang, explain=parameters.explain, index=parameters.index,
    )  # fmt: skip


def search_body(body: bytes) -> models.SearchRequest | models.BatchRequest:
    """One query or a batch of them."""
    value = _json(body)
    if isinstance(value, dict) and "queries" in value:
        return _checked(value, models.BatchRequest)
    return _checked(value, models.SearchRequest)


def document_body(body: bytes, media_type: str) -> list[models.DocumentMessage]:
    """One document, ``{"documents": [...]}``, or a document a line."""
    if media_type == LINES:
        return _lines(body)
    value = _json(body)
    if isinstance(value, dict) and "documents" in value:
        return _checked(value, models.DocumentsRequest).documents
    return [_checked(value, models.DocumentMessage)]


def model_body(body: bytes, model: type[_Model]) -> _Model:
    """A body of one kind."""
    return _checked(_json(body), model)


async def read_body(request: Request, most: int, seconds: float, accepted: Collection[str] = (JSON,)) -> bytes:
    """The body of a request, refused as soon as it is too large, whatever length was announced."""
    kind = media_type(request)
    if kind and kind not in accepted:
        raise Refusal(415, f"send the body as {' or '.join(accepted)}, not as {kind[:50]}")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > most:
        raise _too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                if len(body) + len(chunk) > most:
                    raise _too_large(most)
                body += chunk
    except TimeoutError as error:
        raise Refusal(408, f"the body did not come within {seconds:g} seconds", {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise Refusal(400, "the body ended before it was whole") from error
    return bytes(body)


def media_type(request: Request) -> str:
    """The media type of a request's body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _lines(body: bytes) -> list[models.DocumentMessage]:
    """A document a line; those after the last that is taken are not even decoded."""
    documents: list[models.DocumentMessage] = []
    for number, line in enumerate(io.BytesIO(body), start=1):
        if not line.strip():
            continue
        if len(documents) == DOCUMENTS:
            raise Refusal(422, f"documents: more than {DOCUMENTS} lines; send them in several requests")
        try:
            documents.append(_checked(_json(line), models.DocumentMessage))
        except Refusal as refusal:
            raise Refusal(refusal.status_code, f"line {number}: {refusal.detail}") from refusal
    if not documents:
        raise Refusal(422, "documents: there is no line")
    return documents


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body is larger than {most} bytes", {"Connection": "close"})


def _json(body: bytes) -> Any:
    if body.count(b"{") + body.count(b"[") > _MOST_BRACKETS:
        raise Refusal(413, f"the body has more than {_MOST_BRACKETS} brackets; send it in several requests")
    try:
        return from_json(body)
    except ValueError as error:
        raise Refusal(400, f"the body is not JSON: {error}") from error


def _checked(value: Any, model: type[_Model]) -> _Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise validation_refusal(error.errors(include_url=False, include_input=False)) from error
