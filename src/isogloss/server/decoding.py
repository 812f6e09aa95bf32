"""From what came over the wire to the structures of :mod:`isogloss.server.messages`, or a refusal that says why not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request

from isogloss.server.messages import BatchRequest, DocumentMessage, DocumentsRequest, SearchParameters, SearchRequest
from isogloss.server.refusals import Refusal

JSON = "application/json"
LINES = "application/x-ndjson"
_MOST_PARAMETERS = 200
_T = TypeVar("_T", bound=msgspec.Struct)


def parameters(query_string: bytes, type_: type[_T]) -> _T:
    """The parameters of an address. Names that may stand once and stand twice are refused.

    >>> parameters(b"q=mer&lang=fr&lang=it&k=3", SearchParameters).lang
    ['fr', 'it']
    """
    try:
        pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError as error:
        raise Refusal(400, f"the address has more than {_MOST_PARAMETERS} parameters") from error
    lists = {field.name for field in msgspec.structs.fields(type_) if isinstance(field.default_factory, type)}
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise Refusal(422, f"{name[:50]}: stands twice in the address")
        else:
            values[name] = value
    return _converted(values, type_, strict=False)


def search_request(asked: SearchParameters) -> SearchRequest:
    """What an address asks for, in the words of a body."""
    filters: dict[str, str] = {}
    for text in asked.filter:
        name, _, value = text.partition(":")
        if filters.setdefault(name, value) != value:
            raise Refusal(422, f"filter: {name[:50]!r} cannot have two values")
    return SearchRequest(
        asked.q, asked.k, asked.offset, asked.lang, filters, asked.query_lang, asked.explain, asked.index
    )


def search_body(body: bytes) -> SearchRequest | BatchRequest:
    """One query or a batch of them."""
    value = _json(body)
    if isinstance(value, dict) and "queries" in value:
        return _converted(value, BatchRequest)
    return _converted(value, SearchRequest)


def document_body(body: bytes, content_type: str) -> list[DocumentMessage]:
    """One document, ``{"documents": [...]}``, or a document a line."""
    if content_type == LINES:
        lines = [line for line in body.split(b"\n") if line.strip()]
        return _converted({"documents": [_json(line) for line in lines]}, DocumentsRequest).documents
    value = _json(body)
    if isinstance(value, dict) and "documents" in value:
        return _converted(value, DocumentsRequest).documents
    return [_converted(value, DocumentMessage)]


def struct_body(body: bytes, type_: type[_T]) -> _T:
    """A body of one kind."""
    return _converted(_json(body), type_)


async def read_body(request: Request, most: int, seconds: float, accepted: Iterable[str] = (JSON,)) -> bytes:
    """The body of a request, refused as soon as it is too large, whatever it says of its length."""
    kind = content_type(request)
    if kind and kind not in accepted:
        raise Refusal(415, f"send the body as {' or '.join(accepted)}, not as {kind[:50]}")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > most:
        raise too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                if len(body) + len(chunk) > most:
                    raise too_large(most)
                body += chunk
    except TimeoutError as error:
        raise Refusal(408, f"the body did not come within {seconds:g} seconds", {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise Refusal(400, "the body ended before it was whole") from error
    return bytes(body)


def too_large(most: int) -> Refusal:
    """A body of more bytes than are taken."""
    return Refusal(413, f"the body is larger than {most} bytes", {"Connection": "close"})


def content_type(request: Request) -> str:
    """The media type of a request's body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except RecursionError as error:
        raise Refusal(400, "the body is not JSON that can be read: it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(400, f"the body is not JSON: {error}") from error


def _converted(value: Any, type_: type[_T], strict: bool = True) -> _T:
    try:
        return msgspec.convert(value, type_, strict=strict)
    except RecursionError as error:
        raise Refusal(422, "the body is nested too deeply") from error
    except msgspec.ValidationError as error:
        raise Refusal(422, _sentence(str(error))) from error


def _sentence(what: str) -> str:
    """A message of msgspec with the place first.

    >>> _sentence("Expected `int` <= 1000 - at `$.k`")
    'k: expected `int` <= 1000'
    """
    if r"regex '\\S'" in what:
        what = what.replace(r"Expected `str` matching regex '\\S'", "the query is empty")
    problem, _, place = what.partition(" - at `$")
    name = place.rstrip("`").lstrip(".")
    text = problem[:1].lower() + problem[1:]
    return f"{name}: {text}" if name else text
