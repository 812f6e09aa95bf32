"""Errors as answers: a status, a code for programs, and a sentence for people."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from isogloss.engines.base import EngineUnavailableError
from isogloss.server.log import write_line
from isogloss.storage.errors import DamagedFileError, DamagedIndexError, InputError, OpenFilesError

STATUSES: dict[int, tuple[str, str, str]] = {
    400: ("bad_request", "The request could not be read", "the body is not JSON: expected `:` at line 1 column 6"),
    401: ("unauthorised", "A token is needed", "writing needs the header 'Authorization: Bearer TOKEN'"),
    403: ("forbidden", "Writing is off", "writing is off: the service was started without a token"),
    404: ("not_found", "There is no such thing", "there is no document 'fr-sea' in 'fr'"),
    405: ("method_not_allowed", "The address does not take this method", "this address does not take PATCH"),
    408: ("body_timeout", "The request came too slowly", "the body did not come within 10 seconds"),
    409: ("locked", "Another process is writing to the index", "the index is being changed by another process"),
    413: ("too_large", "The body is too large", "the body is larger than 4194304 bytes"),
    415: ("unsupported_media_type", "The body has the wrong media type", "send the body as application/json"),
    421: ("wrong_host", "The service does not answer to this host name", "this service does not answer to 'a.example'"),
    422: ("invalid", "The request cannot be carried out", "k: input should be less than or equal to 1000"),
    500: ("internal", "A fault of the service", "something went wrong here; the log of the service says what"),
    503: ("busy", "Too much to do, or a part does not answer", "more than 64 requests are being worked on"),
    504: ("timeout", "It took too long", "the answer took more than 10 seconds"),
    507: ("disk_full", "The disk is full; the index is as it was", "the disk is full: nothing was changed"),
}
"""Status to code, meaning, and the sentence of an example."""
NOT_EMPTY = r"\S"
"""The pattern of a query that is not empty."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class ErrorDetail(BaseModel):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str
    request_id: str


class ErrorAnswer(BaseModel):
    """Every answer that is not a success."""

    error: ErrorDetail


class Refusal(HTTPException):
    """A request that is refused; ``code`` where it is not the default one of the status."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None, code: str = "") -> None:
        super().__init__(status, message, dict(headers or {}))
        self.code = code or STATUSES.get(status, ("error",))[0]

    def response(self, request_id: str) -> Response:
        """The answer as JSON.

        >>> Refusal(404, "no such document").response("r1").body
        b'{"error":{"code":"not_found","message":"no such document","request_id":"r1"}}'
        """
        message = self.detail.encode("utf-8", "backslashreplace").decode("utf-8")
        answer = ErrorAnswer(error=ErrorDetail(code=self.code, message=message, request_id=request_id))
        return Response(answer.model_dump_json(), self.status_code, self.headers, "application/json")


def write_refusal(error: OSError) -> Refusal | None:
    """The refusal for a disk error of a write; None for other errors."""
    if error.errno in _FULL:
        return Refusal(507, "the disk is full: nothing was changed")
    if error.errno in _READ_ONLY:
        return Refusal(503, "the index cannot be written, only read: nothing was changed", code="read_only")
    if isinstance(error, FileNotFoundError):
        return damaged()
    return None


def opening_refusal(error: InputError) -> Refusal:
    """The refusal of a change where the index cannot be opened for it; the reason goes into the log."""
    cause = error.__cause__
    if isinstance(cause, OSError) and not isinstance(error, DamagedIndexError | OpenFilesError):
        write_line("error", message=str(error))
        return write_refusal(cause) or unavailable()
    if isinstance(error, EngineUnavailableError | OpenFilesError):
        return input_refusal(error)
    write_line("damaged", message=str(error))
    return damaged()


def input_refusal(error: InputError) -> Refusal:
    """The refusal for an error that was not caught before: only some are the fault of the request."""
    message = " ".join(str(error).split())
    if isinstance(error, DamagedIndexError):
        write_line("damaged", message=message)
        return damaged()
    if isinstance(error, OpenFilesError):
        write_line("error", message=message)
        return Refusal(503, "the service has too many open files; try again in a moment", {"Retry-After": "5"})
    return Refusal(503 if isinstance(error, EngineUnavailableError) else 422, message)


def fault_refusal(error: Exception) -> Refusal:
    """The refusal for a fault of files or memory while a request is worked on."""
    write_line("error", message=f"{type(error).__name__}: {error}")
    if isinstance(error, MemoryError):
        return Refusal(503, "there is not enough memory for this request", {"Retry-After": "5"})
    return damaged() if isinstance(error, DamagedFileError | FileNotFoundError) else unavailable()


def damaged() -> Refusal:
    """Files of the index are damaged or missing; their paths are for the log, not for the answer."""
    what = "files of the index are damaged or gone; nothing was changed; the log of the service says which"
    return Refusal(503, what, code="damaged")


def unavailable() -> Refusal:
    """The index cannot be opened or read now."""
    what = "the index cannot be read now; the log of the service says why"
    return Refusal(503, what, {"Retry-After": "5"}, code="unavailable")


def place(parts: Iterable[str | int]) -> str:
    """Where something stands in a body.

    >>> place(["documents", 3, "fields", "topic"])
    'documents[3].fields.topic'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part[:50]}" for part in parts).removeprefix(".")


def validation_refusal(errors: Sequence[Any]) -> Refusal:
    """The first of pydantic's errors as a sentence that begins with the name of the field.

    >>> found = {"loc": ("query", "k"), "msg": "Input should be less than or equal to 1000", "type": "less_than_equal"}
    >>> validation_refusal([found]).detail
    'k: input should be less than or equal to 1000'
    """
    first = errors[0]
    known = {"extra_forbidden": "this name is not known here", "missing": "is needed"}
    message = known.get(first["type"], first["msg"])
    if first.get("ctx", {}).get("pattern") == NOT_EMPTY:
        message = "the query is empty"
    field = place([part for part in first["loc"] if part not in ("query", "body", "path")])
    text = " ".join((message[:1].lower() + message[1:]).split())
    return Refusal(422, f"{field}: {text}" if field else text)
