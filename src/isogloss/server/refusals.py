"""Answers that are not a success: a status, a code for programs, and a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from isogloss.server.messages import ErrorAnswer, ErrorDetail

CODES = {
    400: "bad_request",
    401: "unauthorised",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "body_timeout",
    409: "locked",
    413: "too_large",
    415: "unsupported_media_type",
    421: "wrong_host",
    422: "invalid",
    500: "internal",
    503: "busy",
    504: "timeout",
    507: "disk_full",
}
_ENCODER = msgspec.json.Encoder()


class Refusal(Exception):  # noqa: N818 - an answer, if not the one that was wished for
    """A request that is not answered as it wished."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer as JSON."""
    return Response(_ENCODER.encode(value), status, headers, "application/json")


def refusal_response(refusal: Refusal, request_id: str) -> Response:
    """A refusal as JSON.

    >>> refusal_response(Refusal(404, "no such document"), "r1").body
    b'{"error":{"code":"not_found","message":"no such document","request_id":"r1"}}'
    """
    code = CODES.get(refusal.status, "error")
    message = refusal.message.encode("utf-8", "backslashreplace").decode("utf-8")
    return json_response(ErrorAnswer(ErrorDetail(code, message, request_id)), refusal.status, refusal.headers)
