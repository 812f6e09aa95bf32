"""The OpenAPI 3.1 description, put together from the table of operations and the schemas that msgspec makes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

import isogloss
from isogloss.server.examples import METRICS, PARAMETERS, STRUCTS, error_example
from isogloss.server.messages import DocumentId, ErrorAnswer, Language
from isogloss.server.operations import OPERATIONS, PREFIX, Operation
from isogloss.server.refusals import CODES

_REF = "#/components/schemas/{name}"
_DESCRIPTION = (
    "Search documents in one language with queries in another. Reading is open; writing needs a bearer token. Every "
    "answer carries an X-Request-Id, which is the caller's where the caller gave one."
)
_MEANINGS = {
    400: "The request could not be read",
    401: "A token is needed",
    403: "Writing is off",
    404: "There is no such thing",
    408: "The body came too slowly",
    409: "Somebody else is writing to the index",
    413: "The body is too large",
    415: "The body has the wrong media type",
    421: "The service does not answer to this host name",
    422: "Something asked for is not possible",
    500: "A fault of the service",
    503: "Too much to do at the moment",
    504: "It took too long",
    507: "The disk is full; the index is as it was",
}


def make_openapi() -> dict[str, Any]:
    """The description of the whole service."""
    types = dict.fromkeys(type_ for one in OPERATIONS for type_ in (*one.bodies, *one.answers))
    _, components = msgspec.json.schema_components([*types, ErrorAnswer], ref_template=_REF)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "isogloss", "version": isogloss.__version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation), *_query_parameters(operation)],
        "responses": {"200": _success(operation), **{str(status): _refusal(status) for status in operation.refusals}},
    }
    if operation.bodies:
        made["requestBody"] = {"required": True, "content": {"application/json": _content(operation.bodies)}}
    if operation.writes:
        made["security"] = [{"token": []}]
    return made


def _path_parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    for name, type_ in (("language", Language), ("id", DocumentId)):
        if f"{{{name}}}" in operation.path:
            schema = msgspec.json.schema(type_)
            yield {"name": name, "in": "path", "required": True, "schema": schema, "example": PARAMETERS[name]}


def _query_parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    _, components = msgspec.json.schema_components([operation.parameters], ref_template=_REF)
    schema = components[operation.parameters.__name__]
    for name, shape in schema["properties"].items():
        required = name in schema.get("required", ())
        yield {"name": name, "in": "query", "required": required, "schema": shape, "example": PARAMETERS[name]}


def _success(operation: Operation) -> dict[str, Any]:
    if operation.answers:
        content = {"application/json": _content(operation.answers)}
    elif operation.text == "text/plain":
        content = {operation.text: {"schema": {"type": "string"}, "example": METRICS}}
    else:
        content = {operation.text: {"schema": {"type": "object"}, "example": {"openapi": "3.1.0"}}}
    return {"description": operation.summary, "content": content}


def _refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=ErrorAnswer.__name__)}
    example = msgspec.to_builtins(error_example(status, CODES[status]))
    return {"description": _MEANINGS[status], "content": {"application/json": {"schema": schema, "example": example}}}


def _content(types: tuple[type[msgspec.Struct], ...]) -> dict[str, Any]:
    schemas = [{"$ref": _REF.format(name=type_.__name__)} for type_ in types]
    examples = {type_.__name__: {"value": msgspec.to_builtins(STRUCTS[type_])} for type_ in types}
    return {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}, "examples": examples}
